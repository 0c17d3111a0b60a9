// A party's door. It accepts connections, hands each on as a socket of its own and carries the bytes between the two, so
// that who connects, how often, how fast and how long is bounded before TLS or HTTP/2 has read a byte (R13). It knows
// neither: whoever is handed a connection ends it within Limits::handshake if it is a stranger's. What is open for longer
// is a party's.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace parley::mesh {

class Gate {
 public:
  struct Limits {
    double handshake = 5;     // seconds, after which a stranger has been turned away
    int strangers = 64;       // connections younger than that: in all,
    int of_one_address = 32;  // and of one address
    int parties = 32;         // connections that are older
    double idle = 300;        // seconds without a byte, after which a connection is closed
    double unread = 5;        // seconds in which what is written to it is not taken, after which it is closed
    double rate = 1 << 16;    // bytes per second that are read from one connection, in the long run,
    double burst = 1 << 15;   // and at once: a stream that is opened and reset takes 150 bytes, and gRPC 20 KiB for it
    int descriptors_kept = 96;  // for the ledger, records, and calls to others
  };
  struct Setup {
    std::string listen;  // host:port; port 0: any
    Limits limits{};
    std::function<void(int socket)> hand_on;  // its new owner closes it
    std::function<void(const std::string& about, const std::string& sentence)> report;
    std::function<std::chrono::steady_clock::time_point()> now = [] { return std::chrono::steady_clock::now(); };
  };

  // Listens; the first connection is handed on after open(). Error: the address cannot be listened at.
  explicit Gate(Setup setup);
  ~Gate();  // closes
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open();
  void close();  // all connections; after it nothing is called
  int port() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace parley::mesh
