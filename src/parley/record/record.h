// The record of a run on disk, readable at any moment, also after a kill:
//   run.json        what was asked and what came of it (rewritten as a whole at the start and at the end)
//   rounds.jsonl    one line per round; what was measured on private rows stands under "private"
//   released.f64    the released values: rounds × nodes × size doubles, little endian, one round after another;
//   run.json
//                   has nodes and size under "released". Who is silent in a round (star) stands there as NaN
//   model.json      the classifier, with its schema and its privacy statement
//   rank-1/ …       the same of the other ranks of an MPI job, each with the values of its own nodes ("first" in
//   run.json)
// Privacy: a simulation computes metrics on private rows, so its record is private as a whole and run.json says so.
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/vector.h"

namespace parley::record {

// Error when the folder already holds something: a record is never overwritten. Of an unfinished run it says so and
// names --resume.
void check_vacant(const std::filesystem::path& folder);
void create_folder(const std::filesystem::path& folder);  // Error also when it cannot be made
std::filesystem::path folder_of_rank(const std::filesystem::path& folder, int rank);

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

class Writer {
 public:
  // Creates the folder and writes run.json. keep: goes on with the record that is there instead, after
  // its first `keep` rounds.
  Writer(std::filesystem::path folder, const nlohmann::json& run, std::optional<int> keep = std::nullopt);

  void append(const nlohmann::json& round, std::span<const Vector* const> released);
  void finish(const nlohmann::json& run, const nlohmann::json& model);  // null: there is no usable model

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  Index size_;
  std::ofstream rounds_;
  std::ofstream released_;
};

struct Record {
  std::vector<std::vector<Vector>> released;  // [round][node − first]; empty: silent
  int first = 0;                              // node
  std::vector<std::string> round_lines;       // JSON texts
  std::string run;                            // JSON text
};
// Reads what is there; a last round that was only half written is left out.
Record read(const std::filesystem::path& folder);

}  // namespace parley::record
