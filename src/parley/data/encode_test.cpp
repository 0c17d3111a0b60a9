#include "parley/data/encode.h"

#include <cmath>
#include <random>

#include "parley/base/message_test.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string yes_no = "[label]\ncolumn = 'y'\npositive = ['yes', '1']\nnegative = ['no']\n";
std::string column(const std::string& name, const std::string& kind, const std::string& keys) {
  return "[[columns]]\nname = '" + name + "'\nkind = '" + kind + "'\n" + keys + "\n";
}

// Features of the single column x, no intercept: the raw encoding, as long as the norm is at most 1.
std::vector<double> features_of(const std::string& keys, const std::string& kind, const std::string& cell) {
  const Schema schema = parse_schema("intercept = false\n" + yes_no + column("x", kind, keys), "s.toml");
  const Table table{.source = "mine.csv", .columns = {"x"}, .cells = {{cell}}, .line = {17}};
  const Rows rows = encode_features(table, schema);
  std::vector<double> dense(static_cast<std::size_t>(rows.features), 0.0);
  for (std::size_t k = 0; k < rows.value.size(); ++k) {
    EXPECT_NE(rows.value[k], 0) << "zeros are not stored";
    dense[static_cast<std::size_t>(rows.column[k])] = rows.value[k];
  }
  return dense;
}
double scaled(const std::string& keys, const std::string& cell) {
  return features_of(keys, "numeric", cell).at(0);
}
std::string failure(const std::string& keys, const std::string& kind, const std::string& cell) {
  return message_of([&] { features_of(keys, kind, cell); });
}
using Dense = std::vector<double>;

TEST(Encode, NumericScalesTheBoundsToZeroAndOne) {
  EXPECT_EQ(scaled("bounds = [10, 30]", "10"), 0);
  EXPECT_EQ(scaled("bounds = [10, 30]", "30"), 1);
  EXPECT_EQ(scaled("bounds = [10, 30]", " +1.5e1 "), 0.25);
  EXPECT_EQ(scaled("bounds = [-10, 30]", "-10"), 0);
  EXPECT_DOUBLE_EQ(scaled("bounds = [0, 99]\ntransform = 'log1p'", "9"), 0.5);
  EXPECT_DOUBLE_EQ(scaled("bounds = [1, 16]\ntransform = 'sqrt'", "4"), 1.0 / 3);
}

TEST(Encode, OutOfRangeIsClippedOrAnErrorAsTheSchemaSays) {
  EXPECT_EQ(scaled("bounds = [10, 30]", "-1e300"), 0);
  EXPECT_EQ(scaled("bounds = [10, 30]", "31"), 1);
  EXPECT_EQ(scaled("bounds = [0, 30]\ntransform = 'sqrt'", "-4"), 0) << "clipped before the root";
  EXPECT_THAT(failure("bounds = [10, 30]\nout_of_range = 'error'", "numeric", "31"),
              HasSubstr("mine.csv:17: column 'x' is out of range; got 31; allowed: 10 to 30"));
}

TEST(Encode, AMissingNumberTakesTheValueTheSchemaSays) {
  for (const char* mark : {"", "NA", "?"}) {
    EXPECT_EQ(scaled("bounds = [10, 30]\nmissing = 'low'", mark), 0);
    EXPECT_EQ(scaled("bounds = [10, 30]\nmissing = 'middle'", mark), 0.5);
    EXPECT_EQ(scaled("bounds = [10, 30]\nmissing = 'high'", mark), 1);
    EXPECT_THAT(failure("bounds = [10, 30]", "numeric", mark),
                HasSubstr("mine.csv:17: column 'x' is missing; got '" + std::string(mark) + "'"));
  }
}

TEST(Encode, GarbageInANumericColumnNamesLineAndColumn) {
  for (const char* cell : {"abc", "nan", "inf", "-inf", "1e999", "1,5", "12 3", "0x1F"})
    EXPECT_THAT(failure("bounds = [0, 1]", "numeric", cell),
                HasSubstr("mine.csv:17: column 'x' is not a number; got '" + std::string(cell) + "'"));
}

