// Records made by hand, so that every field is known: what is shown, for whom, and what never is.
#include "parley/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/report/group.h"
#include "parley/report/read.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Report_ : public testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() / ("parley_report_" + std::to_string(::getpid()) + "_" +
                                         testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(base_);
    fs::create_directories(base_);
  }
  void TearDown() override { fs::remove_all(base_); }

  // Two nodes, an edge, three rounds, values of two numbers.
  static json record() {
    return {{"format", "parley-run-1"},
            {"outcome", "completed"},
            {"nodes", 2},
            {"features", 2},
            {"data", "/home/secret/patients.csv"},
            {"edges", {{0, 1}}},
            {"node_facts",
             {{{"node", 0}, {"degree", 1}, {"records", 40}, {"epsilon_planned", 0.7}},
              {{"node", 1}, {"degree", 1}, {"records", 60}, {"epsilon_planned", 0.9}}}},
            {"released", {{"nodes", 2}, {"size", 2}}},
            {"rounds_done", 2},
            {"warnings", json::array()},
            {"options",
             {{"algorithm", "mr-admm"},
              {"average", "no"},
              {"rounds", 2},
              {"epsilon", 0.9},
              {"delta", 1e-5},
              {"seed", nullptr},
              {"data", "/home/secret/patients.csv"},
              {"out", "/home/secret/out"},
              {"ledger", "/home/secret/my.ledger"},
              {"dataset", "secret-dataset"},
              {"graph", "secret-graph-file"},
              {"split-column", "secret-column"},
              {"unheard-of", "secret-option"}}},
            {"privacy",
             {{"private", true},
              {"stamp", ""},
              {"epsilon", 0.9},
              {"epsilon_planned", 0.9},
              {"epsilon_paper", nullptr},
              {"delta", 1e-5},
              {"theorem", "theorem G"},
              {"bound", "proved"},
              {"adjacency", "replace-one"}}},
            {"private",
             {{"test_error", 0.123456},
              {"train_loss", 0.654321},
              {"seconds", 77.125},
              {"test_error_nonprivate", 0.111222},
              {"test_error_guessing", 0.244466}}},
            {"unheard_of", "secret-field"}};
  }

  fs::path write(const std::string& name, const json& run, double shift = 0) {
    const fs::path folder = base_ / name;
    fs::create_directories(folder);
    std::ofstream(folder / "run.json") << run.dump();
    std::ofstream lines(folder / "rounds.jsonl");
    for (int t = 0; t < 3; ++t)
      lines << json{{"round", t},
                    {"kind", t == 0 ? "start" : "data"},
                    {"epsilon", 0.45 * t},
                    {"disagreement", t * 1.0 + shift},
                    {"private", {{"test_error", 0.222333 + t}, {"train_loss", 0.333444 + t}}},
                    {"unheard_of", "secret-line"}}
                   .dump()
            << '\n';
    std::ofstream values(folder / "released.f64", std::ios::binary);
    // node 0: (0,0) (3,0) (3,4); node 1: (0,0) (3,8) (3,4)
    for (const double v : {0., 0., 0., 0., 3., 0., 3., 8., 3., 4., 3., 4.})
      values.write(reinterpret_cast<const char*>(&v), sizeof v);
    return folder;
  }

  // As the rows of the program would say it: names of files and columns are their owner's.
  static bool shareable(const std::string& name, const json& value) {
    static const std::set<std::string> words = {"mr-admm", "dvp", "no", "yes"};
    if (value.is_string() && !words.contains(value.get<std::string>())) return false;
    return name != "unheard-of" && name != "data";
  }
  static View view(Audience audience) { return {.audience = audience, .option = shareable}; }
  static Report made_of(const fs::path& folder, Audience audience = Audience::anyone) {
    return make_report({folder}, {.audience = audience, .version = "test", .shareable_option = shareable});
  }
  static std::string page(const fs::path& folder, Audience audience = Audience::anyone) {
    return made_of(folder, audience).page;
  }

  fs::path base_;
};

TEST_F(Report_, WithoutPrivateNoPrivateValueOccursAnywhere) {
  const fs::path folder = write("run", record());
  const Report made = made_of(folder);
  std::string all = made.page;
  for (const File& f : made.figures) all += f.name + f.content;
  for (const char* secret :
       {"secret", "0.123456", "0.654321", "77.125", "0.111222", "0.244466", "24.45 %", "222333", "333444", "12.35 %"})
    EXPECT_THAT(all, Not(HasSubstr(secret))) << secret;
  EXPECT_THAT(all, Not(HasSubstr(base_.string())));
  EXPECT_THAT(made.page,
              AllOf(HasSubstr("Shareable report"), HasSubstr("mr-admm"), HasSubstr("theorem G"), HasSubstr("0.7000")));
}

