#include "parley/mesh/probe.h"

#include <netinet/in.h>
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

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24U) == 127;
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

}  // namespace

Probed try_listen(const std::string& address) {
  return each_address(address, AI_PASSIVE, [](const addrinfo& a) -> Probed {
    const Descriptor s = socket_for(a);
    if (!s.open()) return {Result::foreign, std::strerror(errno)};
    const int yes = 1;
    ::setsockopt(s.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // as the gate does
    if (::bind(s.number(), a.ai_addr, a.ai_addrlen) == 0 && ::listen(s.number(), 1) == 0)
      return {.loopback = is_loopback(*a.ai_addr)};
    const int why = errno;
    return {why == EADDRINUSE ? Result::taken
            : why == EACCES   ? Result::forbidden
                              : Result::foreign,
            std::strerror(why)};
  });
}

Probed try_connect(const std::string& address, double seconds) {
  return each_address(address, 0, [seconds](const addrinfo& a) -> Probed {
    const Descriptor s = socket_for(a);
    if (!s.open()) return {Result::silent, std::strerror(errno)};
    if (::connect(s.number(), a.ai_addr, a.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return {Result::silent, std::strerror(errno)};
    pollfd wait{.fd = s.number(), .events = POLLOUT, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(1000 * seconds)) <= 0) return {Result::silent, "no answer"};
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(s.number(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return {Result::silent, std::strerror(error)};
    return {};
  });
}

}  // namespace parley::mesh
