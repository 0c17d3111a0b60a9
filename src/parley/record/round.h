// A round in a record: what it was, in one vocabulary for simulations and parties, and its line in rounds.jsonl.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "parley/record/adjacency.h"

namespace parley::record {

enum class RoundKind {
  start,     // round 0: computed from nothing
  data,      // computed from rows, and paid for
  recycled,  // computed from released values alone: free
  trainer,   // the trainer's turn in a star: free
  silent,    // not this party's turn
};
std::string_view name_of(RoundKind kind);
std::optional<RoundKind> kind_named(std::string_view name);  // nullopt: no such kind

struct Turn {
  int round = 0;
  bool touches_data = false, silent = false, star = false;
};
RoundKind kind_of(const Turn& turn);

// Is a node's value of this turn part of the mean that is its final iterate, where the plan averages? The later half of
// the whole run, rounds that touched data (a recycled iterate repeats the noise of the round before); in a star every
// even round, at whose end both sides have spoken. turn.round: in its part; of a run in one part the same as in_run.
bool counts_in_mean(const Turn& turn, int in_run, long rounds);

// round, kind, epsilon: all that a party records of a round, and what every line begins with. Where epsilon is no
// guarantee, or is about rows as they were dealt, the line says so.
nlohmann::json round_line(int round, RoundKind kind, double epsilon, bool is_private,
                          Adjacency adjacency = Adjacency::replace_one);
inline constexpr std::string_view not_private_stamp = "NOT PRIVATE";

}  // namespace parley::record
