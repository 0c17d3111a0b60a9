#include "parley/study/part_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/algorithm/pricing.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/record.h"

namespace parley::study {
namespace {

using nlohmann::json;
using privacy::Against;

std::vector<privacy::Charge> charged(const ReleasedPart& released) {
  if (released.self >= released.part->holders()) return {};  // a trainer
  return charges(*released.part, released.self, std::max(0, released.released));
}

bool priced(const ReleasedPart& released) {
  return released.self < released.part->holders() && released.part->plan.noisy();
}

const algorithm::Schedule& planned_schedule(const PartHistory& parts) {
  return parts.front().part->plan.nodes[static_cast<std::size_t>(parts.front().self)];
}

}  // namespace

json to_json(const PartHistory& parts) {
  json list = json::array();
  for (const ReleasedPart& released : parts) {
    const auto cost = [&](Against whom) { return priced(released) ? spend_of({released}, whom).epsilon() : 0; };
    list.push_back({{"part", released.part->number},
                    {"run_id", released.part->agreed.run},
                    {"folder", record::folder_of_part(released.part->number)},
                    {"parties", released.part->agreed.parties},
                    {"went_on_after_round", released.through < 0 ? json() : json(released.through)},
                    {"rounds_released", released.released + 1},
                    {"rounds_from_rows", charged(released).size()},
                    {"epsilon", cost(Against::colluders)}});
    if (parts.front().part->plan.sharing().on()) list.back()["epsilon_all_others"] = cost(Against::anybody);
  }
  return list;
}

std::vector<std::string> in_words(const json& parts, bool exact, bool completed) {
  using Names = std::vector<std::string>;
  std::vector<std::string> lines;
  Names lost;
  int before = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const json& part = parts[p];
    const Names here = part.at("parties").get<Names>();
    Names gone;
    if (p > 0)
      for (const auto& name : parts[p - 1].at("parties").get<Names>())
        if (std::ranges::find(here, name) == here.end()) gone.push_back(name);
    lost.insert(lost.end(), gone.begin(), gone.end());
    std::string line = fmt::format("part {}: ", part.at("part").get<int>());
    if (p > 0) line += "without " + (gone.empty() ? "an edge that was lost" : join(gone, ", ")) + ", by ";
    line +=
        fmt::format("{}; {} rounds from round {} on", join(here, ", "), part.at("rounds_released").get<int>(), before);
    if (exact) line += fmt::format(", epsilon {}", printed_epsilon(part.at("epsilon").get<double>()));
    if (!part.at("went_on_after_round").is_null()) before += part["went_on_after_round"].get<int>();
    lines.push_back(std::move(line));
  }
  if (!completed) return lines;
  lines.push_back(fmt::format("The model is that of {}; through round {} they worked with {} too.",
                              join(parts.back().at("parties").get<Names>(), ", "), before,
                              lost.empty() ? "the lost edge" : join(lost, ", ")));
  return lines;
}

int rounds_released(const PartHistory& parts) {
  int rounds = 0;
  for (const ReleasedPart& released : parts) rounds += released.released + 1;
  return rounds;
}

int values_released(const PartHistory& parts) {
  int values = 0;
  for (const ReleasedPart& released : parts)
    for (int t = 0; t <= released.released; ++t) values += released.part->agreed.speaks(released.self, t) ? 1 : 0;
  return values;
}

bool has_used_rows(const PartHistory& parts) {
  const bool trainer = parts.front().self >= parts.front().part->holders();
  return trainer ? parts.front().released >= 2 : rounds_from_rows(parts) > 0;
}

bool has_learnt(const PartHistory& parts) {
  if (!parts.front().part->plan.passed_on()) return has_used_rows(parts);
  return std::ranges::any_of(parts, [](const ReleasedPart& one) { return one.released >= 2; });
}

int rounds_from_rows(const PartHistory& parts) {
  std::size_t rounds = 0;
  for (const ReleasedPart& released : parts) rounds += charged(released).size();
  return static_cast<int>(rounds);
}

ledger::Spend spend_of(const PartHistory& parts, Against whom) {
  ledger::Spend sum(priced(parts.front()) ? planned_schedule(parts).delta : 0);
  for (const ReleasedPart& released : parts)
    for (const privacy::Charge& c : charged(released)) sum.add(ledger::Price{c.epsilon, c.mu_against(whom)});
  return sum;
}

algorithm::Cost epsilon_so_far(const PartHistory& parts) {
  if (!priced(parts.front())) return {};
  const auto against = [&](Against whom) {
    return parts.size() > 1 ? spend_of(parts, whom).epsilon()
                            : algorithm::whole_run_epsilon(charged(parts.front()), planned_schedule(parts).delta, whom);
  };
  return {.epsilon = against(Against::colluders), .all_others = against(Against::anybody)};
}

double delta_of(const PartHistory& parts, bool confirmed) {
  if (!priced(parts.front()) || (confirmed && rounds_from_rows(parts) == 0)) return 0;
  return planned_schedule(parts).delta;
}

algorithm::Cost epsilon_of(const PartHistory& parts, bool whole, bool confirmed) {
  if (!priced(parts.front()) || (confirmed && rounds_from_rows(parts) == 0)) return {};
  const algorithm::Schedule& s = planned_schedule(parts);
  if (!confirmed || (s.delta > 0 && (parts.size() > 1 || !whole)))
    return {.epsilon = s.epsilon, .all_others = s.epsilon_all_others};
  return epsilon_so_far(parts);
}

}  // namespace parley::study
