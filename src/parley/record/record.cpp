#include "parley/record/record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/files.h"

namespace parley::record {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "released.f64 is written in the machine's byte order");

namespace {

bool unfinished(const std::filesystem::path& folder) {
  const std::string outcome = text_in(read_json(folder / "run.json"), "outcome");
  return outcome == "running" || outcome == "interrupted" || outcome == "failed";
}

// The lines that were written to their end, and how many bytes they are.
std::vector<json> whole_lines(const std::filesystem::path& folder, std::size_t most, std::size_t& bytes) {
  std::vector<json> lines;
  std::string text;
  json line;
  bytes = 0;
  for (RoundLines file(folder); lines.size() < most && file.next(text, line); lines.push_back(std::move(line)))
    bytes += text.size() + 1;
  return lines;
}

}  // namespace

bool half_written(const std::filesystem::directory_entry& entry) {
  const std::filesystem::path name = entry.path().filename();
  const bool begins_empty = name == "rounds.jsonl" || name == "released.f64";
  return name.extension() == ".part" || (begins_empty && entry.is_regular_file() && entry.file_size() == 0);
}

void check_vacant(const std::filesystem::path& folder) {
  std::error_code code;
  if (std::filesystem::exists(folder, code) && !std::filesystem::is_directory(folder, code))
    throw Error({.what = "the output folder is a file", .where = folder.string(), .fix = "choose another --out"});
  if (unfinished(folder))
    throw Error({.what = "the output folder holds an unfinished run",
                 .where = folder.string(),
                 .fix = "repeat its command with --resume to go on with it: nothing is released or charged twice; "
                        "or choose another --out for a new run"});
  if (std::filesystem::is_directory(folder, code) &&
      !std::ranges::all_of(std::filesystem::directory_iterator(folder), half_written))
    throw Error({.what = "the output folder is not empty",
                 .where = folder.string(),
                 .fix = "choose another --out, or remove it"});
}

void create_folder(const std::filesystem::path& folder) {
  check_vacant(folder);
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    throw Error({.what = "cannot create the output folder: " + code.message(),
                 .where = folder.string(),
                 .fix = "choose a writable --out"});
}

void point_latest(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path named = (folder / "").parent_path(), runs = named.parent_path(), latest = runs / "latest";
  std::error_code code;
  if (runs.filename() != "runs" || named.filename() == "latest") return;
  if (fs::exists(fs::symlink_status(latest, code)) && !fs::is_symlink(latest, code)) return;
  const fs::path beside = runs / (".latest-" + std::to_string(::getpid()));
  fs::remove(beside, code);
  fs::create_directory_symlink(named.filename(), beside, code);
  if (!code) fs::rename(beside, latest, code);
  if (code) fs::remove(beside, code);
}

std::filesystem::path folder_of_rank(const std::filesystem::path& folder, int rank) {
  return rank == 0 ? folder : folder / ("rank-" + std::to_string(rank));
}

std::string folder_of_part(int number) {
  return number == 1 ? "." : "part-" + std::to_string(number);
}

Lock::Lock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const bool held = descriptor_ >= 0 && errno == EWOULDBLOCK;
  const std::string why = std::strerror(errno);
  if (descriptor_ >= 0) close(descriptor_);
  throw Error({.what = held ? "another process is working on this run" : "the folder cannot be locked: " + why,
               .where = folder.string(),
               .fix = held ? "wait for it, or stop it first" : "use a folder on a local disk"});
}

Lock::~Lock() {
  close(descriptor_);
}

namespace {

// Leaves what is to be kept; what was half written is gone.
void truncate(const std::filesystem::path& folder, const json& run, const Kept& kept) {
  const auto keep = [&](const char* name, std::size_t size) {
    std::error_code code;
    if (!std::filesystem::exists(folder / name, code) && size == 0) return;
    std::filesystem::resize_file(folder / name, size, code);
    if (code)
      throw Error({.what = "cannot write the record: " + code.message(),
                   .where = (folder / name).string(),
                   .fix = "check its permissions"});
  };
  std::size_t end = 0;
  const auto lines = whole_lines(folder, static_cast<std::size_t>(kept.lines), end);
  expects(lines.size() == static_cast<std::size_t>(kept.lines), "lines that the record has");
  keep("rounds.jsonl", end);
  keep("released.f64", shape_of(run).value().bytes(static_cast<std::size_t>(kept.values)));
}

}  // namespace

