#include "parley/report/report.h"

#include <algorithm>

#include "parley/base/input_file.h"
#include "parley/report/card/model_card.h"
#include "parley/report/decision/decision.h"
#include "parley/report/drawing/graph_drawing.h"
#include "parley/report/page.h"
#include "parley/report/read.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

std::string default_title(const std::vector<Group>& groups) {
  const Run& run = groups[0].first();
  if (groups.size() > 1) return "Comparison of " + std::to_string(groups.size()) + " settings";
  if (!run.title.empty()) return "Study: " + run.title;
  if (run.planned() && !run.party) return "Plan of a run of " + run.option("algorithm");
  return "Report of " + std::string(run.option("algorithm").empty() ? "a run" : "a run of " + run.option("algorithm"));
}

std::string beginning_of(const std::filesystem::path& file) {
  auto in = opened(file);
  return in ? in->beginning(200) : "";
}

}  // namespace

bool is_report(const std::filesystem::path& file) {
  return beginning_of(file).starts_with(page_signature);
}

bool is_model_card(const std::filesystem::path& file) {
  return beginning_of(file).starts_with(card_signature);
}

bool is_figure(const std::filesystem::path& file) {
  const std::string text = beginning_of(file);
  return std::ranges::any_of(
      std::vector<std::string>{"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\"",
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\"", "series,x,mean,low,high\n",
                               "node,name,records,neighbours,", "node,neighbour\n"},
      [&](const std::string& head) { return text.starts_with(head); });
}

namespace {

View view_of(const Options& options) {
  return {.audience = options.audience, .option = options.shareable_option};
}

Report report_of(const std::vector<Group>& groups, const Options& options) {
  Options titled = options;
  if (titled.title.empty()) titled.title = default_title(groups);
  const std::vector<Figure> all = figures(groups);
  std::vector<Figure> shown;
  for (const Figure& f : all) shown.push_back(thinned(f));
  const bool one = groups.size() == 1 && groups[0].runs.size() == 1 && !groups[0].first().planned();
  Report report{.page = page(groups, shown, titled),
                .card = one ? model_card(groups, titled) : "",
                .figures = {},
                .measured = any_measured(groups),
                .choices = best_choices(groups)};
  for (const Group& g : groups) report.runs += static_cast<int>(g.runs.size());
  for (const Figure& f : all) {
    report.figures.push_back({f.name + ".svg", svg(f.chart)});
    report.figures.push_back({f.name + ".csv", csv(f.chart)});
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].first().nodes.empty()) continue;
    const std::string suffix = groups.size() == 1 ? "" : "-" + std::to_string(i + 1);
    if (groups[i].first().nodes.size() <= most_drawn)
      report.figures.push_back({"graph" + suffix + ".svg", graph_svg(groups[i])});
    report.figures.push_back({"nodes" + suffix + ".csv", nodes_csv(groups[i])});
    report.figures.push_back({"edges" + suffix + ".csv", edges_csv(groups[i])});
  }
  return report;
}

}  // namespace

Report make_report(const std::vector<std::filesystem::path>& folders, const Options& options) {
  return report_of(group_runs(read_runs(folders, view_of(options))), options);
}

Report make_plan_report(const nlohmann::json& record, const Options& options) {
  return report_of(group_runs({read_planned(record, view_of(options))}), options);
}

}  // namespace parley::report
