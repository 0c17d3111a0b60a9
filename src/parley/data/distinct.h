// One file per node means that a row sits at one node. Privacy: epsilon is that of one node (docs/approve/guarantee.md,
// the terms); a row that sits at two costs more, so what shows that two nodes have the same rows is refused.
#pragma once
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parley/data/read/persons/persons.h"
#include "parley/data/row_sum.h"
#include "parley/data/source.h"

namespace parley::data {

// Error when two names of --data are one file (spelling, symbolic or hard link), or --public-data or --test-data is a
// node's file.
// Opens nothing; of a file that cannot be seen from here only the name is known.
void check_files_distinct(const Options& options);

// Error when two of this process's files hold the same rows, in whatever order: a copy of a file. What other processes
// hold is not compared: a digest of rows would confirm a guessed row to whoever sees it. `files`: of --data.
class RowsDistinct {
 public:
  explicit RowsDistinct(const std::vector<std::string>& files) : files_(files) {}
  void add(std::size_t node, const RowSum& rows);  // all of the file: which are held out depends on their order

 private:
  const std::vector<std::string>& files_;
  std::vector<std::pair<std::size_t, RowSum>> seen_;
};

// Error when a person has rows in two of this process's files: epsilon is for a person at one node, and a ledger counts
// the node that spends most.
class PersonsDistinct {
 public:
  explicit PersonsDistinct(const std::vector<std::string>& files) : files_(files) {}
  void add(std::size_t node, const std::vector<std::string>& persons);
  std::size_t known(const std::vector<std::string>& persons) const;  // how many of them have rows here
  std::size_t spelt_alike() const { return spellings_.alike(); }     // of all files, as Spellings

 private:
  const std::vector<std::string>& files_;
  std::unordered_map<std::string, std::size_t> node_;
  Spellings spellings_;
};

}  // namespace parley::data
