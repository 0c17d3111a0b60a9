// Who holds which rows. A split is a public choice of the experimenter who plays all parties on one machine; parties
// that really hold their own data never call this. Every row ends in exactly one part.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parley/base/word.h"
#include "parley/data/dataset.h"

namespace parley::data {

struct HeldOut {
  Dataset train;
  Dataset test;
  Dataset published{};
};

// round(share · (n − published)) rows, drawn without replacement, become the test set, `published` more become the rows
// declared public; all parts keep the order of the file, and the test set depends on `published` by its size alone.
// share = 0 gives an empty test set. Error unless 0 ≤ share < 1 and at least one training row is left.
// Where rows are of persons (Dataset::person), persons are drawn in place of rows: all rows of one go to one part, until
// the test set has as many rows or more, and the public one as many or fewer.
HeldOut hold_out(Dataset all, double share, std::uint64_t seed, std::size_t published = 0);

// The last round(share · n) rows of the file are held out, by position alone; of persons those who appear last, until
// they have as many rows or more.
HeldOut hold_out_last(Dataset all, double share);

enum class Split { even, shares, power, column, label_skewed };
constexpr Words<Split, 5> words(Split) {
  return {{{"even", Split::even},
           {"shares", Split::shares},
           {"power", Split::power},
           {"column", Split::column},
           {"label-skewed", Split::label_skewed}}};
}

struct SplitPlan {
  // even           sizes differ by at most 1
  // shares         node i gets shares[i] / Σ shares of the rows
  // power          node i gets a share ∝ (i+1)^−exponent
  // column         unlike nodes: rows are grouped by Dataset::split_key. With at least as many values as nodes, whole
  //                groups are dealt, largest first, to the node that is smallest so far; with fewer, the rows sorted by
  //                value are cut into equal contiguous blocks
  // label-skewed   `column` on the label itself; a regression target is always sorted by value and cut
  Choice<Split> how = Split::even;
  std::vector<double> shares{};
  double exponent = 1;
  bool shuffle = true;  // false: rows are dealt in the order of the file
  // Rows of one person stay together, whatever the split: a person is dealt where its first row would be.
};

// Privacy: whether who holds which rows depends on what stands in them. Where it does not, replacing one row of the
// table changes one row of one node, so the node's epsilon is the table's. Where it does, the same change may move
// other rows and change the data of several nodes: epsilon then holds for rows as dealt only. Persons are dealt by the
// order in which they first appear, which replacing what stands in a person's rows does not change (docs/proofs/person.md).
bool reads_rows(const Choice<Split>& how);

// The rows of every node, as numbers of rows. Error when a node would be empty, naming the node.
std::vector<std::vector<std::size_t>> deal(const Dataset& all, int nodes, const SplitPlan& plan, std::uint64_t seed);

}  // namespace parley::data
