#include "parley/data/named/census.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "parley/base/digest.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/data/schema.h"

namespace parley::data {
namespace {

std::string as_text(const Table& table) {
  std::string text;
  for (const auto& row : table.cells) text += join(row, ",") + "\n";
  return text;
}

Dataset census(std::size_t rows, std::uint64_t seed) {
  return encode(census_table(rows, seed), parse_schema(census_schema(), "census_schema"), "census");
}

double log_odds(const Rows& x, std::size_t n, const Vector& w) {
  double z = 0;
  for (std::size_t k = x.start[n]; k < x.start[n + 1]; ++k) z += w[x.column[k]] * x.value[k];
  return z;
}

double probability(double z) {
  return 1 / (1 + std::exp(-z));
}

TEST(Census, TheSameSeedGivesTheSameRowsOnEveryPlatform) {
  EXPECT_EQ(hex(sha256(as_text(census_table(1000, 1)))),
            "f53f50037a474d9164519309593605ba4fe407bb9b2b69ec296d33b78c014dbc");
}

TEST(Census, AnotherSeedGivesOtherRows) {
  EXPECT_NE(as_text(census_table(100, 1)), as_text(census_table(100, 2)));
}

TEST(Census, FewerRowsAreTheFirstOfMore) {
  const std::string some = as_text(census_table(50, 3));
  EXPECT_EQ(as_text(census_table(200, 3)).substr(0, some.size()), some);
  EXPECT_TRUE(census_table(0, 3).cells.empty());
}

TEST(Census, HasTheShapeOfAdult) {
  const Table table = census_table(10, 1);
  const Schema schema = parse_schema(census_schema(), "census_schema");
  const auto kinds = [&](Kind kind) {
    return std::count_if(schema.columns.begin(), schema.columns.end(),
                         [kind](const Column& c) { return c.kind == kind; });
  };
  EXPECT_EQ(table.columns.size(), 15U);
  EXPECT_EQ(kinds(Kind::categorical), 8);
  EXPECT_EQ(kinds(Kind::numeric), 6);
  EXPECT_TRUE(schema.intercept);
  EXPECT_EQ(feature_names(schema).size(), 62U);
  EXPECT_EQ(census_truth().size(), 62);
}

TEST(Census, EveryCategoryOfTheSchemaOccursAndNoRowIsOutOfRange) {
  Schema strict = parse_schema(census_schema(), "census_schema");
  for (Column& c : strict.columns) c.out_of_range = OutOfRange::error;
  const Rows x = encode(census_table(20000, 5), strict, "census").rows;
  std::vector<bool> seen(static_cast<std::size_t>(x.features));
  for (const auto column : x.column) seen[static_cast<std::size_t>(column)] = true;
  for (std::size_t f = 0; f < seen.size(); ++f) EXPECT_TRUE(seen[f]) << feature_names(strict)[f];
}

TEST(Census, ColumnsDependOnEachOtherAsInLife) {
  const Table table = census_table(20000, 6);
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                                    table.columns.begin());
  };
  const auto age = column("age"), status = column("marital-status"), family = column("relationship"),
             sex = column("sex");
  const auto education = column("education"), job = column("occupation");
  std::array<double, 2> young{}, graduates{}, others{};  // {count, hits}
  for (const auto& row : table.cells) {
    const bool married = row[status] == "Married";
    EXPECT_TRUE(row[family] != "Husband" || (married && row[sex] == "Male"));
    EXPECT_TRUE(row[family] != "Wife" || (married && row[sex] == "Female"));
    EXPECT_TRUE(row[family] != "Own-child" || !married);
    if (std::stoi(row[age]) < 25) {
      ++young[0];
      young[1] += row[status] == "Never-married" ? 1 : 0;
    }
    auto& group = row[education] == "Bachelors" || row[education] == "Masters" ? graduates : others;
    ++group[0];
    group[1] += row[job] == "Professional" ? 1 : 0;
  }
  EXPECT_GT(young[1] / young[0], .8);
  EXPECT_GT(graduates[1] / graduates[0], 3 * others[1] / others[0]);
}

