#include "parley/study/study_test.h"

namespace parley::study {
namespace {

TEST_F(StudyFile, HasOneHashHoweverItIsWritten) {
  const std::string hash = study_hash(canonical(head + three));
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(run_id(hash).size(), 32U);
  write_file(folder / "elsewhere.toml", "# the same schema, other words\n" + schema);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"rounds = 50", "rounds = 5_0 # comment"},
           {"rounds = 50", "rounds = 50\nrelease-bound = 1000"},  // the default
           {"\"complete\"", "\"full mesh\""},
           {"\"complete\"", "\"0-1,1-2,2-0\""},
           {"\"complete\"", "\"ring\""},  // of three
           {"\"schema.toml\"", "\"elsewhere.toml\""},
           {"hospital_b.example:7400", "10.0.0.7:7401"},  // as seen from elsewhere
           {std::string(64, 'a'), std::string(64, 'A')}}) {
    std::string other = head + three;
    other.replace(other.find(from), from.size(), to);
    EXPECT_EQ(study_hash(canonical(other)), hash) << to;
  }
  EXPECT_EQ(difference(canonical(head + three), canonical(head + three), "hospital_b"), "");
}

TEST_F(StudyFile, ADifferenceNamesTheFieldAndBothValues) {
  EXPECT_EQ(changed("rounds = 50", "rounds = 40"), "rounds: 50 here, 40 at hospital_b");
  EXPECT_EQ(changed("Readmission", "Other"), "title: Readmission here, Other at hospital_b");
  EXPECT_EQ(
      changed("0011", "ffff"),
      "nonce: 00112233445566778899aabbccddeeff here, ffff2233445566778899aabbccddeeff at hospital_b (two studies, "
      "not two copies of one)");
  EXPECT_EQ(changed("epsilon = 1", "epsilon = [1, 2, 1]"), "epsilon: 1.0 here, [1.0,2.0,1.0] at hospital_b");
  EXPECT_EQ(changed("delta = 1e-6", "delta = 1e-7"), "delta: 1e-06 here, 1e-07 at hospital_b");
  EXPECT_EQ(changed("mr-admm", "r-admm"), "algorithm: mr-admm here, r-admm at hospital_b");
  EXPECT_EQ(changed("rounds", "on-loss = \"continue\"\nrounds"), "on-loss: stop here, continue at hospital_b");
  EXPECT_EQ(changed("rounds", "deadline-seconds = 5\nrounds"), "deadline-seconds: 10.0 here, 5.0 at hospital_b");
  EXPECT_EQ(changed("rounds", "wait-seconds = 60\nrounds"), "wait-seconds: 600.0 here, 60.0 at hospital_b");
  EXPECT_EQ(changed("rounds", "seed = 7\nrounds"), "seed: nothing here, 7 at hospital_b");
  EXPECT_EQ(changed("\"complete\"", "\"path\""),
            "graph: hospital_a and hospital_c are neighbours here, not at hospital_b");
  EXPECT_EQ(changed("records = 500", "records = 501"), "hospital_b, records: 500 here, 501 at hospital_b");
  EXPECT_EQ(changed("\"hospital_c\"", "\"hospital_d\""),
            "party 2 of the roster: hospital_c here, hospital_d at hospital_b");
  EXPECT_THAT(changed(std::string(64, 'b'), std::string(64, '1')), HasSubstr("hospital_b, fingerprint: bbbb"));
  EXPECT_EQ(changed("[[party]]\nname = \"hospital_a\"", party("e") + "[[party]]\nname = \"hospital_a\""),
            "party 0 of the roster: hospital_a here, e at hospital_b");
  EXPECT_EQ(changed("schema = \"schema.toml\"", "features = 2"), "schema: one here, none at hospital_b");
}

TEST_F(StudyFile, AnotherPlanFromTheSameDecisionsIsADifferenceOfPrograms) {
  const json here = canonical(head + three);
  EXPECT_TRUE(here["planned"].contains("penalty"));
  json there = here;
  there["planned"]["damping"] = 1;
  EXPECT_EQ(difference(here, there, "b"),
            "planned damping: " + here["planned"]["damping"].dump() + " here, 1 at b (two versions of parley?)");
  there = here;
  there["format"] = "parley-study-2";
  EXPECT_THAT(difference(here, there, "b"), HasSubstr("(two versions of parley)"));
}

TEST_F(StudyFile, OneMorePartyIsADifferenceToo) {
  const json here = canonical(head + three), there = canonical(head + three + party("e"));
  EXPECT_EQ(difference(here, there, "hospital_b"), "number of parties: 3 here, 4 at hospital_b");
}

TEST_F(StudyFile, ADifferenceInTheSchemaNamesItsColumn) {
  const json here = canonical(head + three);
  std::string other = schema;
  write_file(folder / "schema.toml", other.replace(other.find("100"), 3, "90"));
  EXPECT_EQ(difference(here, canonical(head + three), "hospital_b"),
            "schema, column \"age\": bounds = [0, 100] here, bounds = [0, 90] at hospital_b");
  other = schema;
  write_file(folder / "schema.toml", other.replace(other.find("\"no\""), 4, "\"never\""));
  EXPECT_EQ(difference(here, canonical(head + three), "hospital_b"),
            "schema, label: negative = [\"no\"] here, negative = [\"never\"] at hospital_b");
}

TEST_F(StudyFile, AKeyOfTheSchemaThatOneSideLacksIsNamedOnBothSides) {
  const std::string unit = "person = \"id\"\nrows_per_person = 2\n";
  write_file(folder / "schema.toml", unit + schema);
  const json without = canonical(head + three);
  write_file(folder / "schema.toml", "fold = \"both\"\n" + unit + schema);
  const json with = canonical(head + three);
  EXPECT_EQ(difference(with, without, "hospital_b"), "schema: fold = \"both\" here, nothing at hospital_b");
  EXPECT_EQ(difference(without, with, "hospital_b"), "schema: nothing here, fold = \"both\" at hospital_b");
}

TEST_F(StudyFile, WhateverAPeerSendsIsShownHarmlessly) {
  const json here = canonical(head + three);
  for (const json& there : {json(), json("x"), json(3), json::array(), json::object()})
    EXPECT_THAT(difference(here, there, "hospital_b"), Not(testing::IsEmpty()));
  for (const auto& item : here.items())
    for (const json& value : {json(), json("x\x1b[31m\x7f"), json({1, "a"}), json({{"name", 3}}), json(1e300)}) {
      json there = here;
      there[item.key()] = value;
      if (there == here) continue;
      const std::string text = difference(here, there, "hospital_b");
      EXPECT_THAT(text, Not(testing::IsEmpty()));
      EXPECT_LT(text.size(), 400U);
      EXPECT_EQ(text.find_first_of("\x1b\x7f\n"), std::string::npos) << text;
    }
  json more = here;
  more["a key of \x1b"] = 1;
  EXPECT_EQ(difference(here, more, "b"), "a key of \\u001b: nothing here, 1 at b");
  EXPECT_THAT(difference(here, json::parse(std::string(100000, '[') + std::string(100000, ']')), "b"),
              HasSubstr("something else"));
  json deep = here;
  deep["title"] = json::parse(std::string(100000, '[') + std::string(100000, ']'));
  EXPECT_THAT(difference(here, deep, "b"), HasSubstr("something else"));
}

}  // namespace
}  // namespace parley::study
