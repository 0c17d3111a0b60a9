#include "parley/run/study.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/algorithm/planner.h"
#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/split.h"
#include "parley/problem/metrics.h"
#include "parley/problem/solve.h"
#include "parley/run/together.h"

namespace parley::run {

using nlohmann::json;

namespace {

std::string stamp(const std::vector<std::string>& not_private) {
  return not_private.empty() ? "" : "NOT PRIVATE: " + join(not_private, "; ");
}

// D_w, the norm of the optimum of the records declared public, with the weights of a provider: HHCG20 §VI.
double norm_on_published(const data::Rows& published, const algorithm::Options& o, const problem::Loss& loss,
                         int nodes) {
  const double l1 = algorithm::l1_share(o);
  const problem::Problem p{.rows = &published,
                           .loss = loss,
                           .weight = o.loss_weight / static_cast<double>(published.count()),
                           .regularization = (1 - l1) * o.regularization / nodes,
                           .l1 = l1 * o.regularization / nodes};
  return problem::centralised_optimum({&p, 1}, {.tolerance = 1e-6 * o.loss_weight}).f.norm();
}

// The rows of this process's nodes, and everybody's number of records.
data::Holdings load(const TrainOptions& o, network::Ranks& ranks) {
  data::Share share{.process = ranks.rank(), .processes = ranks.count(), .file_sizes = data::file_sizes(o.data)};
  ranks.largest(share.file_sizes);
  data::Holdings holdings;
  together(ranks, [&] {
    holdings = data::load(o.data, share);
    if (const auto wrong = loss_mismatch(o.algorithm.loss, holdings.regression, holdings.classes.size()))
      throw Error(*wrong);
  });
  if (o.data.data.size() > 1) ranks.sum(holdings.records);
  return holdings;
}

// Every rank must be doing the same run: with another seed, budget or split on one of them no bound would hold.
void check_ranks_alike(const Study& study, const TrainOptions& o, network::Ranks& ranks) {
  if (ranks.count() == 1) return;
  TrainOptions copy = o;
  json mine = configuration_json(study, o);
  mine.erase("released");  // each rank's own
  mine["options"] = to_json(option_rows(copy));
  mine["options"].erase("threads");
  mine["planned"] = configuration_json(study, o)["options"];
  mine["stamp"] = study.not_private;
  mine["records"] = study.holdings.records;
  mine["blocks"] = study.holdings.blocks;
  mine["rows"] = study.holdings.dealt_hash;
  mine["schema"] = study.holdings.schema_toml;
  mine["feature names"] = study.holdings.feature_names;
  const auto all = ranks.texts(mine.dump());
  together(ranks, [&] {
    for (std::size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all[0]) continue;
      json first = json::parse(all[0]), other = json::parse(all[r]);
      if (first["options"] != other["options"])  // the reason for whatever else differs
        first = first["options"], other = other["options"];
      for (const json& step : json::diff(first, other))
        throw Error(
            {.what = "rank " + std::to_string(r) +
                     " was not asked for the same as rank 0: " + step.at("path").get<std::string>().substr(1),
             .value = step.value("value", json()).dump().substr(0, 80),
             .where = "options and data of rank " + std::to_string(r),
             .fix = "start all ranks with the same options, the same --config file and copies of the same data"});
    }
  });
}

// The pooled optimum and what it reaches: no party could compute it alone.
void add_yardstick(Study& study, network::Ranks& ranks) {
  double scale = 0;
  for (const auto& s : study.plan.nodes) scale += s.weight * study.holdings.records[static_cast<std::size_t>(s.node)];
  const double tolerance = study.problems.front().l1 > 0 ? 1e-8 : 1e-11;  // l1 alone may leave flat directions
  const problem::SumAcross across = [&](std::span<double> values) { ranks.sum(values); };
  study.optimum = problem::centralised_optimum(study.problems, {.tolerance = tolerance * scale},
                                               ranks.count() > 1 ? &across : nullptr)
                      .f;
  double& loss = study.train_loss_nonprivate;
  ranks.in_turn({&loss, 1}, [&] {
    for (const auto& p : study.problems) loss += problem::mean_loss(*p.rows, p.loss, study.optimum) / study.parties();
  });
  const problem::Loss& kind = study.problems[0].loss;
  std::array<double, 2> tested = {problem::test_errors(study.holdings.test, kind, study.optimum),
                                  static_cast<double>(study.holdings.test.count())};
  ranks.sum(tested);
  study.test_rows = tested[1];
  if (study.test_rows > 0) study.test_error_nonprivate = problem::test_error_of(tested[0], tested[1], kind);
}

}  // namespace

