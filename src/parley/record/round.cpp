#include "parley/record/round.h"

#include <array>
#include <nlohmann/json.hpp>

namespace parley::record {
namespace {

constexpr std::array<std::string_view, 5> kind_names = {"start", "data", "recycled", "trainer", "silent"};

}  // namespace

std::string_view name_of(RoundKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::optional<RoundKind> kind_named(std::string_view name) {
  for (std::size_t k = 0; k < kind_names.size(); ++k)
    if (kind_names[k] == name) return static_cast<RoundKind>(k);
  return std::nullopt;
}

RoundKind kind_of(const Turn& turn) {
  if (turn.round == 0) return RoundKind::start;
  if (turn.touches_data) return RoundKind::data;
  if (turn.silent) return RoundKind::silent;
  return turn.star ? RoundKind::trainer : RoundKind::recycled;
}

bool counts_in_mean(const Turn& turn, int in_run, long rounds) {
  if (turn.round < 1 || in_run < rounds / 2 + 1) return false;
  return turn.star ? turn.round % 2 == 0 : turn.touches_data;
}

nlohmann::json round_line(int round, RoundKind kind, double epsilon, bool is_private, Adjacency adjacency) {
  nlohmann::json line = {{"round", round}, {"kind", name_of(kind)}, {"epsilon", epsilon}};
  if (!is_private) line["stamp"] = not_private_stamp;
  if (adjacency != Adjacency::replace_one) line["adjacency"] = name_of(adjacency);
  return line;
}

}  // namespace parley::record
