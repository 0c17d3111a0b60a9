#include "parley/report/figures.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/report/drawing/graph_drawing.h"
#include "parley/report/quality_page.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

constexpr std::size_t most_lines = 8;

double epsilon_of(const Run& run) {
  return run.covered_epsilon();
}

// More lines than a reader can follow: those of one ε (the one with most groups, in the middle), then the first ones.
std::vector<const Group*> lines_to_show(const std::vector<Group>& groups) {
  std::vector<const Group*> shown;
  for (const Group& g : groups) shown.push_back(&g);
  if (groups.size() <= most_lines) return shown;
  std::map<double, int> count;
  for (const Group& g : groups)
    if (std::isfinite(epsilon_of(g.first()))) ++count[std::round(1e6 * epsilon_of(g.first())) / 1e6];
  if (count.size() > 1) {
    const double middle = std::next(count.begin(), static_cast<long>(count.size() / 2))->first;
    std::erase_if(shown, [&](const Group* g) { return !(std::abs(epsilon_of(g->first()) - middle) <= 1e-6); });
  }
  if (shown.size() > most_lines) shown.resize(most_lines);
  return shown;
}

// Many nodes: in order, in place of a drawing.
Chart nodes_in_order(const Group& group) {
  const auto sorted = [&](double Node::* value, const std::string& name) {
    Line line{.name = name};
    for (const Node& n : group.first().nodes)
      if (std::isfinite(n.*value)) line.mean.push_back(n.*value);
    std::ranges::sort(line.mean);
    for (std::size_t i = 0; i < line.mean.size(); ++i)
      line.x.push_back(100 * (static_cast<double>(i) + 0.5) / static_cast<double>(line.mean.size()));
    return line;
  };
  Chart chart{.title = "Nodes in the order of their disagreement",
              .x_label = "share of nodes, %",
              .y_label = "distance from the model"};
  chart.lines.push_back(sorted(&Node::distance, "distance from the model"));
  if (!chart.lines[0].x.empty()) return chart;
  chart.title = "Nodes in the order of their privacy loss";
  chart.y_label = "ε of the node" + in_brackets(mark_of({&group, 1}));
  chart.lines[0] = sorted(&Node::epsilon, chart.y_label);
  return chart;
}

// Where the parts of a run that went on after a loss begin.
std::vector<Step> steps_of(const std::vector<const Group*>& shown) {
  std::vector<Step> steps;
  if (shown.size() != 1) return steps;  // of several runs the lines would say nothing
  const Run& run = shown[0]->first();
  for (std::size_t p = 1; p < run.parts.size(); ++p)
    steps.push_back({.name = "part " + std::to_string(p + 1), .x = static_cast<double>(run.parts[p].first)});
  return steps;
}

// Runs of 2,000 turns beside runs of 50 rounds: the share of the planned run is what they have in common.
void compare_by_share(Chart& chart, const std::vector<const Group*>& drawn) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    lengths.push_back(std::max(static_cast<double>(drawn[i]->first().planned_rounds()), chart.lines[i].x.back()));
  if (lengths.empty() || std::ranges::max(lengths) == std::ranges::min(lengths)) return;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (double& x : chart.lines[i].x) x *= 100 / std::max(1.0, lengths[i]);
  chart.x_label = "share of the run, %";
  constexpr std::string_view by_round = " by round";
  if (const auto at = chart.title.find(by_round); at != std::string::npos)
    chart.title.replace(at, by_round.size(), " over the run");
}

class Maker {
 public:
  explicit Maker(const std::vector<Group>& groups) : groups_(groups), shown_(lines_to_show(groups)) {
    for (const Group& g : groups) most_runs_ = std::max(most_runs_, g.runs.size());
  }

  std::vector<Figure> make() {
    convergence("test-error", "Test error by round", "test error", &Round::test_error, &Metrics::test_error_pooled,
                of_numbers(groups_[0].first()) ? "Root mean square error on the test rows."
                                               : "Share of test rows that the model of a round gets wrong.");
    convergence("training-loss", "Training loss by round", "training loss", &Round::train_loss,
                &Metrics::train_loss_pooled, "Mean loss over all nodes' training rows.");
    convergence("disagreement", "Disagreement by round", "largest distance of a node from the model",
                &Round::disagreement, nullptr,
                "How far the node that differs most is from the common model. It falls where the nodes come to agree; "
                "noise keeps it above zero.");
    convergence(
        "movement", "Movement of the released values by round", "distance from the round before", &Round::movement,
        nullptr,
        "How far the centre of the released values (of a party's own record: its values) moves in a round. A run "
        "that has converged moves only by its noise; rounds that touch no rows move least.");
    spent();
    frontier();
    many_nodes();
    worth();
    const std::string stamp = join(stamps(groups_), "; ");
    for (Figure& f : made_) f.chart.note = stamp;  // a figure is shown without its page, too
    return std::move(made_);
  }

