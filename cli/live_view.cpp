#include "cli/live_view.h"

#include <fmt/core.h>

#include "parley/base/printed.h"

namespace parley::cli {

LiveView::LiveView(bool quiet, Shown shown)
    : shown_(std::move(shown)), progress_(quiet, shown_.repeats * (shown_.rounds + 1)) {}

void LiveView::show(int repeat, const run::RoundMetrics& m) {
  const long step = repeat * (shown_.rounds + 1) + m.round + 1, steps = shown_.repeats * (shown_.rounds + 1);
  const double done = static_cast<double>(step) / static_cast<double>(steps);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (m.round == 0) losses_.clear();
  if (m.train_loss) losses_.push_back(*m.train_loss);
  const std::string which =
      (shown_.repeats > 1 ? fmt::format("run {}/{}  ", repeat + 1, shown_.repeats) : "") +
      fmt::format("round {:>{}}/{}", m.round, std::to_string(shown_.rounds).size(), shown_.rounds);
  const std::string error = m.test_error ? fmt::format("  error {:.4f}", *m.test_error) : "";

  std::string plain = which + "  " + bar(done, 20);
  if (m.train_loss) plain += fmt::format("  loss {:.4f}", *m.train_loss);
  plain += error;
  if (shown_.budget) plain += "  ε " + printed_epsilon(m.epsilon) + shown_.mark;

  std::vector<std::string> lines = {fmt::format("{}  {}  {}", bar(done, 24), which, time_left(seconds, done))};
  if (!losses_.empty())
    lines.push_back(fmt::format("{:<24}  loss {:.4f}{}", sparkline(losses_, 24), losses_.back(), error));
  if (shown_.budget)
    lines.push_back(fmt::format("{}  ε {} of {} spent{}", bar(m.epsilon / *shown_.budget, 24),
                                printed_epsilon(m.epsilon), printed_epsilon(*shown_.budget), shown_.mark));
  progress_.show(step, lines, plain);
}

}  // namespace parley::cli
