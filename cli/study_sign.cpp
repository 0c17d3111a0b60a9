#include "cli/study_sign.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/study/approval/approval.h"

namespace parley::cli {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<Option> rows(SignOptions& o) {
  return {
      {"as", "", "the party that approves, or abandons its run", any_text("a name"), &o.as, "sign"},
      {"words", "", "what the party says with its approval; others will read it", any_text("a line"), &o.words, "sign"},
      {"key", "", "the party's key; default NAME.key", any_text("a file"), &o.key, "sign"},
      {"hash", "", "the hash of the study that was read and is to be approved; another one is not signed",
       any_text("64 digits"), &o.hash, "sign"}};
}

namespace {

// Privacy: a file can change between reading its page and signing it. Whoever names the hash signs what was read.
void check_hash(const std::string& given, const std::string& hash, const fs::path& file) {
  std::string digits;  // as the page and `study check` print it, in fours, or in one
  for (const char c : given)
    if (c != ' ') digits += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!is_hex(digits, hash.size()))
    throw Error({.what = "this is not the hash of a study",
                 .value = "'" + given + "'",
                 .allowed = std::to_string(hash.size()) + " hexadecimal digits",
                 .where = "option --hash",
                 .fix = "give all of the hash that stands on the page of the plan"});
  if (digits != hash)
    throw Error({.what = "the study is not the one that is to be approved: it has another hash, and nothing is signed",
                 .value = in_fours(hash),
                 .allowed = in_fours(digits) + " (--hash)",
                 .where = file.string(),
                 .fix = "study or schema have changed since: read the plan again ('parley report " + file.string() +
                        " --out plan.html'), or ask for the files that were read"});
}

}  // namespace

int sign_study(const fs::path& file, SignOptions o) {
  if (o.as.empty())
    throw Error({.what = "who approves is missing",
                 .where = "option --as",
                 .fix = "e.g. parley study sign " + file.string() + " --as hospital_a --words 'Approved. A. Officer'"});
  const study::Study s = study::read_study(file);
  const study::Invited& me = s.parties[static_cast<std::size_t>(s.node_of(o.as))];
  const std::string hash = study::study_hash(study::canonical_json(s, study::plan_of(s)));
  if (!o.hash.empty()) check_hash(o.hash, hash, file);
  const std::string certificate = o.certificate.empty() ? o.as + ".pem" : o.certificate;
  const identity::Identity self = identity::read_identity(o.key.empty() ? o.as + ".key" : o.key, certificate);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (const auto refusal = identity::check_certificate(self.certificate, o.as, me.fingerprint, now))
    throw Error({.what = "the others would refuse this signature: " + refusal->sentence,
                 .where = certificate,
                 .fix = "sign with the key and certificate that the roster of the study pins"});
  study::add_approval(s, {.study = hash, .party = o.as, .date = iso_time(now), .words = o.words}, self);
  fmt::print("{}: {} approves the study with hash\n  {}\n", study::approvals_file(file).string(), o.as, in_fours(hash));
  const study::Approvals all = study::read_approvals(s, hash);
  if (!all.missing.empty()) fmt::print("Not yet approved by {}.\n", join(all.missing, ", "));
  fmt::print(
      "Give the file to all parties; lines of several parties go into one file. 'parley join --require-approvals' "
      "starts only with all of them.\n");
  return 0;
}

std::vector<std::string> approval_lines(const study::Study& study, const std::string& hash) {
  const study::Approvals all = study::read_approvals(study, hash);
  std::vector<std::string> lines;
  for (const study::Approval& a : all.valid) lines.push_back(study::in_words(a));
  if (!all.valid.empty() && !all.missing.empty()) lines.push_back("not yet approved by " + join(all.missing, ", "));
  if (all.valid.empty()) lines.emplace_back("none yet; 'parley study sign' makes them");
  for (const std::string& line : all.refused) lines.push_back("does not count: " + line);
  return lines;
}

json approvals_json(const study::Study& study, const std::string& hash) {
  const study::Approvals all = study::read_approvals(study, hash);
  json valid = json::array();
  for (const study::Approval& a : all.valid)
    valid.push_back({{"party", a.party}, {"date", a.date}, {"words", a.words}});
  return {{"valid", valid}, {"missing", all.missing}, {"refused", all.refused}, {"complete", all.complete()}};
}

}  // namespace parley::cli
