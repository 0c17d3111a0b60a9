#include "parley/run/party_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/testimony.h"

namespace parley::run {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* uncertified_mark = "uncertified";

json paper(const fs::path& file) {
  std::error_code code;
  return fs::is_regular_file(file, code) ? shallow_json(read_file(file, "the record")) : json();
}

bool says(const json& object, const char* key, const std::string& text) {
  return object.is_object() && object.contains(key) && object[key] == text;
}

// What the first entry of a transcript says; "": there is none (network/transcript.h).
std::string owner_in(const fs::path& transcript) {
  constexpr std::size_t before = 49, after = 32;
  std::error_code code;
  if (!fs::is_regular_file(transcript, code)) return "";
  std::ifstream in(transcript, std::ios::binary);
  std::string start(before + 4096 + after, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  if (start.size() < before || !start.starts_with("ptr1")) return "";
  std::uint32_t size = 0;
  std::memcpy(&size, start.data() + 4, sizeof size);
  return size <= 4096 && before + size + after <= start.size() ? start.substr(before, size) : "";
}

void sync_path(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  const std::string why = std::strerror(errno);
  if (file >= 0) ::close(file);
  if (!synced)
    throw Error({.what = "cannot sync: " + why, .where = path.string(), .fix = "check the disk, then start again"});
}

}  // namespace

bool has_begun(const fs::path& folder, const std::string& study_hash, const std::string& party,
               const std::string& owner) {
  std::error_code code;
  if (!fs::exists(folder, code)) return false;
  if (!fs::is_directory(folder, code))
    throw Error({.what = "the output folder is a file", .where = folder.string(), .fix = "choose another --out"});
  if (std::ranges::all_of(fs::directory_iterator(folder), record::half_written)) return false;
  const Error another(
      {.what = "the folder holds the record of another run", .where = folder.string(), .fix = "choose another --out"});
  const json run = paper(folder / "run.json");
  if (run.is_object() &&
      !(says(run, "format", "parley-party-1") && says(run, "study_hash", study_hash) && says(run, "party", party)))
    throw another;
  const std::string found = owner_in(folder / "transcript");
  if (!found.empty() && found != owner) throw another;
  if (found.empty() && !run.is_object())
    throw Error({.what = "the output folder holds other files, and nothing of this run",
                 .where = folder.string(),
                 .fix = "choose another --out"});
  return true;
}

void refuse_without_transcript(const privacy::LedgerFile& book, const privacy::PlannedRun& run,
                               const fs::path& folder) {
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

record::Kept write_from_ledger(const fs::path& folder, const privacy::Ledger& ledger, int node, Index size,
                               const std::function<json(int round, bool silent)>& line) {
  const int rounds = ledger.last_round(node) + 1;
  const Vector silence = Vector::Constant(size, std::numeric_limits<double>::quiet_NaN());
  for (const bool values : {true, false}) {
    const fs::path file = folder / (values ? "released.f64" : "rounds.jsonl"), beside = file.string() + ".part";
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    for (int round = 0; round < rounds; ++round) {
      const privacy::Released value = ledger.stored(node, round)->value();
      const bool silent = value->size() == 0;
      const Vector& written = silent ? silence : *value;
      if (values)
        out.write(reinterpret_cast<const char*>(written.data()), written.size() * static_cast<Index>(sizeof(double)));
      else
        out << line(round, silent).dump() << '\n';
    }
    out.close();
    std::error_code code;
    if (out) fs::rename(beside, file, code);
    if (!out || code)
      throw Error({.what = "cannot write the record: " + (code ? code.message() : std::strerror(errno)),
                   .where = file.string(),
                   .fix = "check free space and permissions"});
  }
  return {.values = rounds, .lines = rounds};
}

bool has_completed_model(const fs::path& folder) {
  return says(paper(folder / "run.json"), "outcome", "completed") ||
         says(paper(folder / "model.json"), "outcome", "completed");
}

void refuse_uncertified(const fs::path& folder) {
  if (!fs::exists(folder / uncertified_mark) && !says(paper(folder / "run.json"), "outcome", "uncertified")) return;
  throw Error({.what =
                   "this party's part ended because a local minimum could not be certified: trying again with other "
                   "noise until it can be would choose the noise, and no bound covers that",
               .where = folder.string(),
               .fix = "agree on a new study with a larger tolerance; what this one spent stays spent"});
}

void write_private_file(const fs::path& file, const std::string& text) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool good = out >= 0 && ::fchmod(out, 0600) == 0;  // it may have been there before
  for (std::size_t at = 0; good && at < text.size();) {
    const ssize_t written = ::write(out, text.data() + at, text.size() - at);
    good = written > 0;
    at += good ? static_cast<std::size_t>(written) : 0;
  }
  const std::string why = std::strerror(errno);
  if (out >= 0) ::close(out);
  if (!good)
    throw Error({.what = "cannot write: " + why, .where = file.string(), .fix = "check free space and permissions"});
}

void sync_files(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && !entry.is_symlink()) sync_path(entry.path(), O_RDONLY);
  sync_path(folder, O_RDONLY | O_DIRECTORY);
}

}  // namespace parley::run
