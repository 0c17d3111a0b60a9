// Records of `join`: one party, all parties of a study, and what their owner alone may see.
#include <cmath>

#include "parley/report/party/party_report_test.h"
#include "parley/report/read.h"
#include "parley/report/report.h"

namespace parley::report {
namespace {

TEST_F(PartyReport, OneRecordShowsItsOwnValuesTheStudyAndItsStatement) {
  const report::Run run = read_runs({base_ / "beta"}, {.audience = Audience::anyone, .option = shareable})[0];
  EXPECT_EQ(run.nodes.size(), 2U);
  EXPECT_EQ(run.nodes[1].name, "beta");
  EXPECT_DOUBLE_EQ(run.nodes[1].epsilon, 1.75);
  EXPECT_TRUE(std::isnan(run.nodes[0].epsilon));
  EXPECT_DOUBLE_EQ(run.rounds[1].movement, 3);
  EXPECT_TRUE(std::isnan(run.rounds[1].disagreement));  // takes everybody's values
  const std::string all = make_report({base_ / "beta"}, {.shareable_option = shareable}).page;
  EXPECT_THAT(all,
              AllOf(HasSubstr("Study: two clinics"), HasSubstr("noise was secret at beta"), HasSubstr("ε = 2.0000"),
                    HasSubstr("parley verify"), Not(HasSubstr("987654")), Not(HasSubstr(base_.string()))));
}

// Noise that cancels between parties: the smaller loss alone would be a claim against all others that does not hold.
TEST_F(PartyReport, AStatementOfTwoLossesIsToldWithBothAndAgainstWhom) {
  const std::string whom = "any 1 of the 4 parties together, and whoever sees every message";
  json file = json::parse(std::ifstream(base_ / "alpha/statement.json"));
  file["statement"].update({{"epsilon_all_others", 2.625}, {"against", whom}});
  std::ofstream(base_ / "alpha/statement.json") << file.dump();
  const report::Run run = read_runs({base_ / "alpha"}, {.audience = Audience::anyone, .option = shareable})[0];
  EXPECT_DOUBLE_EQ(run.nodes[0].epsilon, 2.625);
  EXPECT_DOUBLE_EQ(run.covered_epsilon(), 2.625);
  ASSERT_EQ(run.statements.size(), 1U);
  EXPECT_THAT(run.statements[0].words,
              HasSubstr("Privacy loss of alpha: ε = 1.2500 against " + whom +
                        "; ε = 2.6250 against all other parties together; δ = 1e-06 (proved)."));
  file["statement"]["private"] = false;
  std::ofstream(base_ / "alpha/statement.json") << file.dump();
  EXPECT_THAT(
      read_runs({base_ / "alpha"}, {.audience = Audience::anyone, .option = shareable})[0].statements[0].words,
      HasSubstr("would have lost ε = 1.2500 against " + whom + "; ε = 2.6250 against all other parties together"));
}

TEST_F(PartyReport, OneStatementThatIsNotPrivateIsEnoughAndShowsNoLoss) {
  json file = json::parse(std::ifstream(base_ / "alpha/statement.json"));
  file["statement"]["private"] = false;
  std::ofstream(base_ / "alpha/statement.json") << file.dump();
  const std::string all = make_report({base_}, {.shareable_option = shareable}).page;
  EXPECT_THAT(all,
              AllOf(HasSubstr("class=\"banner\""), Not(HasSubstr("Privacy loss of alpha")),
                    HasSubstr("NOT PRIVATE: there is no bound. With secret noise, alpha would have lost ε = 1.2500"),
                    HasSubstr("Privacy loss of beta: ε = 1.7500"), Not(HasSubstr("learns at most"))));
}

// R14: whoever has signed two things that exclude each other, or does not know what it has released.
TEST_F(PartyReport, WhereAPartyMayHaveReleasedMoreThanIsKnownNobodyIsToldAnEpsilonForIt) {
  enum class Void { alpha, all, none };  // whose statement
  struct Case {
    json says;
    std::string words;
    Void of;
  };
  const std::string which = "these records do not say which party it was",
                    who = "no ε holds for alpha, which signed two things that exclude each other";
  const std::vector<Case> cases = {
      {{{"outcome", "equivocation"}, {"contradicted_parties", {"alpha"}}}, who, Void::alpha},
      {{{"contradicted_parties", {"alpha"}}}, who, Void::alpha},  // the run was complete before
      {{{"outcome", "equivocation"}}, which, Void::all},
      {{{"contradicted_parties", {"<b>nobody</b>"}}}, which, Void::all},
      {{{"contradicted_parties", 7}}, which, Void::all},
      {{{"outcome", "contradicted"}}, which, Void::all}};  // it may be each of them
  const json intact = json::parse(std::ifstream(base_ / "beta/run.json"));
  const auto pages = [&](const std::vector<fs::path>& folders) {
    std::string all;
    for (const Audience audience : {Audience::anyone, Audience::owner})
      all += make_report(folders, {.audience = audience, .shareable_option = shareable}).page;
    return all;
  };
  const auto no_claim =
      AllOf(HasSubstr("class=\"light red\""), HasSubstr("class=\"banner\""), Not(HasSubstr("learns at most")),
            Not(HasSubstr("2.0000")), Not(HasSubstr("best guesser")), Not(HasSubstr("<b>nobody")));
  for (const Case& c : cases) {
    json run = intact;
    run.update(c.says);
    std::ofstream(base_ / "beta/run.json") << run.dump();
    for (const std::vector<fs::path>& folders : {std::vector{base_ / "beta"}, {base_}})
      EXPECT_THAT(pages(folders), AllOf(no_claim, HasSubstr(c.words)));
    const std::string both = pages({base_});
    for (const char* of_alpha : {"Privacy loss of alpha", "1.2500"})
      EXPECT_EQ(both.find(of_alpha) != std::string::npos, c.of == Void::none) << run;
    for (const char* of_beta : {"Privacy loss of beta: ε = 1.7500", "1.7500"})
      EXPECT_EQ(both.find(of_beta) != std::string::npos, c.of != Void::all) << run;
  }
}

TEST_F(PartyReport, OfAPartyThatDoesNotKnowItsPastNoEpsilonIsShownBySomebodyElseEither) {
  json run = json::parse(std::ifstream(base_ / "alpha/run.json"));
  run["outcome"] = "past_unknown";
  std::ofstream(base_ / "alpha/run.json") << run.dump();
  for (const std::vector<fs::path>& folders : {std::vector{base_ / "alpha"}, {base_ / "alpha", base_ / "beta"}})
    EXPECT_THAT(make_report(folders, {.shareable_option = shareable}).page,
                AllOf(HasSubstr("no ε holds for alpha, which released more than its ledger knows of"),
                      HasSubstr("class=\"light red\""), Not(HasSubstr("learns at most")), Not(HasSubstr("2.0000")),
                      Not(HasSubstr("Privacy loss of alpha"))));
}

TEST_F(PartyReport, APrivatePageSaysThatItHasLossesOnlyWhereItHas) {
  const auto made = [&](const fs::path& folder) {
    return make_report({folder}, {.audience = Audience::owner, .shareable_option = shareable}).page;
  };
  EXPECT_THAT(made(base_), AllOf(HasSubstr("Private report."), Not(HasSubstr("contains losses"))));
  std::ofstream((base_ / "beta").string() + ".private_metrics.json") << R"({"model": {"loss": 0.5, "error": 0.25}})";
  EXPECT_THAT(made(base_ / "beta"), AllOf(HasSubstr("contains losses and errors"), Not(HasSubstr("against guessing"))));
}

// An error alone says nothing: 11.43 % looks fine where always saying the larger class has 11.40 %.
TEST_F(PartyReport, ThePrivatePageOfAPartySaysWhatItsModelIsWorthAgainstGuessing) {
  json model = {{"loss", 0.5},
                {"error", 0.1143},
                {"baseline_error", 0.1140},
                {"auc", 0.512},
                {"verdict", "no better than always guessing the larger class: for a <reason>"},
                {"verdict_tests", {{"no_better_than_guessing", true}}},
                {"calibration", {{{"rows", 9}, {"predicted", 0.12}, {"observed", 0.11}}}}};
  const auto page = [&](Audience audience) {
    std::ofstream((base_ / "beta").string() + ".private_metrics.json") << json{{"model", model}}.dump();
    return make_report({base_ / "beta"}, {.audience = audience, .shareable_option = shareable}).page;
  };
  EXPECT_THAT(
      page(Audience::owner),
      AllOf(HasSubstr("model against guessing"), HasSubstr("class=\"card red\""), HasSubstr("NO BETTER"),
            HasSubstr("for a &lt;reason&gt;. AUC 0.512 (guessing: 0.5)."),
            HasSubstr("Wrong: 11.43 %; always guessing the larger class: 11.40 %; on this party&#39;s rows that it "
                      "was trained on"),
            HasSubstr("id=\"calibration\"")));
  EXPECT_THAT(page(Audience::anyone), AllOf(Not(HasSubstr("11.43")), Not(HasSubstr("11.40")), Not(HasSubstr("0.512")),
                                            Not(HasSubstr("against guessing"))));
  model["verdict_tests"]["no_better_than_guessing"] = false;
  EXPECT_THAT(page(Audience::owner), AllOf(HasSubstr("class=\"card green\""), Not(HasSubstr("NO BETTER"))));
}

TEST_F(PartyReport, AllPartiesTogetherAreOneRun) {
  const auto runs = read_runs({base_ / "alpha", base_ / "beta"}, {.audience = Audience::anyone, .option = shareable});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].rounds[1].movement, 2);
  EXPECT_DOUBLE_EQ(runs[0].rounds[1].disagreement, 1);
  EXPECT_DOUBLE_EQ(runs[0].nodes[0].distance, 1);
  EXPECT_EQ(runs[0].statements.size(), 2U);
}

