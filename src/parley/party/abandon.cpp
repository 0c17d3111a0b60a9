#include "parley/party/abandon.h"

#include <fcntl.h>

#include <cerrno>
#include <optional>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/ledger/error_codes.h"
#include "parley/party/noise_key_file.h"
#include "parley/party/party_folder.h"
#include "parley/record/beside.h"
#include "parley/record/record.h"
#include "parley/study/study.h"

namespace parley::party {

namespace fs = std::filesystem;

namespace {

// One for each run, so that another study in this place is not meant. That it lies there is all it says.
fs::path mark_of(const fs::path& folder, const std::string& run) {
  return record::beside(folder, "." + run.substr(0, 16) + ".abandoned");
}

}  // namespace

bool is_abandoned(const fs::path& folder, const std::string& run) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(mark_of(folder, run), unknown));
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

// The mark is on the disk before a secret goes: killed in between, the next join is refused and deletes it.
Abandoned abandon(const std::string& study, const std::string& as, const std::string& out) {
  const study::Study s = study::read_study(study);
  s.node_of(as);
  const std::string hash = study::study_hash(study::canonical_json(s, study::plan_of_past(s))),
                    run = study::run_id(hash);
  Abandoned result{.folder = own_folder(out, hash, as)};
  const bool has_folder = fs::is_directory(result.folder);
  result.secrets = record::noise_key_files(result.folder);
  result.before = is_abandoned(result.folder, run);
  if (!has_folder && result.secrets.empty() && !result.before)
    throw Error({.what = "there is no run of " + as + " to abandon: neither its record nor a secret of it",
                 .where = result.folder.string(),
                 .fix = "was it started with --out? Then give the same here; what was never started needs nothing"});
  std::optional<record::Lock> lock;
  if (has_folder) lock.emplace(result.folder);
  if (has_completed_model(result.folder)) {
    delete_noise_keys(result.folder);
    throw Error({.what = "this run is complete, so there is nothing to abandon; no secret of it is left",
                 .where = result.folder.string()});
  }
  const fs::path mark = mark_of(result.folder, run);
  if (!result.before &&
      (!create_file(mark, as + " has abandoned the study " + hash + "\n", 0644) || !sync_folder_of(mark)))
    throw Error({.what = "the run cannot be marked as abandoned: " + why_not_written(errno),
                 .where = mark.string(),
                 .fix = "nothing was deleted; check free space and permissions"});
  delete_noise_keys(result.folder);
  return result;
}

}  // namespace parley::party
