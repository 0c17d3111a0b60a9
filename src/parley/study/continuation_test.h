// What the tests of a run in parts share: studies of a few rows, led through their rounds in one process.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/algorithm/nodes.h"
#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/dataset.h"
#include "parley/privacy/random.h"
#include "parley/study/agreement.h"
#include "parley/study/continuation.h"

namespace parley::study {

using testing::HasSubstr;

inline constexpr long features = 3;

inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

inline data::Rows few_rows(int node) {
  PublicRandom draw(static_cast<std::uint64_t>(node), PublicRandom::Purpose::rows);
  data::Rows rows;
  rows.features = features;
  for (int n = 0; n < 5 + node; ++n) {
    std::vector<std::int32_t> columns = {0, 1, 2};
    std::vector<double> x = {0.2 * draw.normal(), 0.2 * draw.normal(), 0.5};
    rows.append(columns, x, draw.uniform() < 0.5 ? 1 : -1);
  }
  return rows;
}

struct Trial {
  Trial(algorithm::Options o, network::Graph graph) : part{.nodes = {}, .agreed = {.graph = graph}} {
    const bool star = algorithm::algorithm_named(o.algorithm).star;
    const int holders = graph.nodes() - (star ? 1 : 0);
    algorithm::Setting setting{.degree = graph.degrees(), .records = {}, .features = features};
    setting.degree.resize(at(holders));
    for (int i = 0; i < holders; ++i) {
      rows.push_back(few_rows(i));
      setting.records.push_back(static_cast<double>(rows.back().count()));
    }
    const algorithm::Plan plan = algorithm::make_plan(o, setting);
    std::vector<std::string> names;
    for (int i = 0; i < graph.nodes(); ++i) names.push_back("party_" + std::to_string(i));
    part = first_part(agreement(plan, features, graph, names, "run-1", "{}", "hash"), setting, plan);
  }

  // Values by round and node, without noise.
  std::vector<std::vector<Vector>> values(const Part& p, const std::vector<algorithm::Start>& starts) const {
    std::vector<std::unique_ptr<algorithm::Node>> all;
    for (int i = 0; i < p.agreed.nodes(); ++i) {
      if (i >= p.holders()) {
        all.push_back(algorithm::make_trainer(p.plan, features, starts[at(i)]));
        continue;
      }
      const algorithm::Schedule& s = p.plan.nodes[at(i)];
      all.push_back(algorithm::make_node(problem_of(rows[at(p.nodes[at(i)])], s), s, starts[at(i)]));
    }
    std::vector<std::vector<Vector>> rounds;
    const privacy::NoiseSource noise(1);
    while (all.front()->has_next()) {
      std::vector<Vector> now;
      for (const auto& node : all) {
        auto random = noise.stream(node->id(), static_cast<int>(rounds.size()));
        now.push_back(node->step(inbox(p, node->id(), rounds), random).value);
      }
      for (const auto& node : all) node->commit(inbox(p, node->id(), rounds), now[at(node->id())]);
      rounds.push_back(std::move(now));
    }
    return rounds;
  }
  static privacy::Inbox inbox(const Part& p, int node, const std::vector<std::vector<Vector>>& rounds) {
    privacy::Inbox inbox;
    if (!rounds.empty())
      for (const int j : p.agreed.heard_by(node)) inbox.push_back(std::make_shared<const Vector>(rounds.back()[at(j)]));
    return inbox;
  }
  std::vector<algorithm::Start> starts_after(const Part& before, const Part& next, const protocol::Succession& s,
                                             const std::vector<algorithm::Start>& starts,
                                             const std::vector<std::vector<Vector>>& rounds) const {
    std::vector<algorithm::Start> found;
    for (const int self : s.members) {
      Ended ended{.part = before, .next = s, .self = self, .start = starts[at(self)], .own = {}, .inboxes = {}};
      for (int t = 0; t <= s.through; ++t) {
        ended.own.push_back(rounds[at(t)][at(self)]);
        ended.inboxes.push_back(inbox(before, self, {rounds[at(t)]}));
      }
      found.push_back(start_after(next, ended));
    }
    return found;
  }

  std::vector<data::Rows> rows;
  Part part;
};

// As if everyone but `lost` had stated to have released `released`.
inline protocol::Succession without(const Part& p, std::vector<int> lost, int released) {
  protocol::Succession s{.through = released < p.agreed.rounds ? released - released % p.agreed.turn : released};
  const auto stays = [&](int i) { return std::ranges::find(lost, i) == lost.end(); };
  for (int i = 0; i < p.agreed.nodes(); ++i)
    if (stays(i)) s.members.push_back(i), s.released.push_back(released);
  for (const auto& [i, j] : p.agreed.graph.edges())
    if (stays(i) && stays(j)) s.edges.emplace_back(i, j);
  return s;
}

inline algorithm::Options options(const std::string& name, long rounds, const std::string& noise, double epsilon = 0) {
  algorithm::Options o;
  o.algorithm = name;
  o.rounds = rounds;
  o.loss_weight = 1;
  o.noise = noise;
  if (epsilon > 0) o.epsilon = {epsilon};
  return o;
}

inline network::Graph ring(int nodes) {
  return network::make_graph({.graph = "ring"}, nodes);
}

}  // namespace parley::study
