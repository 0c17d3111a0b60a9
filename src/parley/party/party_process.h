// Holds a Party together with what it must not know: threads, the clock, the courier. Calls come in on the courier's
// threads, one at a time by a mutex; rows are only touched on the thread that calls run().
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "parley/mesh/courier.h"
#include "parley/party/party_in_parts.h"
#include "parley/privacy/random.h"

namespace parley::party {

class PartyProcess {
 public:
  struct Setup {
    identity::Identity self;
    std::string listen;
    std::vector<mesh::Contact> roster;
    double deadline = 10;
    int threads = 1;
    const privacy::NoiseSource* noise = nullptr;
    int node = 0;
    std::function<void(const LogLine& line)> report;            // for the party's log; on the thread of run()
    std::function<void(const PartyInParts& party)> progress{};  // now and then
    // When this party has the model, and before anybody hears of it: a peer that is told may leave for good, so what is
    // stored only later would be waited for after a crash. And when it can claim nothing any more: no statement of an
    // earlier day may outlive a crash.
    std::function<void(const PartyInParts& party)> settled{};
    const std::atomic<bool>* stop = nullptr;
  };
  struct Seconds {
    double solve = 0, pay = 0, wait = 0;
  };

  PartyProcess(Setup setup, mesh::Courier::Setup carrier, PartyInParts::Make make);
  ~PartyProcess() = default;
  PartyProcess(const PartyProcess&) = delete;
  PartyProcess& operator=(const PartyProcess&) = delete;

  // Until nothing is left to do, for others either; once. Whatever a handler threw comes out here. When it returns or
  // throws, the courier is closed: from then on nobody but the caller touches the party and what it writes to.
  protocol::Ending run();
  const PartyInParts& party() const { return *party_; }
  const Seconds& seconds() const { return seconds_; }

 private:
  double now() const;
  void handle(const std::function<void()>& event);  // on any thread; then sends what follows from it
  protocol::Ending work();
  void see_ending();
  void dispatch();
  void solve(std::unique_lock<std::mutex>& lock);

  Setup setup_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<PartyInParts> party_;
  std::deque<LogLine> lines_;
  std::map<int, std::uint64_t> called_;  // the last call, by whom it was made to
  std::exception_ptr failure_;
  bool completed_ = false, past_unknown_ = false;
  Seconds seconds_;
  std::unique_ptr<mesh::Courier> courier_;  // last: destroyed first, so its threads end while all they use is alive
};

}  // namespace parley::party
