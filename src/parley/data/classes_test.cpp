// Labels of more than two classes, from the schema to the nodes.
#include <array>
#include <random>

#include "parley/base/message_test.h"
#include "parley/data/dealt_test.h"
#include "parley/data/describe.h"
#include "parley/data/encode.h"
#include "parley/data/mutate_test.h"
#include "parley/data/split.h"

namespace parley::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string schema = R"(intercept = true
[label]
column = "species"
classes = ["setosa", "versi \"2\"", "virginica"]
[[columns]]
name = "petal"
kind = "numeric"
bounds = [0, 10]
)";

Schema parse_classes(const std::string& toml) {
  return parse_schema(toml, "s.toml");
}
std::string classes_failure(const std::string& keys) {
  return message_of([&] { parse_classes("[label]\ncolumn = 'y'\n" + keys); });
}
Table flowers(const std::vector<std::string>& species) {
  Table t{.source = "f.csv", .columns = {"petal", "species"}, .cells = {}, .line = {}};
  for (std::size_t n = 0; n < species.size(); ++n) {
    t.cells.push_back({std::to_string(n % 10), species[n]});
    t.line.push_back(n + 2);
  }
  return t;
}

TEST(Classes, AreReadAndWrittenInOrder) {
  const Schema s = parse_classes(schema);
  EXPECT_THAT(s.label.classes, ElementsAre("setosa", "versi \"2\"", "virginica"));
  EXPECT_FALSE(s.label.regression());
  EXPECT_EQ(parse_classes(to_toml(s)), s);
}

TEST(Classes, MustBeTwoOrMoreDifferentTextsAndExcludeTheOtherKindsOfLabel) {
  EXPECT_THAT(classes_failure("classes = ['a']"), HasSubstr("s.toml:3: [label]: 'classes' lists one value only"));
  EXPECT_THAT(classes_failure("classes = []"), HasSubstr("'classes' is empty"));
  EXPECT_THAT(classes_failure("classes = ['a', 'b', 'a']"), HasSubstr("'classes' lists a value twice; got 'a'"));
  EXPECT_THAT(classes_failure("classes = ['a', 'b']\npositive = ['a']"),
              HasSubstr("s.toml:4: [label]: 'positive' and 'classes' exclude each other"));
  EXPECT_THAT(classes_failure("classes = ['a', 'b']\nbounds = [0, 1]"),
              HasSubstr("'bounds' and 'classes' exclude each other"));
  EXPECT_THAT(classes_failure("classes = ['a', 'b']\nout_of_range = 'clip'"), HasSubstr("out_of_range"));
}

TEST(Classes, BecomeTheirNumbersAndAnyOtherValueIsAnError) {
  const Dataset d = encode(flowers({"virginica", "setosa", "versi \"2\"", "setosa"}), parse_classes(schema), "f");
  EXPECT_THAT(d.rows.label, ElementsAre(2, 0, 1, 0));
  EXPECT_THAT(d.classes, ElementsAre("setosa", "versi \"2\"", "virginica"));
  EXPECT_FALSE(d.regression);
  EXPECT_THAT(message_of([] { encode(flowers({"setosa", "rose"}), parse_classes(schema), "f"); }),
              AllOf(HasSubstr("f.csv:3"), HasSubstr("not among its classes; got 'rose'"), HasSubstr("'virginica'")));
}

TEST(Classes, AreCarriedThroughHoldOutAndDealtByLabel) {
  std::vector<std::string> species;
  for (int n = 0; n < 60; ++n) species.emplace_back(n % 3 == 0 ? "setosa" : n % 3 == 1 ? "versi \"2\"" : "virginica");
  const HeldOut parts = hold_out(encode(flowers(species), parse_classes(schema), "f"), 0.2, 1);
  EXPECT_EQ(parts.train.classes.size(), 3U);
  EXPECT_EQ(parts.test.classes.size(), 3U);
  const auto nodes = split_over_nodes(parts.train, 3, {.how = "label-skewed"}, 1);
  std::array<int, 3> seen{};
  for (const Rows& node : nodes) {
    for (const double y : node.label) EXPECT_EQ(y, node.label[0]) << "one class per node";
    ++seen.at(static_cast<std::size_t>(node.label[0]));
  }
  EXPECT_THAT(seen, ElementsAre(1, 1, 1));
}

TEST(Classes, AreDraftedForALabelOfThreeToTwentyValues) {
  std::string text = "petal,species\n";
  for (int n = 0; n < 30; ++n) text += std::to_string(n) + "," + std::string(1, static_cast<char>('a' + n % 3)) + "\n";
  const Schema s = parse_classes(draft_schema(parse_csv(text, "f.csv")));
  EXPECT_EQ(s.label.column, "species");
  EXPECT_THAT(s.label.classes, ElementsAre("a", "b", "c"));
  std::string numbers = "petal,digit\n";
  for (int n = 0; n < 30; ++n) numbers += std::to_string(n) + "," + std::to_string(n % 11) + "\n";
  EXPECT_THAT(parse_classes(draft_schema(parse_csv(numbers, "f.csv"))).label.classes,
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"));
}

TEST(Classes, DamagedSchemasAreParsedOrRefusedButNothingElse) {
  auto random = repeatable_random(17);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = mutated(schema, "[]{}\"'=,.#\n\\ue0 1-+_:tTaz", random);
    try {
      const Schema s = parse_classes(text);
      ++parsed;
      ASSERT_EQ(parse_classes(to_toml(s)), s) << text;
      const auto kinds =
          (s.label.classes.empty() ? 0 : 1) + (s.label.positive.empty() ? 0 : 1) + (s.label.bounds ? 1 : 0);
      ASSERT_EQ(kinds, 1) << text;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace parley::data
