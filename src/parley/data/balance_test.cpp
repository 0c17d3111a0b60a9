#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/source.h"

namespace parley::data {
namespace {

using ::testing::ElementsAre;

double heaviest(const std::vector<double>& weights, const std::vector<int>& starts) {
  double most = 0;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    double load = 0;
    for (int i = starts[b]; i < starts[b + 1]; ++i) load += weights[static_cast<std::size_t>(i)];
    most = std::max(most, load);
  }
  return most;
}

// The least heaviest load of `blocks` consecutive blocks, by trying every end of the first.
double best(const std::vector<double>& weights, std::size_t from, int blocks) {
  double load = 0, least = 1e300;
  if (blocks == 1) {
    for (std::size_t i = from; i < weights.size(); ++i) load += weights[i];
    return load;
  }
  for (std::size_t i = from; i + static_cast<std::size_t>(blocks) <= weights.size(); ++i) {
    load += weights[i];
    least = std::min(least, std::max(load, best(weights, i + 1, blocks - 1)));
  }
  return least;
}

TEST(Balance, TheHeaviestBlockIsAsLightAsCanBeAndNoneIsEmpty) {
  EXPECT_THAT(balanced({1, 1, 1, 1, 1}, 2), ElementsAre(0, 3, 5));
  EXPECT_THAT(balanced({9, 1, 1, 1}, 2), ElementsAre(0, 1, 4));
  EXPECT_THAT(balanced({1, 1, 1, 9}, 3), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(balanced({0, 0, 0}, 3), ElementsAre(0, 1, 2, 3));  // sizes that nobody knows
  EXPECT_THAT(balanced({5, 7}, 1), ElementsAre(0, 2));
  PublicRandom random(1, PublicRandom::Purpose::split);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> weights;
    const int count = 1 + static_cast<int>(random.below(9));
    for (int i = 0; i < count; ++i) weights.push_back(static_cast<double>(random.below(20)));
    const int blocks = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
    const auto starts = balanced(weights, blocks);
    ASSERT_EQ(static_cast<int>(starts.size()), blocks + 1);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), count);
    EXPECT_TRUE(std::ranges::is_sorted(starts) && std::ranges::adjacent_find(starts) == starts.end());
    EXPECT_EQ(heaviest(weights, starts), best(weights, 0, blocks));
  }
}

TEST(Balance, MoreProcessesThanNodesAreRefused) {
  EXPECT_THAT([] { balanced({1, 2}, 3); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("3 processes for 2 nodes")));
}

TEST(Share, TheProcessesTogetherHoldWhatOneWould) {
  const Options o{.rows = 400, .nodes = 7, .split = "power", .test_share = 0.3};
  const Holdings all = load(o);
  std::size_t node = 0, tested = 0;
  for (int p = 0; p < 3; ++p) {
    const Holdings mine = load(o, {.process = p, .processes = 3});
    EXPECT_EQ(mine.records, all.records);
    EXPECT_EQ(mine.first(), static_cast<int>(node));
    for (const Rows& rows : mine.nodes) {
      EXPECT_EQ(rows.value, all.nodes[node].value);
      EXPECT_EQ(rows.label, all.nodes[node].label);
      ++node;
    }
    for (std::size_t n = 0; n < mine.test.count(); ++n) EXPECT_EQ(mine.test.label[n], all.test.label[tested + n]);
    tested += mine.test.count();
  }
  EXPECT_EQ(node, 7U);
  EXPECT_EQ(tested, all.test.count());
}

}  // namespace
}  // namespace parley::data
