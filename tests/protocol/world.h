// Several parties on simulated machines and a network that loses, delays, doubles and reorders, all from one seed: no
// thread, no clock, no socket. Everything the product promises is checked as it happens; the first broken promise ends
// the world with a Violation.
//   one value per (node, round) ever leaves; it was paid and durable before; an acknowledged message survives every
//   crash; the ledger ends with the spend of an undisturbed run; so does the model, bit for bit; nobody waits for ever
// Where survivors go on after a loss (going_on.cpp): one set at most; each ledger within what the study planned; one
// model, that of the same parts in one process.
#pragma once
#include <map>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "parley/party/party_in_parts.h"
#include "protocol/disk.h"
#include "protocol/scenario.h"

namespace parley::protocol {

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What goes wrong until `until`, drawn from the seed.
struct Faults {
  double until = 0;
  double drop = 0, duplicate = 0, slow = 0;  // per message; slow: later than its deadline
  double crash = 0;                          // per start of a process: it dies in one of its first operations
  double kill = 0;                           // per message received: killed, or interrupted by its owner
  double partition = 0;                      // per second
  bool fresh_noise = false;                  // another noise at each attempt, as in a private run
  static Faults from(PublicRandom& random);
  static Faults none() { return {}; }
};

class World {
 public:
  World(const Scenario& scenario, std::uint64_t seed, const Faults& faults);

  // Until everyone has exited. Violation: a promise was broken, or it takes longer than `most` seconds.
  void run(double most = 2000);
  bool run_while(const std::function<bool()>& going, double most = 2000);  // false: time was up, or nothing happens

  void kill(int node);    // or loses power
  void start(int node);   // reads what is left on its disks
  void vanish(int node);  // for ever
  void cut_off(int node, bool off = true) { off ? void(cut_.insert(node)) : void(cut_.erase(node)); }
  protocol::Receipt deliver(int from, int to, const std::string& bytes);  // by hand; with the same checks

  void forget_acknowledged(int node) {
    machines_[at(node)].acknowledged.clear(), machines_[at(node)].finals.clear(), machines_[at(node)].signed_by.clear();
  }
  // What arrives instead of what was sent or answered: an insider's lies. Empty: nothing is changed.
  std::function<std::string(int from, int to, const std::string& bytes)> tamper{};
  bool continues = false;      // on-loss = "continue"
  std::map<int, double> caps;  // by node: the most that its ledger allows, Σε

  bool running(int node) const { return machines_[at(node)].party != nullptr; }
  party::PartyInParts& party(int node) { return *machines_[at(node)].party; }
  Disk& disk(int node) { return machines_[at(node)].stores.front()->disk; }
  LedgerDisk& ledger(int node) { return machines_[at(node)].stores.front()->ledger; }
  double now() const { return now_; }

  // When everyone has completed for the first time: nobody waits longer than this after the faults have ended.
  static constexpr double patience = 60;

  protocol::Timing timing{.deadline = 1, .wait = 500, .first_wait = 500};
  bool verbose = false;
  std::vector<std::optional<protocol::Ending>> endings;  // by node, when it exited
  std::vector<Vector> models;                            // of those that completed
  std::vector<std::string> reports;                      // by everyone
  std::vector<std::string> sent_values;                  // every message with a value that left, as bytes
  long crashes = 0, messages = 0;
  std::vector<study::Part> parts;                // by number, as whoever came first found them
  std::vector<protocol::Succession> agreements;  // what led to each after the first

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  struct Store {  // of one part of the run
    explicit Store(int nodes) : ledger(nodes) {}
    Disk disk;
    LedgerDisk ledger;
  };
  struct Machine {
    explicit Machine(int nodes) { stores.push_back(std::make_unique<Store>(nodes)); }
    std::vector<std::unique_ptr<Store>> stores;
    std::unique_ptr<party::PartyInParts> party;  // null: not running
    std::vector<study::Part> parts;              // of this process
    std::vector<algorithm::Start> starts;
    long process = 0;
    protocol::Process number{};  // of the process, as its ledger gives it
    long operations_left = -1;   // until it dies
    // By run and neighbour: the last round of its that this machine acknowledged.
    std::map<std::pair<std::string, int>, int> acknowledged;
    std::set<std::pair<std::string, int>> finals;                      // acknowledged
    std::set<std::tuple<std::string, protocol::Kind, int>> signed_by;  // statements and consents, acknowledged
    bool completed = false, gone = false;
  };
  struct Event {
    double time;
    long order;
    std::function<void()> happen;
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  void after(double delay, std::function<void()> happen);
  void survive(int node, const std::function<void()>& doing);  // kills the machine when doing() throws Crashed
  void tick(int node, long process);
  void collect(int node);  // actions and jobs
  void carry(int node, const protocol::Send& send);
  party::PartyInParts::One make_part(int node, party::Party* before, const Fuse& fuse);
  protocol::Consent consent(int node, const protocol::Succession& next) const;
  void check_next_part(const study::Part& part, const protocol::Succession& next);
  void check_spend(int node) const;
  void check_model_in_parts(int node) const;
  void check_leaves(int node, const std::string& bytes);
  void check_start(int node);
  void check_progress(int node);
  void check_exit(int node);
  void check_end() const;
  void check_end_in_parts() const;
  void note(const protocol::Message& m, int to, const protocol::Receipt& receipt);
  bool faulty() const { return now_ < faults_.until; }
  bool chance(double p) { return random_.uniform() < p; }
  bool reaches(int a, int b) const;
  void log(const std::string& text) const;

  const Scenario& scenario_;
  protocol::Agreement agreed_;
  Faults faults_;
  PublicRandom random_;
  std::uint64_t seed_;
  std::vector<Machine> machines_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  long order_ = 0, attempts_ = 0;
  double now_ = 0;
  std::set<int> cut_;                                              // machines that reach nobody
  std::set<int> side_;                                             // of a partition
  std::map<std::tuple<std::string, int, int>, std::string> left_;  // (run, node, round) → payload
};

}  // namespace parley::protocol
