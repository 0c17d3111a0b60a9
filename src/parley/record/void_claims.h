// R14 in a record: the parties for which it may not be read as a claim, since they may have released more than is known.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "parley/base/error.h"

namespace parley::record {

// An outcome: this party was shown a signature of its own that its ledger does not know of.
inline constexpr const char* past_unknown = "past_unknown";
// An outcome: its owner has ended this party's part for good (party/abandon.h) in mid-run.
inline constexpr const char* abandoned = "abandoned";
// A key of run.json: the names of those who have signed two things that exclude each other; the proof is in the
// transcript. It is there only where there are any.
inline constexpr const char* contradicted_parties = "contradicted_parties";
std::set<std::string> contradicted_in(const nlohmann::json& run);
// A key of run.json: the outcome of an earlier process (past_unknown, contradicted) that voids claims until a later one
// has ended with its past confirmed, or has completed the run. A new start must not make a claim good again.
inline constexpr const char* void_before = "void_before";
std::string voided_by(const nlohmann::json& run);  // its own outcome, or what it says of an earlier one; "": neither

struct VoidClaim {
  std::string party;  // "": some party, and the record does not say which
  enum class Why {
    forgotten,     // it does not know all that it has released
    contradicted,  // it has contradicted itself, as its signatures prove
    unproved,      // somebody has told the parties two different things
  } why{};
};
// Of two runs of one party in one study each has released: none of the two records says what both cost.
Error two_records_of(const std::string& party, const std::filesystem::path& folder, const std::filesystem::path& other);

std::vector<VoidClaim> void_claims(const nlohmann::json& run);  // of run.json of a party; names as they stand there

}  // namespace parley::record