TEST(Encode, BinsAreClosedBelowAndOpenAbove) {
  const std::string keys = "transform = 'bins'\nedges = [25, 35, 45]\n";
  EXPECT_EQ(features_of(keys, "numeric", "24.999"), (Dense{1, 0, 0, 0}));
  EXPECT_EQ(features_of(keys, "numeric", "25"), (Dense{0, 1, 0, 0}));
  EXPECT_EQ(features_of(keys, "numeric", "35"), (Dense{0, 0, 1, 0}));
  EXPECT_EQ(features_of(keys, "numeric", "1e9"), (Dense{0, 0, 0, 1}));
  EXPECT_EQ(features_of(keys + "missing = 'low'", "numeric", "?"), (Dense{1, 0, 0, 0}));
  EXPECT_EQ(features_of(keys + "missing = 'high'", "numeric", "?"), (Dense{0, 0, 0, 1}));
  EXPECT_EQ(features_of("transform = 'bins'\nedges = [1, 2]\nmissing = 'middle'", "numeric", "?"), (Dense{0, 1, 0}));
  EXPECT_EQ(features_of(keys + "missing = 'zero'", "numeric", "?"), (Dense{0, 0, 0, 0}));
  EXPECT_THAT(failure(keys + "bounds = [0, 99]\nout_of_range = 'error'", "numeric", "100"),
              HasSubstr("is out of range; got 100"));
}

TEST(Encode, CategoriesAreOneHotAndUnlistedOnesFollowThePolicy) {
  const std::string keys = "categories = ['a', 'b']\n";
  EXPECT_EQ(features_of(keys, "categorical", "b"), (Dense{0, 1}));
  EXPECT_EQ(features_of(keys + "other = 'bucket'", "categorical", "c"), (Dense{0, 0, 1}));
  EXPECT_EQ(features_of(keys + "other = 'zero'", "categorical", "c"), (Dense{0, 0}));
  EXPECT_THAT(
      failure(keys, "categorical", "c"),
      HasSubstr("mine.csv:17: column 'x' has a value that is not among its categories; got 'c'; allowed: 'a', 'b'\n"));
  EXPECT_THAT(failure("categories = ['1','2','3','4','5','6','7','8','9']", "categorical", "c"),
              HasSubstr("allowed: '1', '2', '3', '4', '5', '6', '7', '8', ... (9 in all)"));
}

TEST(Encode, AMissingCategoryFollowsThePolicy) {
  const std::string keys = "categories = ['a', 'b']\n";
  EXPECT_EQ(features_of(keys + "other = 'bucket'\nmissing = 'other'", "categorical", "?"), (Dense{0, 0, 1}));
  EXPECT_EQ(features_of(keys + "other = 'bucket'\nmissing = 'zero'", "categorical", "?"), (Dense{0, 0, 0}));
  EXPECT_EQ(features_of("categories = ['a', '?']\nmissing = 'category'", "categorical", "?"), (Dense{0, 1}));
  EXPECT_EQ(features_of("categories = ['a', '?']\nmissing = 'category'", "categorical", "NA"), (Dense{0, 1}))
      << "all marks mean the same";
  EXPECT_EQ(features_of("categories = ['', '?']\nmissing = 'category'", "categorical", "?"), (Dense{0, 1}));
  EXPECT_THAT(failure(keys + "other = 'bucket'", "categorical", "NA"),
              HasSubstr("mine.csv:17: column 'x' is missing; got 'NA'"));
}

Schema three_columns() {
  return parse_schema(yes_no + column("age", "numeric", "bounds = [0, 100]") +
                          column("job", "categorical", "categories = ['cook']\nother = 'bucket'") +
                          column("site", "drop", ""),
                      "s.toml");
}