TEST_F(Report_, WhatThePlanLetExpectIsShownToAnyone) {
  json run = record();
  run["selection"] = {{"algorithm", "mr-admm"}, {"by", "planner"}, {"because", "of <this>"}};
  run["forecast"] = {{"in_words", "about 1.2 points"},
                     {"guessing_in_words", "no better than guessing below about 500 records"},
                     {"levers",
                      {{{"lever", "half the features"}, {"points", 0.61}, {"guessing", false}},
                       {{"lever", "fewer pool"}, {"points", 0.5}, {"guessing", false}, {"epsilon_all_others", 4.2}},
                       {{"lever", "twice the records"}, {"points", 9.9}, {"guessing", true}}}}};
  EXPECT_THAT(page(write("run", run)),
              AllOf(HasSubstr("What to expect"), HasSubstr("mr-admm was chosen by the planner: of &lt;this&gt;."),
                    HasSubstr("Expect about 1.2 points."), HasSubstr("below about 500 records"),
                    HasSubstr("half the features</th><td>0.61</td>"), HasSubstr("fewer pool</th><td>0.5 *</td>"),
                    HasSubstr("<p>* fewer pool: against all other parties together then ε = 4.2000: RED. ε is above 3: "
                              "weak protection."),
                    HasSubstr("twice the records</th><td>no better than guessing</td>")));
  EXPECT_THAT(page(write("owner", run), Audience::owner), HasSubstr("larger class: 24.45 %"));
  run["selection"]["by"] = "given";
  run.erase("forecast");
  EXPECT_THAT(page(write("given", run)), Not(HasSubstr("What to expect")));
}

// Of sums all parties hold one point: no disagreement, and one more round, which is the model.
TEST_F(Report_, ARunThatExchangesSumsHasNoDisagreement) {
  json run = record();
  run["released"]["sums"] = true;
  run["rounds_done"] = 2;
  run["options"]["rounds"] = 1;
  const std::string shown = page(write("run", run));
  EXPECT_THAT(shown, AllOf(HasSubstr("round 2 of 2"), Not(HasSubstr("Disagreement by round"))));
}

TEST_F(Report_, WithoutARuleNoOptionIsShown) {
  const auto run = read_runs({write("run", record())}, {.audience = Audience::anyone, .option = {}})[0];
  EXPECT_TRUE(run.options.empty());
  EXPECT_EQ(run.options_hidden, 13);
  EXPECT_TRUE(run.data.empty());
}

// The record says who the trainer is; nothing is read from an algorithm's name.
TEST_F(Report_, ATrainerIsOneThatTheRecordNames) {
  json run = record();
  run["options"]["algorithm"] = "star-something";
  EXPECT_FALSE(read_runs({write("peers", run)}, view(Audience::owner))[0].star);
  run["options"]["algorithm"] = "mr-admm";
  run["trainer"] = 2;
  run["released"]["nodes"] = 3;
  const auto star = read_runs({write("star", run)}, view(Audience::owner))[0];
  ASSERT_EQ(star.nodes.size(), 3U);
  EXPECT_TRUE(star.star && star.nodes[2].trainer);
}

TEST_F(Report_, WithPrivateTheOwnerSeesThem) {
  const std::string all = page(write("run", record()), Audience::owner);
  EXPECT_THAT(all,
              AllOf(HasSubstr("Private report"), HasSubstr("12.35 %"), HasSubstr("0.222333"), HasSubstr("0.333444"),
                    HasSubstr("patients.csv"), HasSubstr("unheard-of"), HasSubstr("11.12 %")));
}

TEST_F(Report_, AModelOfNumbersStandsBesideTheMeanInTheColumnsOwnUnit) {
  json run = record();
  run["options"]["loss"] = "huber";
  run["private"].update({{"test_error", 12.5},
                         {"test_error_guessing", 60.25},
                         {"r_squared", 0.9571},
                         {"verdict", "better than always guessing the mean"},
                         {"verdict_tests", {{"no_better_than_guessing", false}}}});
  EXPECT_THAT(page(write("run", run), Audience::owner),
              AllOf(HasSubstr("class=\"card green\""), HasSubstr("R² 0.957 (guessing: 0)"),
                    HasSubstr("in the column&#39;s own unit: 12.5; always guessing the mean: 60.25"),
                    Not(HasSubstr("larger class"))));
}

