#include "parley/run/study.h"

#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/metrics.h"
#include "parley/problem/solve.h"

namespace parley::run {

using nlohmann::json;

namespace {

std::string stamp(const Study& s) {
  return s.not_private.empty() ? "" : "NOT PRIVATE: " + join(s.not_private, "; ");
}

}  // namespace

Study prepare(const TrainOptions& o) {
  data::Holdings holdings = data::load(o.data);
  const bool regression_loss = o.algorithm.loss == "huber";
  if (holdings.regression != regression_loss)
    throw Error({.what = holdings.regression ? "the label is a number, the loss is for two classes"
                                             : "the label has two classes, the loss is for numbers",
                 .value = o.algorithm.loss,
                 .allowed = holdings.regression ? "huber" : "logistic, huber-hinge",
                 .where = "option --loss",
                 .fix = "choose a loss that fits the label in the schema"});
  const int nodes = static_cast<int>(holdings.nodes.size());
  if (nodes < 2)
    throw Error({.what = "one node has nobody to talk to",
                 .value = std::to_string(nodes),
                 .allowed = ">= 2",
                 .where = "option --nodes",
                 .fix = "use at least two nodes"});
  network::Graph graph = network::make_graph(o.graph, nodes);
  algorithm::Setting setting{
      .degree = graph.degrees(), .records = {}, .features = static_cast<long>(holdings.test.features)};
  for (const auto& rows : holdings.nodes) setting.records.push_back(static_cast<double>(rows.count()));
  algorithm::Plan plan = algorithm::make_plan(o.algorithm, setting);

  Study study{.holdings = std::move(holdings), .graph = std::move(graph), .plan = std::move(plan)};
  if (o.data.split == "column" || o.data.split == "label-skewed")
    study.plan.warnings.push_back(
        "--split " + o.data.split +
        " reads rows to deal them: the guarantee is for rows as dealt, and in reality every party holds its own");
  if (!study.plan.noisy()) study.not_private.push_back("no noise");
  if (o.engine.seed && study.plan.noisy())
    study.not_private.push_back("noise from seed " + std::to_string(*o.engine.seed));
  if (!study.holdings.not_public.empty()) study.not_private.push_back(study.holdings.not_public);
  double scale = 0;
  for (int i = 0; i < nodes; ++i) {
    const algorithm::Schedule& s = study.plan.nodes[static_cast<std::size_t>(i)];
    const data::Rows& rows = study.holdings.nodes[static_cast<std::size_t>(i)];
    study.problems.push_back({.rows = &rows, .loss = s.loss, .weight = s.weight, .regularization = s.regularization});
    scale += s.weight * static_cast<double>(rows.count());
  }
  study.optimum = problem::centralised_optimum(study.problems, {.tolerance = 1e-11 * scale}).f;
  for (const auto& p : study.problems)
    study.train_loss_nonprivate += problem::mean_loss(*p.rows, p.loss, study.optimum) / nodes;
  if (study.holdings.test.count() > 0)
    study.test_error_nonprivate = problem::test_error(study.holdings.test, study.problems[0].loss, study.optimum);
  return study;
}

json privacy_json(const Study& s, double spent, bool whole_run) {
  const auto& first = s.plan.nodes.front();
  const bool printed = whole_run && s.plan.epsilon_paper();
  json j = {{"epsilon", s.plan.noisy() ? json(spent) : json()},
            {"epsilon_planned", s.plan.noisy() ? json(s.plan.epsilon()) : json()},
            {"epsilon_paper", printed ? json(*s.plan.epsilon_paper()) : json()},
            {"delta", s.plan.noisy() ? json(first.delta) : json()},
            {"bound", s.plan.verified_only() ? "numerically verified" : "proved"},
            {"adjacency", "one record of one node is replaced; the numbers of records are public"},
            {"theorem", s.plan.noisy() ? first.theorem : ""},
            {"private", s.not_private.empty()},
            {"stamp", stamp(s)}};
  if (!printed) j["epsilon_paper_absent"] = whole_run ? s.plan.epsilon_paper_absent() : "the run ended early";
  return j;
}

json header_json(const Study& s, const TrainOptions& options, const std::string& outcome) {
  TrainOptions copy = options;
  copy.algorithm = s.plan.options;  // with everything that was left open filled in
  json edges = json::array();
  for (const auto& [i, j] : s.graph.edges()) edges.push_back({i, j});
  json nodes = json::array();
  for (const auto& n : s.plan.nodes)
    nodes.push_back({{"node", n.node},
                     {"degree", n.degree},
                     {"epsilon_planned", s.plan.noisy() ? json(n.epsilon) : json()},
                     {"records", s.problems[static_cast<std::size_t>(n.node)].rows->count()}});
  return {{"format", "parley-run-1"},
          {"record_is_private", true},
          {"record_is_private_because",
           "a simulation measures on everyone's rows; only released.f64 and what follows from it may be shared"},
          {"outcome", outcome},
          {"data", s.holdings.name},
          {"nodes", s.graph.nodes()},
          {"features", s.holdings.test.features},
          {"edges", edges},
          {"node_facts", nodes},
          {"warnings", s.plan.warnings},
          {"options", to_json(option_rows(copy))}};
}

}  // namespace parley::run
