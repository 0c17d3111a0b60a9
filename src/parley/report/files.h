// The files of records, whoever wrote them: limits on size and depth, and nothing of their text in a message.
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/base/shallow_json.h"
#include "parley/base/vector.h"

namespace parley::report {

// Null: not there, too large, not JSON, or nested more deeply than any record is.
nlohmann::json read_json(const std::filesystem::path& file);

// Of an object; null, NaN or "" when it is not there or of another kind.
nlohmann::json member(const nlohmann::json& object, const char* key);
double number_in(const nlohmann::json& object, const char* key);
std::string text_in(const nlohmann::json& object, const char* key);

// The released values of some nodes, one round after another, without holding the file in memory.
class ReleasedFile {
 public:
  ReleasedFile(const std::filesystem::path& folder, const nlohmann::json& shape);  // "released" of run.json
  int first() const { return first_; }
  int nodes() const { return nodes_; }
  // The next round's values, empty where a node is silent; false at the end (a half-written round is none).
  bool next(std::vector<Vector>& values);

 private:
  int first_ = 0, nodes_ = 0;
  Index size_ = 0;
  std::ifstream file_;
};

}  // namespace parley::report