TEST_F(Report_, RocAndCalibrationAreDrawnForTheOwnerAlone) {
  json run = record();
  run["private"]["roc"] = {{0, 0}, {0.0625, 0.727272}, {1, 1}, {2, 1}, {"0.5", 1}};
  run["private"]["calibration"] = {{{"rows", 30}, {"predicted", 0.171717}, {"observed", 0.2}},
                                   {{"rows", 0}, {"predicted", nullptr}, {"observed", nullptr}}};
  const fs::path folder = write("run", run);
  EXPECT_THAT(page(folder, Audience::owner), AllOf(HasSubstr("id=\"calibration\""), HasSubstr("0.171717"),
                                                   HasSubstr("id=\"roc\""), HasSubstr("0.727272")));
  EXPECT_THAT(page(folder), AllOf(Not(HasSubstr("calibration")), Not(HasSubstr("171717")), Not(HasSubstr("\"roc\"")),
                                  Not(HasSubstr("ROC")), Not(HasSubstr("727272"))));
  const auto files = made_of(base_, Audience::owner).figures;
  const auto figure = std::ranges::find(files, "roc.csv", &File::name);
  ASSERT_NE(figure, files.end());
  EXPECT_THAT(figure->content, AllOf(HasSubstr("0.0625,0.727272"), Not(HasSubstr(",2,")))) << "shares lie in [0, 1]";
  for (const File& file : made_of(base_, Audience::anyone).figures) EXPECT_NE(file.name, "roc.csv");
}

TEST_F(Report_, OptionsAreAsTheyWereInForce) {
  json run = record();
  run["options"].update({{"graph", "auto"}, {"step-size", "auto"}, {"threads", 0}});
  run["in_force"] = {{"graph", "ring"}, {"threads", 4}};
  const auto shown = read_runs({write("run", run)}, view(Audience::owner))[0];
  EXPECT_EQ(shown.option("graph"), "ring");
  EXPECT_EQ(shown.option("threads"), "4");
  EXPECT_EQ(shown.option("step-size"), "not used");
}

TEST_F(Report_, APlanWithoutAStudyHasNothingToSign) {
  json plan = record();
  plan["outcome"] = "planned";
  plan["privacy"]["epsilon"] = 2.5;
  const std::string all = make_plan_report(plan, {.version = "test", .shareable_option = shareable}).page;
  EXPECT_THAT(all, AllOf(HasSubstr("A plan, not yet a study"), HasSubstr("will learn at most"), HasSubstr("not begun"),
                         HasSubstr("Plan of a run of mr-admm")));
  for (const char* word : {"Not complete", "id=\"charts\"", "parley study sign", "12.35 %", "that was used"})
    EXPECT_THAT(all, Not(HasSubstr(word))) << word;
}

TEST_F(Report_, NoiseToSignalIsShownWhereThereIsNoForecast) {
  json run = record();
  run["forecast"] = {{"noise_to_signal", 0.012}, {"noise_in_words", "noise to signal 0.012 (of <something>)"}};
  EXPECT_THAT(page(write("run", run)), AllOf(HasSubstr("noise to signal 0.012 (of &lt;something&gt;)"),
                                             Not(HasSubstr("Expect ")), Not(HasSubstr("nan"))));
}

TEST_F(Report_, TheGuaranteeStandsFirstAndIsRoundedUp) {
  json run = record();
  run["privacy"]["epsilon"] = 0.99991;
  const fs::path folder = write("run", run);
  EXPECT_EQ(guarantee_sentence(group_runs(read_runs({folder}, view(Audience::anyone)))),
            "Anyone who sees every message of this run learns at most ε = 1.0000, δ = 1e-05 about any one record. It "
            "holds against everybody else together, whatever else they know.");
  const std::string all = page(folder);
  EXPECT_LT(all.find("Anyone who sees every message"), all.find("class=\"cards\""));
}

TEST_F(Report_, EpsilonForRowsAsDealtIsMarkedWhereverItStands) {
  json run = record();
  EXPECT_THAT(page(write("even", run)), Not(HasSubstr("as dealt")));
  run["privacy"]["adjacency"] = "as dealt";
  run["options"]["penalty"] = 5;  // another setting
  const fs::path folder = write("run", run);
  EXPECT_THAT(guarantee_sentence(group_runs(read_runs({folder}, view(Audience::owner)))),
              HasSubstr("record (as dealt)."));
  EXPECT_THAT(page(folder, Audience::owner),
              AllOf(HasSubstr("largest node, as dealt"), HasSubstr("may move other rows"),
                    HasSubstr("largest of all nodes (as dealt)"), HasSubstr("<th scope=\"col\">ε (as dealt)</th>")));
  EXPECT_THAT(make_report({base_}, {.audience = Audience::owner}).page, HasSubstr("<td>ε as dealt</td>"));
  // A record of before there was the word, and one that has lost it.
  run["privacy"]["adjacency"] = "one record of one node is replaced; the numbers of records are public";
  EXPECT_THAT(page(write("old-even", run)), Not(HasSubstr("as dealt")));
  run["options"]["split"] = "label-skewed";
  EXPECT_THAT(page(write("old", run), Audience::owner), HasSubstr("record (as dealt)."));
  run["options"].erase("split");
  run["privacy"].erase("adjacency");
  EXPECT_THAT(page(write("lost", run), Audience::owner), HasSubstr("record (as dealt)."));
}