std::optional<Error::Parts> loss_mismatch(const std::string& loss, bool regression, std::size_t classes) {
  const auto refused = [&](const std::string& what, const std::string& allowed) {
    return Error::Parts{.what = what,
                        .value = loss,
                        .allowed = allowed,
                        .where = "option --loss",
                        .fix = "choose a loss that fits the label in the schema"};
  };
  if (regression && loss != "huber") return refused("the label is a number, the loss is for classes", "huber");
  if (classes > 0 && loss != "softmax")
    return refused("the label has " + std::to_string(classes) + " classes", "softmax");
  if (!regression && classes == 0 && (loss == "huber" || loss == "softmax"))
    return refused("the label has two classes, +1 and -1", "logistic, huber-hinge, hinge");
  return std::nullopt;
}

network::Graph graph_for(const network::GraphOptions& o, const std::string& algorithm, int nodes) {
  if (!parley::algorithm::algorithm_named(algorithm).star) return network::make_graph(o, nodes);
  if (o.graph != "auto" && o.graph != "star")
    throw Error({.what = algorithm + " runs around a trainer, not on a graph of peers",
                 .value = o.graph,
                 .allowed = "auto, star",
                 .where = "option --graph",
                 .fix = "leave it out, or use --algorithm linear-admm, pvp or admm between peers"});
  return network::trainer_star(nodes);
}

algorithm::Setting setting_on(const network::Graph& graph, const std::vector<double>& records, int nodes) {
  algorithm::check_list(records, "records", nodes);
  algorithm::Setting setting{.degree = graph.degrees(), .records = records};
  setting.degree.resize(static_cast<std::size_t>(nodes));  // without a trainer's
  setting.records.resize(static_cast<std::size_t>(nodes), records.front());
  return setting;
}

network::Blocks Study::blocks() const {
  network::Blocks all = holdings.blocks;
  if (plan.star()) ++all.back();
  return all;
}

namespace {

Study planned(const TrainOptions& o, data::Holdings holdings) {
  const int nodes = static_cast<int>(holdings.records.size());
  if (nodes < 2)
    throw Error({.what = "one node has nobody to talk to",
                 .value = std::to_string(nodes),
                 .allowed = ">= 2",
                 .where = "option --nodes",
                 .fix = "use at least two nodes"});
  network::Graph graph = graph_for(o.graph, o.algorithm.algorithm, nodes);
  algorithm::Setting setting = setting_on(graph, holdings.records, nodes);
  setting.features = static_cast<long>(holdings.test.features);
  setting.classes = std::max(2, static_cast<int>(holdings.classes.size()));
  algorithm::Options algorithm = o.algorithm;
  const bool reads_published = algorithm::algorithm_named(algorithm.algorithm).linear && !algorithm.solution_bound;
  // --public-rows without a use stays allowed: it keeps the split, so that algorithms are compared on the same rows.
  if (!o.data.public_data.empty() && !reads_published)
    throw Error({.what = "rows were declared public, and nothing would use them: they give --solution-bound to dp-admm "
                         "and linear-admm where it is left out",
                 .where = "option --public-data",
                 .fix = "leave it out"});
  if (holdings.published.count() > 0 && reads_published)
    algorithm.solution_bound =
        norm_on_published(holdings.published, algorithm,
                          problem::loss_named(algorithm.loss, algorithm.loss_width, setting.classes), nodes);
  algorithm::Plan plan = algorithm::make_plan(algorithm, setting);

  Study study{.holdings = std::move(holdings), .graph = std::move(graph), .plan = std::move(plan)};
  study.adjacency = data::reads_rows(o.data.split) ? record::Adjacency::as_dealt : record::Adjacency::replace_one;
  if (study.adjacency == record::Adjacency::as_dealt)
    study.plan.warnings.push_back(
        "--split " + o.data.split +
        " reads rows to deal them: the guarantee is for rows as dealt, and in reality every party holds its own");
  if (!study.plan.noisy()) study.not_private.push_back("no noise");
  if (o.engine.seed && study.plan.noisy())
    study.not_private.push_back("noise from seed " + std::to_string(*o.engine.seed));
  if (!study.holdings.not_public.empty()) study.not_private.push_back(study.holdings.not_public);
  for (std::size_t i = 0; i < study.holdings.nodes.size(); ++i) {
    const algorithm::Schedule& mine = study.plan.nodes[i + static_cast<std::size_t>(study.first())];
    study.problems.push_back({.rows = &study.holdings.nodes[i],
                              .loss = mine.loss,
                              .weight = mine.weight,
                              .regularization = mine.regularization,
                              .l1 = mine.l1});
  }
  return study;
}

}  // namespace

