// Records of `join`: one party, all parties of a study, and what their owner alone may see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "parley/report/read.h"
#include "parley/report/report.h"

namespace parley::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class PartyReport : public testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() / ("parley_party_report_" + std::to_string(::getpid()));
    fs::remove_all(base_);
    for (int i = 0; i < 2; ++i) write(i);
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(int node) {
    const std::string name = node == 0 ? "alpha" : "beta";
    const fs::path folder = base_ / name;
    fs::create_directories(folder);
    const json study = {{"title", "two clinics"},
                        {"edges", {{"alpha", "beta"}}},
                        {"parties",
                         {{{"name", "alpha"}, {"records", 40}, {"trainer", false}},
                          {{"name", "beta"}, {"records", 60}, {"trainer", false}}}},
                        {"options", {{"algorithm", "mr-admm"}, {"rounds", 1}, {"average", "auto"}}},
                        {"planned", {{"average", "no"}}},
                        {"seed", nullptr}};
    const json run = {{"format", "parley-party-1"},
                      {"outcome", "completed"},
                      {"party", name},
                      {"node", node},
                      {"nodes", 2},
                      {"study_hash", "abc123"},
                      {"run_id", "abc"},
                      {"study", study},
                      {"released", {{"nodes", 1}, {"size", 1}, {"first", node}}},
                      {"privacy",
                       {{"private", true},
                        {"stamp", ""},
                        {"epsilon", 2.0},
                        {"epsilon_planned", 2.0},
                        {"delta", 1e-6},
                        {"bound", "proved"},
                        {"theorem", "T"}}}};
    std::ofstream(folder / "run.json") << run.dump();
    const json statement = {{"party", name},
                            {"study_hash", "abc123"},
                            {"outcome", "completed"},
                            {"epsilon", 1.25 + 0.5 * node},
                            {"delta", 1e-6},
                            {"bound", "proved"},
                            {"rounds_released", 2},
                            {"rounds_from_rows", 1},
                            {"assumptions", {"noise was secret at " + name}}};
    std::ofstream(folder / "statement.json") << json{{"statement", statement}, {"signature", "00"}}.dump();
    std::ofstream(folder.string() + ".private_metrics.json") << R"({"loss": 0.987654})";
    std::ofstream(folder / "rounds.jsonl") << R"({"epsilon":0.0,"kind":"start","round":0})" << '\n'
                                           << R"({"epsilon":2.0,"kind":"data","round":1})" << '\n';
    std::ofstream values(folder / "released.f64", std::ios::binary);
    for (const double v : {0.0, node == 0 ? 1.0 : 3.0}) values.write(reinterpret_cast<const char*>(&v), sizeof v);
  }

  fs::path base_;
};

TEST_F(PartyReport, OneRecordShowsItsOwnValuesTheStudyAndItsStatement) {
  const report::Run run = read_runs({base_ / "beta"}, Audience::anyone)[0];
  EXPECT_EQ(run.nodes.size(), 2U);
  EXPECT_EQ(run.nodes[1].name, "beta");
  EXPECT_DOUBLE_EQ(run.nodes[1].epsilon, 1.75);
  EXPECT_TRUE(std::isnan(run.nodes[0].epsilon));
  EXPECT_DOUBLE_EQ(run.rounds[1].movement, 3);
  EXPECT_TRUE(std::isnan(run.rounds[1].disagreement));  // takes everybody's values
  const std::string all = make_report({base_ / "beta"}, {}).page;
  EXPECT_THAT(all,
              AllOf(HasSubstr("Study: two clinics"), HasSubstr("noise was secret at beta"), HasSubstr("ε = 2.0000"),
                    HasSubstr("parley verify"), Not(HasSubstr("987654")), Not(HasSubstr(base_.string()))));
}

TEST_F(PartyReport, AllPartiesTogetherAreOneRun) {
  const auto runs = read_runs({base_ / "alpha", base_ / "beta"}, Audience::anyone);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].rounds[1].movement, 2);
  EXPECT_DOUBLE_EQ(runs[0].rounds[1].disagreement, 1);
  EXPECT_DOUBLE_EQ(runs[0].nodes[0].distance, 1);
  EXPECT_EQ(runs[0].statements.size(), 2U);
}

TEST_F(PartyReport, AMissingOrForeignStatementIsSaid) {
  fs::remove(base_ / "alpha/statement.json");
  EXPECT_THAT(make_report({base_ / "alpha"}, {}).page, HasSubstr("there is no statement of alpha"));
  std::ofstream(base_ / "beta/statement.json") << R"({"statement": {"party": "beta", "study_hash": "other"}})";
  EXPECT_THAT(make_report({base_ / "beta"}, {}).page, HasSubstr("is about another study"));
}

}  // namespace
}  // namespace parley::report
