#include "parley/record/record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/shallow_json.h"
#include "parley/base/text.h"

namespace parley::record {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "released.f64 is written in the machine's byte order");

namespace {

bool unfinished(const std::filesystem::path& folder) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(folder / "run.json", code)) return false;
  const json run = shallow_json(read_file(folder / "run.json", "the record"));
  return run.is_object() && run.contains("outcome") &&
         (run["outcome"] == "running" || run["outcome"] == "interrupted" || run["outcome"] == "failed");
}

// The lines that were written to their end.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
    if (!json::accept(lines.back())) {
      lines.pop_back();
      break;
    }
  }
  return lines;
}

// A run that was killed at its very start has run.json and nothing yet in the other files.
std::string read_or_empty(const std::filesystem::path& file) {
  std::error_code code;
  return std::filesystem::exists(file, code) ? read_file(file, "the record") : "";
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
                 .fix = "repeat its command with --resume true to go on with it: nothing is released or charged twice; "
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

std::filesystem::path folder_of_rank(const std::filesystem::path& folder, int rank) {
  return rank == 0 ? folder : folder / ("rank-" + std::to_string(rank));
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
  const auto lines = whole_lines(read_or_empty(folder / "rounds.jsonl"));
  expects(kept.lines >= 0 && static_cast<std::size_t>(kept.lines) <= lines.size(), "lines that the record has");
  std::size_t end = 0;
  for (int t = 0; t < kept.lines; ++t) end += lines[static_cast<std::size_t>(t)].size() + 1;
  const auto& shape = run.at("released");
  keep("rounds.jsonl", end);
  keep("released.f64", static_cast<std::size_t>(kept.values) * sizeof(double) * shape.at("nodes").get<std::size_t>() *
                           shape.at("size").get<std::size_t>());
}

}  // namespace

Writer::Writer(std::filesystem::path folder, const json& run, std::optional<Kept> keep)
    : folder_(std::move(folder)), size_(run.at("released").at("size").get<Index>()) {
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
  const Vector silent = Vector::Constant(size_, std::numeric_limits<double>::quiet_NaN());
  for (const Vector* f : released) {
    const Vector& value = f->size() == 0 ? silent : *f;
    expects(value.size() == size_, "released values of one size");
    released_.write(reinterpret_cast<const char*>(value.data()), size_ * static_cast<Index>(sizeof(double)));
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
    throw Error({.what = "cannot write the record: " + std::string(std::strerror(errno)),
                 .where = folder_.string(),
                 .fix = "check free space"});
}

void Writer::finish(const json& run, const json& model) {
  if (!model.is_null()) write_file(folder_ / "model.json", model.dump(1) + "\n");
  write_file(folder_ / "run.json", run.dump(1) + "\n");
}

Record read(const std::filesystem::path& folder) {
  Record record;
  record.run = read_file(folder / "run.json", "the record");
  const std::string lines = read_or_empty(folder / "rounds.jsonl"), bytes = read_or_empty(folder / "released.f64");
  const auto bad = [&](const std::string& what) {
    return Error({.what = what, .where = (folder / "run.json").string(), .fix = "give the folder of a parley run"});
  };
  const json run = shallow_json(record.run), released = run.is_object() ? run.value("released", json()) : json();
  if (!released.is_object()) throw bad("not a run record");
  const auto count = [&](const char* key) -> std::size_t {  // their product fits: 2³⁰ · 2³⁰ · 8 < 2⁶⁴
    const json value = released.value(key, json());
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (1U << 30U))
      throw bad(std::string("not a run record: released.") + key + " is not a number of this size");
    return value.get<std::size_t>();
  };
  const std::size_t nodes = count("nodes"), size = count("size");
  if (released.contains("first")) record.first = static_cast<int>(count("first"));
  if (nodes == 0 || size == 0) throw bad("a record without released values");
  const std::size_t round_bytes = nodes * size * sizeof(double);
  record.round_lines = whole_lines(lines);
  const std::size_t rounds = bytes.size() / round_bytes;
  if (record.round_lines.size() > rounds)  // a value is written before its line: no kill leaves this
    throw Error({.what = "the record has " + std::to_string(record.round_lines.size()) + " rounds and the values of " +
                         std::to_string(rounds) + ": what was released has been lost",
                 .where = (folder / "released.f64").string(),
                 .fix = "put back an intact copy; a run whose released values are lost cannot be resumed"});
  for (std::size_t t = 0; t < rounds; ++t) {
    auto& values = record.released.emplace_back();
    for (std::size_t i = 0; i < nodes; ++i) {
      Vector f(static_cast<Index>(size));
      std::memcpy(f.data(), bytes.data() + t * round_bytes + i * size * sizeof(double), size * sizeof(double));
      values.push_back(f.array().isNaN().all() ? Vector() : std::move(f));
    }
  }
  return record;
}

}  // namespace parley::record
