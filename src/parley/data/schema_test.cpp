#include "parley/data/schema.h"

#include <random>

#include "parley/base/message_test.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Line 1 is the first line of each raw string: no line break after its parenthesis.
const std::string full = R"(intercept = true
missing = ["", "?"]
[label]
column = "income"
positive = [">50K", ">50K."]
negative = ["<=50K", "<=50K."]
[[columns]]
name = "age"
kind = "numeric"
bounds = [16, 100.5]
transform = "log1p"
out_of_range = "error"
missing = "middle"
[[columns]]
name = "hours"
kind = "numeric"
transform = "bins"
edges = [25, 35.5, 45]
missing = "zero"
[[columns]]
name = "workclass"
kind = "categorical"
categories = ["Private", "State-gov"]
other = "bucket"
missing = "other"
[[columns]]
name = "id"
kind = "drop"
)";

const std::string label = "[label]\ncolumn = 'y'\npositive = ['1']\nnegative = ['0']\n";  // 4 lines
std::string numeric(const std::string& keys) {
  return label + "[[columns]]\nname = 'x'\nkind = 'numeric'\n" + keys;
}  // keys: line 8
std::string categorical(const std::string& keys) {
  return label + "[[columns]]\nname = 'c'\nkind = 'categorical'\n" + keys;
}

Schema parse(const std::string& toml) {
  return parse_schema(toml, "s.toml");
}
std::string failure(const std::string& toml) {
  return message_of([&] { parse(toml); });
}

TEST(Schema, ReadsEveryKey) {
  const Schema s = parse(full);
  EXPECT_TRUE(s.intercept);
  EXPECT_EQ(s.missing, (std::vector<std::string>{"", "?"}));
  EXPECT_EQ(s.label, (Label{.column = "income", .positive = {">50K", ">50K."}, .negative = {"<=50K", "<=50K."}}));
  EXPECT_FALSE(s.label.regression());
  ASSERT_EQ(s.columns.size(), 4U);
  EXPECT_EQ(s.columns[0], (Column{.name = "age",
                                  .kind = Kind::numeric,
                                  .bounds = Bounds{16, 100.5},
                                  .transform = Transform::log1p,
                                  .out_of_range = OutOfRange::error,
                                  .missing = Missing::middle}));
  EXPECT_EQ(s.columns[1], (Column{.name = "hours",
                                  .kind = Kind::numeric,
                                  .transform = Transform::bins,
                                  .edges = {25, 35.5, 45},
                                  .missing = Missing::zero}));
  EXPECT_EQ(s.columns[2], (Column{.name = "workclass",
                                  .kind = Kind::categorical,
                                  .categories = {"Private", "State-gov"},
                                  .other = Other::bucket,
                                  .missing = Missing::other}));
  EXPECT_EQ(s.columns[3], (Column{.name = "id", .kind = Kind::drop}));
}

TEST(Schema, WhatIsNotWrittenIsAnErrorInACellExceptOutOfRange) {
  const Schema s =
      parse(numeric("bounds = [0, 1]\n[[columns]]\nname = 'c'\nkind = 'categorical'\ncategories = ['a']\n"));
  EXPECT_TRUE(s.intercept);
  EXPECT_EQ(s.missing, (std::vector<std::string>{"", "NA", "?"}));
  EXPECT_EQ(s.columns[0].out_of_range, OutOfRange::clip);
  EXPECT_EQ(s.columns[0].missing, Missing::error);
  EXPECT_EQ(s.columns[1].missing, Missing::error);
  EXPECT_EQ(s.columns[1].other, Other::error);
}

TEST(Schema, NamesItsFeatures) {
  EXPECT_EQ(feature_names(parse(full)),
            (std::vector<std::string>{"age", "hours(-inf,25)", "hours[25,35.5)", "hours[35.5,45)", "hours[45,inf)",
                                      "workclass=Private", "workclass=State-gov", "workclass=other", "(intercept)"}));
  EXPECT_EQ(feature_names(parse("intercept = false\n" + categorical("categories = ['a']\nother = 'zero'"))),
            (std::vector<std::string>{"c=a"}));
}

