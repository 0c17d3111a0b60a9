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

// By the exact tests of each run: of how many runs it is no better.
struct Told {
  std::size_t runs = 0, no_better = 0;
};

Told told_by(const Group& g) {
  Told told;
  for (const Run& run : g.runs)
    if (run.metrics.no_better) ++told.runs, told.no_better += *run.metrics.no_better ? 1 : 0;
  return told;
}

std::string word_of(const Told& told, const Verdict& verdict) {
  if (told.runs == 1) return verdict.word;
  return fmt::format("{} in {} of {}", verdict.word, told.no_better > 0 ? told.no_better : told.runs, told.runs);
}

}  // namespace

// What a record measures, or a party beside it; a verdict of the run itself comes first.
std::optional<Guessing> against_guessing(const Group& g) {
  const Run& run = g.first();
  const Metrics& m = run.metrics;
  const double tested = over_runs(g, [](const Run& r) { return r.judged_error(); }).mean;
  const bool own = !std::isfinite(tested);
  const double error = own ? m.own_error : tested;
  const bool balanced = !own && run.judged_by_balanced_error();
  const double guessing = balanced ? run.judged_guessing() : m.test_error_guessing;
  if (!std::isfinite(error) || !std::isfinite(guessing)) return std::nullopt;
  const double better = guessing - error;
  const bool numbers = of_numbers(run), alone = g.runs.size() == 1;
  const Told tests = told_by(g);
  const bool told = tests.runs == g.runs.size() && !balanced;         // by exact tests on these rows, of the test error
  const Verdict verdict = verdict_on_worth(tests.no_better > 0, "");  // one run that is none is enough
  const std::string value = told          ? word_of(tests, verdict)
                            : better <= 0 ? "no better"
                            : numbers     ? value_text(better) + " better"
                                          : fmt::format("{:.1f} points better", 100 * better);
  std::string small = alone && !m.verdict.empty() ? "The model is " + m.verdict + ". " : "";
  if (alone) small += figure_of(m);
  small += std::string(numbers    ? "Root mean square error, in the column's own unit: "
                       : balanced ? "Balanced error: "
                                  : "Wrong: ") +
           error_text(run, error) +
           (numbers    ? "; always guessing the mean: "
            : balanced ? "; always guessing one class: "
                       : "; always guessing the larger class: ") +
           error_text(run, guessing);
  if (own) small += "; on this party's " + own_rows_in_words(run);
  return Guessing{value, small, told ? std::optional(verdict.light) : std::nullopt};
}

std::string guessing_card(const Group& g) {
  const auto said = against_guessing(g);
  return said ? card("model against guessing", said->value, said->words, said->light) : "";
}

}  // namespace parley::report
