#include "parley/study/party_record.h"

#include <gtest/gtest.h>

namespace parley::study {
namespace {

using nlohmann::json;

TEST(PartyRecord, JsonOfStrangersIsReadUnlessItIsNestedDeeply) {
  EXPECT_EQ(shallow_json(R"({"a": [1, "]]}{{[", "\"["]})"), json::parse(R"({"a": [1, "]]}{{[", "\"["]})"));
  EXPECT_TRUE(shallow_json("{").is_null());
  EXPECT_TRUE(shallow_json("").is_null());
  EXPECT_FALSE(shallow_json(std::string(16, '[') + std::string(16, ']')).is_null());
  EXPECT_TRUE(shallow_json(std::string(17, '[') + std::string(17, ']')).is_null());
  EXPECT_TRUE(shallow_json(std::string(1000000, '[')).is_null());
}

TEST(PartyRecord, NumbersOfAnotherMachineAreTheSameToSixDigitsAndNothingElseIs) {
  const json here = {{"epsilon", 2.0}, {"list", {1, "a"}}, {"none", nullptr}};
  json there = here;
  there["epsilon"] = 2.0000001;
  EXPECT_TRUE(nearly_same(here, there));
  there["epsilon"] = 1.9999;
  EXPECT_FALSE(nearly_same(here, there));
  for (const char* other : {R"({"epsilon": 2, "list": [1, "a"]})", R"({"epsilon": 2, "list": [1, "b"], "none": null})",
                            R"({"epsilon": 2, "list": [1], "none": null})",
                            R"({"epsilon": "2", "list": [1, "a"], "none": null})", R"([2])"})
    EXPECT_FALSE(nearly_same(here, json::parse(other))) << other;
}

TEST(PartyRecord, VectorsAreComparedBitForBit) {
  EXPECT_TRUE(same_bits(Vector{{1, -2}}, Vector{{1, -2}}));
  EXPECT_FALSE(same_bits(Vector{{0.0}}, Vector{{-0.0}}));
  EXPECT_FALSE(same_bits(Vector{{1}}, Vector{{1, 2}}));
  EXPECT_EQ(first_difference(Vector{{1, 2}}, Vector{{1, 2.5}}), "coordinate 1 is 2 instead of 2.5");
  EXPECT_EQ(first_difference(Vector(), Vector{{1}}), "0 coordinates instead of 1");
}

TEST(PartyRecord, WhatStrangersWroteIsShownShortAndPrintable) {
  EXPECT_EQ(shown(json("a\nb")), R"("a\nb")");
  EXPECT_EQ(shown(json(std::string(200, 'x'))).size(), 83U);
  EXPECT_EQ(shown(json::array({1})), "something else");
  EXPECT_EQ(shown(json("\xff")).find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace parley::study
