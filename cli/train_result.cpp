#include "cli/train_result.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"
#include "parley/run/quality/quality.h"

namespace parley::cli {
namespace {

std::string over(const std::vector<run::Result>& runs, const std::function<double(const run::Result&)>& of,
                 const std::function<std::string(double)>& text) {
  double sum = 0, low = of(runs[0]), high = low;
  for (const auto& r : runs) {
    sum += of(r);
    low = std::min(low, of(r));
    high = std::max(high, of(r));
  }
  const std::string mean = text(sum / static_cast<double>(runs.size()));
  return runs.size() == 1 ? mean : mean + " (" + text(low) + " to " + text(high) + ")";
}

// A row of the result: the figure of the runs, of the pooled optimum, of guessing.
struct Figure {
  std::string name;
  std::function<std::optional<double>(const problem::Quality&)> of;
  std::function<std::string(double)> text;
  std::string guessing;
};

std::vector<Figure> figures_of(const problem::Quality& q) {
  const auto three = [](double x) { return fixed(x, 3); };
  const auto four = [](double x) { return fixed(x, 4); };
  const auto digits = [](double x) { return fmt::format("{:.4g}", x); };
  if (q.mae)
    return {{"root mean square error", [](const auto& x) { return std::optional(x.error); }, digits,
             digits(q.baseline_error)},
            {"mean absolute error", [](const auto& x) { return x.mae; }, digits, "-"},
            {"R²", [](const auto& x) { return x.r_squared; }, four, "0"}};
  const bool several = q.confusion.size() > 2;
  const std::string mean = several ? ", mean over classes" : "";
  return {{"test error", [](const auto& x) { return std::optional(x.error); }, percent, percent(q.baseline_error)},
          {"balanced error", [](const auto& x) { return x.balanced_error; }, percent,
           percent(q.baseline_balanced_error.value_or(0))},
          {"AUC" + mean, [](const auto& x) { return x.auc; }, three, "0.500"},
          {"F1" + mean, [](const auto& x) { return x.f1; }, three, "-"},
          {"log loss", [](const auto& x) { return x.log_loss; }, four, "-"},
          {"Brier score", [](const auto& x) { return x.brier; }, four, "-"}};
}

void add_figures(const run::Summary& s, std::vector<std::vector<std::string>>& rows) {
  if (!s.runs[0].quality) return;
  const auto& pooled = s.simulation.quality_nonprivate;
  rows[0].emplace_back(s.runs[0].quality->mae ? "always the mean" : "larger class");
  for (const Figure& f : figures_of(*s.runs[0].quality)) {
    if (!std::ranges::all_of(s.runs, [&](const auto& r) { return f.of(*r.quality).has_value(); })) continue;
    const std::optional<double> other = pooled ? f.of(*pooled) : std::nullopt;
    rows.push_back({f.name,
                    over(
                        s.runs, [&](const auto& r) { return *f.of(*r.quality); }, f.text),
                    other ? f.text(*other) : "-", f.guessing});
  }
}

// What was found of each class, and the verdict. Of several runs, in how many it is bad.
void print_verdict(const run::Summary& s) {
  if (!s.runs[0].quality) return;
  const problem::Quality& q = *s.runs[0].quality;
  if (s.runs.size() == 1)
    for (const auto& [what, text] :
         run::class_lines(q, run::class_names(s.simulation.holdings.schema_toml, s.simulation.holdings.classes)))
      fmt::print("  {}: {}\n", what, text);
  const auto bad = std::ranges::count_if(s.runs, [](const auto& r) { return r.quality->verdict.no_better; });
  const std::string text = s.runs.size() == 1 ? q.verdict.text
                           : bad == 0
                               ? "better than always guessing in each run"
                               : fmt::format("no better than always guessing in {} of {} runs", bad, s.runs.size());
  fmt::print("  Verdict: {}\n", bad > 0 ? alarm(text) : text);
}

void print_quality(const run::Summary& s) {
  const auto& runs = s.runs;
  std::vector<std::vector<std::string>> rows = {
      {"", runs.size() == 1 ? "this run" : fmt::format("mean of {} runs (range)", runs.size()), "not private, pooled"}};
  add_figures(s, rows);
  rows.push_back({"training loss",
                  over(
                      runs, [](const auto& r) { return *r.last().train_loss; }, [](double x) { return fixed(x, 4); }),
                  std::isnan(s.simulation.train_loss_nonprivate) ? "-" : fixed(s.simulation.train_loss_nonprivate, 4)});
  rows.push_back({"disagreement",
                  over(
                      runs, [](const auto& r) { return r.last().disagreement; },
                      [](double x) { return fmt::format("{:.3g}", x); }),
                  "-"});
  fmt::print("\n{}\n{}", bold("Result"), table(rows));
  print_verdict(s);
}

bool ran_whole(const run::Summary& s) {
  return s.runs.back().outcome == run::Outcome::completed;
}

std::vector<std::vector<std::string>> loss_by_node(const run::Summary& s) {
  const run::Result& last = s.runs.back();
  const auto& plan = s.simulation.plan;
  const auto paper_text = [](const std::optional<double>& e) { return e ? printed_epsilon(*e) : "absent"; };
  std::vector<std::vector<std::string>> rows = {{"node", "records", "neighbours",
                                                 plan.verified_only() ? "ε verified" : "ε proved",
                                                 "ε against all others", "ε as printed"}};
  auto nodes = last.nodes;
  constexpr std::size_t most = 12;
  if (nodes.size() > most) {  // the nodes that lose most; the total is the first
    std::ranges::stable_sort(nodes, std::ranges::greater{}, &run::NodeSummary::epsilon);
    nodes.resize(most);
  }
  for (const auto& n : nodes)
    rows.push_back({std::to_string(n.node), grouped(static_cast<long>(n.records)), std::to_string(n.degree),
                    printed_epsilon(n.epsilon), printed_epsilon(n.epsilon_all_others), paper_text(n.epsilon_paper)});
  if (nodes.size() < last.nodes.size())
    rows.push_back({fmt::format("{} more, with less", last.nodes.size() - nodes.size()), "", "", "", "", ""});
  rows.push_back({"total", grouped(static_cast<long>(s.simulation.holdings.training_rows())), "",
                  printed_epsilon(last.epsilon), printed_epsilon(last.epsilon_all_others),
                  paper_text(ran_whole(s) ? plan.epsilon_paper() : std::nullopt)});
  if (!plan.sharing().on())
    for (auto& row : rows) row.erase(row.begin() + 4);  // the same as beside it
  if (std::ranges::none_of(nodes, [](const auto& n) { return n.epsilon_paper.has_value(); }))
    for (auto& row : rows) row.pop_back();  // absent everywhere: a line below the table says why
  return rows;
}

void print_loss(const run::Summary& s) {
  const auto& plan = s.simulation.plan;
  const bool whole = ran_whole(s);
  fmt::print(
      "\n{} ({}; the total is the largest node's; δ = {})\n{}",
      bold(s.simulation.not_private.empty() ? "Privacy loss"
                                            : "Privacy loss that secret noise and public preprocessing would have"),
      whole                     ? "whole run"
      : plan.nodes[0].delta > 0 ? "whole planned run"
                                : "up to the round where it ended",
      number(plan.nodes[0].delta), table(loss_by_node(s)));
  fmt::print("  {}: {}\n", plan.verified_only() ? "numerically verified, not proved" : "proved by",
             plan.nodes[0].theorem);
  if (whole && plan.epsilon_paper()) fmt::print("  as printed: {}\n", plan.nodes[0].paper_equation);
  if (s.simulation.adjacency == record::Adjacency::as_dealt)
    fmt::print("  {}: {}\n", record::name_of(s.simulation.adjacency),
               record::meaning_of(s.simulation.adjacency, s.simulation.unit.rows_per_person));
}

void print_guarantee(const run::Summary& s) {
  const auto& runs = s.runs;
  const run::Result& last = runs.back();
  const auto& plan = s.simulation.plan;
  const privacy::Sharing& sharing = plan.sharing();
  fmt::print("\n  {} learns at most ε = {}, δ = {} about any one {}{} ({}){}.\n",
             sharing.on() ? fmt::format("Whoever sees every message, with up to {} of the {} parties,",
                                        sharing.colluders, sharing.parties)
                          : "Whoever sees every message of this run",
             printed_epsilon(last.epsilon), number(plan.nodes[0].delta),
             record::unit_in_words(s.simulation.unit.rows_per_person), sharing.on() ? " of another party" : "",
             record::name_of(s.simulation.adjacency), plan.verified_only() ? ", by a numerically verified bound" : "");
  if (sharing.on())
    fmt::print("  If all other parties pool what they know: ε = {} (docs/proofs/shared-noise.md).\n",
               printed_epsilon(last.epsilon_all_others));
  if (const std::string several = run::several_parties_in_words(plan); !several.empty())
    fmt::print("  {} (docs/use/person.md).\n", several);
  if (const std::string rows = run::not_covered(s.simulation); !rows.empty()) fmt::print("  Not covered: {}.\n", rows);
  if (last.epsilon_all_others > 10)
    fmt::print("  {} odds of any statement about a {} may change by a factor e^{:.0f}: no meaningful protection.\n",
               sharing.on() ? "For all other parties together, the" : "The",
               s.simulation.unit.rows_per_person > 0 ? "person" : "record", std::ceil(last.epsilon_all_others));
  if (runs.size() > 1)
    fmt::print("  ε and δ are per run: whoever sees all {} runs learns up to {} times as much.\n", runs.size(),
               runs.size());
}

void print_end(const run::Summary& s) {
  const run::Result& last = s.runs.back();
  if (!ran_whole(s))
    fmt::print("\n  {} after round {}{}\n", alarm(run::name_of(last.outcome)), last.last().round,
               last.outcome == run::Outcome::diverged ? ": a released coordinate reached the public bound; raise "
                                                        "--damping or --penalty, or lower the noise; there is no model"
               : last.outcome == run::Outcome::interrupted && last.record == s.record  // not one of --repeat
                   ? ": the same command with --resume --out " + s.record + " goes on; nothing is charged twice"
                   : "");
  fmt::print("\nRecord: {} (private: a simulation measures on everyone's rows)\n", s.record);
  if (last.outcome != run::Outcome::diverged) fmt::print("Model:  {}/model.json\n", last.record);
  if (!last.coefficients.empty()) fmt::print("Table:  {}/{}\n", last.record, run::coefficients_file);
}

void print_coefficients(const run::Summary& s) {
  const run::Result& last = s.runs.back();
  if (last.coefficients.empty()) return;
  fmt::print("\n{}{}\n{}  {}\n", bold("Coefficients"), s.runs.size() > 1 ? " (of the last run)" : "",
             table(run::coefficients_table(run::to_json(last.coefficients))),
             run::assumptions_of_intervals(s.simulation.plan));
}

}  // namespace

void print_result(const run::Summary& s) {
  const auto& not_private = s.simulation.not_private;
  print_quality(s);
  print_coefficients(s);
  if (!not_private.empty()) fmt::print("\n  {}\n", alarm("NOT PRIVATE: " + join(not_private, "; ")));
  if (s.simulation.plan.noisy()) print_loss(s);
  if (not_private.empty()) print_guarantee(s);
  print_end(s);
}

}  // namespace parley::cli