TEST_F(PartyReport, AMissingOrForeignStatementIsSaid) {
  fs::remove(base_ / "alpha/statement.json");
  EXPECT_THAT(make_report({base_ / "alpha"}, {.shareable_option = shareable}).page,
              HasSubstr("there is no statement of alpha"));
  std::ofstream(base_ / "beta/statement.json") << R"({"statement": {"party": "beta", "study_hash": "other"}})";
  EXPECT_THAT(make_report({base_ / "beta"}, {.shareable_option = shareable}).page, HasSubstr("is about another study"));
}

// alpha, beta, gamma on a line of three rounds each; beta is lost after round 1, and the others go on for two more.
class ReportInParts : public testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() / ("parley_parts_report_" + std::to_string(::getpid()));
    fs::remove_all(base_);
    write("alpha", 0, 0);
    write("gamma", 2, 1);
  }
  void TearDown() override { fs::remove_all(base_); }

  static void record(const fs::path& folder, const json& run, const std::vector<std::pair<double, double>>& rounds) {
    fs::create_directories(folder);
    std::ofstream(folder / "run.json") << run.dump();
    std::ofstream lines(folder / "rounds.jsonl"), values(folder / "released.f64", std::ios::binary);
    int round = 0;
    for (const auto& [epsilon, value] : rounds) {
      lines << json{{"round", round}, {"kind", round == 0 ? "start" : "data"}, {"epsilon", epsilon}}.dump() << '\n';
      values.write(reinterpret_cast<const char*>(&value), sizeof value);
      ++round;
    }
  }

  void write(const std::string& name, int node, int later_node) {
    const auto party = [](const char* who) { return json{{"name", who}, {"records", 40}, {"trainer", false}}; };
    json run = {
        {"format", "parley-party-1"},
        {"outcome", "completed"},
        {"party", name},
        {"node", node},
        {"nodes", 3},
        {"study_hash", "abc123"},
        {"run_id", "abc"},
        {"study",
         {{"title", "three clinics"},
          {"edges", {{"alpha", "beta"}, {"beta", "gamma"}, {"alpha", "gamma"}}},
          {"parties", {party("alpha"), party("beta"), party("gamma")}},
          {"options", {{"algorithm", "dvp"}, {"rounds", 3}, {"average", "no"}}},
          {"planned", json::object()},
          {"seed", nullptr}}},
        {"released", {{"nodes", 1}, {"size", 1}, {"first", node}}},
        {"privacy",
         {{"private", true},
          {"stamp", ""},
          {"epsilon", 2.0},
          {"epsilon_planned", 2.0},
          {"delta", 1e-6},
          {"bound", "proved"},
          {"adjacency", "replace-one"},
          {"theorem", "T"}}},
        {"parts",
         {{{"part", 1}, {"parties", {"alpha", "beta", "gamma"}}, {"went_on_after_round", 1}, {"rounds_released", 3}},
          {{"part", 2}, {"parties", {"alpha", "gamma"}}, {"went_on_after_round", nullptr}, {"rounds_released", 3}}}}};
    record(base_ / name, run, {{0, 0}, {0.5, 1.0 + node}, {0.9, 50}});  // its round 2 is not gone on from
    write_transcript(base_ / name, node, {{"alpha", {0, 1, 50}}, {"beta", {0, 2, 50}}, {"gamma", {0, 3, 50}}});
    run["released"]["first"] = later_node;
    record(base_ / name / "part-2", run, {{0.9, 1.0 + node}, {1.2, 3.0 + node}, {1.6, 4.0 + 2 * node}});
    write_transcript(base_ / name / "part-2", later_node, {{"alpha", {1, 3, 4}}, {"gamma", {3, 5, 8}}});
    const json statement = {{"party", name},          {"private", true},      {"study_hash", "abc123"},
                            {"outcome", "completed"}, {"epsilon", 2.125},     {"delta", 1e-6},
                            {"bound", "proved"},      {"rounds_released", 6}, {"rounds_from_rows", 4}};
    std::ofstream(base_ / name / "statement.json") << json{{"statement", statement}}.dump();
  }

  std::vector<report::Run> read(const std::vector<fs::path>& folders) {
    return read_runs(folders, {.audience = Audience::anyone, .option = shareable});
  }

  fs::path base_;
};

