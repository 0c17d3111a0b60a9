// The record of a run on disk, readable at any moment, also after a kill:
//   run.json        what was asked and what came of it (rewritten as a whole at the start and at the end)
//   released.f64    the released values: rounds × nodes × size doubles, little endian, one round after another; run.json
//                   has nodes and size under "released", and size_of_round_1 where that differs (newton). Who is silent
//                   in a round (star) stands there as NaN
//   rounds.jsonl    one line per round; what was measured on private rows stands under "private". A value is written
//                   before anyone else hears of it, its line when the round is measured: the last line may be missing
//   model.json      the classifier, with its schema and its privacy statement
//   rank-1/ …       the same of the other ranks of an MPI job, each with its own nodes' values ("first" in run.json)
//   part-2/ …       of a party: the same of the parts in which its run went on after a loss (run.json has "parts")
// Which field is for whom: schema.h. What a round is called: round.h. How files are read: files.h.
// Privacy: a simulation computes metrics on private rows, so its record is private as a whole and run.json says so.
#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/vector.h"
#include "parley/record/files.h"

namespace parley::record {

// What a kill before run.json was whole leaves: write_file's half, and the two files that begin empty. Nothing was
// begun.
bool half_written(const std::filesystem::directory_entry& entry);
// Error when the folder already holds something: a record is never overwritten. Of an unfinished run it says so and
// names --resume.
void check_vacant(const std::filesystem::path& folder);
void create_folder(const std::filesystem::path& folder);  // Error also when it cannot be made
// Of a record in a folder called runs: the link runs/latest leads to it from now on. Replaced in one step; a folder or
// file of that name stays, and where links cannot be made there is none.
void point_latest(const std::filesystem::path& folder);
std::filesystem::path folder_of_rank(const std::filesystem::path& folder, int rank);
std::string folder_of_part(int number);  // in the party's folder: "." or part-n

// Held while a process works on a run: a second one that resumed it would release other values. Error when it is held.
class Lock {
 public:
  explicit Lock(const std::filesystem::path& folder);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

// What the record of an unfinished run holds.
struct Kept {
  int values = 0, lines = 0;  // rounds
};

class Writer {
 public:
  // Creates the folder and writes run.json. keep: goes on with the record that is there instead.
  Writer(std::filesystem::path folder, const nlohmann::json& run, std::optional<Kept> keep = std::nullopt);

  void append_values(std::span<const Vector* const> released);  // of one round, before anyone hears of them
  void append_line(const nlohmann::json& round);
  void finish(const nlohmann::json& run, const nlohmann::json& model);  // null: there is no usable model

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void check(const std::ofstream& file) const;

  std::filesystem::path folder_;
  Shape shape_;
  std::size_t round_;
  std::ofstream rounds_;
  std::ofstream released_;
};

// The values and lines of a party's whole record anew, in place of what is there. value: what was released in a round,
// empty where the party was silent; size: of a value.
Kept rewrite(const std::filesystem::path& folder, int rounds, Index size, const std::function<Vector(int round)>& value,
             const std::function<nlohmann::json(int round)>& line);

// Some keys of run.json with other values, and a model beside it unless that is null.
void amend(const std::filesystem::path& folder, const nlohmann::json& changes, const nlohmann::json& model);

struct Record {
  std::vector<std::vector<Vector>> released;  // [round][node − first]; empty: silent
  int first = 0;                              // node
  std::vector<nlohmann::json> lines;          // of rounds.jsonl, at most as many
  nlohmann::json run;                         // run.json
  Kept kept() const { return {static_cast<int>(released.size()), static_cast<int>(lines.size())}; }
};
// Reads what is there, of so many rounds at most; what was only half written is left out.
Record read(const std::filesystem::path& folder, std::size_t most_rounds = 2'000'000);

}  // namespace parley::record
