// Carries a party's messages to its neighbours and theirs to it, over gRPC and mutual TLS 1.2 or later: no hub, every
// party is server and client. Both sides present their certificates and check the other's against the roster's pin
// before a message is read or sent; who issued a certificate does not count. The only files that name gRPC are
// in grpc/.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/identity/identity.h"
#include "parley/protocol/receipt.h"

namespace parley::mesh {

struct Contact {  // by node number
  std::string name, address, fingerprint;
};

// Why a call was not answered. A decision rests on the kind; the sentence is for people.
struct CallFailure {
  enum class Kind {
    nobody,       // nobody listens there
    no_tls,       // whoever answers there speaks something else
    not_the_one,  // its certificate is not the one that the roster pins for this neighbour, or is not valid now
    refused,      // its certificate is, and it closed after it had looked at this party's
    other,
  } kind = Kind::other;
  std::string why;
};

class Courier {
 public:
  struct Setup {
    identity::Identity self;
    std::string listen;           // host:port; port 0: any
    std::vector<Contact> roster;  // of all parties
    double deadline = 10;         // of a call, in seconds
    std::size_t largest = 0;      // bytes of a message that are read
    std::function<identity::Time()> now;
    // Called from threads of the courier's, several at once. deliver: the answer leaves after it returns; if it throws,
    // none does.
    std::function<protocol::Receipt(const std::string& caller, std::string_view message)> deliver;
    std::function<void(std::uint64_t call, const protocol::Receipt& receipt)> answered;
    // worth_a_line: this kind was not said of this neighbour so often before.
    std::function<void(std::uint64_t call, const CallFailure& failure, bool worth_a_line)> failed;
    std::function<void(const std::string& sentence)> report;  // callers that were refused, and why
  };

  virtual ~Courier() = default;  // closes
  // Handlers are called between open() and the end of close(), and at no other time: the owner opens it where they may
  // already use the courier, and closes it while all that they use is alive. Error: the address cannot be listened at.
  virtual void open() = 0;
  // Ends the calls in hand and waits for the handlers: the owner holds no lock that one of them takes.
  virtual void close() = 0;
  // One call at a time to each neighbour (Exchange sees to it); its end is answered() or failed(). From any thread, a
  // handler's too. After close() it does nothing.
  virtual void send(std::uint64_t call, int to, std::string message) = 0;
  virtual int port() const = 0;
};

// Not yet open. Error: this program was built without gRPC.
std::unique_ptr<Courier> make_courier(Courier::Setup setup);

}  // namespace parley::mesh
