// What replacing one row of a table does to the nodes, measured: reads_rows() must say the same, because it decides
// what epsilon is printed for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "parley/base/public_random.h"
#include "parley/data/dealt_test.h"
#include "parley/data/source.h"

namespace parley::data {
namespace {

enum class LabelKind { two_classes, many_classes, number };

// A row with its own value of the one feature, so that a row of one node is no other node's.
void append(Dataset& to, double value, LabelKind kind, PublicRandom& random) {
  const double label = kind == LabelKind::number         ? 2 * random.uniform() - 1
                       : kind == LabelKind::many_classes ? static_cast<double>(random.below(9))
                       : random.below(3) == 0            ? 1
                                                         : -1;
  to.rows.append(std::array<std::int32_t, 1>{0}, std::array<double, 1>{value}, label);
  to.split_key.push_back(
      std::string(1, static_cast<char>('a' + random.below(kind == LabelKind::two_classes ? 3 : 20))));
}

Dataset table(std::size_t rows, LabelKind kind, PublicRandom& random) {
  Dataset all;
  all.name = "random";
  all.rows.features = 1;
  all.regression = kind == LabelKind::number;
  for (std::size_t n = 0; n < rows; ++n) append(all, (static_cast<double>(n) + 1) / 1000, kind, random);
  return all;
}

// The same table with row n replaced by any other.
Dataset replaced(const Dataset& all, std::size_t n, LabelKind kind, PublicRandom& random) {
  Dataset one;
  one.rows.features = 1;
  append(one, 0.999, kind, random);
  Dataset other = all;
  other.rows.value[n] = one.rows.value[0];
  other.rows.label[n] = one.rows.label[0];
  other.split_key[n] = one.split_key[0];
  return other;
}

bool same(const Rows& a, const Rows& b) {
  return a.label == b.label && a.value == b.value;
}

int nodes_changed(const std::vector<Rows>& before, const std::vector<Rows>& after) {
  int changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += same(before[i], after[i]) ? 0 : 1;
  return changed;
}

// The most nodes whose rows one replacement changed, over tables, kinds of label, seeds and rows.
int most_changed(const std::string& how, bool shuffle) {
  constexpr int nodes = 6;
  const SplitPlan plan{.how = how,
                       .shares = how == "shares" ? std::vector<double>{4, 2, 1, 1, 3, 2} : std::vector<double>{},
                       .shuffle = shuffle};
  PublicRandom random(3, PublicRandom::Purpose::rows);
  int most = 0;
  for (const LabelKind kind : {LabelKind::two_classes, LabelKind::many_classes, LabelKind::number})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Dataset before = table(90, kind, random);
      const auto dealt = split_over_nodes(before, nodes, plan, seed);
      for (std::size_t n = 0; n < before.rows.count(); ++n) {
        const int changed =
            nodes_changed(dealt, split_over_nodes(replaced(before, n, kind, random), nodes, plan, seed));
        EXPECT_GE(changed, 1);
        most = std::max(most, changed);
      }
    }
  return most;
}

TEST(ReplaceOne, ASplitThatDoesNotReadRowsChangesOneNodeAndOneThatDoesChangesSeveral) {
  for (const std::string& how : words_of<Split>())
    for (const bool shuffle : {true, false}) {
      const int most = most_changed(how, shuffle);
      EXPECT_EQ(most > 1, reads_rows(how)) << how << ": one row changed " << most << " of 6 nodes";
      RecordProperty((shuffle ? "shuffled-" : "in-order-") + how, most);
    }
  EXPECT_THROW(reads_rows("no such split"), Error);
}

// Without shuffling, too, and for all rows: which rows are held out or public is decided by their number in the file.
TEST(ReplaceOne, TestRowsAndPublicRowsAreChosenWithoutReadingThem) {
  PublicRandom random(4, PublicRandom::Purpose::rows);
  const Dataset before = table(60, LabelKind::two_classes, random);
  const HeldOut parts = hold_out(before, 0.2, 1, 5);
  for (std::size_t n = 0; n < 60; ++n) {
    const HeldOut other = hold_out(replaced(before, n, LabelKind::two_classes, random), 0.2, 1, 5);
    EXPECT_EQ(nodes_changed({parts.train.rows, parts.test.rows, parts.published.rows},
                            {other.train.rows, other.test.rows, other.published.rows}),
              1);
  }
}

// balanced() sees sizes alone: where rows are dealt without reading them, processes have the same blocks of nodes.
TEST(ReplaceOne, WhichProcessHasWhichNodeFollowsFromSizes) {
  PublicRandom random(5, PublicRandom::Purpose::rows);
  const Dataset before = table(200, LabelKind::two_classes, random);
  const auto blocks = [](const Dataset& all) {
    std::vector<double> sizes;
    for (const auto& rows : deal(all, 7, {.how = "power"}, 1)) sizes.push_back(static_cast<double>(rows.size()));
    return balanced(sizes, 3);
  };
  for (std::size_t n = 0; n < 200; ++n)
    EXPECT_EQ(blocks(before), blocks(replaced(before, n, LabelKind::two_classes, random)));
}

}  // namespace
}  // namespace parley::data
