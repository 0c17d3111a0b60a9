#include "parley/run/replay.h"

#include <algorithm>

#include "parley/algorithm/nodes.h"
#include "parley/network/final_iterates.h"
#include "parley/privacy/ledger.h"
#include "parley/run/party_in_parts.h"

namespace parley::run {
namespace {

// A random start is public noise that nobody can repeat, unless the study has a seed.
bool follows(const Basis& basis, int node, int round, const ReplayStart& start) {
  if (round == 0)
    return basis.is_trainer(node) || !basis.schedule(node).random_start || basis.study.seed.has_value() ||
           start.start.value.size() > 0;
  return !basis.touches_data(node, round);
}

std::string kind_of(const Basis& basis, int node, int round) {
  if (round == 0) return "the start";
  return basis.is_trainer(node) ? "the trainer's value" : "the recycled value";
}

const std::vector<Heard>& heard(const Values& values, int origin) {
  static const std::vector<Heard> nothing;
  const auto found = values.find(origin);
  return found == values.end() ? nothing : found->second;
}

network::FinalIterate final_iterate_of(const Basis& basis, const ReplayStart& start) {
  const auto counts = [part = basis.part](int round) { return counts_in_final(part, round); };
  return start.earlier ? network::FinalIterate(counts, *start.earlier) : network::FinalIterate(counts);
}

}  // namespace

Replayed replay(const Basis& basis, int node, const Values& values, const ReplayStart& start,
                std::vector<std::string>& wrong) {
  const algorithm::Schedule& s = basis.schedule(node);
  data::Rows none;
  none.features = static_cast<Index>(basis.plan.setting.features);
  const problem::Problem blind{
      .rows = &none, .loss = s.loss, .weight = s.weight, .regularization = s.regularization, .l1 = s.l1};
  const auto machine = basis.is_trainer(node) ? algorithm::make_trainer(basis.part.plan, basis.dimension, start.start)
                                              : algorithm::make_node(blind, s, start.start);
  const privacy::NoiseSource noise(basis.study.seed);
  privacy::Ledger paid(basis.agreed().nodes(), false);  // FinalIterate takes nothing else
  network::FinalIterate final_iterate = final_iterate_of(basis, start);
  Replayed result{.final_iterate = final_iterate.value()};
  bool astray = false;  // what comes after a wrong value says nothing more
  for (const Heard& own : heard(values, node)) {
    const int round = result.rounds;
    privacy::Inbox inbox;
    for (const int j : basis.agreed().graph.neighbours(node)) {
      if (round == 0) break;
      if (static_cast<int>(heard(values, j).size()) < round) {
        result.stopped_by = basis.name(j);
        return result;
      }
      inbox.push_back(heard(values, j)[static_cast<std::size_t>(round) - 1].value);
    }
    if (follows(basis, node, round, start)) {
      privacy::Random random = noise.stream(basis.study_node(node), round, noise_of_part(basis.part.number));
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

std::optional<ReplayStart> start_after(const Basis& basis, const network::Succession& succession, const Part& next,
                                       int node, const Values& values, const ReplayStart& start) {
  const int k = succession.through;
  const auto& own = heard(values, node);
  const auto member = std::ranges::lower_bound(succession.members, node) - succession.members.begin();
  const int released = succession.released[static_cast<std::size_t>(member)];
  if (static_cast<int>(own.size()) < std::min(k, released) + 1) return std::nullopt;
  Ended ended{.part = basis.part, .next = succession, .self = node, .start = start.start, .own = {}, .inboxes = {}};
  network::FinalIterate final_iterate = final_iterate_of(basis, start);
  privacy::Ledger paid(basis.agreed().nodes(), false);
  for (int t = 0; t <= std::min(k, released); ++t) {
    ended.own.push_back(*own[static_cast<std::size_t>(t)].value);
    final_iterate.add(*paid.pay({.node = node, .round = t, .value = ended.own.back(), .charge = {}}));
  }
  static const auto lost = std::make_shared<const Vector>();  // its values are in no dual that is left
  for (int t = 0; t < k; ++t) {
    privacy::Inbox inbox;
    for (const int j : basis.agreed().graph.neighbours(node)) {
      const auto& of = heard(values, j);
      if (t >= static_cast<int>(of.size()) && succession.has(j)) return std::nullopt;
      inbox.push_back(t < static_cast<int>(of.size()) ? of[static_cast<std::size_t>(t)].value : lost);
    }
    ended.inboxes.push_back(std::move(inbox));
  }
  return ReplayStart{.start = start_after(next, ended), .earlier = std::move(final_iterate)};
}

}  // namespace parley::run
