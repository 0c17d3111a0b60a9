#include "parley/base/error.h"
#include "parley/mesh/courier.h"

namespace parley::mesh {

std::unique_ptr<Courier> make_courier(Courier::Setup /*setup*/) {
  throw Error({.what = "this program was built without gRPC",
               .where = "parley join",
               .fix = "install libgrpc++-dev, protobuf-compiler-grpc and protobuf-compiler, and build again"});
}

}  // namespace parley::mesh
