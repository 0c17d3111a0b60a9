// Is this the newest copy of the ledger? By its memory beside it, by the records of runs, which hold the head that it had
// when they began and ended, and by what a peer has proved. Only its owner may go on where that is in doubt, and the
// chain keeps the decision.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/input_file.h"
#include "parley/base/text.h"
#include "parley/base/utf8.h"
#include "parley/ledger/ledger_file.h"

namespace parley::ledger {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* lost = "docs/operate/backup.md, \"When the newest copy is lost\"";

const char* word_of(Memory memory) {
  switch (memory) {
    case Memory::fits:
      return "fits";
    case Memory::missing:
      return "missing";
    case Memory::damaged:
      return "damaged";
    case Memory::another:
      return "another";
    case Memory::newer:
      return "newer";
  }
  return "";
}

// "ledger_head" of a record, where it names this ledger; otherwise null.
json head_in(const fs::path& folder, const std::string& identity) {
  const auto text = read_bytes(folder / "run.json", largest_record);
  if (!text || text->find(identity) == std::string::npos) return {};  // most are of no ledger, or of another
  const json run = shallow_json(*text);
  if (!run.is_object() || !run.contains("ledger_head")) return {};
  const json& head = run["ledger_head"];
  const bool names_it = head.is_object() && head.value("ledger", json()) == identity;
  return names_it && head.value("head", json()).is_string() ? head : json();
}

// A link such as runs/latest to a folder that is looked at under its own name. Every other link is followed.
bool leads_beside(const fs::directory_entry& entry) {
  std::error_code code;
  if (!entry.is_symlink(code)) return false;
  const fs::path target = fs::read_symlink(entry.path(), code);
  return !code && target == target.filename() && target != "." && target != "..";
}

std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at(parent, fs::directory_options::skip_permission_denied, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code unknown;
    if (at->is_directory(unknown) && !leads_beside(*at)) found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

std::string names(const std::vector<LedgerFile::RecordedHead>& records) {
  std::vector<std::string> all;
  for (const auto& r : records) all.push_back(r.folder.string());
  return join(all, ", ");
}

std::string numbers(const std::vector<std::int64_t>& entries) {
  std::vector<std::string> all;
  for (const std::int64_t entry : entries) all.push_back(std::to_string(entry));
  return join(all, ", ");
}

}  // namespace

json LedgerFile::recorded_head() const {
  return signed_head(hex(head().hash));
}

// Trap: whoever was given a party's record knows which ledger it names, and could write one with a head of its own and
// have it put beside the owner's. The key beside the ledger never leaves this machine.
json LedgerFile::signed_head(const std::string& hash) const {
  const std::string identity = hex(database_->identity());
  Fingerprint mac = fingerprint();
  mac.add("parley ledger head 1 " + identity + " " + hash);
  return {{"ledger", identity}, {"head", hash}, {"mac", mac.text()}};
}

// The folders of the runs that it knows, and what stands beside them: a run that began after an old copy was made is
// not in that copy. One that is not there was moved away, and shows nothing.
std::vector<LedgerFile::RecordedHead> LedgerFile::newer_records() const {
  const std::string identity = hex(database_->identity());
  std::set<fs::path> parents;
  for (const Run& run : runs_)
    if (!run.folder.empty()) parents.insert(fs::path(run.folder).parent_path());
  std::vector<RecordedHead> found;
  for (const fs::path& parent : parents)
    for (const fs::path& folder : folders_in(parent))
      if (const json head = head_in(folder, identity); !head.is_null())
        if (!key_ || head == signed_head(head["head"])) found.push_back({folder, head["head"]});  // no key: in doubt
  if (found.empty()) return found;
  std::set<std::string> known;
  for (const Digest& hash : database_->hashes()) known.insert(hex(hash));
  for (const Acceptance& accepted : acceptances_)
    for (const RecordedHead& r : accepted.records) known.insert(r.head);
  std::erase_if(found, [&](const RecordedHead& r) { return known.contains(r.head); });
  return found;
}

std::optional<Error::Fields> LedgerFile::rolled_back() const {
  const std::string now = std::to_string(head().entries) + " entries with head " + hex(head().hash).substr(0, 16);
  if (database_->memory() == Memory::newer) {
    const Head& once = database_->remembered();
    return Error::Fields{
        .what = "your ledger is older than what you have released, or another one: it once had " +
                std::to_string(once.entries) + " entries with head " + hex(once.hash).substr(0, 16),
        .value = now,
        .where = file().string(),
        .fix = "put the newest copy back. If it is lost, what it held is spent all the same: " + std::string(lost)};
  }
  const auto newer = newer_records();
  if (newer.empty()) return std::nullopt;
  return Error::Fields{
      .what =
          "your ledger is older than what you have released: it does not hold the head that it had for the record"
          " in " +
          names(newer),
      .value = now,
      .where = file().string(),
      .fix = "put the newest copy back. If it is lost, what it held is spent all the same: " + std::string(lost)};
}

std::optional<Error::Fields> LedgerFile::memory_in_doubt() const {
  const std::string memory = database_->memory_file().string();
  const std::string accept = "parley ledger accept " + file().string() +
                             " --reason TEXT. If this ledger is an old copy, what was released since is then not "
                             "counted: docs/operate/backup.md";
  switch (database_->memory()) {
    case Memory::missing:
      return Error::Fields{.what =
                               "the memory of this ledger is missing: without it nothing shows whether this is an "
                               "old copy, which would spend again what is spent",
                           .value = memory,
                           .where = file().string(),
                           .fix = "put the file back beside the ledger. If it is lost, its owner decides: " + accept};
    case Memory::damaged:
      return Error::Fields{.what = "the memory of this ledger is damaged: nothing shows whether this is an old copy",
                           .value = memory,
                           .where = file().string(),
                           .fix =
                               "put back an intact copy of it, not older than the ledger. If there is none, its owner "
                               "decides: " +
                               accept};
    case Memory::another:
      return Error::Fields{.what = "the memory beside this ledger is that of another ledger",
                           .value = memory,
                           .where = file().string(),
                           .fix =
                               "put each ledger's own file beside it: they are copied and moved together. If it is "
                               "lost, its owner decides: " +
                               accept};
    case Memory::fits:
    case Memory::newer:
      break;
  }
  return std::nullopt;
}

void LedgerFile::accept(const std::string& reason, const std::string& when, const std::vector<fs::path>& records) {
  if (reason.empty() || !is_plain_line(reason, 500) || !is_utf8(reason))
    throw Error({.what = "this is no reason that the ledger can keep",
                 .value = "'" + hex(reason).substr(0, 40) + "' (hexadecimal)",
                 .allowed = "a line of 1 to 500 bytes, UTF-8",
                 .where = "option --reason"});
  const auto newer = newer_records();
  std::vector<RecordedHead> unnamed = newer;
  for (const fs::path& named : records) {
    std::error_code code;
    const fs::path folder = fs::weakly_canonical(named, code);
    if (std::ranges::find(newer, folder, &RecordedHead::folder) == newer.end())
      throw Error({.what = "this folder holds no newer head of this ledger: there is nothing to accept in it",
                   .value = named.string(),
                   .allowed = newer.empty() ? "no folder" : names(newer),
                   .where = file().string()});
    std::erase_if(unnamed, [&](const RecordedHead& r) { return r.folder == folder; });
  }
  if (!unnamed.empty())
    throw Error(
        {.what = "this ledger is older than what you have released, and these records show it",
         .value = names(unnamed),
         .where = file().string(),
         .fix = "put the newest copy back. If it is lost, name every one of these folders: parley ledger accept " +
                file().string() + " FOLDER... --reason TEXT"});
  json heads = json::array();
  for (const RecordedHead& r : newer) heads.push_back({{"folder", r.folder.string()}, {"head", r.head}});
  const json body = {{"when", when}, {"reason", reason}, {"memory", word_of(database_->memory())}, {"records", heads}};
  append({{.kind = "accepted", .body = body.dump(-1, ' ', false, json::error_handler_t::replace)}});
  database_->remember();
}

const LedgerFile::Accusation* LedgerFile::open_accusation() const {
  const auto found = std::ranges::find(accusations_.rbegin(), accusations_.rend(), false, &Accusation::accepted);
  return found == accusations_.rend() ? nullptr : &*found;
}

std::optional<std::string> LedgerFile::proved_old_in(const std::string& run) const {
  for (const Accusation& a : accusations_)
    if (a.run == run && !a.accepted) return a.what;
  return std::nullopt;
}

void LedgerFile::check_not_proved_old(const std::string& but_for_run) const {
  const Accusation* const proof = open_accusation();
  if (proof == nullptr || (!but_for_run.empty() && proved_old_in(but_for_run))) return;
  throw Error({.what = "your ledger is older than what you have released: " + proof->sentence(),
               .where = file().string(),
               .fix = "put the newest copy back. If it is lost, what it held is spent all the same, and its owner "
                      "decides: parley ledger accept " +
                      file().string() + " --reason TEXT (" + lost + ")"});
}

// Privacy: whoever is told of the proof knows that the mark is there, and whoever finds half of it finds a ledger that
// is refused: the memory names the entry before the entry is there.
void LedgerFile::accuse(const std::string& run, const std::string& what, const Digest& evidence) {
  const auto same = [&](const Accusation& a) { return a.run == run && a.evidence == hex(evidence); };
  if (std::ranges::any_of(accusations_, same)) return;
  const json body = {{"when", timestamp()}, {"what", what}, {"evidence", hex(evidence)}};
  failpoint("before the mark of a proof");
  append({{.kind = "accused", .run = run, .body = body.dump(-1, ' ', false, json::error_handler_t::replace)}},
         LedgerDatabase::First::memory);
  failpoint("after the mark of a proof");
}

std::string LedgerFile::Accusation::sentence() const {
  return "entry " + std::to_string(entry) + ", " + when + ": a peer in run " + run.substr(0, 16) +
         " proved it with a signature of this party's (" + what + ")";
}

std::string LedgerFile::Acceptance::sentence() const {
  const std::string how = memory == "missing"   ? "without its memory"
                          : memory == "damaged" ? "with a damaged memory"
                          : memory == "another" ? "with the memory of another ledger"
                          : memory == "newer"   ? "although its memory shows a newer copy"
                                                : "as a copy that may be old";
  return "entry " + std::to_string(entry) + ", " + when + ": its owner accepted this ledger " + how +
         (proofs.empty() ? "" : ", although a peer had proved that it is older (entry " + numbers(proofs) + ")") +
         (records.empty() ? "" : ", although these records show a newer copy: " + names(records)) +
         ". What an older copy lacks is spent, and is not counted here. Reason: " + reason;
}

}  // namespace parley::ledger
