// Where a gate is heard, and from where it is called.
#pragma once
#include <netinet/in.h>

#include <string>
#include <vector>

#include "parley/base/durable.h"

namespace parley::mesh {

// At every address that the name stands for and this machine has, with one port. Error: none can be listened at.
std::vector<Descriptor> listening_at(const std::string& address);
int port_of(int socket);

// Whose connections are counted together: an IPv4 address, or the first half of an IPv6 one, the rest of which is any
// host's to choose.
std::string address_of(const sockaddr_storage& from);

}  // namespace parley::mesh
