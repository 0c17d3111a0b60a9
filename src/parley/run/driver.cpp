#include "parley/run/driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/parallel.h"
#include "parley/run/failure.h"

namespace parley::run {
namespace {

class Timer {
 public:
  void into(double& phase) {
    const auto now = std::chrono::steady_clock::now();
    phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

enum class Verdict { fine, diverged, unpaid };  // in the order of what prevails

bool any_reaches_bound(std::span<const privacy::Paid> paid, double bound) {
  return std::ranges::any_of(paid, [&](const privacy::Paid& p) { return privacy::reaches_bound(*p.value(), bound); });
}

std::vector<std::size_t> all_but(const std::vector<std::size_t>& some, std::size_t count) {  // some: ascending
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < count; ++i)
    if (!std::ranges::binary_search(some, i)) rest.push_back(i);
  return rest;
}

class Driver {
 public:
  Driver(const Drive& d, Phases& phases) : d_(d), phases_(phases), inboxes_(d.nodes.size()) {}

  Outcome run() {
    for (; d_.nodes.front()->has_next(); ++round_) {
      solve(all_but(waiting_, d_.nodes.size()));  // while messages are under way
      receive();
      solve(waiting_);
      const auto [verdict, paid] = pay();
      if (verdict == Verdict::unpaid) return Outcome::budget_exhausted;
      commit(*paid);
      record(*paid);
      const bool go_on = watch(*paid);
      if (verdict == Verdict::diverged) return Outcome::diverged;
      if (!d_.nodes.front()->has_next()) return Outcome::completed;
      if (!go_on) return Outcome::interrupted;
      send(*paid);
    }
    return Outcome::completed;
  }

 private:
  using Payment = std::pair<Verdict, std::optional<std::vector<privacy::Paid>>>;

  void solve(std::span<const std::size_t> which) {
    if (which.empty()) return;
    std::atomic<bool> solving = false;  // and not only taken from the past
    try {
      parallel_for(static_cast<int>(which.size()), d_.threads, [&](int k) {
        const std::size_t at = which[static_cast<std::size_t>(k)];
        const int id = d_.nodes[at]->id();
        std::optional<privacy::Release> before;
        if (d_.released_before) before = d_.released_before(id, round_);
        if (!before) solving = true;
        privacy::Random random = d_.noise->stream(id, round_);
        releases_[at] = before ? std::move(*before) : d_.nodes[at]->step(inboxes_[at], random);
        expects(before || releases_[at].value.allFinite(), "a finite released value");
      });
      if (solving) failpoint("solved");
    } catch (...) {
      if (solving) mark_failed(std::current_exception());
      throw;
    }
    timer_.into(phases_.solve);
  }

  // Privacy: all nodes of this process are charged. That one did not fail is as much a function of its noise as that
  // another did.
  void mark_failed(const std::exception_ptr& failure) {
    if (!d_.unreleased || before_noise(failure)) return;
    std::vector<privacy::Release> nothing;
    for (const auto& node : d_.nodes) nothing.push_back(d_.unreleased(node->id(), round_));
    d_.ledger->fail(nothing, reason_of(failure));
  }

  void receive() {
    if (round_ > 0) d_.transport->receive(inboxes_);
    timer_.into(phases_.exchange);
  }

  // All or none, stored before anything leaves. The verdict is that of all processes.
  Payment pay() {
    auto receipts = d_.ledger->pay_all(std::exchange(releases_, std::vector<privacy::Release>(d_.nodes.size())));
    const Verdict mine = !receipts                                        ? Verdict::unpaid
                         : any_reaches_bound(*receipts, d_.release_bound) ? Verdict::diverged
                                                                          : Verdict::fine;
    const auto verdict = d_.largest ? static_cast<Verdict>(d_.largest(static_cast<double>(mine))) : mine;
    return {verdict, std::move(receipts)};
  }

  void commit(std::span<const privacy::Paid> paid) {
    for (std::size_t i = 0; i < paid.size(); ++i) d_.nodes[i]->commit(inboxes_[i], *paid[i].value());
    timer_.into(phases_.ledger);
  }

  void record(std::span<const privacy::Paid> paid) {
    if (d_.record) d_.record(round_, paid);
    timer_.into(phases_.record);
  }

  bool watch(std::span<const privacy::Paid> paid) {
    const bool go_on = !d_.watch || d_.watch(round_, paid);
    timer_.into(phases_.record);
    return go_on;
  }

  void send(std::span<const privacy::Paid> paid) {
    waiting_ = d_.transport->send(paid, inboxes_);
    timer_.into(phases_.exchange);
  }

  const Drive& d_;
  Phases& phases_;
  Timer timer_;
  int round_ = 0;
  std::vector<privacy::Inbox> inboxes_;
  std::vector<privacy::Release> releases_ = std::vector<privacy::Release>(inboxes_.size());
  std::vector<std::size_t> waiting_;  // nodes that may not work before receive()
};

}  // namespace

std::string name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return "completed";
    case Outcome::budget_exhausted:
      return "budget_exhausted";
    case Outcome::diverged:
      return "diverged";
    case Outcome::interrupted:
      return "interrupted";
  }
  return "";
}

Outcome drive(const Drive& d, Phases& phases) {
  return Driver(d, phases).run();
}

}  // namespace parley::run
