#include "parley/data/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

long double norm(std::span<const double> values) {
  long double sum = 0;
  for (const double v : values) sum += static_cast<long double>(v) * v;
  return std::sqrt(sum);
}

Rows three_rows() {
  Rows rows;
  rows.features = 4;
  rows.append(std::vector<std::int32_t>{0, 3}, std::vector<double>{0.5, -0.25}, 1);
  rows.append(std::vector<std::int32_t>{}, std::vector<double>{}, -1);
  rows.append(std::vector<std::int32_t>{2}, std::vector<double>{1}, -1);
  return rows;
}

TEST(Rows, SelectTakesRowsInTheOrderAskedForAndRepeatsThem) {
  const Rows chosen = three_rows().select(std::vector<std::size_t>{2, 0, 0, 1});
  EXPECT_EQ(chosen.features, 4);
  EXPECT_EQ(chosen.start, (std::vector<std::size_t>{0, 1, 3, 5, 5}));
  EXPECT_EQ(chosen.column, (std::vector<std::int32_t>{2, 0, 3, 0, 3}));
  EXPECT_EQ(chosen.value, (std::vector<double>{1, 0.5, -0.25, 0.5, -0.25}));
  EXPECT_EQ(chosen.label, (std::vector<double>{-1, 1, 1, -1}));
  EXPECT_THROW(chosen.select(std::vector<std::size_t>{4}), std::logic_error);
}

TEST(Rows, AppendRefusesWhatIsNotFiniteOrNotInOrderOrNotAFeatureAndKeepsTheRows) {
  Rows rows = three_rows();
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto append = [&](std::vector<std::int32_t> columns, std::vector<double> values, double y) {
    rows.append(columns, values, y);
  };
  EXPECT_THROW(append({0}, {nan}, 1), std::logic_error);
  EXPECT_THROW(append({0}, {inf}, 1), std::logic_error);
  EXPECT_THROW(append({0}, {1}, nan), std::logic_error);
  EXPECT_THROW(append({4}, {1}, 1), std::logic_error);
  EXPECT_THROW(append({-1}, {1}, 1), std::logic_error);
  EXPECT_THROW(append({1, 1}, {1, 1}, 1), std::logic_error);
  EXPECT_THROW(append({1, 2}, {1}, 1), std::logic_error);
  EXPECT_EQ(rows.count(), 3U);
  EXPECT_EQ(rows.start, three_rows().start);
  EXPECT_EQ(rows.value, three_rows().value);
}

TEST(ClipToUnitNorm, LeavesRowsInsideTheBallAndASingleOneUntouched) {
  for (std::vector<double> x : {std::vector<double>{}, {1.0}, {-1.0}, {0.25, -0.5}, {0.0, 0.0}}) {
    const auto before = x;
    clip_to_unit_norm(x);
    EXPECT_EQ(x, before);
  }
}

// 1 − 2⁻⁵⁰ rather than 1 on the upper side would be a useless clip, norm > 1 a broken sensitivity proof.
TEST(ClipToUnitNorm, GivesNormAtMostOneInExactArithmeticAndNotMuchLess) {
  auto random = repeatable_random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<double> x(1 + random() % 60);
    const double size = std::pow(10.0, normal(random));
    for (double& v : x) v = size * normal(random);
    const long double before = norm(x);
    const auto given = x;
    clip_to_unit_norm(x);
    // 64 bits of mantissa leave (n + 1) 2⁻⁶³ of doubt about Σ v²; the clip has to stay below even that.
    const long double doubt = static_cast<long double>(x.size() + 1) * 0x1p-63L;
    if (x.size() > 1) {
      ASSERT_LE(norm(x) * norm(x) * (1 + doubt / 2), 1.0L);
    }
    ASSERT_LE(norm(x), 1.0L);
    if (before > 1) {
      ASSERT_GE(norm(x), 1 - 0x1p-50L);
    }
    if (before < 1 - 1e-15L) {
      ASSERT_EQ(x, given);
    }
    const auto once = x;
    clip_to_unit_norm(x);
    ASSERT_EQ(x, once) << "clipping is idempotent";
  }
}

TEST(ClipToUnitNorm, SurvivesTheLargestAndSmallestDoubles) {
  const double max = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  std::vector<double> x{max, -max, tiny, max};
  clip_to_unit_norm(x);
  EXPECT_LE(norm(x), 1.0L);
  EXPECT_NEAR(x[0], 1 / std::sqrt(3.0), 1e-15);
  std::vector<double> nan{std::nan(""), 1};
  EXPECT_THROW(clip_to_unit_norm(nan), std::logic_error);
}

}  // namespace
}  // namespace parley::data
