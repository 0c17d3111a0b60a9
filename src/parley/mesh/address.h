// host:port and [host]:port, as sockets have them.
#pragma once
#include <netdb.h>

#include <memory>
#include <string>

#include "parley/base/durable.h"

namespace parley::mesh {

struct Resolved {
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> first{nullptr, ::freeaddrinfo};  // a list
  std::string why{};                                                                    // there is none
};

// flags: AI_PASSIVE for an address to listen at.
inline Resolved resolve(const std::string& address, int flags) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) return {.why = "no port in it"};
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port = address.substr(colon + 1);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0)
    return {.why = ::gai_strerror(code)};
  return {.first = {found, ::freeaddrinfo}};
}

inline Descriptor socket_for(const addrinfo& a) {
  return Descriptor(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
}

}  // namespace parley::mesh
