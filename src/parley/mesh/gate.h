// A party's door. It accepts connections, hands each on as a socket of its own and carries the bytes between the two, so
// that who connects, how often, how fast and how long is bounded before TLS or HTTP/2 has read a byte (R13). It knows
// neither: whoever is handed a connection says whose it is when its handshake has ended well. Until then it is a
// stranger's. All connections of one party share what may be read of that party.
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
    int strangers = 64;       // connections whose handshake has not ended: in all,
    int of_one_address = 32;  // and of one address
    int parties = 32;         // of parties: in all,
    int of_one_party = 4;     // and of one
    double idle = 300;        // seconds without a byte, after which a connection is closed
    double unread = 5;        // seconds in which what is written to it is not taken, after which it is closed
    // Bytes that are read of a connection since the last one that was written to it, after which it is closed: HTTP/2
    // acknowledges, answers or asks for more. Who gets nothing sends for ever what is kept: a header without an end, say.
    double unanswered = 1 << 16;
    // Bytes per second that are read in the long run, and at once: of a stranger's connection, of all that one party has,
    // and of all parties. A stream that is opened and reset takes 150 bytes, and gRPC 20 KiB for it.
    double rate_of_stranger = 1 << 14, burst_of_stranger = 1 << 15;
    double rate = 1 << 16, burst = 1 << 15;
    double rate_of_all = 1 << 18, burst_of_all = 1 << 17;
    int descriptors_kept = 96;  // for the ledger, records, and calls to others
  };
  struct Setup {
    std::string listen;  // host:port; port 0: any
    Limits limits{};
    // Its new owner closes it. place: by which admitted() and refused() know it; of no other one before both have ended.
    std::function<void(int socket, int place)> hand_on;
    std::function<void(const std::string& about, const std::string& sentence)> report;  // about: of a few kinds
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
  int places() const;  // 0 to this, without it, are the places

  // How a handshake has ended. From any thread.
  void admitted(int place, const std::string& party);
  void refused(int place, const std::string& about, const std::string& why);  // place −1: in a call

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace parley::mesh
