#include "parley/mesh/grpc/library.h"

#include <grpc/grpc.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace parley::mesh {
namespace {

// What gRPC may still be doing is a name being resolved or an address being called. After this time the process ends
// without it: all that a party stores is stored by then.
constexpr auto longest = std::chrono::seconds(20);

struct Users {
  std::mutex mutex;
  int count = 0;
  bool others = false;  // gRPC was in use before: its end is not ours to wait for
};

Users& users() {
  static Users all;
  return all;
}

bool still_ending() {
  const std::lock_guard lock(users().mutex);
  return users().count == 0 && !users().others && grpc_is_initialized() != 0;
}

}  // namespace

GrpcLibrary::GrpcLibrary() {
  const std::lock_guard lock(users().mutex);
  if (users().count++ == 0) users().others = grpc_is_initialized() != 0;
}

// gRPC counts its users and joins its threads when the count is zero; it has no call that waits for that.
GrpcLibrary::~GrpcLibrary() {
  {
    const std::lock_guard lock(users().mutex);
    --users().count;
  }
  const auto end = std::chrono::steady_clock::now() + longest;
  while (still_ending() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace parley::mesh