 private:
  std::string repeated() const { return most_runs_ > 1 ? " Lines are means over runs, shaded bands their range." : ""; }
  static std::string in_parts(const Chart& chart) {
    return chart.steps.empty() ? "" : " The dotted line is where the others went on without a party that was lost.";
  }
  std::string mark() const { return in_brackets(mark_of(groups_)); }  // on every axis of ε
  std::string left_out() const {
    return shown_.size() == groups_.size() ? ""
                                           : " Shown are " + std::to_string(shown_.size()) + " of " +
                                                 std::to_string(groups_.size()) + " settings; the table has all.";
  }

  void convergence(const char* name, const char* title, const char* y_label, double Round::* value,
                   double Metrics::* optimum, const char* note) {
    Chart chart{.title = title, .x_label = "round", .y_label = y_label, .steps = steps_of(shown_)};
    std::vector<double> values, pooled;
    std::vector<const Group*> drawn;
    for (const Group* g : shown_) {
      Line line = over_rounds(*g, [&](const Round& r) { return r.*value; });
      if (line.x.empty()) continue;
      values.insert(values.end(), line.mean.begin(), line.mean.end());
      chart.lines.push_back(std::move(line));
      drawn.push_back(g);
      if (optimum != nullptr)
        for (const Run& run : g->runs) pooled.push_back(run.metrics.*optimum);
    }
    if (chart.lines.empty()) return;
    compare_by_share(chart, drawn);
    std::erase_if(chart.steps, [&](const Step& s) { return s.x < chart.lines[0].x.front(); });
    // Distances span decades: a logarithmic axis, on which the start (all nodes at one point: 0) has no place.
    const bool distance = optimum == nullptr;
    std::erase_if(values, [](double v) { return v <= 0; });
    if (distance && !values.empty()) chart.log_y = std::ranges::max(values) > 5 * std::ranges::min(values);
    if (const Spread s = spread(pooled); s.count > 0)
      chart.marks.push_back(
          {.name = s.high - s.low < 1e-3 * s.mean ? "not private, pooled rows" : "not private, pooled rows (mean)",
           .y = s.mean});
    std::string words = note + repeated() + left_out() + in_parts(chart);
    if (!chart.marks.empty()) words += " The dashed line is what pooling all rows without any privacy would reach.";
    made_.push_back({.name = name, .chart = std::move(chart), .note = std::move(words)});
  }

  void spent() {
    Chart chart{.title = "Privacy spent by round",
                .x_label = "round",
                .y_label = "ε spent so far, largest of all nodes" + mark()};
    chart.steps = steps_of(shown_);
    std::set<double> budgets;
    std::vector<const Group*> drawn;
    for (const Group* g : shown_) {
      Line line = over_rounds(*g, [](const Round& r) { return r.epsilon; });
      if (line.x.empty()) continue;
      chart.lines.push_back(std::move(line));
      drawn.push_back(g);
      const double planned = g->first().guarantee.epsilon_planned;
      if (std::isfinite(planned)) budgets.insert(printed_epsilon_value(planned));
    }
    if (chart.lines.empty()) return;
    compare_by_share(chart, drawn);
    const std::string words = mark().empty() ? "planned for the whole run: ε = " : "planned: ε = ";  // room on a phone
    for (const double budget : budgets)
      if (budgets.size() <= 4) chart.marks.push_back({.name = words + printed_epsilon(budget) + mark(), .y = budget});
    std::string note =
        "Flat stretches are rounds that touch no rows and cost nothing. The guarantee is for the whole planned run; "
        "the "
        "line shows what the rounds so far amount to.";
    for (const Group* g : shown_)
      if (!g->first().guarantee.holds) {
        note += " A NOT PRIVATE run spends more than this: the line is what secret noise would have cost.";
        break;
      }
    note += left_out() + in_parts(chart);
    made_.push_back({.name = "privacy-spent", .chart = std::move(chart), .note = std::move(note)});
  }

