#include "parley/run/replay.h"

#include "parley/algorithm/nodes.h"
#include "parley/algorithm/pricing.h"
#include "parley/network/final_iterates.h"
#include "parley/privacy/ledger.h"
#include "parley/run/party.h"

namespace parley::run {
namespace {

// A random start is public noise that nobody can repeat, unless the study has a seed.
bool follows(const Basis& basis, int node, int round) {
  if (round == 0) return basis.is_trainer(node) || !basis.schedule(node).random_start || basis.study.seed.has_value();
  return !basis.touches_data(node, round);
}

std::string kind_of(const Basis& basis, int node, int round) {
  if (round == 0) return "the start";
  return basis.is_trainer(node) ? "the trainer's value" : "the recycled value";
}

}  // namespace

Replayed replay(const Basis& basis, int node, const Values& values, std::vector<std::string>& wrong) {
  const algorithm::Schedule& s = basis.schedule(node);
  data::Rows none;
  none.features = static_cast<Index>(basis.plan.setting.features);
  const problem::Problem blind{
      .rows = &none, .loss = s.loss, .weight = s.weight, .regularization = s.regularization, .l1 = s.l1};
  const auto machine = basis.is_trainer(node) ? algorithm::make_trainer(basis.plan.plan, basis.dimension)
                                              : algorithm::make_node(blind, s);
  const privacy::NoiseSource noise(basis.study.seed);
  privacy::Ledger paid(basis.agreed.nodes(), false);  // FinalIterate takes nothing else
  network::FinalIterate final_iterate([&](int round) { return counts_in_final(basis.plan.plan, round); });
  const auto heard = [&](int origin) -> const std::vector<Heard>& {
    static const std::vector<Heard> nothing;
    const auto found = values.find(origin);
    return found == values.end() ? nothing : found->second;
  };
  Replayed result;
  bool astray = false;  // what comes after a wrong value says nothing more
  for (const Heard& own : heard(node)) {
    const int round = result.rounds;
    privacy::Inbox inbox;
    for (const int j : basis.agreed.graph.neighbours(node)) {
      if (round == 0) break;
      if (static_cast<int>(heard(j).size()) < round) {
        result.stopped_by = basis.name(j);
        return result;
      }
      inbox.push_back(heard(j)[static_cast<std::size_t>(round) - 1].value);
    }
    if (follows(basis, node, round)) {
      privacy::Random random = noise.stream(node, round);
      const Vector expected = machine->step(inbox, random).value;
      if (!astray && !same_bits(*own.value, expected)) {
        astray = true;
        wrong.push_back(
            basis.name(node) + ", round " + std::to_string(round) + ": " + kind_of(basis, node, round) +
            " does not follow from the values released before it: " + first_difference(*own.value, expected));
      }
      result.recomputed += expected.size() > 0 ? 1 : 0;
    }
    machine->commit(inbox, *own.value);
    final_iterate.add(*paid.pay({.node = node, .round = round, .value = *own.value, .charge = {}}));
    result.final_iterate = final_iterate.value();
    ++result.rounds;
  }
  return result;
}

int rounds_from_rows(const Basis& basis, int node, int rounds) {
  int count = 0;
  for (int round = 0; round < rounds; ++round) count += basis.touches_data(node, round) ? 1 : 0;
  return count;
}

double found_epsilon(const Basis& basis, int node, int rounds, bool whole) {
  const algorithm::Schedule& s = basis.schedule(node);
  if (basis.is_trainer(node) || !basis.plan.plan.noisy()) return 0;
  if (!whole && s.delta > 0) return s.epsilon;
  std::vector<privacy::Charge> charges;
  for (int round = 0; round < rounds; ++round)
    if (basis.touches_data(node, round)) charges.push_back(s.private_round(round).charge);
  return algorithm::whole_run_epsilon(charges, s.delta);
}

}  // namespace parley::run
