#include "parley/run/parts_told.h"

#include <nlohmann/json.hpp>

#include "parley/algorithm/pricing.h"

namespace parley::run {
namespace {

using nlohmann::json;

std::vector<privacy::Charge> charged(const PartTold& told) {
  if (told.self >= told.part->holders()) return {};  // a trainer
  return charges(*told.part, told.self, std::max(0, told.released));
}

bool priced(const PartTold& told) {
  return told.self < told.part->holders() && told.part->plan.noisy();
}

const algorithm::Schedule& planned(const PartsTold& parts) {
  return parts.front().part->plan.nodes[static_cast<std::size_t>(parts.front().self)];
}

}  // namespace

std::string folder_of_part(int number) {
  return number == 1 ? "." : "part-" + std::to_string(number);
}

json to_json(const PartsTold& parts) {
  json list = json::array();
  for (const PartTold& told : parts)
    list.push_back({{"part", told.part->number},
                    {"run_id", told.part->agreed.run},
                    {"folder", folder_of_part(told.part->number)},
                    {"parties", told.part->agreed.parties},
                    {"went_on_after_round", told.through < 0 ? json() : json(told.through)},
                    {"rounds_released", told.released + 1},
                    {"rounds_from_rows", charged(told).size()},
                    {"epsilon", priced(told) ? spend_of({told}).epsilon() : 0}});
  return list;
}

int rounds_released(const PartsTold& parts) {
  int rounds = 0;
  for (const PartTold& told : parts) rounds += told.released + 1;
  return rounds;
}

int rounds_from_rows(const PartsTold& parts) {
  std::size_t rounds = 0;
  for (const PartTold& told : parts) rounds += charged(told).size();
  return static_cast<int>(rounds);
}

privacy::Spend spend_of(const PartsTold& parts) {
  privacy::Spend sum(priced(parts.front()) ? planned(parts).delta : 0);
  for (const PartTold& told : parts)
    for (const privacy::Charge& c : charged(told)) sum.add(privacy::Price{c.epsilon, c.mu});
  return sum;
}

double epsilon_so_far(const PartsTold& parts) {
  if (!priced(parts.front())) return 0;
  return parts.size() > 1 ? spend_of(parts).epsilon()
                          : algorithm::whole_run_epsilon(charged(parts.front()), planned(parts).delta);
}

double epsilon_of(const PartsTold& parts, bool whole) {
  if (!priced(parts.front())) return 0;
  if (planned(parts).delta > 0 && (parts.size() > 1 || !whole)) return planned(parts).epsilon;
  return epsilon_so_far(parts);
}

}  // namespace parley::run