Study prepare(const TrainOptions& o, network::Ranks& ranks) {
  data::Holdings holdings = load(o, ranks);
  std::optional<Study> study;
  together(ranks, [&] { study = planned(o, std::move(holdings)); });
  // The problems point into the holdings; moving a Study keeps the rows where they are (vectors move by pointer).
  check_ranks_alike(*study, o, ranks);
  add_yardstick(*study, ranks);
  return std::move(*study);
}

json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private, double spent,
                  bool whole_run, record::Adjacency adjacency) {
  const auto& first = plan.nodes.front();
  const bool printed = whole_run && plan.epsilon_paper();
  json j = {{"epsilon", plan.noisy() ? json(spent) : json()},
            {"epsilon_planned", plan.noisy() ? json(plan.epsilon()) : json()},
            {"epsilon_paper", printed ? json(*plan.epsilon_paper()) : json()},
            {"delta", plan.noisy() ? json(first.delta) : json()},
            {"bound", plan.verified_only() ? "numerically verified" : "proved"},
            {"adjacency", record::name_of(adjacency)},
            {"adjacency_means", record::meaning_of(adjacency)},
            {"theorem", plan.noisy() ? first.theorem : ""},
            {"private", not_private.empty()},
            {"stamp", stamp(not_private)}};
  if (!printed) j["epsilon_paper_absent"] = whole_run ? plan.epsilon_paper_absent() : "the run ended early";
  return j;
}

json privacy_json(const Study& s, double spent, bool whole_run) {
  return privacy_json(s.plan, s.not_private, spent, whole_run, s.adjacency);
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
                     {"records", static_cast<long>(s.holdings.records[static_cast<std::size_t>(n.node)])}});
  json shape = {{"nodes", s.problems.size() + (s.hosts_trainer() ? 1 : 0)}, {"size", s.dimension()}};
  const auto processes = s.holdings.blocks.size() - 1;
  if (processes > 1) shape.update({{"first", s.first()}, {"rank", s.holdings.process}, {"ranks", processes}});
  return {{"format", "parley-run-1"},
          {"record_is_private", true},
          {"record_is_private_because",
           "a simulation measures on everyone's rows; only released.f64 and what follows from it may be shared"},
          {"outcome", outcome},
          {"data", s.holdings.name},
          {"nodes", s.parties()},
          {"trainer", s.plan.star() ? json(s.parties()) : json()},  // its node number
          {"features", s.holdings.test.features},
          {"released", shape},  // of released.f64
          {"edges", edges},
          {"node_facts", nodes},
          {"warnings", s.plan.warnings},
          {"options", to_json(option_rows(copy))}};
}

json configuration_json(const Study& s, const TrainOptions& options) {
  json j = header_json(s, options, "");
  for (const char* key : {"out", "threads", "metrics", "ledger", "dataset", "resume", "repeat", "engine"})
    j["options"].erase(key);
  j.erase("trainer");   // follows from the algorithm
  j.erase("warnings");  // what a ledger or a key beside it says may change between two starts
  return j;
}

}  // namespace parley::run