TEST(Schema, RoundTripsThroughTomlExactly) {
  const std::string regression =
      "intercept = false\nmissing = []\n[label]\ncolumn = 'y'\nbounds = [-0.1, 1e300]\nout_of_range = 'error'\n"
      "[[columns]]\nname = 'x'\nkind = 'numeric'\nbounds = [0.1, 0.30000000000000004]\nmissing='high'\n"
      "[[columns]]\nname = 'z'\nkind = 'numeric'\nbounds = [-12345678901234567168.0, 123456789012345678]\n"
      "transform = 'none'\nmissing = 'low'\n"
      "[[columns]]\nname = 'b'\nkind = 'numeric'\nbounds = [0, 9]\nedges = [5e-324, 1]\ntransform = 'bins'\n"
      "out_of_range = 'error'\n";
  const std::string strange =
      label +
      "[[columns]]\nname = \"q\\\" \\\\ \\u0000\\u007F \\n\\t M\xC3\xBCller = [x] # no\"\nkind = 'categorical'\n"
      "categories = ['?', '''it's''', '', ' a ', \"\\r\\n\"]\nmissing = 'category'\n";
  for (const auto& text : {full, regression, strange}) {
    const Schema s = parse(text);
    EXPECT_EQ(parse(to_toml(s)), s) << to_toml(s);
    EXPECT_EQ(to_toml(parse(to_toml(s))), to_toml(s));
  }
  EXPECT_TRUE(parse(regression).label.regression());
}

TEST(Schema, UnknownKeysNameTheirLineAndTheNearestKey) {
  EXPECT_THAT(failure("intercpt = true\n" + label),
              AllOf(HasSubstr("s.toml:1: unknown key 'intercpt'"), HasSubstr("did you mean 'intercept'?")));
  EXPECT_THAT(failure("[label]\ncolumn = 'y'\npositve = ['1']\n"),
              AllOf(HasSubstr("s.toml:3: [label]: unknown key 'positve'"), HasSubstr("did you mean 'positive'?")));
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\nbound = 3\n")),
              AllOf(HasSubstr("s.toml:9: "), HasSubstr("did you mean 'bounds'?")));
  EXPECT_THAT(failure(numeric("zzzzzzzz = 3\n")), AllOf(HasSubstr("s.toml:8: "), HasSubstr("remove the line")));
}

TEST(Schema, KeysThatDoNotFitTheKindAreErrors) {
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\ncategories = ['a']\n")),
              HasSubstr("s.toml:9: column 'x': 'categories' has no meaning"));
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\nedges = [1]\n")),
              HasSubstr("s.toml:9: column 'x': 'edges' has no meaning"));
  EXPECT_THAT(failure(categorical("categories = ['a']\nbounds = [0, 1]\n")),
              HasSubstr("s.toml:9: column 'c': 'bounds' has no meaning"));
  EXPECT_THAT(failure(label + "[[columns]]\nname = 'i'\nkind = 'drop'\nmissing = 'low'\n"),
              HasSubstr("for a dropped column"));
  EXPECT_THAT(failure(label + "out_of_range = 'clip'\n"),
              HasSubstr("s.toml:5: [label]: 'out_of_range' has no meaning without 'bounds'"));
}

TEST(Schema, WordsThatAreNoValuesAreErrorsWithTheAllowedOnes) {
  EXPECT_THAT(failure(label + "[[columns]]\nname = 'x'\nkind = 'numerical'\n"),
              AllOf(HasSubstr("s.toml:7: column 'x': 'kind' is not one of its values; got 'numerical'; allowed: "
                              "numeric, categorical, drop"),
                    HasSubstr("did you mean 'numeric'?")));
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\nmissing = 'zero'\n")),
              HasSubstr("s.toml:9: column 'x': 'missing' is not one of its values"));
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\nmissing = 'other'\n")), HasSubstr("allowed: low, middle, high, error"));
  EXPECT_THAT(failure(categorical("categories = ['a']\nmissing = 'low'\n")),
              HasSubstr("allowed: other, error, category, zero"));
}

