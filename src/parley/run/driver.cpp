#include "parley/run/driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

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

bool reaches_bound(std::span<const privacy::Paid> paid, double bound) {  // decided on released values only
  return std::ranges::any_of(paid, [&](const privacy::Paid& p) {
    return p.value()->size() > 0 && p.value()->cwiseAbs().maxCoeff() >= 0.999 * bound;
  });
}

std::vector<std::size_t> all_but(const std::vector<std::size_t>& some, std::size_t count) {  // some: ascending
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < count; ++i)
    if (!std::ranges::binary_search(some, i)) rest.push_back(i);
  return rest;
}

// Privacy: all nodes of this process are charged. That one did not fail is as much a function of its noise as that
// another did.
void mark_failed(const Drive& d, int round, const std::exception_ptr& failure) {
  if (!d.unreleased || before_noise(failure)) return;
  std::vector<privacy::Release> nothing;
  for (const auto& node : d.nodes) nothing.push_back(d.unreleased(node->id(), round));
  d.ledger->fail(nothing, reason_of(failure));
}

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
  std::vector<privacy::Inbox> inboxes(d.nodes.size());
  std::vector<std::size_t> waiting;  // nodes that may not work before receive()
  Timer timer;
  for (int round = 0; d.nodes.front()->has_next(); ++round) {
    std::vector<privacy::Release> releases(d.nodes.size());
    const auto step = [&](std::span<const std::size_t> which) {
      if (which.empty()) return;
      std::atomic<bool> solving = false;
      try {
        parallel_for(static_cast<int>(which.size()), d.threads, [&](int k) {
          const std::size_t at = which[static_cast<std::size_t>(k)];
          const int id = d.nodes[at]->id();
          std::optional<privacy::Release> before;
          if (d.released_before) before = d.released_before(id, round);
          if (!before) solving = true;
          privacy::Random random = d.noise->stream(id, round);
          releases[at] = before ? std::move(*before) : d.nodes[at]->step(inboxes[at], random);
          expects(before || releases[at].value.allFinite(), "a finite released value");
        });
        if (solving) failpoint("solved");
      } catch (...) {
        if (solving) mark_failed(d, round, std::current_exception());
        throw;
      }
    };
    step(all_but(waiting, d.nodes.size()));
    timer.into(phases.solve);
    if (round > 0) d.transport->receive(inboxes);
    timer.into(phases.exchange);
    step(waiting);
    timer.into(phases.solve);

    const auto receipts = d.ledger->pay_all(std::move(releases));  // all or none, stored before anything leaves
    const Verdict mine = !receipts                                   ? Verdict::unpaid
                         : reaches_bound(*receipts, d.release_bound) ? Verdict::diverged
                                                                     : Verdict::fine;
    const auto verdict = d.largest ? static_cast<Verdict>(d.largest(static_cast<double>(mine))) : mine;
    if (verdict == Verdict::unpaid) return Outcome::budget_exhausted;
    const std::vector<privacy::Paid>& paid = *receipts;
    for (std::size_t i = 0; i < d.nodes.size(); ++i) d.nodes[i]->commit(inboxes[i], *paid[i].value());
    timer.into(phases.ledger);

    const bool go_on = d.on_round(round, paid);
    timer.into(phases.record);
    if (verdict == Verdict::diverged) return Outcome::diverged;
    if (!d.nodes.front()->has_next()) return Outcome::completed;
    if (!go_on) return Outcome::interrupted;
    waiting = d.transport->send(paid, inboxes);
    timer.into(phases.exchange);
  }
  return Outcome::completed;
}

}  // namespace parley::run
