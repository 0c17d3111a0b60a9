#include "parley/record/record.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::record {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "released.f64 is written in the machine's byte order");

void create_folder(const std::filesystem::path& folder) {
  std::error_code code;
  if (std::filesystem::exists(folder, code) && !std::filesystem::is_directory(folder, code))
    throw Error({.what = "the output folder is a file", .where = folder.string(), .fix = "choose another --out"});
  if (std::filesystem::exists(folder, code) && !std::filesystem::is_empty(folder, code))
    throw Error({.what = "the output folder is not empty",
                 .where = folder.string(),
                 .fix = "choose another --out, or remove it"});
  std::filesystem::create_directories(folder, code);
  if (code)
    throw Error({.what = "cannot create the output folder: " + code.message(),
                 .where = folder.string(),
                 .fix = "choose a writable --out"});
}

Writer::Writer(std::filesystem::path folder, const json& run) : folder_(std::move(folder)) {
  create_folder(folder_);
  std::error_code code;
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all,
                               code);  // the record of a simulation is private
  write_file(folder_ / "run.json", run.dump(1) + "\n");
  rounds_.open(folder_ / "rounds.jsonl", std::ios::binary);
  released_.open(folder_ / "released.f64", std::ios::binary);
  if (!rounds_ || !released_)
    throw Error({.what = "cannot write the record", .where = folder_.string(), .fix = "choose a writable --out"});
}

void Writer::append(const json& round, std::span<const Vector* const> released) {
  for (const Vector* f : released)
    released_.write(reinterpret_cast<const char*>(f->data()), f->size() * static_cast<Index>(sizeof(double)));
  released_.flush();
  rounds_ << round.dump() << '\n' << std::flush;
  if (!rounds_ || !released_)
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
  const std::string lines = read_file(folder / "rounds.jsonl", "the record"),
                    bytes = read_file(folder / "released.f64", "the record");
  std::size_t nodes = 0, features = 0;
  try {
    const json run = json::parse(record.run);
    nodes = run.at("nodes").get<std::size_t>();
    features = run.at("features").get<std::size_t>();
  } catch (const json::exception& e) {
    throw Error({.what = "not a run record: " + std::string(e.what()),
                 .where = (folder / "run.json").string(),
                 .fix = "give the folder of a parley run"});
  }
  if (nodes == 0 || features == 0)
    throw Error({.what = "a record without nodes or features",
                 .where = (folder / "run.json").string(),
                 .fix = "give the folder of a parley run"});
  const std::size_t round_bytes = nodes * features * sizeof(double);
  for (const auto& line : split_list(lines, '\n'))
    if (!line.empty() && json::accept(line)) record.round_lines.push_back(line);
  const std::size_t rounds = std::min(record.round_lines.size(), bytes.size() / round_bytes);
  record.round_lines.resize(rounds);
  for (std::size_t t = 0; t < rounds; ++t) {
    auto& values = record.released.emplace_back();
    for (std::size_t i = 0; i < nodes; ++i) {
      Vector f(static_cast<Index>(features));
      std::memcpy(f.data(), bytes.data() + t * round_bytes + i * features * sizeof(double), features * sizeof(double));
      values.push_back(std::move(f));
    }
  }
  return record;
}

}  // namespace parley::record
