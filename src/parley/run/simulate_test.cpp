#include "parley/run/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/algorithm/peer_node.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/split.h"
#include "parley/record/record.h"
#include "parley/record/schema.h"
#include "parley/run/model.h"
#include "parley/run/resume.h"

namespace parley::run {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SimulateTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    options_.data.rows = 1500;
    options_.algorithm.algorithm = "mr-admm";
    options_.algorithm.rounds = 9;
    options_.algorithm.loss_weight = 200;
    options_.engine.seed = 7;
    options_.engine.out = folder_ / "run";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Summary run(const std::string& name, const Hooks& hooks = {}) {
    options_.engine.out = folder_ / name;
    return train(options_, hooks);
  }
  json read_json(const std::filesystem::path& path) { return json::parse(read_file(folder_ / path, "it")); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("parley-simulate-" + std::to_string(::getpid()));
  TrainOptions options_;
};

TEST_F(SimulateTest, TheSameSeedGivesTheSameBitsForAnyNumberOfThreads) {
  options_.data.nodes = 7;
  for (const std::string algorithm : {"mr-admm", "pp", "pvp", "linear-admm", "star-pvp", "dp-admm"}) {
    const auto& a = algorithm::algorithm_named(algorithm);
    options_.algorithm.algorithm = algorithm;
    options_.graph.graph = a.star ? "auto" : "random";
    if (a.star || a.linear) options_.algorithm.epsilon = {1};
    std::string first;
    for (const long threads : {1L, 2L, 3L, 16L}) {
      options_.engine.threads = threads;
      const std::string name = algorithm + std::to_string(threads);
      run(name);
      const std::string bytes =
          read_file(folder_ / name / "released.f64", "it") + read_file(folder_ / name / "rounds.jsonl", "it");
      if (first.empty()) first = bytes;
      EXPECT_TRUE(bytes == first) << algorithm << " with " << threads << " threads";
    }
  }
}

TEST_F(SimulateTest, WhatThePlannerChoseIsTheSameRunAsIfItHadBeenNamed) {
  options_.algorithm.algorithm = "auto";
  options_.algorithm.epsilon = {1};
  const Summary chosen = run("auto");
  EXPECT_EQ(chosen.simulation.selected.algorithm, "newton");
  for (const std::string file : {"auto/run.json", "auto/model.json"}) {
    EXPECT_EQ(read_json(file)["selection"]["algorithm"], "newton");
    EXPECT_EQ(read_json(file)["selection"]["by"], "planner");
  }
  EXPECT_EQ(read_json("auto/run.json")["options"]["algorithm"], "newton");
  options_.algorithm.algorithm = "newton";
  const Summary named = run("named");
  EXPECT_FALSE(named.simulation.selected.by_planner());
  EXPECT_TRUE(read_file(folder_ / "auto/released.f64", "") == read_file(folder_ / "named/released.f64", ""));
  EXPECT_EQ(configuration_json(chosen.simulation, options_), configuration_json(named.simulation, options_));
}

// Their ledger has the hash of a configuration without class weights.
TEST_F(SimulateTest, ARunThatBeganBeforeClassWeightsGoesOnInItsLedgerWithoutThem) {
  const Summary done = run("run");
  options_.engine.dataset = "ward";
  const auto book =
      std::make_shared<ledger::LedgerFile>(folder_ / "ward.ledger", ledger::LedgerFile::Open::create_if_missing);
  book->set_cap("ward", ledger::Cap(INFINITY));
  const ledger::PlannedRun now = planned_run(done.simulation, options_, *book, "");
  ledger::PlannedRun old = now;
  json configuration = configuration_json(done.simulation, options_);
  for (const char* younger : {"class-weight", "class-share"}) configuration["options"].erase(younger);
  old.configuration = hex(sha256(configuration.dump()));
  ASSERT_NE(old.configuration, now.configuration);
  ledger::Ledger(book, old);
  const ledger::PlannedRun resumed = planned_run(done.simulation, options_, *book, old.id);
  EXPECT_EQ(resumed.id, old.id);
  EXPECT_EQ(resumed.configuration, old.configuration);
  EXPECT_NO_THROW(ledger::Ledger(book, resumed));
  options_.engine.dataset.clear();
  options_.algorithm.class_weight = Choice<algorithm::ClassWeight>("1,2");
  const Summary weighted = run("weighted");
  options_.engine.dataset = "ward";
  EXPECT_NE(planned_run(weighted.simulation, options_, *book, old.id).configuration, old.configuration);
}

TEST_F(SimulateTest, GuessingSaysTheClassThatIsLargerAmongTrainingRows) {
  const Summary s = run("guess");
  double positive = 0, wrong = 0;
  for (const auto& rows : s.simulation.holdings.nodes)
    for (const double y : rows.label) positive += y > 0 ? 1 : -1;
  for (const double y : s.simulation.holdings.test.label) wrong += (y > 0) != (positive > 0) ? 1 : 0;
  EXPECT_DOUBLE_EQ(s.simulation.test_error_guessing, wrong / s.simulation.test_rows);
  EXPECT_NEAR(s.simulation.test_error_guessing, 0.25, 0.1);
}

TEST_F(SimulateTest, SecretNoiseIsFreshEveryTimeAndCarriesNoStamp) {
  options_.engine.seed.reset();
  const Summary a = run("a"), b = run("b");
  EXPECT_NE(a.runs[0].mean, b.runs[0].mean);
  EXPECT_TRUE(a.simulation.not_private.empty());
  EXPECT_EQ(read_json("a/run.json")["privacy"]["stamp"], "");
  EXPECT_TRUE(read_json("a/run.json")["record_is_private"]);
}

TEST_F(SimulateTest, ASeededRunIsStampedNotPrivateEverywhere) {
  const Summary s = run("seeded");
  for (const json& privacy :
       {read_json("seeded/run.json")["privacy"], read_json("seeded/model.json")["privacy"], to_json(s, options_)}) {
    EXPECT_THAT(privacy["stamp"].get<std::string>(), HasSubstr("NOT PRIVATE: noise from seed 7"));
    EXPECT_FALSE(privacy["private"]);
  }
  EXPECT_FALSE(read_model(folder_ / "seeded/model.json").not_private.empty());
  EXPECT_TRUE(to_json(s, options_)["seeded"]);
}

TEST_F(SimulateTest, EpsilonForRowsAsDealtIsMarkedInRunModelAndJson) {
  options_.engine.seed.reset();
  for (const std::string& split : words_of<data::Split>()) {
    options_.data.split = split;
    options_.data.split_column = split == "column" ? "sex" : "";
    options_.data.split_shares = split == "shares" ? std::vector<double>{1, 2, 3, 4, 5} : std::vector<double>{};
    const bool reads = data::reads_rows(split);
    const std::string word = reads ? "as dealt" : "replace-one";
    const json told = to_json(run(split), options_);
    for (const json& privacy :
         {told, read_json(split + "/run.json").at("privacy"), read_json(split + "/model.json").at("privacy")}) {
      EXPECT_EQ(privacy.at("adjacency"), word);
      EXPECT_EQ(privacy.at("adjacency_means").get<std::string>().find("the split reads rows") != std::string::npos,
                reads);
      EXPECT_TRUE(privacy.at("private").get<bool>());
    }
    const std::string before =
        record::meaning_of(record::Adjacency::replace_one);  // in older records, whatever the split
    for (const std::string& old : {word, before})
      EXPECT_EQ(record::adjacency_told(old, split) == record::Adjacency::as_dealt, reads) << split;
    EXPECT_EQ(record::adjacency_told("", split), record::Adjacency::as_dealt);
  }
}

TEST_F(SimulateTest, ASplitThatReadsRowsIsNotChargedToALedger) {
  options_.engine.seed.reset();
  options_.engine.dataset = "ward";
  options_.engine.ledger = folder_ / "no.ledger";
  for (const std::string split : {"column", "label-skewed"}) {
    options_.data.split = split;
    options_.data.split_column = split == "column" ? "sex" : "";
    EXPECT_THAT([&] { run("refused"); },
                testing::ThrowsMessage<Error>(AllOf(HasSubstr("this split reads rows"), HasSubstr("--split " + split),
                                                    HasSubstr("even, shares, power, or one file per node"),
                                                    HasSubstr("option --split"))));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
  EXPECT_FALSE(std::filesystem::exists(options_.engine.ledger));
}

TEST_F(SimulateTest, NoNoiseMeansNoEpsilon) {
  options_.algorithm.algorithm = "admm";
  options_.engine.seed.reset();
  const json j = to_json(run("admm"), options_);
  EXPECT_TRUE(j["epsilon"].is_null());
  EXPECT_TRUE(j["epsilon_paper"].is_null());
  EXPECT_FALSE(j["private"]);
  EXPECT_THAT(j["stamp"].get<std::string>(), HasSubstr("no noise"));
}

TEST_F(SimulateTest, WhatIsSpentIsWhatWasPlanned) {
  for (const auto& a : algorithm::algorithms()) {
    options_.algorithm.algorithm = a.name;
    options_.algorithm.noise = a.sums ? "gaussian" : "gamma";
    options_.algorithm.noise_scale = a.sums ? std::vector<double>{5} : std::vector<double>{};
    const Summary s = run(a.name);
    for (std::size_t i = 0; i < s.simulation.plan.nodes.size(); ++i)
      EXPECT_EQ(s.runs[0].nodes[i].epsilon, s.simulation.plan.nodes[i].epsilon) << a.name;
    EXPECT_EQ(s.runs[0].epsilon, s.simulation.plan.epsilon());
    double before = 0;
    for (const auto& m : s.runs[0].history) {                  // only rounds that touch data cost
      const int touched = a.star ? 2 * m.round - 1 : m.round;  // a provider's turn, then the trainer's
      EXPECT_EQ(m.epsilon > before, s.simulation.plan.nodes[0].touches_data(touched)) << a.name << " round " << m.round;
      before = m.epsilon;
    }
  }
}

TEST_F(SimulateTest, StateIsRebuiltFromTheRecordWithoutDataOrSpending) {
  for (const std::string name : {"mr-admm", "pvp", "pp"}) {
    options_.algorithm.algorithm = name;
    const Summary s = run(name);
    const record::Record record = record::read(folder_ / name);
    ASSERT_EQ(record.released.size(), 10U);
    data::Rows none;  // a node that holds no rows at all
    none.features = s.simulation.holdings.test.features;
    for (int i = 0; i < s.simulation.graph.nodes(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      problem::Problem blind = s.simulation.problems[at];
      blind.rows = &none;
      algorithm::PeerNode replayed(blind, s.simulation.plan.nodes[at]);
      privacy::Inbox inbox;
      for (const auto& round : record.released) {
        replayed.commit(inbox, round[at]);
        inbox.clear();
        for (const int j : s.simulation.graph.neighbours(i))
          inbox.push_back(std::make_shared<const Vector>(round[static_cast<std::size_t>(j)]));
      }
      EXPECT_EQ(replayed.state().f, s.runs[0].f[at]);
      EXPECT_EQ(replayed.state().round, 9);
    }
  }
}

TEST_F(SimulateTest, TheRecordHoldsOptionsThatRepeatTheRun) {
  options_.algorithm.penalty = {1, 1.03, 1.02, 0.8, 1.01};
  run("first");
  TrainOptions again;
  const auto rows = option_rows(again);
  const json stored = read_json("first/run.json")["options"];
  for (const auto& [name, value] : stored.items()) set_option_json(find_option(rows, name, ""), value, "");
  options_ = again;
  run("second");
  EXPECT_TRUE(read_file(folder_ / "first/released.f64", "") == read_file(folder_ / "second/released.f64", ""));
}

TEST_F(SimulateTest, StoppingKeepsTheRecordUpToThatRoundAndAModel) {
  std::atomic<bool> stop{false};
  const Hooks hooks{.on_round = [&](int, const RoundMetrics& m) { stop = m.round == 3; }, .stop = &stop};
  const Summary s = run("stopped", hooks);
  EXPECT_EQ(s.runs[0].outcome, Outcome::interrupted);
  EXPECT_EQ(record::read(folder_ / "stopped").released.size(), 5U);  // asked after round 3, noticed in round 4
  EXPECT_EQ(read_json("stopped/run.json")["outcome"], "interrupted");
  EXPECT_LT(s.runs[0].epsilon, s.simulation.plan.epsilon());
  EXPECT_NO_THROW(read_model(folder_ / "stopped/model.json"));
}

TEST_F(SimulateTest, DivergenceIsSeenOnReleasedValues) {
  options_.algorithm.noise_rate = {1e-3};
  options_.algorithm.release_bound = 5;
  const Summary s = run("diverged");
  EXPECT_EQ(s.runs[0].outcome, Outcome::diverged);
  EXPECT_EQ(s.runs[0].f[0].cwiseAbs().maxCoeff() <= 5, true);
}

TEST_F(SimulateTest, AveragingIsTheMeanOfWhatTouchedDataInTheLaterHalfAndNothingElse) {
  options_.algorithm.epsilon = {
      1};  // the planner averages; 9 rounds: 1, 3, 5, 7, 9 touch data, the later half begins with 5
  const Summary s = run("averaged");
  const auto released = record::read(folder_ / "averaged").released;
  Vector mean = Vector::Zero(s.runs[0].mean.size());
  for (const std::size_t t : {5U, 7U, 9U})
    for (const Vector& f : released[t]) mean += f / (3.0 * static_cast<double>(released[t].size()));
  EXPECT_LT((s.runs[0].mean - mean).norm(), 1e-12 * (1 + mean.norm()));
  options_.algorithm.average = "no";
  const Summary last = run("last");
  EXPECT_EQ(last.runs[0].f[2], record::read(folder_ / "last").released[9][2]);
}

TEST_F(SimulateTest, TheRecordOfAStarHasSilenceAsEmptyValues) {
  options_.algorithm.algorithm = "dp-admm";
  options_.algorithm.iteration_epsilon = 0.5;
  const Summary s = run("star");
  const record::Record record = record::read(folder_ / "star");
  EXPECT_EQ(record.run.at("trainer"), record.run.at("nodes"));
  EXPECT_THAT(record::unknown_fields(record::File::simulation, record.run), testing::IsEmpty());
  for (const auto& line : record.lines)
    EXPECT_THAT(record::unknown_fields(record::File::rounds, line), testing::IsEmpty());
  const auto parties = static_cast<std::size_t>(s.simulation.parties());
  ASSERT_EQ(record.released.size(), 19U);  // the start, and two turns a round
  for (std::size_t t = 0; t < 19; ++t) {
    ASSERT_EQ(record.released[t].size(), parties + 1);
    for (std::size_t i = 0; i <= parties; ++i)
      EXPECT_EQ(record.released[t][i].size(), t == 0 || (t % 2 == 1) == (i < parties) ? s.simulation.dimension() : 0)
          << t;
    EXPECT_EQ(record.lines[t]["kind"], t == 0 ? "start" : t % 2 == 1 ? "data" : "trainer");
  }
  EXPECT_EQ(std::filesystem::file_size(folder_ / "star/released.f64"),
            19 * (parties + 1) * static_cast<std::size_t>(s.simulation.dimension()) * sizeof(double));
  EXPECT_EQ(s.runs[0].mean, record.released[18][parties]);  // the model is the trainer's
  EXPECT_EQ(s.runs[0].f[2], s.runs[0].mean);
  EXPECT_EQ(read_model(folder_ / "star/model.json").weights, s.runs[0].mean);
}

TEST_F(SimulateTest, AveragingOfAStarIsTheMeanOfTheTrainersValuesOverTheLaterHalf) {
  options_.algorithm.algorithm = "dp-admm";
  options_.algorithm.epsilon = {1};
  const Summary s = run("averaged");
  const auto released = record::read(folder_ / "averaged").released;
  Vector mean = Vector::Zero(s.simulation.dimension());
  for (const std::size_t round : {5U, 6U, 7U, 8U, 9U}) mean += released[2 * round].back() / 5;
  EXPECT_LT((s.runs[0].mean - mean).norm(), 1e-12 * (1 + mean.norm()));
  EXPECT_GT((s.runs[0].mean - released[18].back()).norm(), 1e-3 * mean.norm());
}

TEST_F(SimulateTest, AResumedRunEndsWithTheBitsOfOneThatWasNotInterrupted) {
  for (const std::string algorithm : {"mr-admm", "dp-admm", "star-pvp", "linear-admm", "pvp"})
    for (const int last : {0, 3, 7}) {  // asked for after this round, noticed in the next
      const std::string name = algorithm + std::to_string(last);
      options_.algorithm.algorithm = algorithm;
      options_.algorithm.epsilon = {1};
      const Summary whole = run(name + "-whole");
      std::atomic<bool> stop{false};
      const Hooks hooks{.on_round = [&](int, const RoundMetrics& m) { stop = m.round == last; }, .stop = &stop};
      EXPECT_EQ(run(name, hooks).runs[0].outcome, Outcome::interrupted);
      options_.engine.resume = true;
      const Summary resumed = run(name);
      options_.engine.resume = false;
      EXPECT_EQ(resumed.runs[0].outcome, Outcome::completed);
      EXPECT_EQ(resumed.runs[0].mean, whole.runs[0].mean) << name;
      EXPECT_EQ(resumed.runs[0].epsilon, whole.runs[0].epsilon);
      EXPECT_EQ(resumed.runs[0].history.size(), whole.runs[0].history.size());
      for (const char* file : {"released.f64", "model.json"})
        EXPECT_TRUE(read_file(folder_ / name / file, "") == read_file(folder_ / (name + "-whole") / file, ""))
            << name << " " << file;
    }
}

TEST_F(SimulateTest, ARunIsResumedOnlyWithTheOptionsOfItsFirstStart) {
  std::atomic<bool> stop{true};
  options_.algorithm.noise_rate = {1};
  run("run", {.stop = &stop});
  options_.engine.resume = true;
  const auto message = [&](const std::function<void(TrainOptions&)>& change) {
    const TrainOptions before = options_;
    change(options_);
    std::string text = "no error";
    try {
      run("run");
    } catch (const Error& e) {
      text = e.what();
    }
    options_ = before;
    return text;
  };
  const std::string what = "the run that is resumed had another --";
  EXPECT_THAT(message([](TrainOptions& o) { o.algorithm.loss_weight = 100; }), HasSubstr(what + "loss-weight"));
  EXPECT_THAT(message([](TrainOptions& o) { o.algorithm.noise_rate = {2}; }), HasSubstr(what + "noise-rate"));
  EXPECT_THAT(message([](TrainOptions& o) { o.algorithm.rounds = 11; }), HasSubstr(what + "rounds"));
  EXPECT_THAT(message([](TrainOptions& o) { o.engine.seed = 8; }), HasSubstr(what + "seed"));
  EXPECT_THAT(message([](TrainOptions& o) { o.data.rows = 1400; }), HasSubstr(what + "rows"));
  EXPECT_THAT(message([](TrainOptions& o) { o.data.split_seed = 2; }), HasSubstr(what + "split-seed"));
  EXPECT_THAT(message([](TrainOptions& o) { o.graph.graph = "complete"; }), HasSubstr(what + "graph"));
  EXPECT_THAT(message([](TrainOptions& o) { o.engine.repeat = 2; }), HasSubstr("--resume continues one run"));
  EXPECT_EQ(message([](TrainOptions& o) { o.engine.threads = 2; }), "no error");  // what does not change the run
  EXPECT_THAT(message([](TrainOptions&) {}), HasSubstr("this run is complete"));
}

TEST_F(SimulateTest, RepeatsGiveMeanAndRangeAndTheirOwnRecords) {
  options_.engine.repeat = 3;
  const json j = to_json(run("repeated"), options_);
  EXPECT_LE(j["test_error"]["min"], j["test_error"]["mean"]);
  EXPECT_LE(j["test_error"]["mean"], j["test_error"]["max"]);
  EXPECT_EQ(j["repeat"], 3);
  for (const auto* r : {"run-1", "run-2", "run-3"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "repeated" / r / "model.json"));
}

TEST_F(SimulateTest, NothingIsWrittenWhenAnythingIsWrong) {
  options_.graph.graph = "0-1,2-3";
  EXPECT_THROW(run("wrong"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wrong"));
}

// Two tables that differ in one row: with the one the pooled optimum can be certified, with the other it cannot.
TEST_F(SimulateTest, ARowDoesNotDecideWhetherThereIsARun) {
  std::filesystem::create_directories(folder_);
  options_.data.rows = data::Options{}.rows;  // of census alone
  options_.data.nodes = 2;
  options_.data.features = 1;
  options_.data.test_share = 0;
  options_.algorithm = {.algorithm = "mr-admm"};
  options_.algorithm.rounds = 4;
  options_.algorithm.epsilon = {1};
  options_.algorithm.delta = 1e-5;
  options_.algorithm.regularization = 1e-8;
  std::string rows;
  for (int n = 0; n < 200; ++n) rows += n % 2 == 0 ? "+1 1:0.00001\n" : "-1 1:-0.00001\n";
  bool without = false;
  for (const std::string last : {"+1 1:0.00001\n", "+1 1:-1\n"}) {
    const std::filesystem::path file = folder_ / "rows.libsvm";
    write_file(file, rows + last);
    options_.data.data = {file.string()};
    const Summary s = run("with " + std::to_string(last.size()));
    EXPECT_EQ(s.runs.front().outcome, Outcome::completed);
    const json j = to_json(s, options_);
    if (j["train_loss_nonprivate"].is_null() || s.simulation.optimum.size() == 0) {
      without = true;
      EXPECT_TRUE(json::parse(j.dump())["train_loss_nonprivate"].is_null());
      EXPECT_TRUE(j["distance_to_optimum"].is_null());
      EXPECT_THAT(j["warnings"].dump(), HasSubstr("results stand without it"));
    }
  }
  EXPECT_TRUE(without) << "these rows do not test what they are meant to";
}

TEST_F(SimulateTest, ReleasedValuesStandOnThePublicGridThatIsFinerThanTheNoise) {
  const Summary s = run("grid");
  const auto& schedule = s.simulation.plan.nodes[0];
  const auto released = record::read(folder_ / "grid").released;
  for (int t = 1; t < 10; ++t) {
    const double grid = schedule.grid(t);
    EXPECT_GE(grid, 0x1p-40);
    EXPECT_LE(grid, 0x1p-8 / schedule.private_round(t).output_rate);
    for (const Vector& f : released[static_cast<std::size_t>(t)])
      for (const double x : f) EXPECT_EQ(x / grid, std::nearbyint(x / grid));
  }
}

TEST(Config, ATomlFileSetsOptionsAndItsErrorsHaveLines) {
  const auto file = std::filesystem::temp_directory_path() / "parley-config-test.toml";
  TrainOptions o;
  write_file(file, "rounds = 30\npenalty = [1, 2]\n[privacy]\nnoise-rate = 0.25\n[engine]\nseed = 3\n");
  read_config(file, option_rows(o));
  EXPECT_EQ(o.algorithm.rounds, 30);
  EXPECT_EQ(o.algorithm.penalty, (std::vector<double>{1, 2}));
  EXPECT_EQ(o.algorithm.noise_rate, std::vector<double>{0.25});
  EXPECT_EQ(o.engine.seed, 3U);
  const auto message = [&](const std::string& text) {
    write_file(file, text);
    try {
      read_config(file, option_rows(o));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("\nround = 30\n"),
              HasSubstr("parley-config-test.toml:2: unknown option 'round'\n  what to do: did you mean 'rounds'?"));
  EXPECT_THAT(message("rounds = \"many\"\n"), HasSubstr(":1: rounds is not a whole number"));
  EXPECT_THAT(message("rounds = \n"), HasSubstr(":1"));
  EXPECT_THAT(message("rounds = 2020-01-01\n"), HasSubstr(":1: no option is a date"));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace parley::run