TEST(Encode, FillsTheDataset) {
  const Table table = parse_csv("site,y,job,age\nA,yes,cook,0\nB,no,pilot,100\n", "mine.csv");
  const Dataset d = encode(table, three_columns(), "mine", "site");
  EXPECT_EQ(d.name, "mine");
  EXPECT_EQ(d.feature_names, (std::vector<std::string>{"age", "job=cook", "job=other", "(intercept)"}));
  EXPECT_EQ(d.rows.features, 4);
  EXPECT_EQ(d.rows.label, (Dense{1, -1}));
  EXPECT_EQ(d.rows.column, (std::vector<std::int32_t>{1, 3, 0, 2, 3})) << "age 0 is not stored";
  EXPECT_NEAR(d.rows.value[0], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(d.rows.value[4], std::sqrt(1.0 / 3), 1e-15);
  EXPECT_EQ(d.split_key, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(parse_schema(d.schema_toml, "again"), three_columns());
  EXPECT_FALSE(d.regression);
  EXPECT_TRUE(d.not_public.empty());
  EXPECT_TRUE(encode(table, three_columns(), "mine").split_key.empty());
}

TEST(Encode, FeaturesAloneNeedNoLabelAndAreTheSame) {
  const Rows with = encode(parse_csv("y,job,age\nyes,cook,7\n", "m"), three_columns(), "m").rows;
  for (const char* text : {"job,age\ncook,7\n", "age,y,job\n7,nonsense,cook\n"}) {
    const Rows rows = encode_features(parse_csv(text, "m"), three_columns());
    EXPECT_EQ(rows.value, with.value);
    EXPECT_EQ(rows.column, with.column);
    EXPECT_EQ(rows.label, (Dense{0}));
  }
}

TEST(Encode, ColumnsThatOneSideLacksAreErrors) {
  const auto message = [](const char* text, const std::string& split = "") {
    return message_of([&] { encode(parse_csv(text, "mine.csv"), three_columns(), "m", split); });
  };
  EXPECT_THAT(message("y,job,age,zip\nyes,cook,7,1\n"),
              AllOf(HasSubstr("mine.csv: column 'zip' is not in the schema"), HasSubstr("kind = \"drop\"")));
  EXPECT_THAT(message("y,job\nyes,cook\n"),
              HasSubstr("mine.csv: schema column 'age' is not in the table; allowed: y, job"));
  EXPECT_THAT(message("job,age\ncook,7\n"), HasSubstr("label column 'y' is not in the table"));
  EXPECT_THAT(message("y,job,age,site\nyes,cook,7,A\n", "sit"),
              AllOf(HasSubstr("split column 'sit' is not in the table"), HasSubstr("did you mean 'site'?")));
}

TEST(Encode, ALabelThatIsNeitherPositiveNorNegativeIsAnError) {
  EXPECT_THAT(
      message_of([] { encode(parse_csv("y,job,age\nyes,cook,7\nmaybe,cook,7\n", "mine.csv"), three_columns(), "m"); }),
      AllOf(HasSubstr("mine.csv:3: label is not binary"), HasSubstr("got 'maybe'; allowed: +1: 'yes', '1'; -1: 'no'")));
}

TEST(Encode, ARegressionTargetIsScaledByPublicBounds) {
  const auto target = [](const std::string& y, const std::string& policy) {
    const Schema s = parse_schema("[label]\ncolumn = 'y'\nbounds = [0, 120]\nout_of_range = '" + policy + "'\n" +
                                      column("x", "numeric", "bounds = [0, 1]"),
                                  "s");
    const Dataset d = encode(parse_csv("x,y\n1,\"" + y + "\"\n", "mine.csv"), s, "m");
    EXPECT_TRUE(d.regression);
    return d.rows.label[0];
  };
  EXPECT_EQ(target("0", "error"), -1);
  EXPECT_EQ(target("120", "error"), 1);
  EXPECT_EQ(target("90", "error"), 0.5);
  EXPECT_EQ(target("1000", "clip"), 1);
  EXPECT_EQ(target("-7", "clip"), -1);
  EXPECT_THAT(message_of([&] { target("121", "error"); }),
              HasSubstr("mine.csv:2: label column 'y' is out of range; got 121"));
  EXPECT_THAT(message_of([&] { target("?", "clip"); }), HasSubstr("mine.csv:2: label column 'y' is missing"));
  EXPECT_THAT(message_of([&] { target("x", "clip"); }), HasSubstr("mine.csv:2: label column 'y' is not a number"));
}

TEST(Encode, EveryRowHasNormAtMostOneWhateverTheSchema) {
  auto random = repeatable_random(5);
  for (int trial = 0; trial < 300; ++trial) {
    Schema s{
        .intercept = random() % 2 == 0, .label = {.column = "y", .positive = {"1"}, .negative = {"0"}}, .columns = {}};
    const std::size_t width = 1 + random() % 20;
    Table table{.source = "t", .columns = {}, .cells = {}, .line = {}};
    for (std::size_t i = 0; i < width; ++i) {
      table.columns.push_back("x" + std::to_string(i));
      Column c{.name = table.columns.back(),
               .kind = Kind::numeric,
               .bounds = Bounds{0, 1 + static_cast<double>(random() % 1000)}};
      c.transform = static_cast<Transform>(random() % 4);
      if (c.transform == Transform::bins) c.edges = {0.25, 0.5};
      c.missing = Missing::middle;
      s.columns.push_back(c);
    }
    for (std::size_t n = 0; n < 50; ++n) {
      table.line.push_back(n + 2);
      auto& row = table.cells.emplace_back();
      for (std::size_t i = 0; i < width; ++i)
        row.push_back(random() % 9 == 0 ? "?" : std::to_string(static_cast<double>(random()) * 1e-7));
    }
    const Rows rows = encode_features(table, s);
    for (std::size_t n = 0; n < rows.count(); ++n) {
      long double sum = 0;
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        sum += static_cast<long double>(rows.value[k]) * rows.value[k];
      ASSERT_LE(sum, 1.0L);
      ASSERT_GE(sum, 0.0L);
    }
  }
}

}  // namespace
}  // namespace parley::data