TEST_F(Report_, APersonIsTheUnitWhereTheRecordSaysSoAndNowhereElse) {
  json run = record();
  EXPECT_THAT(page(write("row", run)), AllOf(HasSubstr("about any one record."), Not(HasSubstr("any one person"))));
  run["privacy"].update({{"unit", "person"}, {"rows_per_person", 4}});
  const fs::path folder = write("person", run);
  EXPECT_THAT(page(folder), AllOf(HasSubstr("about any one person (up to 4 rows)."),
                                  HasSubstr("which of two people&#39;s rows were used"),
                                  HasSubstr("replace what the person&#39;s rows hold by anything else"),
                                  HasSubstr("a person with rows at several nodes"), HasSubstr("--rows-per-person 4"),
                                  HasSubstr("ε is what one person (up to 4 rows) of the node can lose")));
  run["options"]["penalty"] = 5;  // another setting beside it: what both claims cover
  run["privacy"]["rows_per_person"] = 2;
  write("fewer", run);
  EXPECT_EQ(least_rows_per_person(group_runs(read_runs({base_}, view(Audience::anyone)))), 0);
  fs::remove_all(base_ / "row");
  EXPECT_EQ(least_rows_per_person(group_runs(read_runs({base_}, view(Audience::anyone)))), 2);
  for (const json& bad : {json(0), json(-3), json("4"), json(1e9), json()}) {  // fails closed
    run["privacy"]["rows_per_person"] = bad;
    EXPECT_THAT(page(write("bad", run)), HasSubstr("about any one record."));
  }
  run["privacy"].update({{"unit", "row"}, {"rows_per_person", 4}});
  EXPECT_THAT(page(write("bad", run)), HasSubstr("about any one record."));
}

TEST_F(Report_, RowsAsDealtHaveNoShareablePage) {
  json dealt = record(), old = record(), lost = record(), seeded = record();
  dealt["privacy"]["adjacency"] = "as dealt";
  old["options"]["split"] = "column";
  lost["privacy"].erase("adjacency");
  seeded = dealt;
  seeded["options"]["seed"] = 7;
  for (const json& run : {dealt, old, lost, seeded}) EXPECT_THROW(page(write("all/run", run)), Error);
  write("all/even", record());  // not for the sake of another run beside it either
  EXPECT_THROW(page(base_ / "all"), Error);
}

TEST_F(Report_, RowsAsDealtHaveWordsOfTheirOwn) {
  json run = record();
  run["privacy"]["adjacency"] = "as dealt";
  const std::string all = page(write("run", run), Audience::owner);
  EXPECT_THAT(all,
              AllOf(Not(HasSubstr("Take any one record of any one node")), HasSubstr("where it was dealt to"),
                    HasSubstr("It does not hold for a record of the table before dealing"),
                    HasSubstr("all rows being dealt already"), Not(HasSubstr("were fixed before rows were read"))));
  EXPECT_THAT(page(write("run", record()), Audience::owner),
              AllOf(HasSubstr("Take any one record of any one node"), HasSubstr("were fixed before rows were read")));
}

TEST_F(Report_, EveryFigureWithAnEpsilonHasItsMarks) {
  json seeded = record(), dealt = record(), both = record();
  seeded["options"]["seed"] = both["options"]["seed"] = 7;
  dealt["privacy"]["adjacency"] = both["privacy"]["adjacency"] = "as dealt";
  const auto figure = [](const Report& made, const std::string& name) {
    for (const File& f : made.figures)
      if (f.name == name) return f.content;
    return std::string();
  };
  for (const auto& [run, marks] : std::map<json, std::vector<std::string>>{
           {seeded, {"NOT PRIVATE"}}, {dealt, {"as dealt"}}, {both, {"NOT PRIVATE", "as dealt"}}}) {
    const Report made = made_of(write("run", run), Audience::owner);
    for (const char* name : {"nodes.csv", "privacy-spent.csv", "privacy-spent.svg", "graph.svg"})
      for (const std::string& mark : marks) EXPECT_THAT(figure(made, name), HasSubstr(mark)) << name;
    for (const std::string& mark : marks)
      EXPECT_THAT(made.page.substr(made.page.find("id=\"nodes\"")), HasSubstr(mark));
    for (const File& f : made.figures) {
      std::ofstream(base_ / f.name) << f.content;
      EXPECT_TRUE(is_figure(base_ / f.name)) << f.name;
    }
  }
  EXPECT_THAT(figure(made_of(write("run", seeded), Audience::owner), "disagreement.svg"), HasSubstr("NOT PRIVATE"));
  for (const File& f : made_of(write("run", record())).figures)
    EXPECT_THAT(f.content, AllOf(Not(HasSubstr("NOT PRIVATE")), Not(HasSubstr("as dealt")))) << f.name;
}

