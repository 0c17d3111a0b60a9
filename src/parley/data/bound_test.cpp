// scale = "bound": features are linear in the record, no row is longer than 1, and no two columns say the same.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/message_test.h"
#include "parley/data/encode.h"

namespace parley::data {
namespace {

const std::string label = "[label]\ncolumn = 'y'\npositive = ['1']\nnegative = ['0']\n";
const std::string age = "[[columns]]\nname = 'age'\nkind = 'numeric'\nbounds = [0, 100]\n";
const std::string ward = "[[columns]]\nname = 'ward'\nkind = 'categorical'\ncategories = ['a', 'b', 'c']\n";
const std::string dose = "[[columns]]\nname = 'dose'\nkind = 'numeric'\ntransform = 'bins'\nedges = [1, 2]\n";

Schema schema_of(const std::string& top, const std::string& columns) {
  return parse_schema(top + label + columns, "s.toml");
}

Vector encoded(const Schema& schema, const std::vector<std::string>& columns, const std::vector<std::string>& cells) {
  const Rows rows = encode_features({.source = "mine.csv", .columns = columns, .cells = {cells}, .line = {2}}, schema);
  Vector x = Vector::Zero(rows.features);
  for (std::size_t k = 0; k < rows.value.size(); ++k) x[rows.column[k]] = rows.value[k];
  return x;
}

TEST(ScaleBound, DividesEveryRowByOneNumberSoThatFeaturesAreLinear) {
  const Schema s = schema_of("scale = 'bound'\n", age + ward);
  EXPECT_GE(divisor(s), std::sqrt(3.0));
  EXPECT_LT(divisor(s), std::sqrt(3.0) * (1 + 1e-15));
  const Vector low = encoded(s, {"age", "ward"}, {"0", "b"}), middle = encoded(s, {"age", "ward"}, {"50", "b"}),
               high = encoded(s, {"age", "ward"}, {"100", "b"});
  EXPECT_NEAR(high[0] * std::sqrt(3.0), 1, 1e-14);
  EXPECT_NEAR((low - 2 * middle + high).norm(), 0, 1e-15);
  EXPECT_LE(high.norm(), 1);
  EXPECT_NEAR(high.norm(), 1, 1e-14) << "the largest that the schema allows";
  const Schema clipped = schema_of("", age + ward);
  EXPECT_GT((encoded(clipped, {"age", "ward"}, {"0", "b"}) - 2 * encoded(clipped, {"age", "ward"}, {"50", "b"}) +
             encoded(clipped, {"age", "ward"}, {"100", "b"}))
                .norm(),
            0.01)
      << "clip divides each row by its own norm";
}

TEST(ScaleBound, DropsTheFirstCategoryWhereColumnsWouldAddUpToAConstant) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(feature_names(schema_of("scale = 'bound'\n", ward + dose)),
            (Names{"ward=b", "ward=c", "dose[1,2)", "dose[2,inf)", "(intercept)"}));
  EXPECT_EQ(feature_names(schema_of("scale = 'bound'\nintercept = false\n", ward + dose)),
            (Names{"ward=a", "ward=b", "ward=c", "dose[1,2)", "dose[2,inf)"}));
  EXPECT_EQ(
      feature_names(schema_of("scale = 'bound'\n", ward + "other = 'zero'\n" + dose + "missing = 'zero'\n")).size(), 7U)
      << "a row without any of them is the reference";
  EXPECT_EQ(feature_names(schema_of("", ward + dose)).size(), 7U) << "clip keeps all";
  const Schema s = schema_of("scale = 'bound'\n", ward + dose);
  EXPECT_EQ((encoded(s, {"ward", "dose"}, {"a", "0"}).array() != 0).count(), 1) << "the intercept alone";
  EXPECT_EQ((encoded(s, {"ward", "dose"}, {"c", "1.5"}).array() != 0).count(), 3);
  EXPECT_GT(encoded(s, {"ward", "dose"}, {"c", "1.5"})[1], 0);
  EXPECT_GT(encoded(s, {"ward", "dose"}, {"c", "1.5"})[2], 0);
}

TEST(ScaleBound, IsWrittenAndReadAgain) {
  for (const std::string top : {"scale = 'bound'\n", "scale = 'clip'\n", ""}) {
    const Schema s = schema_of(top, age + ward + dose);
    EXPECT_EQ(parse_schema(to_toml(s), "again"), s);
  }
  EXPECT_EQ(to_toml(schema_of("", age)).find("scale"), std::string::npos) << "schemas of before keep their bytes";
  EXPECT_NE(message_of([] { schema_of("scale = 'row'\n", age); }).find("clip, bound"), std::string::npos);
}

}  // namespace
}  // namespace parley::data
