// What a party can show at the end: what it released, what that can have told about any one of its records, on which
// assumptions, and what nobody can see from outside. Signed by its key. Holds no fingerprint of rows and no metric.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/network/exchange.h"
#include "parley/run/joint_study.h"
#include "parley/run/parts_told.h"

namespace parley::run {

struct Spent {
  double epsilon = 0, delta = 0;
  int rounds = 0;          // of messages that were released
  int values = 0;          // of these, without the turns in which the party was silent
  int private_rounds = 0;  // of these, how many were computed from rows
  bool confirmed = true;   // false: not every neighbour has confirmed that it has seen no more of this party
  nlohmann::json parts{};  // of a run that went on after a loss: its parts (run/parts_on_disk.h)
};
// whole: the run was completed as planned.
Spent spent_in(const PartsTold& told, bool whole, bool confirmed);

nlohmann::json statement_json(const JointStudy& study, const JointPlan& plan, int node, const std::string& hash,
                              const network::Ending& ending, const Spent& spent);
std::string statement_text(const nlohmann::json& statement);

// {"statement": …, "signature": hexadecimal over statement.dump(), "certificate": PEM}
nlohmann::json signed_statement(const nlohmann::json& statement, const network::Identity& self);
bool statement_holds(const nlohmann::json& signed_one, const network::Certificate& signer);

std::string end_name(network::End end);

}  // namespace parley::run
