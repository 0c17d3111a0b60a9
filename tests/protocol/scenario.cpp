#include "protocol/scenario.h"

#include <cstring>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/dataset.h"
#include "parley/run/driver.h"
#include "parley/study/agreement.h"

namespace parley::protocol {
namespace {

constexpr Index features = 3;

data::Rows few_rows(int node) {
  PublicRandom draw(static_cast<std::uint64_t>(node), PublicRandom::Purpose::rows);
  data::Rows rows;
  rows.features = features;
  for (int n = 0; n < 4 + node; ++n) {
    std::vector<std::int32_t> columns = {0, 1, 2};
    std::vector<double> x = {draw.normal(), draw.normal(), 0.5};
    for (double& v : x) v *= 0.2;
    rows.append(columns, x, draw.uniform() < 0.5 ? 1 : -1);
  }
  return rows;
}

}  // namespace

algorithm::Options options_of(const std::string& name, long rounds, const std::string& noise) {
  algorithm::Options o;
  o.algorithm = name;
  o.rounds = rounds;
  o.loss_weight = 1;
  o.noise = noise;
  o.epsilon = {5};
  return o;
}

Scenario::Scenario(const algorithm::Options& options, network::Graph who)
    : graph(std::move(who)), first{.nodes = {}, .agreed = {.graph = graph}} {
  const bool star = algorithm::algorithm_named(options.algorithm).star;
  const int parties = graph.nodes() - (star ? 1 : 0);
  setting = {.degree = graph.degrees(), .records = {}, .features = features};
  setting.degree.resize(static_cast<std::size_t>(parties));
  for (int i = 0; i < parties; ++i) {
    rows.push_back(few_rows(i));
    setting.records.push_back(static_cast<double>(rows.back().count()));
  }
  plan = algorithm::make_plan(options, setting);
  dimension = features * plan.nodes.front().loss.scores();
  first = study::first_part(agreement(), setting, plan);
  run_undisturbed();
}

std::unique_ptr<algorithm::Node> Scenario::node(const study::Part& part, int i, const algorithm::Start& start) const {
  if (i >= part.holders()) return algorithm::make_trainer(part.plan, dimension, start);
  const auto at = static_cast<std::size_t>(i);
  const algorithm::Schedule& s = part.plan.nodes[at];
  return algorithm::make_node(problem_of(rows[static_cast<std::size_t>(part.nodes[at])], s), s, start);
}

protocol::Agreement Scenario::agreement() const {
  std::vector<std::string> names;
  for (int i = 0; i < nodes(); ++i) names.push_back("party_" + std::to_string(i));
  return study::agreement(plan, dimension, graph, names, "run-1", "rounds = 4", "hash-1");
}

void Scenario::run_undisturbed() {
  std::vector<std::unique_ptr<algorithm::Node>> all;
  for (int i = 0; i < nodes(); ++i) all.push_back(node(i));
  const privacy::NoiseSource noise(seed);
  ledger::Ledger ledger(nodes(), true);
  network::InProcess transport(plan.passed_on() ? network::complete_graph(nodes()) : graph);
  run::Phases phases;
  const auto outcome = run::drive({.nodes = all,
                                   .noise = &noise,
                                   .ledger = &ledger,
                                   .transport = &transport,
                                   .release_bound = plan.nodes.front().release_bound,
                                   .watch =
                                       [&](int, std::span<const privacy::Paid> paid) {
                                         auto& now = released.emplace_back();
                                         for (const auto& p : paid) now.push_back(*p.value());
                                         return true;
                                       }},
                                  phases);
  expects(outcome == run::Outcome::completed, "an undisturbed run that ends well");
  for (int i = 0; i < nodes(); ++i) spent.push_back(ledger.spent(i));
  model = model_of(released);
}

// As run::Iterates says it, in its order of sums: each node's last value, or with averaging the mean of its values of
// the rounds that touched data, from the later half on; then the mean over nodes, or the trainer's.
Vector Scenario::model_of(const std::vector<std::vector<Vector>>& values) const {
  const auto later = static_cast<std::size_t>(plan.nodes.front().rounds / 2 + 1);
  std::vector<Vector> final_of;
  for (std::size_t i = 0; i < values.front().size(); ++i) {
    Vector last, sum = Vector::Zero(dimension);
    int count = 0;
    for (std::size_t t = 0; t < values.size(); ++t) {
      if (values[t][i].size() > 0) last = values[t][i];
      const bool whole = plan.star() ? t >= 2 && t % 2 == 0 : plan.nodes.front().touches_data(static_cast<int>(t));
      if (!plan.average || t < later || !whole) continue;
      sum += last;
      ++count;
    }
    final_of.push_back(count > 0 ? Vector(sum / count) : last);
  }
  if (plan.star()) return final_of.back();
  Vector mean = Vector::Zero(dimension);
  for (const Vector& each : final_of) mean += each;
  return mean / static_cast<double>(final_of.size());
}

const std::vector<std::unique_ptr<Scenario>>& scenarios() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Scenario>> made;
    const auto add = [&](const algorithm::Options& o, network::Graph g) {
      made.push_back(std::make_unique<Scenario>(o, std::move(g)));
    };
    add(options_of("mr-admm", 4), {3, {{0, 1}, {1, 2}}});
    add(options_of("pp", 3), {3, {{0, 1}, {1, 2}, {0, 2}}});
    add(options_of("dp-admm", 3), network::trainer_star(2));
    add(options_of("mr-admm", 5), {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}});
    add(options_of("pp", 4), {2, {{0, 1}}});
    add(options_of("linear-admm", 4), {5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}});
    add(options_of("dp-admm", 2), network::trainer_star(4));
    add(options_of("newton", 4, "gaussian"), {3, {{0, 1}, {1, 2}, {0, 2}}});
    add(options_of("newton", 4, "gaussian"), {5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}});
    add(options_of("newton", 3, "gaussian"), {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}});
    add(options_of("dp-gd", 5, "gaussian"), {4, {{0, 1}, {0, 2}, {0, 3}}});
    return made;
  }();
  return all;
}

protocol::Keys simulated_keys(int node) {
  const auto mac = [](int who, std::string_view bytes, std::string_view salt) {
    return hex(sha256("key " + std::to_string(who) + std::string(salt) + std::string(bytes)));
  };
  return {.sign =
              [node, mac, signatures = 1000000](std::string_view bytes) mutable {
                const std::string salt = std::to_string(++signatures);
                return salt + mac(node, bytes, salt);
              },
          .verify =
              [mac](int who, std::string_view bytes, std::string_view signature) {
                return signature.size() == 71 && signature.substr(7) == mac(who, bytes, signature.substr(0, 7));
              },
          .difference = [](const std::string& mine, const std::string& theirs,
                           const std::string& /*who*/) { return mine + " / " + theirs; }};
}

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}

}  // namespace parley::protocol
