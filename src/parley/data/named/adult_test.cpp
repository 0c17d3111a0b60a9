#include "parley/data/named/adult.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/named/adult_schema.h"
#include "parley/data/schema.h"
#include "parley/data/source.h"

namespace parley::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::optional<fs::path> adult() {
  try {
    return find_adult();
  } catch (const Error&) {
    return std::nullopt;
  }
}

double positive_share(const Rows& x) {
  return static_cast<double>(std::count(x.label.begin(), x.label.end(), 1.0)) / static_cast<double>(x.count());
}

double largest_norm(const Rows& x) {
  double largest = 0;
  for (std::size_t n = 0; n < x.count(); ++n) {
    double squared = 0;
    for (std::size_t k = x.start[n]; k < x.start[n + 1]; ++k) squared += x.value[k] * x.value[k];
    largest = std::max(largest, std::sqrt(squared));
  }
  return largest;
}

std::vector<std::size_t> occurrences(const Rows& x) {
  std::vector<std::size_t> count(static_cast<std::size_t>(x.features));
  for (const auto column : x.column) ++count[static_cast<std::size_t>(column)];
  return count;
}

TEST(AdultSchemas, ListTheColumnsInFileOrderAndTheDocumentedCategories) {
  const Schema all = parse_schema(adult_public_schema(), "adult_public_schema");
  const std::vector<std::size_t> documented{0, 8, 0, 16, 0, 7, 14, 6, 5, 2, 0, 0, 0, 41};
  ASSERT_EQ(all.columns.size(), 14U);
  for (std::size_t c = 0; c < 14; ++c) {
    const Column& column = all.columns[c];
    EXPECT_EQ(column.name, adult_columns()[c]);
    const bool marked = std::count(column.categories.begin(), column.categories.end(), "?") == 1;
    EXPECT_EQ(column.categories.size() - (marked ? 1 : 0), documented[c]) << column.name;
    EXPECT_EQ(marked, column.name == "workclass" || column.name == "occupation" || column.name == "native-country");
  }
  EXPECT_EQ(feature_names(all).size(), 109U);  // 99 categories, three '?', six numbers, the intercept
  EXPECT_EQ(feature_names(parse_schema(adult_compact_schema(), "adult_compact_schema")).size(), 60U);
}

// Sets or (nullptr) unsets a variable until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> before_;
};

class Places : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "parley_adult_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = fs::canonical(name);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(base_);
  }
  fs::path put(const char* place) const {
    fs::create_directories(base_ / place);
    write_file(base_ / place / "adult.data", "");
    write_file(base_ / place / "adult.test", "");
    return base_ / place;
  }
  fs::path before_ = fs::current_path();
  fs::path base_;
};

TEST_F(Places, AreTriedInOrderVariableCacheThenSharedDataAboveTheCurrentDirectory) {
  fs::create_directories(base_ / "main" / "build");
  fs::current_path(base_ / "main" / "build");
  const Variable cache("XDG_CACHE_HOME", (base_ / "cache").c_str());
  const Variable data("PARLEY_DATA", (base_ / "mine").c_str());
  const fs::path shared = put("shared/data/adult");
  EXPECT_EQ(find_adult(), shared);
  const fs::path cached = put("cache/parley");
  EXPECT_EQ(find_adult(), cached);
  const fs::path mine = put("mine/adult");
  EXPECT_EQ(find_adult(), mine);
}

TEST_F(Places, TheFolderGivenMayHoldItDirectlyOrInASubfolder) {
  const fs::path dir = put("given/adult");
  EXPECT_EQ(find_adult((base_ / "given").string()), dir);
  EXPECT_EQ(find_adult(dir.string()), dir);
  fs::remove(dir / "adult.test");
  EXPECT_THROW(find_adult(dir.string()), Error);  // one of the two files is not enough
}

TEST(Adult, IsLookedForOnlyInTheFolderGiven) {
  EXPECT_THAT([] { find_adult("/nowhere"); },
              ThrowsMessage<Error>(
                  AllOf(HasSubstr("/nowhere/adult"), HasSubstr("parley data fetch adult"), Not(HasSubstr("shared")))));
}

TEST(Adult, AnUnknownPreprocessingIsAnErrorBeforeAnythingIsRead) {
  EXPECT_THAT([] { load_adult("/nowhere", "papr"); }, ThrowsMessage<Error>(HasSubstr("did you mean 'paper'")));
}

TEST(Adult, PublicKeepsEveryRowAndColumn) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "public");
  EXPECT_EQ(all.rows.count(), 48842U);
  EXPECT_EQ(all.rows.features, 109);
  EXPECT_EQ(all.feature_names.size(), 109U);
  EXPECT_EQ(all.feature_names.back(), "(intercept)");
  EXPECT_NEAR(positive_share(all.rows), .2393, .00005);
  EXPECT_LE(largest_norm(all.rows), 1);
  EXPECT_EQ(all.not_public, "");
  EXPECT_EQ(std::count(all.rows.label.begin(), all.rows.label.end(), 1.0), 11687);
}