TEST_F(ReportInParts, EveryPartIsChartedAsOneRun) {
  const auto runs = read({base_ / "alpha", base_ / "gamma"});
  ASSERT_EQ(runs.size(), 1U);
  const report::Run& run = runs[0];
  ASSERT_EQ(run.rounds.size(), 4U);  // 0, 1 of part 1; 2, 3 of part 2
  const std::vector<double> epsilon = {0, 0.5, 1.2, 1.6};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(run.rounds[t].round, static_cast<int>(t));
    EXPECT_EQ(run.rounds[t].part, t < 2 ? 1 : 2);
    EXPECT_DOUBLE_EQ(run.rounds[t].epsilon, epsilon[t]);
  }
  EXPECT_EQ(run.rounds_done, 3);
  ASSERT_EQ(run.parts.size(), 2U);
  EXPECT_EQ(run.parts[1].first, 1);
  EXPECT_EQ(run.parts[1].last, 3);
  EXPECT_EQ(run.parts[1].lost, std::vector<std::string>{"beta"});
  EXPECT_EQ(run.nodes[1].last_round, 1);
  EXPECT_EQ(run.nodes[0].last_round, -1);
  EXPECT_TRUE(run.faults.empty()) << run.faults.front();
}

TEST_F(ReportInParts, DistancesAndMovementAreThoseOfWhoIsLeft) {
  const report::Run run = read({base_ / "alpha", base_ / "gamma"})[0];
  EXPECT_DOUBLE_EQ(run.rounds[2].movement, 2);  // from the mean of 1 and 3 to that of 3 and 5
  EXPECT_DOUBLE_EQ(run.rounds[3].movement, 2);  // to that of 4 and 8
  EXPECT_DOUBLE_EQ(run.rounds[3].disagreement, 2);
  EXPECT_DOUBLE_EQ(run.nodes[2].distance, 2);
  EXPECT_TRUE(std::isnan(run.nodes[1].distance));
}