TEST_F(Report_, ADeltaThatWouldAllowPublishingARecordIsWarnedOf) {
  json run = record();
  EXPECT_THAT(page(write("run", run)), Not(HasSubstr("Warning: δ")));
  run["privacy"]["delta"] = 0.02;
  EXPECT_THAT(page(write("run", run)), HasSubstr("Warning: δ = 0.02 is not below 1/records of node 1 (60 records)"));
}

TEST_F(Report_, RowsThatWereDeclaredPublicAreNamedBesideTheGuarantee) {
  json run = record();
  run["privacy"]["not_covered"] = "500 rows that were declared public";
  EXPECT_THAT(guarantee_sentence(group_runs(read_runs({write("run", run)}, view(Audience::anyone)))),
              HasSubstr("about any one record. Not covered: 500 rows that were declared public."));
}

TEST_F(Report_, RepeatedRunsAddUp) {
  write("all/run-1", record());
  write("all/run-2", record(), 1);
  EXPECT_THAT(guarantee_sentence(group_runs(read_runs({base_ / "all"}, view(Audience::anyone)))),
              AllOf(HasSubstr("one of these 2 runs learns at most ε = 0.9000"),
                    HasSubstr("whoever sees all 2 learns at most ε = 1.8000, δ = 2e-05.")));
}

// Each run is green, and both together are what whoever has the page sees.
TEST_F(Report_, TheLightOfSeveralRunsIsThatOfTheirSum) {
  write("all/run-1", record());
  EXPECT_THAT(page(base_ / "all"), HasSubstr("GREEN</strong>"));
  write("all/run-2", record(), 1);
  const std::string both = page(base_ / "all");
  EXPECT_THAT(both, AllOf(HasSubstr("AMBER</strong> <span class=\"whom\">all 2 runs together:</span>"),
                          Not(HasSubstr("GREEN</strong>"))));
  json large = record();
  large["privacy"].update({{"epsilon", 9.5}, {"epsilon_planned", 9.5}, {"delta", 0.01}});
  write("all/run-3", large);
  EXPECT_THAT(page(base_ / "all"), AllOf(HasSubstr("Warning: ε = 11.3000 of all 3 runs together."),
                                         HasSubstr("RED</strong> <span class=\"whom\">all 3 runs together:</span> δ")));
}

// δ of 0.0009 is small once, and above 10⁻³ twice.
TEST_F(Report_, TheDeltasOfSeveralRunsAddUpInTheLight) {
  json run = record();
  run["privacy"].update({{"epsilon", 0.1}, {"epsilon_planned", 0.1}, {"delta", 0.0009}});
  write("all/run-1", run);
  EXPECT_THAT(page(base_ / "all"), HasSubstr("GREEN</strong>"));
  write("all/run-2", run, 1);
  EXPECT_THAT(page(base_ / "all"), AllOf(HasSubstr("RED</strong>"), Not(HasSubstr("GREEN</strong>"))));
}

TEST_F(Report_, RunsForPersonsOfMoreAndOfFewerRowsSayBoth) {
  json run = record();
  for (const long rows : {1, 4}) {
    run["privacy"].update({{"unit", "person"}, {"rows_per_person", rows}});
    run["options"]["rows-per-person"] = rows;
    write("all/run-" + std::to_string(rows), run);
  }
  EXPECT_THAT(
      guarantee_sentence(group_runs(read_runs({base_ / "all"}, view(Audience::anyone)))),
      AllOf(HasSubstr("about any one person (1 row) or person (up to 4 rows), as each run counts."),
            HasSubstr("whoever sees all 2 learns at most ε = 1.8000, δ = 2e-05 about any one person (1 row).")));
}

TEST_F(Report_, ClassWeightsAreNamedAmongTheAssumptions) {
  json run = record();
  EXPECT_THAT(page(write("none", run)), Not(HasSubstr("class weights")));
  run["options"].update({{"class-weight", "yes"}, {"class-share", 0.2}});  // `yes`: a word that this test may show
  EXPECT_THAT(page(write("run", run)),
              HasSubstr("by the class weights yes with the class share 0.2: these were chosen without looking at the "
                        "rows (no program can check this)."));
}

