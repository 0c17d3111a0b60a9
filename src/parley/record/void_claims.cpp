#include "parley/record/void_claims.h"

#include <nlohmann/json.hpp>

#include "parley/record/files.h"

namespace parley::record {

using nlohmann::json;

std::set<std::string> contradicted_in(const json& run) {
  std::set<std::string> names;
  const json list = member(run, contradicted_parties);
  if (!list.is_array()) return list.is_null() ? names : std::set<std::string>{""};
  for (const json& name : list) names.insert(name.is_string() ? name.get<std::string>() : "");
  return names;
}

std::string voided_by(const json& run) {
  const std::string outcome = text_in(run, "outcome");
  if (outcome == past_unknown || outcome == "contradicted") return outcome;
  return run.is_object() && run.contains(void_before) ? std::string(text_in(run, void_before)) : "";
}

Error two_records_of(const std::string& party, const std::filesystem::path& folder,
                     const std::filesystem::path& other) {
  return Error({.what = "two records of one party",
                .value = party,
                .where = folder.string(),
                .fix = "give one of " + folder.string() + " and " + other.string()});
}

std::vector<VoidClaim> void_claims(const json& run) {
  std::vector<VoidClaim> all;
  const std::string outcome = text_in(run, "outcome"), voided = voided_by(run);
  const bool forgotten = voided == past_unknown || (voided.empty() && run.is_object() && run.contains(void_before));
  if (forgotten) all.push_back({.party = text_in(run, "party"), .why = VoidClaim::Why::forgotten});
  for (const std::string& name : contradicted_in(run))
    all.push_back({.party = name, .why = VoidClaim::Why::contradicted});
  // Records of earlier versions name nobody.
  if (outcome == "equivocation" && all.empty()) all.push_back({.party = "", .why = VoidClaim::Why::contradicted});
  if (voided == "contradicted" && all.empty()) all.push_back({.party = "", .why = VoidClaim::Why::unproved});
  return all;
}

}  // namespace parley::record
