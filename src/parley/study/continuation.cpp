#include "parley/study/continuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"
#include "parley/record/round.h"
#include "parley/study/agreement.h"
#include "parley/study/study.h"

namespace parley::study {
namespace {

using ledger::Spend;
using nlohmann::json;
using privacy::Charge;

constexpr int most_parts = 100;

using privacy::Against;

void add(Spend& sum, const std::vector<Charge>& charges, Against whom) {
  for (const Charge& c : charges) sum.add(ledger::Price{c.epsilon, c.mu_against(whom)});
}

// The units are those of the rule by which parts add up: Σε at δ = 0, Σμ² by the GDP filter at δ > 0
// (docs/proofs/composition.md, theorems L1, L2). Gamma noise at δ > 0 was planned by a composition that the filter does
// not know: then the filter's limit for the planned (ε, δ). Trap: the sum must stay below it in the first part too,
// where nobody has been lost yet; a plan that does not gets 0, and nobody goes on.
double allowance_of(const algorithm::Schedule& s, Against whom) {
  Spend planned(s.delta);
  bool pure = false;
  for (const auto& r : s.private_rounds) {
    planned.add(ledger::Price{r.charge.epsilon, r.charge.mu_against(whom)});
    pure = pure || r.charge.epsilon > 0;
  }
  if (!pure || s.delta == 0) return planned.total();
  const double limit = ledger::limit_of(ledger::Cap(s.epsilon, s.delta));
  return planned.total() <= limit ? limit : 0;
}

template <class Value>
void keep(std::vector<Value>& list, const std::vector<int>& members, int holders) {
  if (static_cast<int>(list.size()) != holders || list.size() == 1) return;
  std::vector<Value> kept;
  for (const int node : members)
    if (node < holders) kept.push_back(list[static_cast<std::size_t>(node)]);
  list = std::move(kept);
}

std::size_t holders_in(const Part& before, const protocol::Succession& next) {
  return static_cast<std::size_t>(
      std::ranges::count_if(next.members, [&](int node) { return node < before.holders(); }));
}

// As agreed, for those who are left.
algorithm::Options options_for(const Part& before, const protocol::Succession& next) {
  algorithm::Options o = before.plan.options;
  o.tolerance = before.plan.tolerance_given;  // other degrees and other noise: another one may be needed
  for (auto* list : {&o.penalty, &o.penalty_growth, &o.noise_rate, &o.noise_rate_growth, &o.noise_scale})
    keep(*list, next.members, before.holders());
  std::vector<std::string> steps = split_list(o.dual_step.text);
  keep(steps, next.members, before.holders());
  o.dual_step = join(steps, ",");
  // They stay as many as the study allows for. Where fewer than two others are left, no noise can be shared.
  if (o.colluders && *o.colluders + 2 > holders_in(before, next)) o.colluders.reset();
  return o;
}

// The largest ε whose plan fits into what is left; in the filter's units that is μ².
double epsilon_for(double left, double delta) {
  return delta == 0 ? left : privacy::gdp_epsilon(std::sqrt(left), delta);
}

void check_allowance(const Part& p, const Part::Account& account, Against whom) {
  for (int i = 0; i < p.holders(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Spend all = account.spent[at];
    add(all, charges(p, i), whom);
    if (all.total() <= account.allowance[at]) continue;
    throw Error({.what = "with fewer neighbours the rest of the run would cost " + p.agreed.name(i) +
                         " more than the study planned",
                 .value = "epsilon " + number(all.epsilon()) + " in all",
                 .allowed = "epsilon " + number(epsilon_for(account.allowance[at], p.plan.nodes[at].delta))});
  }
}

void check_countable(const Part& p) {
  for (int i = 0; i < p.setting.nodes(); ++i)
    if (const auto at = static_cast<std::size_t>(i);
        p.colluders.spent[at].delta() > 0 && p.colluders.allowance[at] == 0)
      throw Error({.what = "the noise of " + p.agreed.name(i) +
                           " was planned for all rounds together, and cannot be counted in parts: gamma noise at "
                           "delta > 0 (docs/proofs/run-in-parts.md, proposition 9)"});
}

algorithm::Plan plan_for_the_rest(const Part& p, algorithm::Options o) {
  const bool budget = !o.epsilon.empty();
  for (const double less : {1e-9, 1e-7, 1e-5, 1e-3}) {  // Σ of rounded charges may pass the target by rounding alone
    if (budget) o.epsilon.clear();
    for (int i = 0; i < p.setting.nodes() && budget; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double left = p.colluders.allowance[at] - p.colluders.spent[at].total();
      if (left <= 0) throw Error({.what = "nothing is left of what the study planned for " + p.agreed.name(i)});
      o.epsilon.push_back((1 - less) * epsilon_for(left, p.colluders.spent[at].delta()));
    }
    Part trial = p;
    trial.plan = algorithm::make_plan(o, p.setting);
    try {
      check_allowance(trial, p.colluders, Against::colluders);
      check_allowance(trial, p.anybody, Against::anybody);
      return trial.plan;
    } catch (const Error&) {
      if (!budget || less == 1e-3) throw;
    }
  }
  return {};
}

// Of sums: those of the last round that all have released may be held by some and not by others, so they do not count.
int complete_sums(const algorithm::Schedule& before, int through) {
  return before.sums ? std::max(0, through - 1) : 0;
}

// Of sums: the model is free, and follows from the rounds that all have. So where nothing is left for somebody, those who
// are left take what they have.
long rounds_left(const Part& p, const algorithm::Schedule& before, int through) {
  if (!before.sums) return before.rounds - through;
  for (std::size_t i = 0; i < p.colluders.spent.size(); ++i)
    if (before.noise != algorithm::Noise::none && p.colluders.spent[i].total() >= p.colluders.allowance[i]) return 0;
  return std::max(0L, before.sums->rounds - through);
}

// All have released the last round: only their final iterates are missing, and those are free.
algorithm::Plan without_rounds(const Part& p, const Part& before, const protocol::Succession& next) {
  algorithm::Plan plan = before.plan;
  keep(plan.nodes, next.members, before.holders());
  for (int i = 0; i < static_cast<int>(plan.nodes.size()); ++i) {
    algorithm::Schedule& s = plan.nodes[static_cast<std::size_t>(i)];
    s.node = i;
    s.degree = p.setting.degree[static_cast<std::size_t>(i)];
    s.rounds = 0;
    if (s.sums) s.sums->rounds = 0;
    s.sharing.noise = {};
  }
  return plan;
}

std::string six_digits(double x) {
  return fmt::format("{:.6g}", x);
}

// What all survivors must have found alike; what a machine computed, to six digits.
json configuration_of(const Part& p, const Part& before, const protocol::Succession& next) {
  json parties = json::array(), edges = json::array(), costs = json::array();
  for (std::size_t i = 0; i < p.agreed.parties.size(); ++i)
    parties.push_back({{"name", p.agreed.parties[i]}, {"released", next.released[i]}});
  for (const auto& [i, j] : p.agreed.graph.edges()) edges.push_back({p.agreed.name(i), p.agreed.name(j)});
  for (const auto& s : p.plan.nodes)
    costs.push_back({{"epsilon", s.rounds == 0 ? "0" : six_digits(s.epsilon)},
                     {"penalty", six_digits(s.private_rounds.front().penalty)},
                     {"curvature", six_digits(s.private_rounds.front().strong_convexity)}});
  if (p.plan.sharing().on())
    for (std::size_t i = 0; i < costs.size(); ++i)
      costs[i]["epsilon_all_others"] = six_digits(p.plan.nodes[i].epsilon_all_others);
  return {{"format", "parley-part-1"},
          {"part", p.number},
          {"after", {{"run", before.agreed.run}, {"configuration", before.agreed.configuration_hash}}},
          {"after_round", next.through},
          {"statements", hex(next.id)},
          {"rounds", p.plan.nodes.front().rounds},
          {"parties", parties},
          {"edges", edges},
          {"planned", costs}};
}

}  // namespace

int Part::node_of(int study_node) const {
  const auto found = std::ranges::find(nodes, study_node);
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

std::vector<Charge> charges(const Part& part, int node, long through) {
  const algorithm::Schedule& s = part.plan.nodes[static_cast<std::size_t>(node)];
  std::vector<Charge> all;
  for (int t = 1; t <= (through < 0 ? s.rounds : through); ++t)
    if (s.touches_data(t)) all.push_back(s.private_round(t).charge);
  return all;
}

Part first_part(protocol::Agreement agreed, algorithm::Setting setting, algorithm::Plan plan) {
  Part p{.nodes = {}, .agreed = std::move(agreed), .setting = std::move(setting), .plan = std::move(plan)};
  p.whole_rounds = static_cast<int>(p.plan.nodes.front().rounds);
  for (int i = 0; i < p.agreed.nodes(); ++i) p.nodes.push_back(i);
  for (const algorithm::Schedule& s : p.plan.nodes) {
    for (const auto& [account, whom] : {std::pair(&p.colluders, Against::colluders), {&p.anybody, Against::anybody}}) {
      account->allowance.push_back(allowance_of(s, whom));
      account->spent.emplace_back(s.delta);
    }
  }
  p.agreed.counts = [part = std::make_shared<const Part>(p)](int round) { return counts_in_final(*part, round); };
  return p;
}

Part next_part(const Part& before, const protocol::Succession& next) {
  if (before.number >= most_parts)
    throw Error({.what = "this run has lost parties too often",
                 .value = std::to_string(before.number) + " parts",
                 .allowed = "at most " + std::to_string(most_parts)});
  const auto place = [&](int node) {
    return static_cast<int>(std::ranges::lower_bound(next.members, node) - next.members.begin());
  };
  std::vector<std::pair<int, int>> edges;
  for (const auto& [i, j] : next.edges) edges.emplace_back(place(i), place(j));
  const network::Graph graph(static_cast<int>(next.members.size()), edges);
  Part p{.number = before.number + 1,
         .nodes = before.nodes,
         .agreed = before.agreed,
         .setting = before.setting,
         .plan = {},
         .before = before.before + next.through,
         .sums = before.sums + complete_sums(before.plan.nodes.front(), next.through),
         .whole_rounds = before.whole_rounds,
         .colluders = before.colluders,
         .anybody = before.anybody};
  const int all = before.agreed.nodes(), holders = before.holders();
  keep(p.nodes, next.members, all);
  keep(p.agreed.parties, next.members, all);
  keep(p.setting.records, next.members, holders);
  p.setting.degree = graph.degrees();
  p.setting.degree.resize(p.setting.records.size());
  const algorithm::Schedule& first = before.plan.nodes.front();
  p.setting.earlier += first.alternates() ? next.through / 2 : next.through;
  for (const auto& [account, whom] : {std::pair(&p.colluders, Against::colluders), {&p.anybody, Against::anybody}}) {
    for (std::size_t m = 0; m < next.members.size(); ++m)  // what was released counts, also beyond the common round
      if (next.members[m] < holders)
        add(account->spent[static_cast<std::size_t>(next.members[m])],
            charges(before, next.members[m], std::max(0, next.released[m])), whom);
    keep(account->allowance, next.members, holders);
    keep(account->spent, next.members, holders);
  }

  algorithm::Options o = options_for(before, next);
  if (first.sums && next.through >= 2 && !p.setting.moments)  // all who go on have everybody's
    p.setting.moments = algorithm::newton::released_moments(before.plan);
  const long left = rounds_left(p, first, next.through);
  if (first.sums && left == 0 && p.sums == 0)
    throw Error({.what = "no round of sums was complete, and nothing is left of what the study planned"});
  if (left > 0 && before.plan.noisy()) check_countable(p);
  o.rounds = first.algorithm.star ? left / 2 : left;
  p.plan = left == 0 ? without_rounds(p, before, next) : plan_for_the_rest(p, std::move(o));
  if (p.plan.verified_only() && !before.plan.verified_only())  // the run is stated as proved
    throw Error({.what = "the bound of the next part would be verified numerically and not proved"});
  const std::vector<std::string> names = p.agreed.parties;
  p.agreed = agreement(p.plan, before.agreed.dimension, graph, names, "", "", "");
  const json configuration = configuration_of(p, before, next);
  p.agreed.configuration = configuration.dump();
  p.agreed.configuration_hash = study_hash(configuration);
  p.agreed.run = run_id(p.agreed.configuration_hash);
  if (first.sums) p.agreed.counts = [](int) { return false; };  // the last value is the model, whatever came before
  return p;
}

bool counts_in_final(const Part& p, int round) {
  const record::Turn turn{
      .round = round, .touches_data = p.plan.nodes.front().touches_data(round), .star = p.plan.star()};
  return p.plan.average && record::counts_in_mean(turn, p.before + round, p.whole_rounds);
}

algorithm::Start start_after(const Part& next, const Ended& ended) {
  algorithm::Past past{.start = ended.start, .own = ended.own, .inbox = ended.inboxes, .through = ended.next.through};
  const int me = next.node_of(ended.part.nodes[static_cast<std::size_t>(ended.self)]);
  for (const int j : ended.part.agreed.graph.neighbours(ended.self)) {
    const int there = next.node_of(ended.part.nodes[static_cast<std::size_t>(j)]);
    past.stays.push_back(there >= 0 && std::ranges::binary_search(next.agreed.graph.neighbours(me), there));
  }
  return ended.self >= ended.part.holders()
             ? algorithm::next_trainer_start(ended.part.plan, past)
             : algorithm::next_start(ended.part.plan.nodes[static_cast<std::size_t>(ended.self)], past);
}

privacy::Inbox expected_after(const Part& next, const Ended& ended) {
  if (next.plan.passed_on()) return {};  // all begin at one point, and compare it with their own
  const auto& neighbours = ended.part.agreed.graph.neighbours(ended.self);
  const int me = next.node_of(ended.part.nodes[static_cast<std::size_t>(ended.self)]);
  privacy::Inbox expected;
  for (std::size_t j = 0; j < neighbours.size(); ++j) {
    const int there = next.node_of(ended.part.nodes[static_cast<std::size_t>(neighbours[j])]);
    if (there < 0 || !std::ranges::binary_search(next.agreed.graph.neighbours(me), there)) continue;
    privacy::Released last;  // what it said last through the common round; a provider is silent in that round itself
    if (static_cast<int>(ended.inboxes.size()) > ended.next.through)
      for (int t = 0; t <= ended.next.through; ++t)
        if (const auto& value = ended.inboxes[static_cast<std::size_t>(t)][j]; value->size() > 0) last = value;
    expected.push_back(std::move(last));
  }
  return expected;
}

std::string noise_of_part(int part) {
  return part == 1 ? "noise" : "noise of part " + std::to_string(part);
}

}  // namespace parley::study
