#include <fmt/format.h>

#include <cmath>

#include "parley/report/decision/decision.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

std::string figure_of(const Metrics& m) {
  if (std::isfinite(m.auc)) return fmt::format("AUC {:.3f} (guessing: 0.5). ", m.auc);
  if (std::isfinite(m.r_squared)) return fmt::format("R² {:.3f} (guessing: 0). ", m.r_squared);
  return "";
}

}  // namespace

// What a record measures, or a party beside it; a verdict of the run itself comes first.
std::optional<Guessing> against_guessing(const Group& g) {
  const Run& run = g.first();
  const Metrics& m = run.metrics;
  const double tested = over_runs(g, [](const Run& r) { return r.metrics.test_error; }).mean;
  const bool own = !std::isfinite(tested);
  const double error = own ? m.own_error : tested;
  if (!std::isfinite(error) || !std::isfinite(m.test_error_guessing)) return std::nullopt;
  const double better = m.test_error_guessing - error;
  const bool numbers = of_numbers(run), alone = g.runs.size() == 1;
  const bool told = alone && m.no_better.has_value();  // by exact tests on these rows
  const Verdict verdict = verdict_on_worth(m.no_better.value_or(true), "");
  const std::string value = told          ? verdict.word
                            : better <= 0 ? "no better"
                            : numbers     ? value_text(better) + " better"
                                          : fmt::format("{:.1f} points better", 100 * better);
  std::string small = alone && !m.verdict.empty() ? "The model is " + m.verdict + ". " : "";
  if (alone) small += figure_of(m);
  small += std::string(numbers ? "Root mean square error, in the column's own unit: " : "Wrong: ") +
           error_text(run, error) +
           (numbers ? "; always guessing the mean: " : "; always guessing the larger class: ") +
           error_text(run, m.test_error_guessing);
  if (own) small += "; on this party's " + own_rows_in_words(run);
  return Guessing{value, small, told ? std::optional(verdict.light) : std::nullopt};
}

std::string guessing_card(const Group& g) {
  const auto said = against_guessing(g);
  return said ? card("model against guessing", said->value, said->words, said->light) : "";
}

}  // namespace parley::report