TEST_F(Report_, AnEarlyEndIsCoveredByThePlan) {
  json run = record();
  run["outcome"] = "interrupted";
  run["privacy"]["epsilon"] = 0.5;
  EXPECT_THAT(page(write("run", run)), AllOf(HasSubstr("ε = 0.9000"), HasSubstr("the run ended early: interrupted")));
}

TEST_F(Report_, NotPrivateRunsHaveABannerAndNoValuesOfTheirs) {
  json seeded = record(), silent = record(), unstamped = record();
  seeded["privacy"]["private"] = false;
  seeded["privacy"]["stamp"] = "NOT PRIVATE: noise from seed 7";
  silent["privacy"].erase("private");
  unstamped["options"]["seed"] = 7;
  for (const json& run : {seeded, silent, unstamped}) {
    const fs::path folder = write("run", run);
    const std::string all = page(folder);
    EXPECT_THAT(all, AllOf(HasSubstr("class=\"banner\""), HasSubstr("<strong>NOT PRIVATE</strong>"),
                           HasSubstr("There is no guarantee"), Not(HasSubstr("learns at most")),
                           HasSubstr("None: there is no guarantee that could rest on them"), Not(HasSubstr("ChaCha20")),
                           Not(HasSubstr("what one record of the node can lose")),
                           Not(HasSubstr("id=\"disagreement\"")), Not(HasSubstr("id=\"movement\""))));
    EXPECT_THAT(page(folder, Audience::owner), AllOf(HasSubstr("class=\"banner\""), HasSubstr("id=\"disagreement\"")));
  }
  EXPECT_THAT(page(write("fine", record())), Not(HasSubstr("class=\"banner\"")));
}

TEST_F(Report_, ReleasedValuesGiveMovementAndDistances) {
  const report::Run run = read_runs({write("run", record())}, view(Audience::anyone))[0];
  ASSERT_EQ(run.rounds.size(), 3U);
  EXPECT_TRUE(std::isnan(run.rounds[0].movement));
  EXPECT_DOUBLE_EQ(run.rounds[1].movement, 5);  // to (3, 4)
  EXPECT_DOUBLE_EQ(run.rounds[2].movement, 0);
  EXPECT_DOUBLE_EQ(run.nodes[0].distance, 0);
  json averaged = record();
  averaged["options"]["average"] = "yes";  // of rounds 2 and later, here the same
  averaged["options"]["rounds"] = 1;
  EXPECT_DOUBLE_EQ(read_runs({write("averaged", averaged)}, view(Audience::anyone))[0].nodes[1].distance, 0);
}

TEST_F(Report_, RanksOfAJobAreOneRun) {
  json first = record(), second = record();
  first["released"] = {{"nodes", 1}, {"size", 4}, {"first", 0}};
  second["released"] = {{"nodes", 1}, {"size", 4}, {"first", 1}};
  write("job", first);
  write("job/rank-1", second);
  const auto runs = read_runs({base_ / "job"}, view(Audience::anyone));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_TRUE(std::isfinite(runs[0].nodes[1].distance));
}

TEST_F(Report_, GroupsAreNamedByWhatTheyDifferIn) {
  for (const char* algorithm : {"dvp", "mr-admm"})
    for (const double epsilon : {0.5, 1.0})
      for (const int n : {1, 2, 10}) {
        json run = record();
        run["options"]["algorithm"] = algorithm;
        run["options"]["epsilon"] = run["privacy"]["epsilon"] = epsilon;
        run["options"]["damping"] = 3 * epsilon;  // follows from the budget
        run["options"]["out"] = "elsewhere" + std::to_string(n);
        run["private"]["test_error"] = 0.2 - 0.01 * n;
        write(std::string("all/") + algorithm + "/" + number(epsilon) + "/run-" + std::to_string(n), run);
      }
  const auto groups =
      group_runs(read_runs({base_ / "all", base_ / "all"}, view(Audience::owner)));  // given twice: once
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "dvp, ε 0.5");
  EXPECT_EQ(groups[3].name, "mr-admm, ε 1");
  EXPECT_EQ(groups[3].algorithm, "mr-admm");
  EXPECT_EQ(groups[0].runs.size(), 3U);
  EXPECT_TRUE(groups[0].runs[2].place.ends_with("run-10"));
  const std::string all = page(base_ / "all", Audience::owner);
  EXPECT_THAT(all, HasSubstr("id=\"frontier\""));
  EXPECT_THAT(page(base_ / "all"), AllOf(Not(HasSubstr("id=\"frontier\"")), HasSubstr("dvp, ε 0.5")));
}

