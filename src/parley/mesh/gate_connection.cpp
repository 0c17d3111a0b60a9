#include "parley/mesh/gate_connection.h"

#include <sys/socket.h>

#include <cerrno>

namespace parley::mesh {
namespace {

bool again() {
  return errno == EAGAIN || errno == EINTR;
}

}  // namespace

long Waiting::fill(int socket, std::size_t most) {
  const long n = ::recv(socket, bytes_.data(), std::min(most, bytes_.size()), 0);
  if (n > 0) begin_ = 0, end_ = static_cast<std::size_t>(n);
  return n < 0 && !again() ? 0 : n;
}

long Waiting::drain(int socket) {
  const long n = ::send(socket, bytes_.data() + begin_, end_ - begin_, MSG_NOSIGNAL);
  if (n > 0) begin_ += static_cast<std::size_t>(n);
  return n >= 0 ? n : again() ? 0 : -1;
}

}  // namespace parley::mesh
