// Whose a row is: who has the same text in the schema's person column, and how many rows they have so far.
// Privacy: whether a row is kept depends on the rows of that person before it and on nothing else, so that replacing
// what one person's rows hold keeps the rows of everybody else (docs/proofs/person.md).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parley/data/read/cell.h"
#include "parley/data/read/missing_marks.h"

namespace parley::data {

// The person column of one file, read on any number of threads.
class PersonColumn {
 public:
  PersonColumn(const std::vector<std::string>& columns, const std::string& source, const Schema& schema);
  std::string of(std::span<const Cell> row, const Place& where) const;  // Error: the cell is missing

 private:
  const Schema& schema_;
  std::size_t cell_;
  MissingMarks missing_;
};

// Counted in the order of the file, by one thread.
class Persons {
 public:
  explicit Persons(const Schema& schema) : schema_(schema) {}

  // The row's person. too_many: of at least so many rows with this one, more than the schema allows for.
  struct Row {
    std::uint32_t number = 0;  // by first appearance
    bool too_many = false;
  };
  Row add(std::string person);
  Error::Fields refused(const Place& where) const;  // what is said of a row that is one too many

  std::size_t extra_rows() const { return extra_; }
  std::size_t with_extra_rows() const { return over_; }  // persons
  std::vector<std::string> take_texts() { return std::move(texts_); }

 private:
  const Schema& schema_;
  std::unordered_map<std::string, std::uint32_t> number_;
  std::vector<std::string> texts_;
  std::vector<long> rows_;  // by number
  std::size_t extra_ = 0, over_ = 0;
};

}  // namespace parley::data