TEST(Adult, CompactKeepsEveryRowInAboutHalfTheFeatures) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "compact");
  EXPECT_EQ(all.rows.count(), 48842U);
  EXPECT_EQ(all.rows.features, 60);
  EXPECT_LE(largest_norm(all.rows), 1);
  EXPECT_EQ(all.not_public, "");
  EXPECT_THAT(all.feature_names, AllOf(Contains("capital-gain"), Contains("age[22,27)"), Not(Contains("fnlwgt"))));
}

TEST(Adult, PaperHas45222RowsOf104FeaturesAndSaysWhyItIsNotPublic) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "paper");
  EXPECT_EQ(all.rows.count(), 45222U);
  EXPECT_EQ(all.rows.features, 104);
  EXPECT_NEAR(positive_share(all.rows), .2478, .00005);
  EXPECT_LE(largest_norm(all.rows), 1);
  EXPECT_THAT(all.not_public, AllOf(HasSubstr("maximum"), HasSubstr("dropped")));
  EXPECT_THAT(all.feature_names, AllOf(Not(Contains("(intercept)")), Not(Contains(HasSubstr("?"))),
                                       Not(Contains("workclass=Never-worked"))));
  const auto count = occurrences(all.rows);
  EXPECT_GT(*std::min_element(count.begin(), count.end()), 0U);
}

// The first row of adult.data: 39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, ..., 2174, 0, 40,
// United-States.
TEST(Adult, PaperDividesByTheColumnMaximumBeforeClipping) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "paper");
  const auto entry = [&](const std::string& name) {
    const auto f = std::find(all.feature_names.begin(), all.feature_names.end(), name) - all.feature_names.begin();
    for (std::size_t k = 0; k < all.rows.start[1]; ++k)
      if (all.rows.column[k] == f) return all.rows.value[k];
    return 0.0;
  };
  const double one = entry("workclass=State-gov");
  EXPECT_NEAR(entry("age") / one, 39.0 / 90, 1e-9);
  EXPECT_NEAR(entry("education-num") / one, 13.0 / 16, 1e-9);
  EXPECT_NEAR(entry("hours-per-week") / one, 40.0 / 99, 1e-9);
  EXPECT_NEAR(entry("capital-gain") / one, 2174.0 / 99999, 1e-9);
  EXPECT_EQ(entry("capital-loss"), 0);
}

// [HHCG20] section VI, Table II: 30,162 complete instances of dimension 14.
TEST(Adult, IntegerHas30162RowsOf14CodedColumnsAndSaysWhyItIsNotPublic) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "integer", "sex");
  EXPECT_EQ(all.rows.count(), 30162U);
  EXPECT_EQ(all.rows.features, 14);
  EXPECT_EQ(all.split_key[0], "Male");
  EXPECT_EQ(all.feature_names[13], "native-country");
  EXPECT_NEAR(positive_share(all.rows), .2489, .00005);
  EXPECT_LE(largest_norm(all.rows), 1);
  EXPECT_THAT(all.not_public, AllOf(HasSubstr("minimum and maximum"), HasSubstr("dropped")));
  EXPECT_EQ(all.schema_toml, "");
  // The first row: age 39 of 17..90, State-gov is place 5 of 0 (Private) .. 6 (Without-pay), Male 1 of 0..1, capital
  // gain 2174 of 0..99999. The norm is above 1 before clipping, so ratios to one column are what is left.
  const auto x = [&](std::size_t c) { return all.rows.value[c] / all.rows.value[9]; };
  EXPECT_NEAR(x(0), 2 * 22.0 / 73 - 1, 1e-12);
  EXPECT_NEAR(x(1), 2 * 5.0 / 6 - 1, 1e-12);
  EXPECT_NEAR(x(10), 2 * 2174.0 / 99999 - 1, 1e-12);
}

TEST(Adult, IntegerWithHHCG20sSharesGives21000TrainingRows9000TestRowsAnd162PublicOnes) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Holdings h = load({.data = {"adult"},
                           .data_dir = dir->string(),
                           .preprocessing = "integer",
                           .nodes = 100,
                           .test_share = 0.3,
                           .public_rows = 162});
  EXPECT_EQ(h.training_rows(), 21000U);
  EXPECT_EQ(h.test.count(), 9000U);
  EXPECT_EQ(h.published.count(), 162U);
  for (const Rows& node : h.nodes) EXPECT_EQ(node.count(), 210U);
}

TEST(Adult, SplitColumnKeepsTheRawTextEvenOfADroppedColumn) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  const Dataset all = load_adult(*dir, "compact", "native-country");
  ASSERT_EQ(all.split_key.size(), 48842U);
  EXPECT_EQ(std::count(all.split_key.begin(), all.split_key.end(), "Mexico"), 951);
}

TEST(Adult, TheSchemaItCarriesReadsBack) {
  const auto dir = adult();
  if (!dir) GTEST_SKIP() << "skipped: Adult not found";
  for (const auto* preprocessing : {"public", "compact", "paper"}) {
    const Dataset all = load_adult(*dir, preprocessing);
    EXPECT_EQ(feature_names(parse_schema(all.schema_toml, "carried")), all.feature_names) << preprocessing;
  }
}

}  // namespace
}  // namespace parley::data
