// What a party can show at the end: what it released, what that can have told about any one of its records, on which
// assumptions, and what nobody can see from outside. Signed by its key. Holds no fingerprint of rows and no metric.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/protocol/exchange.h"
#include "parley/study/part_history.h"
#include "parley/study/study.h"

namespace parley::study {

struct Spent {
  double epsilon = 0, delta = 0;  // against the colluders that the study allows for
  double epsilon_all_others = 0;  // against all others together: the same where no noise is shared
  int rounds = 0;                 // of messages that were released
  int values = 0;                 // of these, without the turns in which the party was silent
  int private_rounds = 0;         // of these, how many were computed from rows
  bool confirmed = true;          // false: not every neighbour has confirmed that it has seen no more of this party
  nlohmann::json parts{};         // of a run that went on after a loss: its parts (study/part_history.h)
};
// whole: the run was completed as planned.
Spent spent_in(const PartHistory& history, bool whole, bool confirmed);

nlohmann::json statement_json(const Study& study, const StudyPlan& plan, int node, const std::string& hash,
                              const protocol::Ending& ending, const Spent& spent);
std::string statement_text(const nlohmann::json& statement);

// {"statement": …, "signature": hexadecimal over statement.dump(), "certificate": PEM}
nlohmann::json signed_statement(const nlohmann::json& statement, const identity::Identity& self);
bool statement_holds(const nlohmann::json& signed_one, const identity::Certificate& signer);

std::string end_name(protocol::End end);

}  // namespace parley::study
