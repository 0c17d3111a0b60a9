#include "parley/study/approval/approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/base/utf8.h"
#include "parley/study/party_record.h"

namespace parley::study {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view format = "parley-approval-1";

json to_json(const Approval& a) {
  return {{"format", format}, {"study", a.study}, {"party", a.party}, {"date", a.date}, {"words", a.words}};
}

std::string to_sign(const Approval& a) {
  return "parley approval 1\n" + to_json(a).dump();
}

// No control characters, and none that turn or break a line of text for whoever reads it on a terminal.
bool printable(std::string_view text) {
  if (!is_utf8(text)) return false;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8 c = utf8_at(text, at);
    const bool control = c.code < 0x20 || (c.code >= 0x7f && c.code <= 0x9f);
    const bool turns = c.code == 0x200e || c.code == 0x200f || c.code == 0x61c ||
                       (c.code >= 0x2028 && c.code <= 0x202e) || (c.code >= 0x2066 && c.code <= 0x2069);
    if (control || turns) return false;
    at += c.length;
  }
  return true;
}

// What a line says; nullopt: it is none that signed_approval makes. More keys than known ones are refused: they would
// not be signed.
std::optional<std::pair<Approval, std::string>> parsed(const std::string& line) {
  const json all = line.size() > longest_approval ? json() : shallow_json(line);
  if (!all.is_object() || all.size() != 2 || !all.contains("approval") || !all.contains("signature")) return {};
  const json &one = all["approval"], &signature = all["signature"];
  if (!one.is_object() || one.size() != 5 || !signature.is_string()) return {};
  for (const char* key : {"format", "study", "party", "date", "words"})
    if (!one.contains(key) || !one[key].is_string()) return {};
  Approval a{.study = one["study"], .party = one["party"], .date = one["date"], .words = one["words"]};
  const auto bytes = from_hex(signature.get<std::string>());
  if (one["format"] != format || !is_hex(a.study, 64) || !identity::is_name(a.party) || a.date.size() != 20 ||
      !printable(a.date) || !printable(a.words) || a.words.size() > longest_words || !bytes)
    return {};
  return {{std::move(a), *bytes}};
}

std::vector<std::string> lines_of(const fs::path& file) {
  if (!fs::exists(file)) return {};
  std::vector<std::string> lines;
  const std::string text = read_file(file, "the approvals", largest_approvals);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

// Why a line counts for nothing; "": it is a valid approval of this hash.
std::string refusal(const Study& study, const std::string& hash, const Approval& a, const std::string& signature,
                    const std::vector<Approval>& before) {
  const auto party = std::ranges::find(study.parties, a.party, &Invited::name);
  if (party == study.parties.end()) return a.party + " is not in the roster of this study";
  if (a.study != hash)
    return fmt::format("{} approved another study (hash {}…), not this one ({}…)", a.party, a.study.substr(0, 16),
                       hash.substr(0, 16));
  if (!party->pinned) return "the roster does not hold the certificate of " + a.party + ", so nothing shows who signed";
  if (!identity::verify(to_sign(a), signature, *party->pinned))
    return "the signature is not that of " + a.party + " whose certificate the roster pins";
  if (std::ranges::find(before, a.party, &Approval::party) != before.end()) return "a second approval of " + a.party;
  return "";
}

}  // namespace

fs::path approvals_file(const fs::path& study) {
  fs::path file = study;
  return file.replace_extension(".approvals");
}

std::string signed_approval(const Approval& a, const identity::PrivateKey& key) {
  return json{{"approval", to_json(a)}, {"signature", hex(identity::sign(key, to_sign(a)))}}.dump();
}

Approvals read_approvals(const Study& study, const std::string& hash) {
  const fs::path file = approvals_file(study.file);
  Approvals all;
  int number = 0;
  for (const std::string& line : lines_of(file)) {
    ++number;
    if (line.empty()) continue;
    const auto found = parsed(line);
    const std::string why = found ? refusal(study, hash, found->first, found->second, all.valid)
                                  : "it is no approval of this version of parley";
    if (why.empty())
      all.valid.push_back(found->first);
    else
      all.refused.push_back(fmt::format("{}:{}: {}; remove the line", file.string(), number, why));
  }
  for (const Invited& p : study.parties)
    if (std::ranges::find(all.valid, p.name, &Approval::party) == all.valid.end()) all.missing.push_back(p.name);
  return all;
}

void add_approval(const Study& study, const Approval& a, const identity::Identity& self) {
  const fs::path file = approvals_file(study.file);
  if (a.words.empty() || a.words.size() > longest_words || !printable(a.words))
    throw Error({.what = "an approval needs words that others will read",
                 .value = std::to_string(a.words.size()) + " bytes",
                 .allowed = "one line of 1 to " + std::to_string(longest_words) + " bytes",
                 .where = "option --words",
                 .fix = "e.g. --words 'Approved for the data of ward 2. A. Officer'"});
  const Approvals before = read_approvals(study, a.study);
  if (std::ranges::find(before.valid, a.party, &Approval::party) != before.valid.end())
    throw Error({.what = a.party + " has approved this very study already",
                 .where = file.string(),
                 .fix = "nothing has to be done; to approve it with other words, remove the line first"});
  std::string text;
  for (const std::string& line : lines_of(file)) {  // what this party said of an earlier version of the study goes
    const auto old = parsed(line);
    const bool stale = old && old->first.party == a.party && old->first.study != a.study;
    if (!line.empty() && !stale) text += line + "\n";
  }
  write_file(file, text + signed_approval(a, self.key) + "\n");
}

void require_approvals(const Study& study, const std::string& hash) {
  const Approvals all = read_approvals(study, hash);
  if (all.complete()) return;
  const std::string file = approvals_file(study.file).string();
  std::vector<Error::Fields> wrong;
  for (const std::string& line : all.refused)
    wrong.push_back({.what = "a line of the approvals does not hold: " + line, .where = file});
  if (!all.missing.empty())
    wrong.push_back({.what = "this study is not approved by all parties, and --require-approvals asks for it",
                     .value = "no valid approval of " + join(all.missing, ", "),
                     .allowed = "one of each party, for the hash " + in_fours(hash),
                     .where = file,
                     .fix = "each signs with 'parley study sign " + study.file.string() +
                            " --as NAME --words …'; put the lines of all parties into this one file"});
  throw Error(wrong);
}

std::string in_words(const Approval& a) {
  return fmt::format("{} approved on {}: \"{}\"", a.party, a.date, a.words);
}

}  // namespace parley::study