  // Test error at the end against ε: one line per algorithm, a point per budget.
  void frontier() {
    std::map<std::string, std::map<double, Spread>> lines;
    std::vector<double> pooled;
    std::set<double> epsilons;
    for (const Group& g : groups_) {
      const Spread error = over_runs(g, [](const Run& r) { return r.metrics.test_error; });
      const double epsilon = printed_epsilon_value(epsilon_of(g.first()));  // as printed: 0.99999… was asked for as 1
      if (error.count == 0 || !std::isfinite(epsilon)) continue;
      lines[g.algorithm][epsilon] = error;
      epsilons.insert(epsilon);
      for (const Run& run : g.runs) pooled.push_back(run.metrics.test_error_pooled);
    }
    if (epsilons.size() < 2) return;
    Chart chart{.title = "Test error against privacy loss",
                .x_label = "ε of the whole run" + mark(),
                .y_label = "test error at the end",
                .log_x = *epsilons.begin() > 0 && *epsilons.rbegin() > 3 * *epsilons.begin(),
                .points = true};
    for (const auto& [name, points] : lines) {
      Line line{.name = name.empty() ? "test error" : name};
      for (const auto& [epsilon, error] : points) {
        line.x.push_back(epsilon);
        line.mean.push_back(error.mean);
        line.low.push_back(error.low);
        line.high.push_back(error.high);
      }
      chart.lines.push_back(std::move(line));
    }
    if (const Spread s = spread(pooled); s.count > 0)
      chart.marks.push_back({.name = "not private, pooled rows", .y = s.mean});
    made_.push_back({.name = "frontier",
                     .chart = std::move(chart),
                     .note = "What accuracy costs in privacy: further left is more private, lower is more accurate. "
                             "Dots are means over runs, whiskers their range."});
  }

  void many_nodes() {
    for (const Group* g : shown_) {
      if (g->first().nodes.size() <= most_drawn) continue;
      Chart chart = nodes_in_order(*g);
      if (chart.lines[0].x.empty()) continue;
      if (!g->name.empty()) chart.title += ": " + g->name;
      const auto number = static_cast<std::size_t>(g - groups_.data()) + 1;
      made_.push_back(
          {.name = "nodes-in-order" + (groups_.size() > 1 ? "-" + std::to_string(number) : ""),
           .chart = std::move(chart),
           .note = "Each node is one step from left to right. A steep right end: a few nodes differ from the others."});
    }
  }

  // Of one setting; its runs, if they are few. Only its owner's Run has it.
  void worth() {
    if (groups_.size() != 1) return;
    const std::vector<Run>& runs = groups_[0].runs;
    std::vector<std::pair<std::string, Roc>> curves;
    std::vector<std::pair<std::string, std::vector<CalibrationBin>>> bins;
    for (std::size_t i = 0; i < runs.size() && i < most_lines - 1; ++i) {
      const std::string name = runs.size() == 1 ? "this model" : "run " + std::to_string(i + 1);
      const Metrics& m = runs[i].metrics;
      if (!m.roc.found.empty()) curves.emplace_back(name, m.roc);
      if (!m.calibration.empty()) bins.emplace_back(name, m.calibration);
    }
    if (!curves.empty()) made_.push_back(roc_figure(curves));
    if (!bins.empty()) made_.push_back(calibration_figure(bins));
  }

  const std::vector<Group>& groups_;
  std::vector<const Group*> shown_;
  std::size_t most_runs_ = 0;
  std::vector<Figure> made_;
};

}  // namespace

Figure thinned(Figure figure) {
  constexpr std::size_t most = 2000;
  std::size_t every = 1;
  for (const Line& line : figure.chart.lines) every = std::max(every, (line.x.size() + most - 1) / most);
  if (every == 1) return figure;
  for (Line& line : figure.chart.lines)
    for (auto* values : {&line.x, &line.mean, &line.low, &line.high}) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < values->size(); ++i)
        if (i % every == 0 || i + 1 == values->size()) (*values)[kept++] = (*values)[i];
      values->resize(kept);
    }
  figure.note += " Every " + std::to_string(every) + "th point is shown; parley report --figures writes all.";
  return figure;
}

std::vector<Figure> figures(const std::vector<Group>& groups) {
  return Maker(groups).make();
}

}  // namespace parley::report
