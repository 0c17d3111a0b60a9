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

// The person column of one file, read on any number of threads. Fails closed: a word for "missing" would make one person
// of everybody who lacks a name, with other persons' rows left out or counted as this one's.
class PersonColumn {
 public:
  PersonColumn(const std::vector<std::string>& columns, const std::string& source, const Schema& schema);
  std::string of(std::span<const Cell> row, const Place& where) const;  // Error: the cell is missing

 private:
  const Schema& schema_;
  std::size_t cell_;
  MissingMarks missing_;
};

// How many of different texts of persons are one but for capital letters and blanks: without `fold` each is a person.
class Spellings {
 public:
  void add(std::string_view text);
  std::size_t alike() const { return alike_; }  // texts that another one is like
  // What their owner is told. Privacy: counted on rows.
  static std::string in_words(std::size_t alike, const std::string& column);

 private:
  std::unordered_map<std::string, std::size_t> texts_;  // folded → how many
  std::size_t alike_ = 0;
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
  const std::vector<std::string>& texts() const { return texts_; }
  std::vector<std::string> take_texts() { return std::move(texts_); }
  std::size_t spelt_alike() const;  // of these texts; 0 where the schema folds both letters and blanks

 private:
  const Schema& schema_;
  std::unordered_map<std::string, std::uint32_t> number_;
  std::vector<std::string> texts_;
  std::vector<long> rows_;  // by number
  std::size_t extra_ = 0, over_ = 0;
};

}  // namespace parley::data
