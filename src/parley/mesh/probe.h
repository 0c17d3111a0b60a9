// Addresses, tried without saying anything: may this machine listen there, does somebody answer there.
#pragma once
#include <string>

namespace parley::mesh {

struct Probed {
  enum class Result { open, taken, forbidden, foreign, unresolved, silent } result = Result::open;
  std::string why{};      // of the system, in words
  bool loopback = false;  // open, and only programs of this machine reach it
};

// open: free; taken: in use; forbidden: not for this user; foreign: not an address of this machine.
Probed try_listen(const std::string& address);
// open: something accepts connections; silent: refused, or no answer within `seconds`.
Probed try_connect(const std::string& address, double seconds);

}  // namespace parley::mesh
