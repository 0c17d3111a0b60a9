#include "parley/mesh/gate_listen.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "parley/base/error.h"
#include "parley/mesh/address.h"

namespace parley::mesh {

std::string address_of(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = &reinterpret_cast<const sockaddr_in&>(from).sin_addr;
  int family = AF_INET;
  in6_addr six{};
  if (from.ss_family == AF_INET6) {
    six = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&six) != 0;
    family = mapped ? AF_INET : AF_INET6;
    if (!mapped) std::memset(six.s6_addr + 8, 0, 8);
    bytes = mapped ? six.s6_addr + 12 : six.s6_addr;
  }
  return ::inet_ntop(family, bytes, text.data(), text.size()) != nullptr ? text.data() : "an unknown address";
}

int port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(own).sin_port);
}

namespace {

void set_port(addrinfo& a, int port) {
  (a.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(a.ai_addr)->sin6_port
                           : reinterpret_cast<sockaddr_in*>(a.ai_addr)->sin_port) =
      htons(static_cast<std::uint16_t>(port));
}

[[noreturn]] void cannot_listen(const std::string& address, const std::string& why) {
  throw Error({.what = "cannot listen for peers (" + why + ")",
               .value = address,
               .where = "the party's address",
               .fix = "choose a free port of this machine (--listen HOST:PORT), or stop what uses it"});
}

}  // namespace

std::vector<Descriptor> listening_at(const std::string& address) {
  const Resolved found = resolve(address, AI_PASSIVE);
  if (found.first == nullptr) cannot_listen(address, found.why);
  std::vector<Descriptor> all;
  std::string why;
  for (addrinfo* a = found.first.get(); a != nullptr; a = a->ai_next) {
    Descriptor s = socket_for(*a);
    const int yes = 1, no = 0;
    if (!all.empty()) set_port(*a, port_of(all.front().number()));
    if (s.open()) {
      ::setsockopt(s.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      if (a->ai_family == AF_INET6) ::setsockopt(s.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
      if (::bind(s.number(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(s.number(), SOMAXCONN) == 0) {
        all.push_back(std::move(s));
        continue;
      }
    }
    why = std::strerror(errno);
    if (errno == EADDRINUSE) cannot_listen(address, why);
  }
  if (all.empty()) cannot_listen(address, why);
  return all;
}

}  // namespace parley::mesh
