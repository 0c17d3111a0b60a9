// What the parts of a run were, and what they cost a party together, as its record and its statement tell it. From
// public plans and counts of released rounds alone, so that anybody finds the same.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/study/continuation.h"

namespace parley::study {

struct ReleasedPart {
  const Part* part = nullptr;
  int self = 0;       // this party's node number in it
  int released = -1;  // this party's last round in it
  int through = -1;   // the round from which the next part went on; −1: it is the last one
};
// In their order.
using PartHistory = std::vector<ReleasedPart>;
nlohmann::json to_json(const PartHistory& parts);

// For people, from to_json: one line a part and, of a completed run, one on what the model is made of. exact: with Σε
// of each part, which adds up at δ = 0 alone.
std::vector<std::string> in_words(const nlohmann::json& parts, bool exact, bool completed);

int rounds_released(const PartHistory& parts);
int values_released(const PartHistory& parts);  // of these, without the turns in which it was silent
int rounds_from_rows(const PartHistory& parts);
// Has this party released anything that rows are in, or the trainer heard it?
bool has_used_rows(const PartHistory& parts);
// Has its iterate anything from rows in it? Otherwise it is the start, and no model. Sums are in the common point once
// those of all parties are here, with which the next round begins.
bool has_learnt(const PartHistory& parts);

// By the rule by which parts add up: Σε at δ = 0, the filter's ε at δ > 0 (docs/proofs/run-in-parts.md, proposition 9).
// Against whom: the colluders that the study allows for, or all others together; the same where no noise is shared.
ledger::Spend spend_of(const PartHistory& parts, privacy::Against whom);
// Of a run under way: composed in one part, by that rule in several.
algorithm::Cost epsilon_so_far(const PartHistory& parts);
// (ε, δ) that a party may claim. One part: composed by theorem 8 where all planned rounds were released. In parts, and
// where a run ended early: Σε at δ = 0, and at δ > 0 what the study planned, since the sum is a filter. Where nothing
// was computed from rows, (0, 0). confirmed: it is sure that nothing else was released (Exchange::past_confirmed);
// otherwise what the study planned, which the protocol never lets it pass.
algorithm::Cost epsilon_of(const PartHistory& parts, bool whole, bool confirmed = true);
double delta_of(const PartHistory& parts, bool confirmed = true);

}  // namespace parley::study