TEST_F(Report_, PrivateAndOtherRunsNeverShareALine) {
  json seeded = record();
  seeded["options"]["seed"] = 7;
  write("all/a", record());
  write("all/b", seeded);
  const auto groups = group_runs(read_runs({base_ / "all"}, view(Audience::owner)));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_THAT(groups[1].name, HasSubstr("NOT PRIVATE"));
}

TEST_F(Report_, HostileTextStaysText) {
  const std::string bad = "</script><script>alert(1)</script>\"><img src=x onerror=\"alert(1)\">'";
  json run = record();
  run["privacy"]["theorem"] = run["privacy"]["adjacency"] = run["outcome"] = run["data"] = bad;
  run["warnings"] = {bad};
  run["options"][bad] = run["options"]["algorithm"] = bad;
  const fs::path folder = write("run", run);
  const std::string all = make_report({folder}, {.audience = Audience::owner, .title = bad, .version = bad}).page;
  EXPECT_THAT(all, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(all, Not(HasSubstr("<img")));
  EXPECT_THAT(all, Not(HasSubstr("\"><img")));
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = all.find("</script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
}

TEST_F(Report_, BrokenRecordsAreShownAsSuch) {
  const fs::path folder = write("run", record());
  const auto with = [&](const char* file, const std::string& text) {
    write("run", record());
    std::ofstream(folder / file, std::ios::binary) << text;
    return page(folder, Audience::owner);
  };
  EXPECT_THAT(with("run.json", "{"), AllOf(HasSubstr("run.json cannot be read"), HasSubstr("NOT PRIVATE")));
  EXPECT_THAT(with("run.json", std::string(100000, '[')), HasSubstr("run.json cannot be read"));
  EXPECT_THAT(with("run.json", "[1, 2]"), HasSubstr("not of a format"));
  EXPECT_THAT(with("run.json", R"({"format": "parley-run-1"})"), HasSubstr("NOT PRIVATE"));
  EXPECT_THAT(with("run.json", R"({"format": "parley-party-1", "study": 3})"), HasSubstr("NOT PRIVATE"));
  EXPECT_THAT(with("rounds.jsonl", "{\"round\": 0}\nsecret{\n"), HasSubstr("line 2 is broken"));
  EXPECT_THAT(with("rounds.jsonl", ""), HasSubstr("How the run went"));
  EXPECT_THAT(with("released.f64", "12345"), HasSubstr("How the run went"));
  for (const char* pointer : {"/nodes", "/edges", "/node_facts", "/released", "/privacy", "/options", "/private",
                              "/outcome", "/released/size", "/released/nodes", "/privacy/epsilon", "/privacy/delta"})
    for (const json& odd :
         {json(), json(-1), json(1e300), json("text"), json::array({1, {2}}), json::object({{"a", 1}})}) {
      json run = record();
      run[json::json_pointer(pointer)] = odd;
      EXPECT_THAT(with("run.json", run.dump()), HasSubstr("</html>")) << pointer << " " << odd;
    }
}

TEST_F(Report_, TheHeadOfARunThatStillGoesOnSaysSo) {
  json run = record();
  run["outcome"] = "running";
  EXPECT_THAT(page(write("run", run)), HasSubstr("the run goes on, or was killed"));
}

TEST_F(Report_, FoldersWithoutARecordAreRefused) {
  EXPECT_THROW(page(base_ / "nowhere"), Error);
  EXPECT_THROW(page(base_), Error);
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW(page(base_ / "file"), Error);
}

TEST_F(Report_, PagesAndFiguresAreRecognisedAndTheSameEachTime) {
  const fs::path folder = write("run", record());
  const Report made = make_report({folder}, {});
  EXPECT_EQ(made.page, make_report({folder}, {}).page);
  std::ofstream(base_ / "page.html") << made.page;
  std::ofstream(base_ / "other.html") << "<html></html>";
  EXPECT_TRUE(is_report(base_ / "page.html"));
  EXPECT_FALSE(is_report(base_ / "other.html"));
  EXPECT_GE(made.figures.size(), 9U);
  for (const File& f : made.figures) {
    std::ofstream(base_ / f.name) << f.content;
    EXPECT_TRUE(is_figure(base_ / f.name)) << f.name;
  }
  EXPECT_FALSE(is_figure(base_ / "other.html"));
}

TEST_F(Report_, NothingIsFetchedAndNoStyleOrHandlerIsInline) {
  const std::string all = page(write("run", record()), Audience::owner);
  EXPECT_THAT(all, HasSubstr("default-src 'none'; script-src 'sha256-"));
  for (const char* word : {"unsafe-inline", " style=\"", " onclick", " onload", "src=\"", "@import", "url("})
    EXPECT_THAT(all, Not(HasSubstr(word))) << word;
  for (std::size_t at = 0; (at = all.find("http", at)) != std::string::npos; ++at)  // names only, no address
    EXPECT_TRUE(all.substr(at).starts_with("http://www.w3.org/2000/svg") || all.substr(at).starts_with("http-equiv"))
        << all.substr(at, 60);
}

TEST_F(Report_, ManyNodesAreAChartAndTheirWorst) {
  json run = record();
  run["nodes"] = 300;
  run["node_facts"] = json::array();
  for (int i = 0; i < 300; ++i)
    run["node_facts"].push_back({{"node", i}, {"degree", 2}, {"records", 10}, {"epsilon_planned", 0.001 * i}});
  const std::string all = page(write("run", run));
  EXPECT_THAT(all, AllOf(HasSubstr("more than a drawing can show"), HasSubstr("nodes-in-order"),
                         HasSubstr("The 200 nodes with the largest"), Not(HasSubstr("class=\"graph\""))));
}

TEST_F(Report_, RunsOfDifferentLengthsAreDrawnByTheShareOfTheRun) {
  json one = record(), two = record();
  write("a", one);
  two["options"]["rounds"] = 2000;
  two["options"]["epsilon"] = 2;
  write("b", two);
  const auto all = made_of(base_, Audience::owner).figures;
  const auto figure = std::ranges::find(all, "test-error.csv", &File::name);
  ASSERT_NE(figure, all.end());
  EXPECT_THAT(figure->content, AllOf(HasSubstr(",100,2.22"), HasSubstr(",0.1,2.22")));  // round 2 of 2, and of 2,000
  const std::string made = made_of(base_, Audience::owner).page;
  EXPECT_THAT(made, AllOf(HasSubstr("share of the run, %"), HasSubstr("Test error over the run")));
  EXPECT_THAT(page(write("alone/run", record()), Audience::owner), Not(HasSubstr("share of the run, %")));
}

TEST_F(Report_, TheNoiseThatWasUsedIsShownAndCheckedWithoutATarget) {
  json run = record();
  run["options"].update({{"noise", "gaussian"}, {"penalty", {0.1 + 0.2}}, {"penalty-growth", {1}}});
  const auto noise = [&](const json& nodes) {
    run["noise_used"] = {{"nodes", nodes}};
    return page(write("run", run), Audience::owner);
  };
  EXPECT_THAT(noise({{{"rounds", {{3, 1.5}}}}, {{"rounds", {{2, 2.5}, {1, 2}}}}}),
              AllOf(HasSubstr("Noise that was used: Gaussian, standard deviation 1.5 to 2.5 in 3 private rounds."),
                    HasSubstr("--penalty 0.30000000000000004"), HasSubstr("--noise-rounds 3x1.5/2x2.5,2 --nodes 2"),
                    Not(HasSubstr("--epsilon "))));
  const auto only_plans =
      AllOf(HasSubstr("The record does not say how much noise was used."), HasSubstr("--epsilon 0.9"),
            HasSubstr("It checks the plan"), Not(HasSubstr("--noise-rounds")));
  EXPECT_THAT(noise({{{"rounds", {{3, 1.5}}}}, {{"rounds", {{2.5, 2}}}}}), only_plans) << "no number of rounds";
  EXPECT_THAT(noise({{{"rounds", {{3, 1.5}}}}, {{"rounds", {{3, -1}}}}}), only_plans);
  EXPECT_THAT(noise({{{"rounds", json::array()}}}), only_plans);
  EXPECT_THAT(noise({{{"rounds", {{3, 1.5}}}}, {{"rounds", {{3, 1.5}}}}, {{"rounds", {{3, 1.5}}}}}),
              AllOf(HasSubstr("It checks the plan"), Not(HasSubstr("--noise-rounds"))))
      << "of three nodes, and two took part";
}

TEST_F(Report_, WarningsOfEpsilonAndDeltaStandOnTheFirstScreenOfEveryReport) {
  json run = record();
  run["privacy"].update({{"epsilon", 12.0}, {"epsilon_planned", 12.0}, {"delta", 0.05}});
  for (const auto audience : {Audience::anyone, Audience::owner}) {
    const std::string all = page(write("run", run), audience);
    const std::string first = all.substr(0, all.find("id=\"charts\""));
    EXPECT_THAT(first, AllOf(HasSubstr("publishing a record outright would be allowed"),
                             HasSubstr("no meaningful protection"), HasSubstr("class=\"light red\"")));
  }
}

}  // namespace
}  // namespace parley::report
