#include "parley/data/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/dealt_test.h"

namespace parley::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Row n has the one entry (0, n / 1000), so a row can be told from the others wherever it ends up.
Dataset numbered(std::size_t rows) {
  Dataset all;
  all.name = "numbered";
  all.rows.features = 1;
  all.feature_names = {"id"};
  for (std::size_t n = 0; n < rows; ++n)
    all.rows.append(std::array<std::int32_t, 1>{0}, std::array<double, 1>{static_cast<double>(n) / 1000},
                    n % 4 == 0 ? 1 : -1);
  return all;
}

std::vector<std::size_t> ids(const Rows& rows) {
  std::vector<std::size_t> found;
  for (const double v : rows.value) found.push_back(static_cast<std::size_t>(std::llround(v * 1000)));
  return found;
}

std::vector<std::size_t> sizes(const std::vector<Rows>& parts) {
  std::vector<std::size_t> found;
  for (const Rows& part : parts) found.push_back(part.count());
  return found;
}

void expect_every_row_once(const std::vector<Rows>& parts, std::size_t rows) {
  std::vector<std::size_t> all;
  for (const Rows& part : parts) {
    const auto some = ids(part);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), rows);
  for (std::size_t n = 0; n < rows; ++n) ASSERT_EQ(all[n], n);
}

// Golden numbers from a second implementation (Python integers).
TEST(PublicRandom, GivesTheSameNumbersOnEveryPlatform) {
  PublicRandom random(1, PublicRandom::Purpose::split);
  EXPECT_EQ(random.next(), 5468033815804029851U);
  EXPECT_EQ(random.uniform(), 0x1.1d81f00f6be54p-1);
  EXPECT_EQ(random.below(1000), 342U);
  EXPECT_EQ(random.normal(), 0x1.1234d1cdb05c8p+0);
}

TEST(PublicRandom, IsUniformAndNormalEnough) {
  PublicRandom random(2, PublicRandom::Purpose::rows);
  constexpr int n = 100000;
  double mean = 0, square = 0;
  std::array<int, 7> count{};
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    mean += z / n;
    square += z * z / n;
    ++count[random.below(7)];
  }
  EXPECT_NEAR(mean, 0, .02);
  EXPECT_NEAR(square, 1, .03);
  for (const int c : count) EXPECT_NEAR(c, n / 7.0, 600);
}

TEST(PublicRandom, PurposesOfOneSeedAreUnrelated) {
  EXPECT_NE(PublicRandom(1, PublicRandom::Purpose::rows).next(), PublicRandom(1, PublicRandom::Purpose::labels).next());
}

TEST(HoldOut, TakesTheRoundedShareAndEveryRowOnce) {
  const HeldOut parts = hold_out(numbered(103), .25, 1);
  EXPECT_EQ(parts.test.rows.count(), 26U);  // round(25.75)
  EXPECT_EQ(parts.train.rows.count(), 77U);
  expect_every_row_once({parts.train.rows, parts.test.rows}, 103);
  EXPECT_EQ(parts.test.feature_names, parts.train.feature_names);
}

TEST(HoldOut, KeepsTheOrderOfTheFileInBothParts) {
  const HeldOut parts = hold_out(numbered(100), .3, 2);
  const auto test = ids(parts.test.rows), train = ids(parts.train.rows);
  EXPECT_TRUE(std::is_sorted(test.begin(), test.end()));
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
}

