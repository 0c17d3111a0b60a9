#include "parley/experiment/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/csv.h"
#include "parley/base/digest.h"
#include "parley/base/text.h"
#include "parley/experiment/cell.h"

namespace parley::experiment {
namespace {

using nlohmann::json;

constexpr const char* format_version = "parley-reproduce-1";

json finite(double v) {
  return std::isfinite(v) ? json(v) : json();
}

std::string file_of(const Experiment& e, const Panel& p) {
  return e.name + (e.panels.size() > 1 ? "-" + p.name : "") + ".svg";
}

bool shows(const Panel& p, const Measured& m) {
  return (p.series.empty() || std::ranges::find(p.series, m.series) != p.series.end()) &&
         (p.values.empty() || !m.value || std::ranges::find(p.values, *m.value) != p.values.end());
}

double x_of(const Panel& p, const Measured& m) {
  if (p.x == Axis::epsilon) return m.facts.epsilon;
  if (p.x == Axis::epsilon_paper) return m.facts.epsilon_paper.value_or(nothing);
  return m.value.value_or(nothing);
}

struct Point {
  const Measured* cell;
  double x;
  Spread y;
};

// The lines of a panel: over rounds one per cell; otherwise one per series, with a point per cell.
std::vector<std::pair<std::string, std::vector<Point>>> lines(const Outcome& o, const Panel& p) {
  std::vector<std::pair<std::string, std::vector<Point>>> all;
  for (const Measured& m : o.measured) {
    if (!shows(p, m)) continue;
    if (p.x == Axis::round) {
      all.emplace_back(p.values.size() == 1 ? m.series : m.legend, std::vector<Point>{});
      for (long t = p.from; t <= m.rounds(); ++t)
        all.back().second.push_back({&m, static_cast<double>(t), m.at_round(p.y, static_cast<std::size_t>(t))});
      continue;
    }
    if (all.empty() || all.back().first != m.series) all.emplace_back(m.series, std::vector<Point>{});
    all.back().second.push_back({&m, x_of(p, m), spread(m.values(p.y))});
  }
  return all;
}

std::string x_label(const Experiment& e, const Panel& p) {
  if (p.x == Axis::round) return "round";
  if (p.x == Axis::sweep) return e.sweep->label;
  return facts(p.x == Axis::epsilon ? Metric::epsilon : Metric::epsilon_paper).label + ", whole run";
}

std::string cell_number(double v) {
  return std::isfinite(v) ? number(v) : "";
}

json spread_json(const Spread& s) {
  return {{"mean", finite(s.mean)}, {"min", finite(s.low)}, {"max", finite(s.high)}};
}

}  // namespace

Outcome judged(Experiment e, std::vector<Measured> measured, double seconds) {
  Outcome o{.experiment = std::move(e), .measured = std::move(measured), .seconds = seconds};
  for (const Judge& j : o.experiment.judges) o.judgements.push_back(decide(j, o.measured));
  return o;
}

// What whoever sees only the picture must know of its epsilon.
std::string caveats(const Outcome& o, const Panel& p) {
  std::set<std::string> reasons, adjacency;
  for (const Measured& m : o.measured) {
    if (!shows(p, m)) continue;
    reasons.insert(m.facts.not_private.begin(), m.facts.not_private.end());
    if (m.facts.noisy && m.facts.adjacency != record::Adjacency::replace_one)
      adjacency.insert(std::string(record::name_of(m.facts.adjacency)));
  }
  std::string text = reasons.empty() ? "" : "NOT PRIVATE: " + join({reasons.begin(), reasons.end()}, "; ");
  for (const std::string& word : adjacency) text += (text.empty() ? "" : "; ") + ("epsilon is for rows " + word);
  return text;
}

report::Chart chart(const Outcome& o, const Panel& p) {
  report::Chart c{.title = p.title,
                  .x_label = x_label(o.experiment, p),
                  .y_label = facts(p.y).label,
                  .log_x = p.log_x,
                  .log_y = p.log_y,
                  .points = p.x != Axis::round};
  for (const auto& [name, points] : lines(o, p)) {
    const bool mark = p.x != Axis::round && points.size() == 1 && !std::isfinite(points.front().x);
    if (mark) {  // a series outside the sweep: a level to compare with
      if (std::isfinite(points.front().y.mean)) c.marks.push_back({.name = name, .y = points.front().y.mean});
      continue;
    }
    report::Line line{.name = name};
    bool ranged = false;
    for (const Point& point : points) {
      const bool on_log = !(p.log_y && point.y.mean <= 0) && !(p.log_x && point.x <= 0);
      line.x.push_back(point.x);
      line.mean.push_back(on_log ? point.y.mean : nothing);
      line.low.push_back(on_log ? point.y.low : nothing);
      line.high.push_back(on_log ? point.y.high : nothing);
      ranged = ranged || point.y.high > point.y.low;
    }
    if (!ranged) line.low.clear(), line.high.clear();
    c.lines.push_back(std::move(line));
  }
  c.note = caveats(o, p);
  // One optimum per problem that the panel shows; where they differ, there is no one line to draw.
  std::vector<double> best;
  for (const Measured& m : o.measured)
    if (shows(p, m) && m.optimum.contains(p.y)) best.push_back(spread(m.optimum.at(p.y)).mean);
  if (!best.empty() && std::ranges::max(best) - std::ranges::min(best) <= 1e-6 * std::abs(best.front()))
    c.marks.push_back({.name = "optimum, not private", .y = best.front()});
  return c;
}

std::string csv(const Outcome& o) {
  std::string text =
      "panel,y,series,x_is,x,mean,low,high,runs,nodes,epsilon_proved,epsilon_as_printed,delta,adjacency,not_private\n";
  for (const Panel& p : o.experiment.panels)
    for (const auto& [name, points] : lines(o, p))
      for (const Point& point : points) {
        const Facts& f = point.cell->facts;
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(p.name), facts(p.y).name,
                            csv_cell(name), csv_cell(x_label(o.experiment, p)), cell_number(point.x),
                            cell_number(point.y.mean), cell_number(point.y.low), cell_number(point.y.high),
                            point.cell->runs.size(), f.nodes, cell_number(f.epsilon),
                            f.epsilon_paper ? number(*f.epsilon_paper) : "", f.noisy ? number(f.delta) : "",
                            f.noisy ? record::name_of(f.adjacency) : "", csv_cell(join(f.not_private, "; ")));
      }
  return text;
}