TEST(Schema, MissingOrMistypedPartsAreErrors) {
  EXPECT_THAT(failure(""), HasSubstr("the section [label] is missing"));
  EXPECT_THAT(failure("label = 'y'"), HasSubstr("s.toml:1: the section [label] is missing"));
  EXPECT_THAT(failure("\n[label]\npositive = ['1']\n"), HasSubstr("s.toml:2: [label]: the key 'column' is missing"));
  EXPECT_THAT(failure("[label]\ncolumn = 'y'\npositive = ['1']\n"),
              HasSubstr("s.toml:1: [label]: the key 'negative' is missing"));
  EXPECT_THAT(failure("[label]\ncolumn = 'y'\npositive = [1]\nnegative = [0]\n"),
              AllOf(HasSubstr("s.toml:3: "), HasSubstr("write \"1\", not 1")));
  EXPECT_THAT(failure(label + "[[columns]]\nkind = 'drop'\n"),
              HasSubstr("s.toml:5: [[columns]]: the key 'name' is missing"));
  EXPECT_THAT(failure(label + "[[columns]]\nname = 'x'\n"),
              HasSubstr("s.toml:5: column 'x': the key 'kind' is missing"));
  EXPECT_THAT(failure(numeric("")), HasSubstr("s.toml:5: column 'x': the key 'bounds' is missing"));
  EXPECT_THAT(failure(categorical("categories = 'a'\n")),
              HasSubstr("s.toml:8: column 'c': 'categories' must be a list; got string"));
  EXPECT_THAT(failure("intercept = 1\n" + label),
              HasSubstr("s.toml:1: 'intercept' must be true or false; got integer"));
  EXPECT_THAT(failure("missing = '?'\n" + label), HasSubstr("s.toml:1: 'missing' must be a list"));
  EXPECT_THAT(failure("columns = [1]\n" + label), HasSubstr("write [[columns]]"));
  EXPECT_THAT(failure("columns = 1\n" + label), HasSubstr("write [[columns]]"));
  EXPECT_THAT(failure("intercept = false\n" + label), HasSubstr("the schema makes no feature"));
}

TEST(Schema, TomlMistakesNameTheirLine) {
  EXPECT_THAT(failure("intercept = true\n[label\n"), HasSubstr("s.toml:2: not valid TOML: "));
  for (const char* text : {"[[[a]]]", "[&", "[[=", "[", "a = [[[[", "a.", "\xFF"})
    EXPECT_THAT(failure(text), HasSubstr("s.toml:1: not valid TOML: ")) << text;
}

// toml++ 3.3 has undefined behaviour there.
TEST(Schema, LettersOutsideAsciiNeedQuotesButMayStandInEveryKindOfQuotesAndInComments) {
  EXPECT_THAT(failure("intercept = true\ngr\xC3\xB6n = 1\n"),
              AllOf(HasSubstr("s.toml:2: not valid TOML: "), HasSubstr("letters outside ASCII must stand in quotes")));
  EXPECT_THAT(failure("intercept = \xC3\xBC\n"), HasSubstr("s.toml:1: not valid TOML"));
  EXPECT_THAT(failure("a = 1\nb =-[\"\xC3\xBC\"]\n"), HasSubstr("s.toml:2: not valid TOML"));
  const Schema s =
      parse("\xEF\xBB\xBF# \xC3\xBC \"\n" +
            categorical("categories = [\"\xC3\xBC \\\" # \xC3\xBC\", '\xC3\xB6\\', '''\n'\xC3\xA4'''', # \xC3\xBC\n"
                        "\"\"\"\\\"\"\"\xC3\x9F\"\"\", \"\"\"x\"\"\"\"]\n"));
  EXPECT_EQ(s.columns[0].categories,
            (std::vector<std::string>{"\xC3\xBC \" # \xC3\xBC", "\xC3\xB6\\", "'\xC3\xA4'", "\"\"\"\xC3\x9F", "x\""}));
  EXPECT_THAT(failure("\"gr\xC3\xB6n\" = 1\n" + label), HasSubstr("s.toml:1: unknown key 'gr\xC3\xB6n'"));
}

TEST(Schema, BoundsMustBeTwoFiniteIncreasingNumbersThatCanBeScaledBy) {
  EXPECT_THAT(failure(numeric("bounds = [1, 1]")),
              HasSubstr("s.toml:8: column 'x': 'bounds' must have low < high; got [1, 1]"));
  EXPECT_THAT(failure(numeric("bounds = [2, 1]")), HasSubstr("must have low < high; got [2, 1]"));
  EXPECT_THAT(failure(numeric("bounds = [0, inf]")), HasSubstr("'bounds' must be finite; got inf"));
  EXPECT_THAT(failure(numeric("bounds = [nan, 1]")), HasSubstr("'bounds' must be finite"));
  EXPECT_THAT(failure(numeric("bounds = [0, 1, 2]")), HasSubstr("'bounds' must be two numbers; got 3"));
  EXPECT_THAT(failure(numeric("bounds = ['0', 1]")), HasSubstr("'bounds' must hold numbers; got string"));
  EXPECT_THAT(failure(numeric("bounds = [-1e308, 1e308]")), HasSubstr("too close or too far apart"));
  EXPECT_THAT(failure(numeric("bounds = [1e15, 1000000000000000.125]\ntransform = 'log1p'")),
              HasSubstr("too close or too far apart"));
  EXPECT_THAT(failure(numeric("bounds = [-1, 1]\ntransform = 'log1p'")),
              HasSubstr("log1p and sqrt need low >= 0; got [-1, 1]"));
  EXPECT_THAT(failure(numeric("bounds = [-1, 1]\ntransform = 'sqrt'")),
              HasSubstr("s.toml:8: column 'x': transforms log1p and sqrt"));
}