TEST_F(ReportInParts, NoStatementClaimsMoreThanThePage) {
  EXPECT_DOUBLE_EQ(read({base_ / "alpha"})[0].covered_epsilon(), 2.125);
}

TEST_F(ReportInParts, ThePageTellsThePartsAndMarksThem) {
  const Report made = make_report({base_ / "alpha"}, {.shareable_option = shareable});
  EXPECT_THAT(made.page, AllOf(HasSubstr("id=\"parts\""), HasSubstr("proposition 9"), HasSubstr("in 2 parts"),
                               HasSubstr("<td>0 to 1</td>"), HasSubstr("mark step")));
  fs::remove_all(base_ / "alpha/part-2");
  EXPECT_THAT(make_report({base_ / "alpha"}, {.shareable_option = shareable}).page,
              HasSubstr("the record of part 2 is missing"));
}

TEST_F(ReportInParts, AFolderOfAnotherStudyIsNoPart) {
  json other = json::parse(std::ifstream(base_ / "alpha/part-2/run.json"));
  other["study_hash"] = "another";
  std::ofstream(base_ / "alpha/part-2/run.json") << other.dump();
  EXPECT_THAT(read({base_ / "alpha"})[0].faults, testing::Not(testing::IsEmpty()));
}

TEST_F(PartyReport, AStudyThatHasNotBegunIsAPageToApprove) {
  const fs::path folder = base_ / "alpha";
  std::ifstream in(folder / "run.json");
  json plan = json::parse(in);
  plan["outcome"] = "planned";
  plan["study_hash"] = std::string(64, 'a');
  plan["noise_levels"] = {1.5, 2.5};
  plan["approvals"] = {{{"party", "beta"}, {"date", "2026-11-18T20:40:00Z"}, {"words", "<b>Yes</b>"}}};
  plan["approvals_refused"] = 1;
  const std::string all = make_plan_report(plan, {.version = "test", .shareable_option = shareable}).page;
  EXPECT_THAT(all, AllOf(HasSubstr("No row of a party is held by another party too, and none is held twice (no program "
                                   "can check this"),
                         Not(HasSubstr("at two nodes are refused"))));
  EXPECT_THAT(all, AllOf(HasSubstr("will learn at most"), HasSubstr("aaaa aaaa aaaa"), HasSubstr("not begun"),
                         HasSubstr("alpha</th><td>not yet"), HasSubstr("&lt;b&gt;Yes&lt;/b&gt;"),
                         HasSubstr("1 line beside the study counts for nothing"),
                         HasSubstr("--words 'Approved. NAME' --hash " + std::string(64, 'a'))));
  for (const char* word : {"Not complete", "id=\"charts\"", "ended early", "<b>Yes"})
    EXPECT_THAT(all, Not(HasSubstr(word))) << word;
}

}  // namespace
}  // namespace parley::report
