#include "parley/party/abandon.h"

#include <fcntl.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/ledger/error_codes.h"
#include "parley/party/noise_key_file.h"
#include "parley/party/party_folder.h"
#include "parley/protocol/agreement.h"
#include "parley/record/beside.h"
#include "parley/record/files.h"
#include "parley/record/record.h"
#include "parley/record/void_claims.h"
#include "parley/study/agreement.h"
#include "parley/study/study.h"

namespace parley::party {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// One for each run, so that another study in this place is not meant. That it lies there is all it says.
fs::path mark_of(const fs::path& folder, const std::string& run) {
  return record::beside(folder, "." + run.substr(0, 16) + ".abandoned");
}

std::string text_of_mark(const std::string& party, const std::string& study_hash) {
  return party + " has abandoned the study " + study_hash + "\n";
}

// A secret does not say whose it is, and its folder is gone: then the name that join gives a folder by itself does, which
// holds run and party, or the mark that this party left here before.
void check_whose_secrets(const Abandoned& found, const fs::path& own_name, const std::string& mark_of_own,
                         const fs::path& mark) {
  if (found.secrets.empty() || fs::path(found.folder / "").parent_path().filename() == own_name) return;
  if (read_bytes(mark, 4096).value_or("") == mark_of_own) return;
  throw Error({.what = "a secret for shared noise lies here, its folder is gone, and nothing says whose secret it is",
               .value = found.secrets.front().string(),
               .where = found.folder.string(),
               .fix =
                   "nothing was deleted. Put the folder back, or delete the file yourself if no other run is under way "
                   "here: whoever has no key cannot go on"});
}

// A record that was under way says so for ever otherwise. One that has ended keeps its outcome, and its statement.
void record_the_end(const fs::path& folder) {
  const json changes = {{"outcome", record::abandoned},
                        {"outcome_in_words",
                         "its owner takes no further part in it; what it cost stands in its ledger (parley "
                         "ledger show)"}};
  bool last = true;  // part of those that have begun
  int parts = 1;
  std::error_code code;
  while (fs::exists(folder / record::folder_of_part(parts + 1) / "run.json", code)) ++parts;
  for (int part = parts; part >= 1; --part) {
    const fs::path here = folder / record::folder_of_part(part);
    const std::string outcome = record::text_in(record::read_json(here / "run.json"), "outcome");
    if (outcome == "running" || (part == 1 && outcome == "continued" && last)) record::amend(here, changes, json());
    if (part == parts) last = outcome == "running" || outcome == record::abandoned;
  }
}

}  // namespace

bool is_abandoned(const fs::path& folder, const std::string& run) {
  std::error_code unknown;
  if (fs::exists(fs::symlink_status(mark_of(folder, run), unknown))) return true;
  const json record = record::read_json(folder / "run.json");  // should the mark be lost
  return record::text_in(record, "run_id") == run && record::text_in(record, "outcome") == record::abandoned;
}

void refuse_abandoned(const fs::path& folder, const std::string& run, const ledger::LedgerFile* book) {
  std::vector<fs::path> folders = {folder};
  if (const auto* there = book == nullptr ? nullptr : book->find_run(run); there != nullptr && !there->folder.empty())
    folders.emplace_back(there->folder);
  for (const fs::path& one : folders)
    if (is_abandoned(one, run))
      throw Error({.what = "this party has abandoned this run ('parley study abandon'): it does not go on",
                   .where = mark_of(one, run).string(),
                   .fix = "agree on a new study; what this one spent stays spent",
                   .code = ledger::run_closed});
}

// Whose folder it is comes before everything: nothing of another party's or study's is marked or deleted. The mark is on
// the disk before a secret goes: killed in between, the next join is refused and deletes it.
Abandoned abandon(const std::string& study, const std::string& as, const std::string& out) {
  const study::Study s = study::read_study(study);
  const int node = s.node_of(as);
  const study::StudyPlan plan = study::plan_of_past(s);
  const json canonical = study::canonical_json(s, plan);
  const std::string hash = study::study_hash(canonical), run = study::run_id(hash);
  std::vector<std::string> names;
  for (const study::Invited& p : s.parties) names.push_back(p.name);
  const std::string owner = protocol::owner_of(
      study::agreement(plan.plan, plan.dimension(), plan.graph, names, run, canonical.dump(), hash), node);
  Abandoned result{.folder = own_folder(out, hash, as)};
  const bool has_folder = has_begun(result.folder, hash, as, owner);
  const fs::path mark = mark_of(result.folder, run);
  result.secrets = record::noise_key_files(result.folder);
  result.before = is_abandoned(result.folder, run);
  if (!has_folder && result.secrets.empty() && !result.before)
    throw Error({.what = "there is no run of " + as + " to abandon: neither its record nor a secret of it",
                 .where = result.folder.string(),
                 .fix = "was it started with --out? Then give the same here; what was never started needs nothing"});
  if (!has_folder) check_whose_secrets(result, own_folder("", hash, as), text_of_mark(as, hash), mark);
  std::optional<record::Lock> lock;
  if (has_folder) lock.emplace(result.folder);
  if (has_completed_model(result.folder)) {
    delete_noise_keys(result.folder);
    throw Error({.what = "this run is complete, so there is nothing to abandon; no secret of it is left",
                 .where = result.folder.string()});
  }
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(mark, unknown)) &&
      (!create_file(mark, text_of_mark(as, hash), 0644) || !sync_folder_of(mark)))
    throw Error({.what = "the run cannot be marked as abandoned: " + why_not_written(errno),
                 .where = mark.string(),
                 .fix = "nothing was deleted; check free space and permissions"});
  delete_noise_keys(result.folder);
  if (has_folder) record_the_end(result.folder);
  return result;
}

}  // namespace parley::party
