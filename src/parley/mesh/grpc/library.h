// gRPC as a library of this process. A channel or a server ends on gRPC's own threads, after its owner let it go. At
// the end of main those threads would still speak TLS while exit() takes down OpenSSL's and gRPC's static objects: a
// read of freed memory, or a crash in free(). So whoever used gRPC last waits until its threads have ended.
#pragma once

namespace parley::mesh {

class GrpcLibrary {
 public:
  GrpcLibrary();
  ~GrpcLibrary();  // of the last one: waits, unless others in this process used gRPC before
  GrpcLibrary(const GrpcLibrary&) = delete;
  GrpcLibrary& operator=(const GrpcLibrary&) = delete;
};

}  // namespace parley::mesh
