// What the record of one party says, read without trusting it and without writing to it: every message is decoded,
// held against the study, and its signature against the certificate that the roster pins. What does not hold becomes a
// sentence and does not become a value, so whatever is computed from a record was signed by its sender.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parley/base/input_file.h"
#include "parley/privacy/release.h"
#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"
#include "parley/record/void_claims.h"
#include "parley/study/expected_part.h"

namespace parley::study {

struct Heard {  // one value, as it was signed
  privacy::Released value;
  Digest head;
  protocol::Process process;  // that signed it
};
bool same_bits(const Vector& a, const Vector& b);  // −0 is not 0
std::string first_difference(const Vector& found, const Vector& expected);

// Numbers that went through a logarithm of another machine's: to six digits, as the study's hash has them.
bool nearly(double a, double b);
bool nearly_same(const nlohmann::json& a, const nlohmann::json& b);
// "FILE has KEY = 5, and 7 follows".
std::string difference_in(const std::string& file, const std::string& key, const nlohmann::json& found,
                          const nlohmann::json& expected);
std::string shown(const nlohmann::json& value);  // of a file that anybody may have written: short and printable

struct PartyRecord {
  int node = 0;
  std::filesystem::path folder;
  nlohmann::json run;                           // run.json
  std::vector<nlohmann::json> lines;            // rounds.jsonl
  std::vector<Vector> released;                 // released.f64
  std::map<int, std::vector<Heard>> values;     // by origin, its own too: rounds 0, 1, … without a gap
  std::map<int, protocol::Message> finals;      // by origin
  std::map<int, protocol::Message> seals;       // by sender, its own too
  std::map<int, protocol::Message> noise_keys;  // as well; only where noise is shared
  std::vector<protocol::Message> hellos;        // the first of each process of a neighbour's
  std::vector<protocol::Message> after_loss;    // statements and consents, its own too
  std::set<int> accused;                        // who has signed two things that exclude each other, by what it keeps
  std::set<int> accused_of_start;               // the same of the value that begins this part, and the part before
  bool intact = true;                           // false: what is missing may have been there
  long messages = 0;                            // whose signature holds
  bool went_on = false;                         // a record of the next part lies beside this one
  // Of this part. Of the first one, run.json has the outcome of all parts together.
  std::string outcome() const { return went_on ? "continued" : run.value("outcome", ""); }
  bool past_unknown() const { return run.value("outcome", "") == record::past_unknown; }
  bool ended() const;  // the run, by itself and with a statement
  int rounds_of(int origin) const {
    const auto found = values.find(origin);
    return found == values.end() ? 0 : static_cast<int>(found->second.size());
  }
};

// What must stand in run.json; of a later part also from which agreement it follows.
nlohmann::json expected_header(const ExpectedPart& known, int node, const std::vector<record::VoidClaim>& claims);

// nullopt: the record is of another study, or of another part. Error: this is no record of a party of the study.
// Reads the part that is known.
std::optional<PartyRecord> read_party_record(const ExpectedPart& known, const std::filesystem::path& folder,
                                             std::vector<std::string>& wrong);

}  // namespace parley::study
