#include "parley/verify/replay.h"

#include <algorithm>

#include "parley/algorithm/nodes.h"
#include "parley/ledger/ledger.h"
#include "parley/protocol/last_words.h"

namespace parley::verify {
namespace {

// A random start is public noise that nobody can repeat, unless the study has a seed.
bool follows(const study::ExpectedPart& known, int node, int round, const ReplayStart& start) {
  if (round == 0)
    return known.is_trainer(node) || !known.schedule(node).random_start || known.study.seed.has_value() ||
           start.start.value.size() > 0;
  return !known.touches_data(node, round);
}

std::string kind_of(const study::ExpectedPart& known, int node, int round) {
  if (round == 0) return "the start";
  if (known.is_trainer(node)) return "the trainer's value";
  return known.part.plan.passed_on() ? "the model" : "the recycled value";
}

const std::vector<study::Heard>& heard(const Values& values, int origin) {
  static const std::vector<study::Heard> nothing;
  const auto found = values.find(origin);
  return found == values.end() ? nothing : found->second;
}

protocol::FinalIterate final_iterate_of(const study::ExpectedPart& known, const ReplayStart& start) {
  const auto counts = [part = known.part](int round) { return counts_in_final(part, round); };
  return start.earlier ? protocol::FinalIterate(counts, *start.earlier) : protocol::FinalIterate(counts);
}

}  // namespace

Replayed replay(const study::ExpectedPart& known, int node, const Values& values, const ReplayStart& start,
                std::vector<std::string>& wrong) {
  const algorithm::Schedule& s = known.schedule(node);
  data::Rows none;
  none.features = static_cast<Index>(known.plan.setting.features);
  const problem::Problem blind = problem_of(none, s);
  const auto machine = known.is_trainer(node) ? algorithm::make_trainer(known.part.plan, known.dimension, start.start)
                                              : algorithm::make_node(blind, s, start.start);
  const privacy::NoiseSource noise(known.study.seed);
  ledger::Ledger paid(known.agreed().nodes(), false);  // FinalIterate takes nothing else
  protocol::FinalIterate final_iterate = final_iterate_of(known, start);
  Replayed result{.final_iterate = final_iterate.value()};
  bool astray = false;  // what comes after a wrong value says nothing more
  for (const study::Heard& own : heard(values, node)) {
    const int round = result.rounds;
    privacy::Inbox inbox;
    for (const int j : known.agreed().heard_by(node)) {
      if (round == 0) break;
      if (static_cast<int>(heard(values, j).size()) < round) {
        result.stopped_by = known.name(j);
        return result;
      }
      inbox.push_back(heard(values, j)[static_cast<std::size_t>(round) - 1].value);
    }
    if (follows(known, node, round, start)) {
      privacy::Random random = noise.stream(known.study_node(node), round, study::noise_of_part(known.part.number));
      const Vector expected = machine->step(inbox, random).value;
      if (!astray && !study::same_bits(*own.value, expected)) {
        astray = true;
        wrong.push_back(
            known.name(node) + ", round " + std::to_string(round) + ": " + kind_of(known, node, round) +
            " does not follow from the values released before it: " + study::first_difference(*own.value, expected));
      }
      result.recomputed += expected.size() > 0 ? 1 : 0;
    }
    machine->commit(inbox, *own.value);
    final_iterate.add(*paid.pay({.node = node, .round = round, .value = *own.value, .charge = {}}));
    result.final_iterate = known.part.plan.passed_on() ? machine->iterate() : final_iterate.value();
    ++result.rounds;
  }
  if (const auto* estimate = machine->estimate())
    result.estimate = std::make_shared<const algorithm::newton::Estimate>(*estimate);
  return result;
}

std::optional<ReplayStart> start_after(const study::ExpectedPart& known, const protocol::Succession& succession,
                                       const study::Part& next, int node, const Values& values,
                                       const ReplayStart& start) {
  const int k = succession.through;
  const auto& own = heard(values, node);
  const auto member = std::ranges::lower_bound(succession.members, node) - succession.members.begin();
  const int released = succession.released[static_cast<std::size_t>(member)];
  if (static_cast<int>(own.size()) < std::min(k, released) + 1) return std::nullopt;
  study::Ended ended{
      .part = known.part, .next = succession, .self = node, .start = start.start, .own = {}, .inboxes = {}};
  protocol::FinalIterate final_iterate = final_iterate_of(known, start);
  ledger::Ledger paid(known.agreed().nodes(), false);
  for (int t = 0; t <= std::min(k, released); ++t) {
    ended.own.push_back(*own[static_cast<std::size_t>(t)].value);
    final_iterate.add(*paid.pay({.node = node, .round = t, .value = ended.own.back(), .charge = {}}));
  }
  static const auto lost = std::make_shared<const Vector>();  // its values are in no dual that is left
  for (int t = 0; t < k; ++t) {
    privacy::Inbox inbox;
    for (const int j : known.agreed().heard_by(node)) {
      const auto& of = heard(values, j);
      if (t >= static_cast<int>(of.size()) && (succession.has(j) || known.agreed().passed_on)) return std::nullopt;
      inbox.push_back(t < static_cast<int>(of.size()) ? of[static_cast<std::size_t>(t)].value : lost);
    }
    ended.inboxes.push_back(std::move(inbox));
  }
  return ReplayStart{.start = start_after(next, ended), .earlier = std::move(final_iterate)};
}

}  // namespace parley::verify