TEST(HoldOut, CarriesTheSplitKeyAlong) {
  Dataset all = numbered(50);
  for (std::size_t n = 0; n < 50; ++n) all.split_key.push_back(std::to_string(n));
  const HeldOut parts = hold_out(all, .2, 3);
  ASSERT_EQ(parts.test.split_key.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(parts.test.split_key[i], std::to_string(ids(parts.test.rows)[i]));
}

TEST(HoldOut, ShareZeroGivesAnEmptyTestSetOfTheSameFeatures) {
  const HeldOut parts = hold_out(numbered(10), 0, 1);
  EXPECT_EQ(parts.test.rows.count(), 0U);
  EXPECT_EQ(parts.test.rows.features, 1);
  EXPECT_EQ(parts.train.rows.count(), 10U);
}

TEST(HoldOut, DependsOnTheSeedAlone) {
  EXPECT_EQ(ids(hold_out(numbered(100), .5, 4).test.rows), ids(hold_out(numbered(100), .5, 4).test.rows));
  EXPECT_NE(ids(hold_out(numbered(100), .5, 4).test.rows), ids(hold_out(numbered(100), .5, 5).test.rows));
}

TEST(HoldOut, RowsDeclaredPublicAreTakenOutBeforeTheShareIsCounted) {
  const HeldOut parts = hold_out(numbered(30162), .3, 1, 162);
  EXPECT_EQ(parts.published.rows.count(), 162U);
  EXPECT_EQ(parts.test.rows.count(), 9000U);
  EXPECT_EQ(parts.train.rows.count(), 21000U);
  expect_every_row_once({parts.train.rows, parts.test.rows, parts.published.rows}, 30162);
  EXPECT_TRUE(std::ranges::is_sorted(ids(parts.published.rows)));
  EXPECT_EQ(ids(hold_out(numbered(100), 0, 1, 10).test.rows).size(), 0U);
  EXPECT_THROW(hold_out(numbered(10), 0, 1, 10), Error);
  EXPECT_THROW(hold_out(numbered(10), .9, 1, 9), Error);
}

TEST(HoldOut, RefusesAShareThatLeavesNothingToTrainOn) {
  EXPECT_THROW(hold_out(numbered(10), 1, 1), Error);
  EXPECT_THROW(hold_out(numbered(10), -.1, 1), Error);
  EXPECT_THROW(hold_out(numbered(10), std::numeric_limits<double>::quiet_NaN(), 1), Error);
  EXPECT_THROW(hold_out(numbered(10), .99, 1), Error);
  EXPECT_THROW(hold_out(numbered(0), 0, 1), Error);
}

TEST(Split, EvenSizesDifferByAtMostOneAndEveryRowIsUsedOnce) {
  for (const int nodes : {1, 2, 3, 7, 100}) {
    const auto parts = split_over_nodes(numbered(100), nodes, {}, 1);
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(nodes));
    const auto s = sizes(parts);
    EXPECT_LE(*std::max_element(s.begin(), s.end()) - *std::min_element(s.begin(), s.end()), 1U);
    expect_every_row_once(parts, 100);
  }
}