std::string fingerprint(const Experiment& e) {
  return hex(sha256(std::string(format_version) + (e.quick ? " quick\n" : " whole\n") + e.text));
}

std::vector<std::string> chart_files(const Experiment& e) {
  std::vector<std::string> files;
  for (const Panel& p : e.panels) files.push_back(file_of(e, p));
  return files;
}

json to_json(const Outcome& o) {
  const Experiment& e = o.experiment;
  json judgements = json::array(), runs = json::array(), reasons = json::array();
  for (const Judgement& j : o.judgements)
    judgements.push_back({{"says", j.says},
                          {"finding", in_words(j.finding)},
                          {"measured", j.measured},
                          {"counts_for", j.claim ? "claim" : "ours"}});
  for (const Measured& m : o.measured) {
    const Facts& f = m.facts;
    json one = {{"name", m.name},
                {"series", m.series},
                {"value", m.value ? json(*m.value) : json()},
                {"runs", m.runs.size()},
                {"nodes", f.nodes},
                {"records", {f.least_records, f.most_records}},
                {"test_rows", f.test_rows},
                {"features", f.features},
                {"rounds", f.rounds},
                {"private_rounds", f.private_rounds},
                {"epsilon", finite(f.epsilon)},
                {"epsilon_paper", f.epsilon_paper ? json(*f.epsilon_paper) : json()},
                {"delta", f.noisy ? json(f.delta) : json()},
                {"adjacency", f.noisy ? json(record::name_of(f.adjacency)) : json()},
                {"noise_level", finite(f.noise_level)},
                {"train_loss", spread_json(spread(m.values(Metric::train_loss)))},
                {"test_error", spread_json(spread(m.values(Metric::test_error)))},
                {"train_loss_nonprivate", finite(spread(m.optimum.at(Metric::train_loss)).mean)},
                {"test_error_nonprivate", finite(spread(m.optimum.at(Metric::test_error)).mean)},
                {"seconds", finite(spread(m.values(Metric::seconds)).mean)},
                {"outcomes", m.outcomes},
                {"warnings", f.warnings}};
    if (!f.epsilon_paper_absent.empty()) one["epsilon_paper_absent"] = f.epsilon_paper_absent;
    runs.push_back(std::move(one));
    for (const std::string& why : f.not_private)
      if (std::ranges::find(reasons, json(why)) == reasons.end()) reasons.push_back(why);
  }
  return {{"format", format_version},
          {"name", e.name},
          {"title", e.title},
          {"paper", e.paper},
          {"figure", e.figure},
          {"claim", e.claim},
          {"verdict", verdict(o.judgements)},
          {"judgements", judgements},
          {"notes", e.notes},
          {"quick", e.quick},
          {"repeats", e.repeats},
          {"repeats_over", e.over_splits ? "split" : "noise"},
          {"runs", runs},
          {"not_private", reasons},
          {"seconds", o.seconds},
          {"charts", chart_files(e)},
          {"fingerprint", fingerprint(e)}};
}

void write(const Outcome& o, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Panel& p : o.experiment.panels) write_file(folder / file_of(o.experiment, p), report::svg(chart(o, p)));
  write_file(folder / (o.experiment.name + ".csv"), csv(o));
  write_file(folder / (o.experiment.name + ".json"), to_json(o).dump(1) + "\n");  // last: with it, it is finished
}

json stored(const Experiment& e, const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto here = [&](const std::string& file) { return std::filesystem::exists(folder / file, ignored); };
  if (!here(e.name + ".json") || !here(e.name + ".csv") || !std::ranges::all_of(chart_files(e), here)) return {};
  const json j = json::parse(read_file(folder / (e.name + ".json"), "a result"), nullptr, false);
  return j.is_object() && j.value("fingerprint", "") == fingerprint(e) ? j : json();
}

}  // namespace parley::experiment
