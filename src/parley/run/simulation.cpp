#include "parley/run/simulation.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/algorithm/planner.h"
#include "parley/algorithm/rules.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"
#include "parley/data/split.h"
#include "parley/network/together.h"
#include "parley/problem/metrics.h"
#include "parley/problem/proximal_newton.h"
#include "parley/problem/solve.h"
#include "parley/record/schema.h"
#include "parley/run/claim.h"
#include "parley/run/intervals/coefficients.h"
#include "parley/run/quality/quality.h"
#include "parley/run/setting.h"

namespace parley::run {

using nlohmann::json;

namespace {

// D_w, the norm of the optimum of the records declared public, with the weights of a provider: HHCG20 §VI.
double norm_on_published(const data::Rows& published, const algorithm::Options& o, const problem::Loss& loss,
                         int nodes) {
  const double l1 = algorithm::l1_share(o);
  const problem::Problem p{
      .rows = &published,
      .loss = loss,
      .weight = o.loss_weight / static_cast<double>(published.count()),
      .regularization = (1 - l1) * o.regularization.value_or(algorithm::usual_regularization) / nodes,
      .l1 = l1 * o.regularization.value_or(algorithm::usual_regularization) / nodes};
  return problem::centralised_optimum({&p, 1}, {.tolerance = 1e-6 * o.loss_weight}).f.norm();
}

// The rows of this process's nodes, and everybody's number of records.
data::Holdings load(const TrainOptions& o, network::Ranks& ranks, const data::Watch& watch) {
  data::Share share{.process = ranks.rank(), .processes = ranks.count(), .file_sizes = data::file_sizes(o.data)};
  ranks.largest(share.file_sizes);
  data::Holdings holdings;
  together(ranks, [&] { holdings = data::load(o.data, share, ranks.rank() == 0 ? watch : data::Watch{}); });
  if (o.data.data.size() > 1) ranks.sum(holdings.records);
  return holdings;
}

// Every rank must be doing the same run: with another seed, budget or split on one of them no bound would hold.
void check_ranks_alike(const Simulation& simulation, const TrainOptions& o, network::Ranks& ranks) {
  if (ranks.count() == 1) return;
  TrainOptions copy = o;
  json mine = configuration_json(simulation, o);
  mine.erase("released");  // each rank's own
  mine["options"] = to_json(option_rows(copy));
  mine["options"].erase("threads");
  mine["planned"] = configuration_json(simulation, o)["options"];
  mine["stamp"] = simulation.not_private;
  mine["records"] = simulation.holdings.records;
  mine["blocks"] = simulation.holdings.blocks;
  mine["rows"] = simulation.holdings.dealt_hash;
  mine["schema"] = simulation.holdings.schema_toml;
  mine["feature names"] = simulation.holdings.feature_names;
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

// Always the mean of all training rows. In the order of nodes: the same bits for any number of ranks.
double error_of_mean(const Simulation& simulation, network::Ranks& ranks) {
  std::array<double, 2> trained{};  // Σ y, rows
  ranks.in_turn(trained, [&] {
    for (const auto& p : simulation.problems)
      for (const double y : p.rows->label) trained[0] += y, ++trained[1];
  });
  const double mean = trained[0] / trained[1];
  double squares = 0;
  ranks.in_turn({&squares, 1}, [&] {
    for (const double y : simulation.holdings.test.label) squares += (y - mean) * (y - mean);
  });
  return problem::test_error_of(squares, simulation.test_rows, simulation.problems[0].loss, simulation.label_unit);
}

// What a model must beat: the error of always saying the class that is larger among all training rows, or their mean.
void add_guessing(Simulation& simulation, network::Ranks& ranks) {
  const problem::Loss& loss = simulation.problems[0].loss;
  if (simulation.test_rows == 0) return;
  if (!loss.classifies()) {
    simulation.test_error_guessing = error_of_mean(simulation, ranks);
    return;
  }
  std::vector<double> tested = problem::class_counts(simulation.holdings.test, loss), trained(tested.size());
  for (const auto& p : simulation.problems) {
    const auto counts = problem::class_counts(*p.rows, loss);
    for (std::size_t c = 0; c < trained.size(); ++c) trained[c] += counts[c];
  }
  ranks.sum(tested);
  ranks.sum(trained);
  const auto larger = static_cast<std::size_t>(std::ranges::max_element(trained) - trained.begin());
  simulation.test_error_guessing = 1 - tested[larger] / simulation.test_rows;
}

void count_test_rows(Simulation& simulation, network::Ranks& ranks) {
  simulation.test_rows = static_cast<double>(simulation.holdings.test.count());
  ranks.sum({&simulation.test_rows, 1});
  add_guessing(simulation, ranks);
}

// The pooled optimum and what it reaches: no party could compute it alone.
void add_yardstick(Simulation& simulation, network::Ranks& ranks) {
  double scale = 0;
  for (const auto& s : simulation.plan.nodes)
    scale += s.weight * simulation.holdings.records[static_cast<std::size_t>(s.node)];
  const double tolerance = simulation.problems.front().l1 > 0 ? 1e-8 : 1e-11;  // l1 alone may leave flat directions
  const problem::SumAcross across = [&](std::span<double> values) { ranks.sum(values); };
  const std::string without =
      "the optimum without privacy could not be computed to the accuracy of a yardstick: results stand without it";
  if (simulation.problems.front().l1 > 0 && simulation.dimension() > problem::most_l1_weights)
    return simulation.plan.warnings.push_back(without);
  // Privacy: whether the pooled minimum can be certified depends on rows, and must not decide whether there is a run.
  try {
    simulation.optimum = problem::centralised_optimum(simulation.problems, {.tolerance = tolerance * scale},
                                                      ranks.count() > 1 ? &across : nullptr)
                             .f;
  } catch (const problem::Uncertified&) {
    return simulation.plan.warnings.push_back(without);
  }
  double loss = 0;
  ranks.in_turn({&loss, 1}, [&] {
    for (const auto& p : simulation.problems)
      loss += problem::mean_loss(*p.rows, p.loss, simulation.optimum) / simulation.parties();
  });
  simulation.train_loss_nonprivate = loss;
  const problem::Loss& kind = simulation.problems[0].loss;
  if (simulation.test_rows == 0) return;
  if (const auto rows = scored_by_all(simulation.holdings.test, kind, simulation.optimum, ranks))
    simulation.quality_nonprivate = problem::quality(*rows, measure_of(simulation.holdings.schema_toml));
  double errors = problem::test_errors(simulation.holdings.test, kind, simulation.optimum);
  ranks.sum({&errors, 1});
  simulation.test_error_nonprivate = problem::test_error_of(errors, simulation.test_rows, kind, simulation.label_unit);
}

}  // namespace

network::Blocks Simulation::blocks() const {
  network::Blocks all = holdings.blocks;
  if (plan.star()) ++all.back();
  return all;
}

network::Graph Simulation::exchange_graph() const {
  return plan.passed_on() ? network::complete_graph(parties()) : graph;
}

namespace {

Simulation plan_simulation(const TrainOptions& o, data::Holdings holdings) {
  if (const auto wrong = loss_mismatch(o.algorithm.loss, holdings.regression, holdings.classes.size()))
    throw Error(*wrong);
  const int nodes = static_cast<int>(holdings.records.size());
  if (nodes < 2)
    throw Error({.what = "one node has nobody to talk to",
                 .value = std::to_string(nodes),
                 .allowed = ">= 2",
                 .where = "option --nodes",
                 .fix = "use at least two nodes"});
  algorithm::Options algorithm = o.algorithm;
  algorithm::RowSize size{.features = static_cast<long>(holdings.test.features),
                          .parties = nodes,
                          .classes = std::max(2, static_cast<int>(holdings.classes.size()))};
  data::Unit unit;
  if (!holdings.schema_toml.empty()) {
    const data::Schema schema = data::parse_schema(holdings.schema_toml, "the schema");
    size.entries = data::most_entries(schema);
    unit = schema.unit;
  }
  algorithm::Selected selected = algorithm::select_algorithm(algorithm, false, size);
  algorithm.algorithm = selected.algorithm;
  check_intervals(algorithm, holdings.schema_toml);
  network::Graph graph = graph_for(o.graph, algorithm.algorithm, nodes);
  algorithm::Setting setting = setting_on(graph, holdings.records, nodes);
  setting.features = size.features;
  setting.classes = size.classes;
  setting.entries = size.entries;
  setting.rows_per_person = unit.rows_per_person;
  const bool reads_published = algorithm::algorithm_named(algorithm.algorithm).linear && !algorithm.solution_bound;
  // --public-rows without a use stays allowed: it keeps the split, so that algorithms are compared on the same rows.
  if (!o.data.public_data.empty() && !reads_published)
    throw Error({.what = "rows were declared public, and nothing would use them: they give --solution-bound to dp-admm "
                         "and linear-admm where it is left out",
                 .where = "option --public-data",
                 .fix = "leave it out"});
  if (holdings.published.count() > 0 && reads_published)
    algorithm.solution_bound =
        norm_on_published(holdings.published, algorithm, algorithm::loss_of(algorithm, setting.classes), nodes);
  algorithm::Plan plan = algorithm::make_plan(algorithm, setting);

  Simulation simulation{.holdings = std::move(holdings),
                        .graph = std::move(graph),
                        .selected = std::move(selected),
                        .plan = std::move(plan)};
  simulation.unit = std::move(unit);
  simulation.label_unit = unit_of(simulation.holdings.schema_toml);
  simulation.adjacency = data::reads_rows(o.data.split) ? record::Adjacency::as_dealt : record::Adjacency::replace_one;
  if (simulation.adjacency == record::Adjacency::as_dealt)
    simulation.plan.warnings.push_back(
        "--split " + o.data.split.text +
        " reads rows to deal them: the guarantee is for rows as dealt, and in reality every party holds its own");
  simulation.not_private = noise_stamps(simulation.plan, o.engine.seed);
  if (!simulation.holdings.not_public.empty()) simulation.not_private.push_back(simulation.holdings.not_public);
  for (std::size_t i = 0; i < simulation.holdings.nodes.size(); ++i) {
    const algorithm::Schedule& mine = simulation.plan.nodes[i + static_cast<std::size_t>(simulation.first())];
    simulation.problems.push_back(problem_of(simulation.holdings.nodes[i], mine));
  }
  return simulation;
}

}  // namespace

Simulation prepare(const TrainOptions& o, network::Ranks& ranks, const data::Watch& watch) {
  Simulation simulation = prepare(o, ranks, load(o, ranks, watch));
  add_yardstick(simulation, ranks);
  return simulation;
}

Simulation prepare(const TrainOptions& o, network::Ranks& ranks, data::Holdings holdings) {
  std::optional<Simulation> simulation;
  together(ranks, [&] { simulation = plan_simulation(o, std::move(holdings)); });
  // The problems point into the holdings; moving a Simulation keeps the rows where they are (vectors move by pointer).
  check_ranks_alike(*simulation, o, ranks);
  count_test_rows(*simulation, ranks);
  return std::move(*simulation);
}

std::string not_covered(const Simulation& s) {
  const std::size_t rows = s.holdings.published.count();
  return rows == 0 ? "" : std::to_string(rows) + (rows == 1 ? " row that was" : " rows that were") + " declared public";
}

json privacy_json(const Simulation& s, const algorithm::Cost& spent, bool whole_run) {
  json j = privacy_json(s.plan, s.not_private, spent, whole_run, s.adjacency);
  if (const std::string rows = not_covered(s); !rows.empty()) j["not_covered"] = rows;
  return j;
}

std::string schema_digest(const Simulation& s) {
  return s.holdings.schema_toml.empty() ? "" : hex(sha256(s.holdings.schema_toml));
}

json header_json(const Simulation& s, const TrainOptions& options, const std::string& outcome) {
  TrainOptions copy = options;
  copy.algorithm = s.plan.options;  // with everything that was left open filled in
  json edges = json::array();
  for (const auto& [i, j] : s.graph.edges()) edges.push_back({i, j});
  json nodes = json::array();
  for (const auto& n : s.plan.nodes)
    nodes.push_back({{"node", n.node},
                     {"degree", s.graph.degree(n.node)},
                     {"epsilon_planned", s.plan.noisy() ? json(n.epsilon) : json()},
                     {"epsilon_all_others_planned", s.plan.noisy() ? json(n.epsilon_all_others) : json()},
                     {"records", static_cast<long>(s.holdings.records[static_cast<std::size_t>(n.node)])}});
  json shape = released_json(s.plan, s.dimension(), s.problems.size() + (s.hosts_trainer() ? 1 : 0));
  const auto processes = s.holdings.blocks.size() - 1;
  if (processes > 1) shape.update({{"first", s.first()}, {"rank", s.holdings.process}, {"ranks", processes}});
  json head = {{"format", "parley-run-1"},
               {"record_is_private", true},
               {"record_is_private_because",
                "a simulation measures on everyone's rows; only released.f64 and what follows from it may be shared"},
               {"outcome", outcome},
               {"data", s.holdings.name},
               {"selection", to_json(s.selected)},
               {"nodes", s.parties()},
               {"trainer", s.plan.star() ? json(s.parties()) : json()},  // its node number
               {"features", s.holdings.test.features},
               {"released", shape},  // of released.f64
               {"edges", edges},
               {"node_facts", nodes},
               {"warnings", s.plan.warnings},
               {"options", to_json(option_rows(copy))}};
  head["schema_digest"] = schema_digest(s);
  if (s.unit.rows_per_person > 0) head["rows_per_person"] = s.unit.rows_per_person;
  if (const json forecast = forecast_json(s.plan); !forecast.is_null()) head["forecast"] = forecast;
  for (const auto& n : s.plan.nodes)
    if (s.plan.noisy()) head["noise_levels"].push_back(algorithm::first_noise_level(n));
  if (json noise = noise_json(s.plan); !noise.is_null()) head["noise_used"] = std::move(noise);
  return head;
}

json configuration_json(const Simulation& s, const TrainOptions& options) {
  json j = header_json(s, options, "");
  for (const std::string_view key : record::options_of_execution()) j["options"].erase(std::string(key));
  j.erase("trainer");    // follows from the algorithm
  j.erase("selection");  // whoever chose it: the algorithm is among the options
  j.erase("forecast");   // follows from the options and the sizes, as the noise does
  j.erase("noise_used");
  j.erase("schema_digest");  // a ledger's runs of earlier versions go on: resume.cpp compares it
  j.erase("noise_levels");   // follow from the options and the sizes
  j.erase("warnings");       // what a ledger or a key beside it says may change between two starts
  return j;
}

}  // namespace parley::run
