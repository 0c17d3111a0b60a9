#include "paper/fixture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/dealt_test.h"
#include "parley/data/encode.h"
#include "parley/data/named/census.h"

namespace parley::paper {
namespace {

Dense dense_of(const problem::Problem& p, const algorithm::Options& o) {
  Dense d{.x = Matrix::Zero(static_cast<Index>(p.rows->count()), p.rows->features),
          .y = Eigen::Map<const Vector>(p.rows->label.data(), static_cast<Index>(p.rows->count())),
          .loss = o.loss.text,
          .width = o.loss_width,
          .scores = p.loss.scores(),
          .weight = p.weight,
          .regularization = p.regularization,
          .l1 = p.l1};
  for (std::size_t n = 0; n < p.rows->count(); ++n)
    for (std::size_t k = p.rows->start[n]; k < p.rows->start[n + 1]; ++k)
      d.x(static_cast<Index>(n), p.rows->column[k]) = p.rows->value[k];
  return d;
}

void append_dense(data::Rows& rows, Vector x, double y) {
  data::clip_to_unit_norm({x.data(), static_cast<std::size_t>(x.size())});
  std::vector<std::int32_t> columns(static_cast<std::size_t>(x.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = static_cast<std::int32_t>(k);
  rows.append(columns, {x.data(), columns.size()}, y);
}

}  // namespace

bool short_run() {
  return std::getenv("PARLEY_TEST_SHORT") != nullptr;
}

Simulation::Simulation(std::vector<data::Rows> held, network::Graph who, const algorithm::Options& options)
    : rows(std::move(held)), graph(std::move(who)) {
  const bool star = algorithm::algorithm_named(options.algorithm).star;
  expects(parties() + (star ? 1 : 0) == graph.nodes(), "rows for every node");
  algorithm::Setting setting{.degree = graph.degrees(), .records = {}, .features = static_cast<long>(features())};
  setting.degree.resize(rows.size());
  for (const auto& r : rows) {
    setting.records.push_back(static_cast<double>(r.count()));
    if (options.loss == problem::LossKind::softmax)
      setting.classes = std::max(setting.classes, 1 + static_cast<int>(std::ranges::max(r.label)));
  }
  plan = algorithm::make_plan(options, setting);
  for (int i = 0; i < parties(); ++i) {
    const auto& s = schedule(i);
    problems.push_back(problem_of(rows[at(i)], s));
    dense.push_back(dense_of(problems.back(), options));
  }
}

Vector Simulation::optimum() const {
  return optimum_weighted(std::vector<double>(dense.size(), 1.0));
}

Vector Simulation::optimum_weighted(const std::vector<double>& share) const {
  return minimise(dense, share, Vector::Zero(dimension()), 0);
}

algorithm::PeerNode Simulation::node(int i) const {
  return {problems[at(i)], schedule(i)};
}

void Simulation::without_solver_noise() {
  for (auto& s : plan.nodes)
    for (auto& r : s.private_rounds)
      if (s.place == algorithm::Place::objective) {
        r.output_rate = 0;
        r.grid = 0x1p-40;
      }
}

void Simulation::fine_grid() {
  for (auto& s : plan.nodes)
    for (auto& r : s.private_rounds) r.grid = 0x1p-40;
}

double Simulation::rounding(int i, int round) const {
  return schedule(i).grid(round) / 2 * std::sqrt(static_cast<double>(features()));
}

privacy::Inbox Simulation::inbox(int i, const std::vector<Vector>& f) const {
  privacy::Inbox inbox;
  for (const int j : graph.neighbours(i)) inbox.push_back(std::make_shared<const Vector>(f[at(j)]));
  return inbox;
}

std::vector<data::Rows> unlike_rows(int nodes, int records, int features, std::uint64_t seed) {
  std::vector<data::Rows> all;
  PublicRandom draw(seed, PublicRandom::Purpose::rows);
  const auto normals = [&] {
    Vector v(features);
    for (double& x : v) x = draw.normal();
    return v;
  };
  for (int i = 0; i < nodes; ++i) {
    const Vector centre = 0.3 * normals(), separator = 3 * normals();
    data::Rows rows;
    rows.features = features;
    for (int n = 0; n < records + 3 * i; ++n) {
      Vector x = centre + 0.4 * normals();
      x[features - 1] = 0.5;  // intercept
      append_dense(rows, x, draw.uniform() < 1 / (1 + std::exp(-separator.dot(x))) ? 1 : -1);
    }
    all.push_back(std::move(rows));
  }
  return all;
}

std::vector<data::Rows> alike_rows(int nodes, int records, int features) {
  return std::vector<data::Rows>(at(nodes), unlike_rows(1, records, features).front());
}

std::vector<data::Rows> relabelled(std::vector<data::Rows> all, int classes) {
  PublicRandom draw(2, PublicRandom::Purpose::labels);
  for (data::Rows& rows : all) {
    Matrix separator(rows.features, std::max(1, classes));
    for (double& v : separator.reshaped()) v = 3 * draw.normal();
    for (std::size_t n = 0; n < rows.count(); ++n) {
      Vector score(separator.cols());
      for (double& v : score) v = 0.5 * draw.normal();
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        score += rows.value[k] * separator.row(rows.column[k]);
      Index best = 0;
      if (classes > 0) score.maxCoeff(&best);
      rows.label[n] = classes > 0 ? static_cast<double>(best) : std::tanh(score[0]);
    }
  }
  return all;
}

std::vector<data::Rows> census_rows(int nodes, std::size_t records) {
  const auto schema = data::parse_schema(data::census_schema(), "census");
  const auto all = data::encode(data::census_table(records, 7), schema, "census", "education");
  return data::split_over_nodes(all, nodes, {.how = "column"}, 1);
}

network::Graph five() {
  return {5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}};
}

network::Graph twenty() {
  return network::make_graph({.graph = "random", .edge_probability = 0.4, .graph_seed = 3}, 20);
}

algorithm::Options plain(const std::string& algorithm, long rounds) {
  algorithm::Options o;
  o.algorithm = algorithm;
  o.rounds = rounds;
  o.loss_weight = 1;
  o.regularization = 0.2;
  o.penalty = {0.05};
  o.damping = 0.1;
  o.noise = "none";
  o.tolerance = 1e-10;
  o.release_bound = 16;  // near enough for that to be certified whatever the rows
  return o;
}

std::vector<double> figure_1b(int nodes, double scale) {
  const double eta[] = {1, 1.03, 1.02, 0.8, 1.01};
  std::vector<double> penalty;
  for (int i = 0; i < nodes; ++i) penalty.push_back(scale * eta[i % 5]);
  return penalty;
}

double Transcript::distance(int t, const Vector& target) const {
  double most = 0;
  for (const Vector& each : f(t))
    if (each.size() > 0) most = std::max(most, (each - target).norm());
  return most;
}

Transcript drive(const Simulation& simulation, std::uint64_t seed) {
  std::vector<std::unique_ptr<algorithm::Node>> nodes;
  std::vector<const algorithm::PeerNode*> peers;
  std::vector<const algorithm::ProviderNode*> providers;
  for (int i = 0; i < simulation.parties(); ++i)
    if (simulation.plan.star()) {
      auto provider = std::make_unique<algorithm::ProviderNode>(simulation.problems[at(i)], simulation.schedule(i));
      providers.push_back(provider.get());
      nodes.push_back(std::move(provider));
    } else {
      auto peer = std::make_unique<algorithm::PeerNode>(simulation.node(i));
      peers.push_back(peer.get());
      nodes.push_back(std::move(peer));
    }
  if (simulation.plan.star())
    nodes.push_back(std::make_unique<algorithm::TrainerNode>(simulation.plan, simulation.dimension()));
  const privacy::NoiseSource noise(seed);
  ledger::Ledger ledger(simulation.nodes(), false);
  network::InProcess transport(simulation.graph);
  run::Phases phases;
  Transcript run;
  run.outcome = run::drive({.nodes = nodes,
                            .noise = &noise,
                            .ledger = &ledger,
                            .transport = &transport,
                            .threads = 1,
                            .release_bound = simulation.schedule(0).release_bound,
                            .watch =
                                [&](int, std::span<const privacy::Paid> paid) {
                                  Round round;
                                  for (int i = 0; i < simulation.nodes(); ++i) {
                                    round.f.push_back(*paid[at(i)].value());
                                    round.charge.push_back(ledger.charges(i).back());
                                  }
                                  for (const auto* peer : peers) {
                                    round.dual.push_back(peer->state().dual);
                                    round.gradient.push_back(peer->state().gradient);
                                  }
                                  for (const auto* provider : providers) round.dual.push_back(provider->state().dual);
                                  run.rounds.push_back(std::move(round));
                                  return true;
                                }},
                           phases);
  for (int i = 0; i < simulation.nodes(); ++i) run.spent.push_back(ledger.spent(i));
  return run;
}

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}

bool same_bits(const Transcript& a, const Transcript& b) {
  if (a.rounds.size() != b.rounds.size()) return false;
  for (std::size_t t = 0; t < a.rounds.size(); ++t)
    for (std::size_t i = 0; i < a.rounds[t].f.size(); ++i)
      if (!same_bits(a.rounds[t].f[i], b.rounds[t].f[i])) return false;
  return true;
}

std::vector<Vector> replay(const Simulation& simulation, int round, std::uint64_t seed) {
  std::vector<Vector> noise;
  for (int i = 0; i < simulation.parties(); ++i) {
    auto random =
        privacy::Random::seeded(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(round), "noise");
    const auto& r = simulation.schedule(i).private_round(round);
    const double scale = std::max({r.objective_scale, r.output_scale, r.gradient_scale});
    noise.push_back(scale > 0 ? privacy::gaussian_vector(simulation.dimension(), scale, random)
                              : privacy::gamma_norm_vector(simulation.dimension(),
                                                           std::max({r.objective_rate, r.output_rate, r.gradient_rate}),
                                                           random));
  }
  return noise;
}

std::string scientific(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

Matrix stacked(const std::vector<Vector>& f) {
  Matrix m(static_cast<Index>(f.size()), f.front().size());
  for (std::size_t i = 0; i < f.size(); ++i) m.row(static_cast<Index>(i)) = f[i];
  return m;
}

}  // namespace parley::paper
