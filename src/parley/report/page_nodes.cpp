#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/printed.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/drawing/graph_drawing.h"
#include "parley/report/page.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

constexpr std::size_t most_rows = 200, most_groups = 24;

std::string node_table(const Group& group) {
  const Run& run = group.first();
  const auto distances = mean_distances(group);
  const bool names = std::ranges::any_of(run.nodes, [](const Node& n) { return !n.name.empty(); });
  const bool known = std::ranges::any_of(distances, [](double d) { return std::isfinite(d); });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < run.nodes.size(); ++i) order.push_back(i);
  const bool cut = order.size() > most_rows;
  if (cut) {  // the worst: the largest loss, then the largest distance
    const auto of = [](double v) { return std::isfinite(v) ? v : -1; };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) { return std::pair(of(run.nodes[i].epsilon), of(distances[i])); };
      return key(a) > key(b);
    });
    order.resize(most_rows);
  }
  std::vector<std::vector<std::string>> rows = {
      {"node", "records", "neighbours", "ε" + in_brackets(mark_of({&group, 1}))}};
  if (names) rows[0].insert(rows[0].begin() + 1, "party");
  const bool noise = std::ranges::any_of(run.nodes, [](const Node& n) { return std::isfinite(n.noise); });
  if (noise) rows[0].push_back(run.option("noise") == "gamma" ? "noise rate in round 1" : "noise scale in round 1");
  const bool some_lost = std::ranges::any_of(run.nodes, [](const Node& n) { return n.last_round >= 0; });
  if (some_lost) rows[0].push_back("rounds");
  if (known) rows[0].push_back("distance from the model");
  for (const std::size_t i : order) {
    const Node& n = run.nodes[i];
    rows.push_back({n.trainer ? std::to_string(i) + " (trainer)" : std::to_string(i),
                    n.trainer ? "no rows" : count_text(n.records),
                    n.trainer && !std::isfinite(n.degree) ? count_text(static_cast<double>(run.nodes.size() - 1))
                                                          : count_text(n.degree),
                    n.trainer ? "–" : printed_epsilon(n.epsilon)});
    if (names) rows.back().insert(rows.back().begin() + 1, n.name);
    if (noise) rows.back().push_back(value_text(n.noise));
    if (some_lost) rows.back().push_back(n.last_round < 0 ? "all" : "0 to " + std::to_string(n.last_round));
    if (known) rows.back().push_back(std::isfinite(distances[i]) ? fmt::format("{:#.4g}", distances[i]) : "–");
  }
  return table(rows) +
         (cut ? fmt::format("<p class=\"note\">The {} nodes with the largest loss and distance, of {}; the CSV "
                            "file has all.</p>\n",
                            most_rows, count_text(static_cast<double>(run.nodes.size())))
              : "");
}

std::string node_details(const Group& group, std::size_t number) {
  const Run& run = group.first();
  if (run.nodes.empty()) return "<p>The record does not say which nodes there were.</p>\n";
  std::string out = "<div class=\"nodes\">\n<figure class=\"graph-figure\">\n";
  const std::string suffix = number == 0 ? "" : "-" + std::to_string(number + 1);
  if (run.nodes.size() <= most_drawn) {
    out += graph_svg(group);
  } else {
    out += fmt::format(
        "<p>{} nodes and {} edges: more than a drawing can show. The chart of the nodes in order is above.</p>\n",
        count_text(static_cast<double>(run.nodes.size())), count_text(static_cast<double>(run.edges.size())));
  }
  const bool distances = std::ranges::any_of(run.nodes, [](const Node& n) { return std::isfinite(n.distance); });
  out += fmt::format(
      "<figcaption class=\"note\">{}{} {} · {}</figcaption>\n</figure>\n",
      std::string("Who sends to whom. ") +
          (run.guarantee.holds ? "ε is what one " + record::unit_in_words(run.guarantee.rows_per_person) +
                                     " of the node can lose over the whole run. "
           : run.void_claims.any() ? "ε is that of the parties' statements; where none is shown, none holds. "
                                   : "The run is NOT PRIVATE: ε is what secret noise would have cost. "),
      distances && run.nodes.size() <= most_drawn ? std::string("Darker nodes are further from the model") +
                                                        (group.runs.size() > 1 ? ", as a mean over the runs." : ".")
                                                  : "",
      download("nodes" + suffix + ".csv", nodes_csv(group), "nodes as CSV"),
      download("edges" + suffix + ".csv", edges_csv(group), "edges as CSV"));
  return out + node_table(group) + "</div>\n";
}

}  // namespace

std::string nodes_part(const std::vector<Group>& groups) {
  std::string out = "<section id=\"nodes\">\n<h2>Nodes</h2>\n";
  if (groups.size() == 1) return out + node_details(groups[0], 0) + "</section>\n";
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i)
    out += fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", i == 0 ? " open" : "",
                       escaped(groups[i].name), node_details(groups[i], i));
  if (groups.size() > most_groups)
    out += fmt::format(
        "<p class=\"note\">{} more settings are not drawn; make a report of fewer folders to see them.</p>\n",
        groups.size() - most_groups);
  return out + "</section>\n";
}

}  // namespace parley::report
