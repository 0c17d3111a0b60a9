// The files of a record, as they are read by everybody who reads one: resume, verify, a party that starts again, and
// report. Whoever wrote them may mean ill: only regular files are opened, sizes and depth have limits, memory follows
// what is there and not what a header says, and no text of theirs is repeated in a message.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/input_file.h"
#include "parley/base/vector.h"

namespace parley::record {

using parley::read_bytes;

// Null: not there, too large, not JSON, or nested more deeply than any record is.
nlohmann::json read_json(const std::filesystem::path& file);

// Its run.json; Error when there is none that may be read, null when it is no JSON of a record.
nlohmann::json read_run(const std::filesystem::path& folder);

// Of an object; null, NaN or "" when it is not there or of another kind.
nlohmann::json member(const nlohmann::json& object, const char* key);
double number_in(const nlohmann::json& object, const char* key);
std::string text_in(const nlohmann::json& object, const char* key);

// "released" of run.json: what a round in released.f64 is.
struct Shape {
  int first = 0, nodes = 0;
  Index size = 0;
  Index size_of_round_1 = 0;    // where it is another (newton's curvature); 0: it is not
  std::size_t final_round = 0;  // the same of another round (newton's, for intervals); 0: there is none
  Index size_of_final_round = 0;
  bool sums = false;  // values before the last round are sums over rows, not iterates
  Index size_of(std::size_t round) const {
    if (round > 0 && round == final_round) return size_of_final_round;
    return round == 1 && size_of_round_1 > 0 ? size_of_round_1 : size;
  }
  std::size_t bytes(std::size_t rounds) const;  // of so many, from round 0
};
std::optional<Shape> shape_of(const nlohmann::json& run);  // nullopt: there is none, or of no sensible size

// The released values of some nodes, one round after another, without holding the file in memory.
class ReleasedFile {
 public:
  ReleasedFile(const std::filesystem::path& folder, const std::optional<Shape>& shape);
  int first() const { return shape_.first; }
  int nodes() const { return shape_.nodes; }
  // The next round's values, empty where a node is silent; false at the end (a half-written round is none).
  bool next(std::vector<Vector>& values);

 private:
  Shape shape_{};
  std::size_t left_ = 0;  // bytes
  std::size_t round_ = 0;
  std::optional<InputFile> file_;
};

// The lines of rounds.jsonl, one after another; one that was half written is none.
class RoundLines {
 public:
  explicit RoundLines(const std::filesystem::path& folder);
  bool there() const { return lines_.has_value(); }
  // false: at the end, or at a line that is broken or longer than any line is.
  bool next(std::string& text, nlohmann::json& line);
  bool broken() const { return broken_; }
  int number() const { return number_; }  // of the line read last, from 1

 private:
  std::optional<InputLines> lines_;
  int number_ = 0;
  bool broken_ = false;
};

}  // namespace parley::record
