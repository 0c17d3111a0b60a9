#include "parley/mesh/probe.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "parley/mesh/address.h"

namespace parley::mesh {
namespace {

using Result = Probed::Result;

// Each address that host:port stands for, until one of them is open; otherwise what the last one said.
Probed each_address(const std::string& address, int flags, const std::function<Probed(const addrinfo&)>& attempt) {
  const Resolved found = resolve(address, flags);
  if (found.first == nullptr) return {Result::unresolved, found.why};
  Probed last{Result::unresolved, "no address"};
  for (const addrinfo* a = found.first.get(); a != nullptr && last.result != Result::open; a = a->ai_next)
    last = attempt(*a);
  return last;
}

}  // namespace

Probed try_listen(const std::string& address) {
  return each_address(address, AI_PASSIVE, [](const addrinfo& a) -> Probed {
    const Descriptor s = socket_for(a);
    if (!s.open()) return {Result::foreign, std::strerror(errno)};
    const int yes = 1;
    ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // as the gate does
    if (::bind(s.get(), a.ai_addr, a.ai_addrlen) == 0 && ::listen(s.get(), 1) == 0) return {};
    return {errno == EADDRINUSE ? Result::taken : Result::foreign, std::strerror(errno)};
  });
}

Probed try_connect(const std::string& address, double seconds) {
  return each_address(address, 0, [seconds](const addrinfo& a) -> Probed {
    const Descriptor s = socket_for(a);
    if (!s.open()) return {Result::silent, std::strerror(errno)};
    if (::connect(s.get(), a.ai_addr, a.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return {Result::silent, std::strerror(errno)};
    pollfd wait{.fd = s.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(1000 * seconds)) <= 0) return {Result::silent, "no answer"};
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return {Result::silent, std::strerror(error)};
    return {};
  });
}

}  // namespace parley::mesh