TEST(Split, EvenAssignsAtRandomUnlessAskedToKeepTheOrder) {
  EXPECT_NE(ids(split_over_nodes(numbered(100), 2, {}, 1)[0]), ids(split_over_nodes(numbered(100), 2, {}, 2)[0]));
  const auto kept = split_over_nodes(numbered(6), 2, {.shuffle = false}, 1);
  EXPECT_THAT(ids(kept[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(ids(kept[1]), ElementsAre(3, 4, 5));
}

TEST(Split, SharesAreNormalised) {
  const auto parts = split_over_nodes(numbered(100), 3, {.how = "shares", .shares = {1, 1, 2}}, 1);
  EXPECT_THAT(sizes(parts), ElementsAre(25, 25, 50));
  expect_every_row_once(parts, 100);
}

TEST(Split, PowerSharesFallAsTheExponentSays) {
  const auto parts = split_over_nodes(numbered(110), 3, {.how = "power", .exponent = 1}, 1);  // 6 : 3 : 2
  EXPECT_THAT(sizes(parts), ElementsAre(60, 30, 20));
  expect_every_row_once(parts, 110);
  EXPECT_THAT(sizes(split_over_nodes(numbered(90), 3, {.how = "power", .exponent = 0}, 1)), ElementsAre(30, 30, 30));
}

TEST(Split, ColumnDealsWholeGroupsLargestFirstToTheSmallestNode) {
  Dataset all = numbered(100);
  const std::array<std::size_t, 5> until{40, 70, 85, 95, 100};  // groups of 40, 30, 15, 10, 5
  for (std::size_t n = 0; n < 100; ++n)
    all.split_key.push_back(
        std::string(1, static_cast<char>('e' - (std::upper_bound(until.begin(), until.end(), n) - until.begin()))));
  const auto parts = split_over_nodes(all, 2, {.how = "column"}, 1);
  EXPECT_THAT(sizes(parts), ElementsAre(50, 50));  // 40 + 10 and 30 + 15 + 5
  expect_every_row_once(parts, 100);
  for (const std::size_t id : ids(parts[0])) EXPECT_TRUE(id < 40 || (id >= 85 && id < 95));
}

TEST(Split, ColumnWithFewerValuesThanNodesCutsTheSortedRowsIntoEqualBlocks) {
  Dataset all = numbered(100);
  for (std::size_t n = 0; n < 100; ++n) all.split_key.push_back(n % 2 == 0 ? "even" : "odd");
  const auto parts = split_over_nodes(all, 4, {.how = "column"}, 1);
  EXPECT_THAT(sizes(parts), ElementsAre(25, 25, 25, 25));
  expect_every_row_once(parts, 100);
  for (std::size_t i = 0; i < 4; ++i)
    for (const std::size_t id : ids(parts[i])) EXPECT_EQ(id % 2, i / 2);
}

TEST(Split, LabelSkewedGivesNodesUnlikeLabels) {
  const auto parts = split_over_nodes(numbered(100), 4, {.how = "label-skewed"}, 1);  // a quarter is positive
  EXPECT_THAT(sizes(parts), ElementsAre(25, 25, 25, 25));
  expect_every_row_once(parts, 100);
  EXPECT_THAT(parts[3].label, testing::Each(1.0));
  EXPECT_THAT(parts[0].label, testing::Each(-1.0));
}

TEST(Split, LabelSkewedSortsARegressionTarget) {
  Dataset all = numbered(100);
  all.regression = true;
  for (std::size_t n = 0; n < 100; ++n) all.rows.label[n] = std::cos(static_cast<double>(n));
  const auto parts = split_over_nodes(all, 4, {.how = "label-skewed"}, 1);
  expect_every_row_once(parts, 100);
  for (std::size_t i = 0; i + 1 < 4; ++i)
    EXPECT_LE(*std::max_element(parts[i].label.begin(), parts[i].label.end()),
              *std::min_element(parts[i + 1].label.begin(), parts[i + 1].label.end()));
}

TEST(Split, AnEmptyNodeIsAnErrorThatNamesIt) {
  EXPECT_THAT([] { split_over_nodes(numbered(3), 5, {}, 1); },
              ThrowsMessage<Error>(HasSubstr("node 0 would hold no rows")));
  EXPECT_THAT([] { split_over_nodes(numbered(10), 2, {.how = "shares", .shares = {1000, 1}}, 1); },
              ThrowsMessage<Error>(HasSubstr("node 1 would hold no rows")));
}

TEST(Split, BadPlansAreErrors) {
  const Dataset all = numbered(10);
  EXPECT_THAT([&] { split_over_nodes(all, 2, {.how = "evn"}, 1); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'even'")));
  EXPECT_THAT([&] { split_over_nodes(all, 2, {.how = "column"}, 1); },
              ThrowsMessage<Error>(HasSubstr("--split-column")));
  EXPECT_THROW(split_over_nodes(all, 0, {}, 1), Error);
  EXPECT_THROW(split_over_nodes(all, 2, {.how = "shares", .shares = {1}}, 1), Error);
  EXPECT_THROW(split_over_nodes(all, 2, {.how = "shares", .shares = {1, -1}}, 1), Error);
  EXPECT_THROW(split_over_nodes(all, 2, {.how = "shares", .shares = {1, std::numeric_limits<double>::infinity()}}, 1),
               Error);
  EXPECT_THROW(split_over_nodes(all, 2, {.how = "power", .exponent = -1}, 1), Error);
}

}  // namespace
}  // namespace parley::data
