#include "parley/run/driver.h"

#include <chrono>

#include "parley/base/parallel.h"

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
  const int count = static_cast<int>(d.nodes.size());
  std::vector<privacy::Inbox> inboxes(d.nodes.size());
  Timer timer;
  for (int round = 0; d.nodes.front()->has_next(); ++round) {
    std::vector<privacy::Release> releases(d.nodes.size());
    parallel_for(count, d.threads, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      const int id = d.nodes[at]->id();
      std::optional<privacy::Release> before;
      if (d.released_before) before = d.released_before(id, round);
      privacy::Random random = d.noise->stream(id, round);
      releases[at] = before ? std::move(*before) : d.nodes[at]->step(inboxes[at], random);
    });
    timer.into(phases.solve);

    const auto receipts = d.ledger->pay_all(std::move(releases));  // all or none, stored before anything leaves
    if (!receipts) return Outcome::budget_exhausted;
    const std::vector<privacy::Paid>& paid = *receipts;
    for (std::size_t i = 0; i < d.nodes.size(); ++i) d.nodes[i]->commit(inboxes[i], *paid[i].value());
    timer.into(phases.ledger);

    const bool go_on = d.on_round(round, paid);
    timer.into(phases.record);
    for (const auto& p : paid)
      if (p.value()->size() > 0 && p.value()->cwiseAbs().maxCoeff() >= 0.999 * d.release_bound)
        return Outcome::diverged;
    if (!go_on && d.nodes.front()->has_next()) return Outcome::interrupted;

    inboxes = d.transport->exchange(paid);
    timer.into(phases.exchange);
  }
  return Outcome::completed;
}

}  // namespace parley::run