TEST(Schema, EdgesMustIncreaseAndLieInsideTheBounds) {
  EXPECT_THAT(failure(numeric("transform = 'bins'")), HasSubstr("the key 'edges' is missing"));
  EXPECT_THAT(failure(numeric("transform = 'bins'\nedges = []")), HasSubstr("s.toml:9: column 'x': 'edges' is empty"));
  EXPECT_THAT(failure(numeric("transform = 'bins'\nedges = [1, 3, 3]")),
              HasSubstr("'edges' must increase strictly; got 3 after 3"));
  EXPECT_THAT(failure(numeric("transform = 'bins'\nedges = [1, 3]\nbounds = [1, 9]")),
              HasSubstr("'edges' must lie inside the bounds"));
  EXPECT_THAT(failure(numeric("transform = 'bins'\nedges = [1]\nout_of_range = 'error'")),
              HasSubstr("s.toml:10: column 'x': 'out_of_range'"));
}

TEST(Schema, CategoriesMustBeThereDifferentAndNotMissingMarksByAccident) {
  EXPECT_THAT(failure(categorical("categories = []")), HasSubstr("s.toml:8: column 'c': 'categories' is empty"));
  EXPECT_THAT(failure(categorical("categories = ['a', 'b', 'a']")),
              HasSubstr("'categories' lists a value twice; got 'a'"));
  EXPECT_THAT(failure(categorical("categories = ['a', 'NA']")),
              HasSubstr("a category is also a missing mark; got 'NA'"));
  EXPECT_THAT(failure(categorical("categories = ['a']\nmissing = 'category'")),
              HasSubstr("s.toml:9: column 'c': missing = \"category\" needs"));
  EXPECT_THAT(failure(categorical("categories = ['a']\nmissing = 'other'")),
              HasSubstr("contradicts other = \"error\""));
  EXPECT_THAT(failure(categorical("categories = ['other']\nother = 'bucket'")), HasSubstr("'c=other'"));
}

TEST(Schema, LabelAndColumnsMustNotClash) {
  EXPECT_THAT(failure(label + "[[columns]]\nname = 'y'\nkind = 'drop'\n"),
              HasSubstr("s.toml:6: [[columns]]: the label column may not be a feature"));
  EXPECT_THAT(failure(numeric("bounds = [0, 1]\n[[columns]]\nname = 'x'\nkind = 'drop'\n")),
              HasSubstr("s.toml:10: [[columns]]: a column is listed twice; got 'x'"));
  EXPECT_THAT(failure("[label]\ncolumn = 'y'\npositive = ['1']\nnegative = ['1']\n"),
              HasSubstr("s.toml:4: [label]: a value is both"));
  EXPECT_THAT(failure("[label]\ncolumn = 'y'\npositive = []\nnegative = ['1']\n"),
              HasSubstr("s.toml:3: [label]: 'positive' is empty"));
  EXPECT_THAT(failure(label + "bounds = [0, 1]\n"), HasSubstr("'positive' and 'bounds' exclude each other"));
}

TEST(Schema, DamagedInputIsParsedOrRefusedButNothingElse) {
  auto random = repeatable_random(7);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string good = full;
    for (int k = i % 4; k > 0; --k) good.insert(random() % good.size(), "\xC3\xBC");
    const std::string text = mutated(good, "[]{}\"'=,.#\n\\ue0 1-+_:tTaz", random);
    try {
      const Schema s = parse(text);
      ++parsed;
      ASSERT_EQ(parse(to_toml(s)), s) << text;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 200);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace parley::data