TEST(Census, CapitalGainsAreMostlyZeroWithALongTail) {
  const Table table = census_table(20000, 7);
  double positive = 0, large = 0;
  for (const auto& row : table.cells) {
    const int gain = std::stoi(row[10]);
    positive += gain > 0 ? 1 : 0;
    large += gain > 40000 ? 1 : 0;
  }
  EXPECT_NEAR(positive / 20000, .08, .02);
  EXPECT_GT(large, 5);
  EXPECT_LT(large, positive / 20);
}

// Bayes error = E min(p, 1 − p), the least any classifier can reach. A binomial share of n = 50,000 has a standard
// deviation below 0.0019; the bounds leave four of them.
TEST(Census, TheTruthErrsAsOftenAsTheBayesErrorSays) {
  const Dataset all = census(50000, 8);
  const Vector w = census_truth();
  double bayes = 0, wrong = 0, positive = 0, expected = 0;
  const auto n = static_cast<double>(all.rows.count());
  for (std::size_t i = 0; i < all.rows.count(); ++i) {
    const double z = log_odds(all.rows, i, w), p = probability(z);
    bayes += std::min(p, 1 - p) / n;
    wrong += (z > 0) == (all.rows.label[i] > 0) ? 0 : 1 / n;
    positive += all.rows.label[i] > 0 ? 1 / n : 0;
    expected += p / n;
  }
  RecordProperty("bayes_error", number(bayes));
  RecordProperty("positive_share", number(positive));
  EXPECT_GT(bayes, .13);
  EXPECT_LT(bayes, .16);
  EXPECT_NEAR(wrong, bayes, .0064);
  EXPECT_NEAR(positive, .24, .01);
  EXPECT_NEAR(positive, expected, .0076);
}

TEST(Census, LabelsAreCalibratedInEveryTenthOfTheProbability) {
  const Dataset all = census(50000, 9);
  const Vector w = census_truth();
  std::array<double, 10> count{}, expected{}, variance{}, positive{};
  for (std::size_t i = 0; i < all.rows.count(); ++i) {
    const double p = probability(log_odds(all.rows, i, w));
    const auto tenth = static_cast<std::size_t>(std::min(9.0, p * 10));
    ++count[tenth];
    expected[tenth] += p;
    variance[tenth] += p * (1 - p);
    positive[tenth] += all.rows.label[i] > 0 ? 1 : 0;
  }
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    EXPECT_GT(count[tenth], 200) << tenth;
    EXPECT_NEAR(positive[tenth], expected[tenth], 4 * std::sqrt(variance[tenth])) << tenth;
  }
}

// E (y⁰¹ − p) x = 0 characterises w among all weights (the log-likelihood is concave), so this is "the truth is the
// optimum".
TEST(Census, TheGradientOfTheLogLikelihoodVanishesAtTheTruth) {
  const Dataset all = census(50000, 10);
  const Vector w = census_truth();
  const Rows& x = all.rows;
  Vector gradient = Vector::Zero(x.features), variance = Vector::Zero(x.features);
  for (std::size_t i = 0; i < x.count(); ++i) {
    const double p = probability(log_odds(x, i, w)), residual = (x.label[i] > 0 ? 1 : 0) - p;
    for (std::size_t k = x.start[i]; k < x.start[i + 1]; ++k) {
      gradient[x.column[k]] += residual * x.value[k];
      variance[x.column[k]] += p * (1 - p) * x.value[k] * x.value[k];
    }
  }
  for (Index j = 0; j < x.features; ++j)
    EXPECT_LE(std::abs(gradient[j]), 4.5 * std::sqrt(variance[j])) << all.feature_names[j];
}

TEST(Census, RowsHaveNormAtMostOne) {
  const Rows x = census(5000, 11).rows;
  for (std::size_t i = 0; i < x.count(); ++i) {
    double squared = 0;
    for (std::size_t k = x.start[i]; k < x.start[i + 1]; ++k) squared += x.value[k] * x.value[k];
    ASSERT_LE(std::sqrt(squared), 1.0);
  }
}

TEST(Census, MakesFiftyThousandRows) {
  EXPECT_EQ(census_table(50000, 12).cells.size(), 50000U);
}

}  // namespace
}  // namespace parley::data