Writer::Writer(std::filesystem::path folder, const json& run, std::optional<Kept> keep)
    : folder_(std::move(folder)),
      shape_(shape_of(run).value()),
      round_(keep ? static_cast<std::size_t>(keep->values) : 0) {
  if (!keep) create_folder(folder_);
  std::error_code code;
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all,
                               code);  // the record of a simulation is private
  if (keep) truncate(folder_, run, *keep);
  const auto mode = std::ios::binary | (keep ? std::ios::app : std::ios::trunc);
  write_file(folder_ / "run.json", run.dump(1) + "\n");
  rounds_.open(folder_ / "rounds.jsonl", mode);
  released_.open(folder_ / "released.f64", mode);
  if (!rounds_ || !released_)
    throw Error({.what = "cannot write the record", .where = folder_.string(), .fix = "choose a writable --out"});
}

void Writer::append_values(std::span<const Vector* const> released) {
  const Index size = shape_.size_of(round_++);
  const Vector silent = Vector::Constant(size, std::numeric_limits<double>::quiet_NaN());
  for (const Vector* f : released) {
    const Vector& value = f->size() == 0 ? silent : *f;
    expects(value.size() == size, "released values of the round's size");
    released_.write(reinterpret_cast<const char*>(value.data()), size * static_cast<Index>(sizeof(double)));
  }
  released_.flush();
  check(released_);
}

void Writer::append_line(const json& round) {
  rounds_ << round.dump() << '\n' << std::flush;
  check(rounds_);
}

void Writer::check(const std::ofstream& file) const {
  if (!file)
    throw Error({.what = "cannot write the record: " + why_not_written(errno),
                 .where = folder_.string(),
                 .fix = "check free space"});
}

void Writer::finish(const json& run, const json& model) {
  if (!model.is_null()) write_file(folder_ / "model.json", model.dump(1) + "\n");
  write_file(folder_ / "run.json", run.dump(1) + "\n");
}

Kept rewrite(const std::filesystem::path& folder, int rounds, Index size, const std::function<Vector(int round)>& value,
             const std::function<json(int round)>& line) {
  const Vector silence = Vector::Constant(size, std::numeric_limits<double>::quiet_NaN());
  for (const bool values : {true, false}) {
    const std::filesystem::path file = folder / (values ? "released.f64" : "rounds.jsonl"),
                                beside = file.string() + ".part";
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    for (int round = 0; round < rounds; ++round) {
      if (!values) {
        out << line(round).dump() << '\n';
        continue;
      }
      const Vector said = value(round);
      const Vector& written = said.size() == 0 ? silence : said;
      out.write(reinterpret_cast<const char*>(written.data()), written.size() * static_cast<Index>(sizeof(double)));
    }
    out.close();
    std::error_code code;
    if (out) std::filesystem::rename(beside, file, code);
    if (!out || code)
      throw Error({.what = "cannot write the record: " + (code ? code.message() : why_not_written(errno)),
                   .where = file.string(),
                   .fix = "check free space and permissions"});
  }
  return {.values = rounds, .lines = rounds};
}

void amend(const std::filesystem::path& folder, const json& changes, const json& model) {
  json run = read_run(folder);
  run.update(changes);
  if (!model.is_null()) write_file(folder / "model.json", model.dump(1) + "\n");
  write_file(folder / "run.json", run.dump(1) + "\n");
}

Record read(const std::filesystem::path& folder, std::size_t most_rounds) {
  Record record;
  record.run = read_run(folder);
  const auto shape = shape_of(record.run);
  if (!shape)
    throw Error({.what = "not a run record: it does not say what was released",
                 .where = (folder / "run.json").string(),
                 .fix = "give the folder of a parley run"});
  record.first = shape->first;
  std::size_t bytes = 0;
  record.lines = whole_lines(folder, most_rounds, bytes);
  ReleasedFile file(folder, shape);
  for (std::vector<Vector> values; record.released.size() < most_rounds && file.next(values);)
    record.released.push_back(std::move(values));
  if (record.lines.size() > record.released.size())  // a value is written before its line: no kill leaves this
    throw Error({.what = "the record has " + std::to_string(record.lines.size()) + " rounds and the values of " +
                         std::to_string(record.released.size()) + ": what was released has been lost",
                 .where = (folder / "released.f64").string(),
                 .fix = "put back an intact copy; a run whose released values are lost cannot be resumed"});
  return record;
}

}  // namespace parley::record
