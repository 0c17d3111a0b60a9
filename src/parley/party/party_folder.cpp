#include "parley/party/party_folder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/ledger/error_codes.h"
#include "parley/protocol/transcript.h"
#include "parley/record/beside.h"
#include "parley/record/files.h"
#include "parley/study/study.h"

namespace parley::party {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* uncertified_mark = "uncertified";  // a file that earlier versions wrote

bool says(const json& object, const char* key, const std::string& text) {
  return record::text_in(object, key) == text;
}

}  // namespace

fs::path own_folder(const std::string& out, const std::string& study_hash, const std::string& party) {
  return out.empty() ? study::run_id(study_hash).substr(0, 16) + "-" + party : out;
}

bool has_begun(const fs::path& folder, const std::string& study_hash, const std::string& party,
               const std::string& owner) {
  std::error_code code;
  if (!fs::exists(folder, code)) return false;
  if (!fs::is_directory(folder, code))
    throw Error({.what = "the output folder is a file", .where = folder.string(), .fix = "choose another --out"});
  if (std::ranges::all_of(fs::directory_iterator(folder), record::half_written)) return false;
  const Error another(
      {.what = "the folder holds the record of another run", .where = folder.string(), .fix = "choose another --out"});
  const json run = record::read_json(folder / "run.json");
  if (run.is_object() &&
      !(says(run, "format", "parley-party-1") && says(run, "study_hash", study_hash) && says(run, "party", party)))
    throw another;
  const std::string found = protocol::owner_in(folder / "transcript");
  if (!found.empty() && found != owner) throw another;
  if (found.empty() && !run.is_object())
    throw Error({.what = "the output folder holds other files, and nothing of this run",
                 .where = folder.string(),
                 .fix = "choose another --out"});
  return true;
}

void check_name(const fs::path& folder) {
  if (!record::named_like_a_part(folder)) return;
  throw Error({.what = "a folder of this name is taken for a part of another run, and so is what lies beside it",
               .value = folder.filename().string(),
               .allowed = "a name that does not end in .part- and a number",
               .where = "option --out",
               .fix = "choose another --out"});
}

void refuse_without_transcript(const ledger::LedgerFile& book, const ledger::PlannedRun& run, const fs::path& folder) {
  const auto* const there = book.find_run(run.id);
  const int last = there == nullptr ? -1 : there->accounts.at(run.accounts.front().node).last_round;
  if (last < 1) return;  // round 0 is computed from nothing
  throw Error({.what = "this run has begun: the ledger has its round " + std::to_string(last) +
                       ", and what it was computed from is not in this folder",
               .where = folder.string(),
               .fix =
                   "was it started with another --out? Then give that one; otherwise put back the newest copy of its "
                   "folder, or agree on a new study: what was spent stays spent"});
}

bool has_completed_model(const fs::path& folder) {
  return says(record::read_json(folder / "run.json"), "outcome", "completed") ||
         says(record::read_json(folder / "model.json"), "outcome", "completed");
}

void refuse_uncertified(const fs::path& folder) {
  if (!fs::exists(folder / uncertified_mark) && !says(record::read_json(folder / "run.json"), "outcome", "uncertified"))
    return;
  throw Error({.what =
                   "this party's part ended because a local minimum could not be certified: trying again with other "
                   "noise until it can be would choose the noise, and no bound covers that",
               .where = folder.string(),
               .fix = "agree on a new study with a larger tolerance; what this one spent stays spent",
               .code = ledger::run_closed});
}

}  // namespace parley::party
