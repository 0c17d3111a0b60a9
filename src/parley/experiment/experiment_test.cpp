#include "parley/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/experiment/cell.h"
#include "parley/experiment/judge.h"
#include "parley/experiment/run_cell.h"

namespace parley::experiment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string plain = R"(
title = "T"
paper = "P"
figure = "F"
claim = "C"
repeats = 4

[options]
nodes = 4
rounds = 6
rows = 400

[sweep]
label = "a"
options = ["noise-rate"]
values = [1, 2]

[quick]
repeats = 2
sweep = [2]
options = { rounds = 3 }

[[series]]
name = "private"
options = { algorithm = "r-admm" }

[[series]]
name = "plain"
options = { algorithm = "admm" }
swept = false

[[panel]]
title = "loss"

[[judge]]
says = "s"
rule = "lower"
of = ["plain", "private @ 2"]
)";

Experiment read(const std::string& text, bool quick = false) {
  return parse(text, "mine", "mine.toml", quick);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  return message_of([&] { read(text); });
}

TEST(File, IsReadAndExpandedIntoRuns) {
  const Experiment e = read(plain);
  EXPECT_THAT(cell_names(e), ElementsAre("private @ 1", "private @ 2", "plain"));
  const auto all = cells(e, "");
  EXPECT_EQ(all[1].options.algorithm.noise_rate, std::vector<double>{2});
  EXPECT_EQ(all[1].options.algorithm.rounds, 6);
  EXPECT_EQ(all[1].options.engine.seed, 1U);
  EXPECT_EQ(all[2].options.algorithm.algorithm, "admm");
  const auto work = jobs(e, all);
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(work[0].count, 4);
  EXPECT_EQ(work[2].count, 1) << "without noise every run is the same";
}

TEST(File, QuickIsShorterAndPrevails) {
  const Experiment e = read(plain, true);
  EXPECT_EQ(e.repeats, 2);
  EXPECT_THAT(cell_names(e), ElementsAre("private @ 2", "plain"));
  EXPECT_EQ(cells(e, "")[0].options.algorithm.rounds, 3);
}

TEST(File, RepeatsOverSplitsDealTheRowsAnew) {
  const Experiment e = read(with(plain, "repeats = 4", "repeats = 4\nrepeats-over = \"split\""));
  const auto all = cells(e, "");
  EXPECT_EQ(jobs(e, all).size(), 12U);
  EXPECT_EQ(seeded(all[0], e, 3).data.split_seed, 4);
  EXPECT_EQ(seeded(all[0], e, 3).engine.seed, 4U);
}

TEST(File, MistakesNameFileLineAndTheNearestKey) {
  EXPECT_THAT(complaint(with(plain, "claim =", "clam =")), AllOf(HasSubstr("mine.toml"), HasSubstr("'claim'")));
  EXPECT_THAT(complaint(with(plain, "rounds = 6", "ronds = 6")), AllOf(HasSubstr("mine.toml:10"), HasSubstr("rounds")));
  EXPECT_THAT(complaint(with(plain, "rounds = 6", "rounds = -6")), HasSubstr("mine.toml:10"));
  EXPECT_THAT(complaint(with(plain, "rule = \"lower\"", "rule = \"lowe\"")), HasSubstr("did you mean 'lower'"));
  EXPECT_THAT(complaint(with(plain, "\"plain\", \"private @ 2\"", "\"plaim\", \"private @ 2\"")),
              HasSubstr("did you mean 'plain'"));
  EXPECT_THAT(complaint(with(plain, "private @ 2\"]", "private @ 7\"]")), HasSubstr("private @ 1, private @ 2, plain"));
  EXPECT_THAT(complaint(with(plain, "title = \"loss\"", "title = \"loss\"\ny = \"train-los\"")),
              HasSubstr("train-loss"));
  EXPECT_THAT(complaint(with(plain, "title = \"loss\"", "title = \"loss\"\nseries = [\"plane\"]")),
              HasSubstr("'plain'"));
  EXPECT_THAT(complaint(with(plain, "nodes = 4", "repeat = 4")), HasSubstr("repeats"));
  EXPECT_THAT(complaint(with(plain, "nodes = 4", "seed = 4")), HasSubstr("parley reproduce"));
  EXPECT_THAT(complaint(with(plain, "name = \"plain\"", "name = \"private\"")), HasSubstr("same name"));
  EXPECT_THAT(complaint(with(plain, "options = [\"noise-rate\"]", "options = [\"noise-rat\"]")),
              HasSubstr("noise-rate"));
  EXPECT_THAT(complaint(with(plain, "rule = \"lower\"", "rule = \"close\"")), HasSubstr("tolerance"));
  EXPECT_THAT(complaint(with(plain, "rule = \"lower\"", "rule = \"ratio\"")), HasSubstr("between"));
  EXPECT_THAT(complaint(with(plain, "rule = \"lower\"", "rule = \"gain\"")), HasSubstr("four runs"));
  EXPECT_THAT(complaint(with(plain, "repeats = 4", "repeats = 0")), HasSubstr("repeats"));
  EXPECT_THAT(complaint("title = "), HasSubstr("mine.toml:1"));
}

TEST(Embedded, EveryFileIsReadInBothFormsAndAllFiguresAreThere) {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded()) {
    names.push_back(name);
    for (const bool quick : {false, true}) {
      const Experiment e = parse(text, name, name, quick);
      EXPECT_FALSE(e.judges.empty()) << name;
      EXPECT_FALSE(e.notes.empty()) << name;
      EXPECT_FALSE(cells(e, "").empty());
    }
  }
  for (const char* wanted :
       {"zkl20-fig1a", "zkl20-fig1b", "zkl20-fig1c", "zkl20-fig2",  "zkl20-fig3",    "zkl20-fig4",   "zkl20-fig5",
        "zkl18-fig1a", "zkl18-fig1b", "zkl18-fig2",  "zkl18-fig3",  "zkl18-fig4",    "hhcg20-fig1",  "hhcg20-fig2",
        "hhcg20-fig3", "hhcg20-fig4", "hhcg20-fig5", "hhcg20-fig6", "hhcg20-table3", "slides-alpha", "slides-growth"})
    EXPECT_THAT(names, testing::Contains(wanted));
}

}  // namespace
}  // namespace parley::experiment
