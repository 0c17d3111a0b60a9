#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "parley/parley.h"

namespace parley {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct Bank {  // rows of two columns and a class, in memory and as a file
  std::vector<double> numbers, labels;
  std::size_t count() const { return labels.size(); }
  DenseMatrix matrix() const { return {.first = numbers.data(), .rows = count(), .columns = 2, .row_step = 2}; }
  void write(const fs::path& file) const {
    std::ofstream out(file);
    out.precision(17);
    out << "amount,hour,fraud\n";
    for (std::size_t n = 0; n < count(); ++n)
      out << numbers[2 * n] << "," << numbers[2 * n + 1] << "," << (labels[n] > 0 ? "yes" : "no") << "\n";
  }
};

Bank bank(unsigned seed, std::size_t rows) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> amount(0, 1000), hour(0, 24), uniform(0, 1);
  Bank b;
  for (std::size_t n = 0; n < rows; ++n) {
    const double a = amount(random), h = hour(random);
    b.numbers.insert(b.numbers.end(), {a, h});
    b.labels.push_back(uniform(random) < 1 / (1 + std::exp(3 - a / 150)) ? 1 : -1);
  }
  return b;
}

struct Library : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("parley-library-" + std::to_string(getpid()));
  Schema schema =
      schema_of({.columns = {{"amount", 0, 1000}, {"hour", 0, 24}}, .label = "fraud", .classes = {"no", "yes"}});
  std::vector<Bank> banks = {bank(1, 900), bank(2, 700), bank(3, 500)};

  Library() { fs::create_directories(folder); }
  ~Library() override { fs::remove_all(folder); }
  std::vector<Rows> parties(const Schema& by) const {
    std::vector<Rows> all;
    for (const Bank& b : banks) all.push_back(rows_of(b.matrix(), b.labels, by, "bank " + std::to_string(all.size())));
    return all;
  }
  std::vector<Rows> parties() const { return parties(schema); }
};

TEST_F(Library, RowsInMemoryGiveTheModelOfTheSameRowsInFiles) {
  std::string files;
  for (std::size_t i = 0; i < banks.size(); ++i) {
    const fs::path file = folder / ("bank" + std::to_string(i) + ".csv");
    banks[i].write(file);
    files += (i > 0 ? "," : "") + file.string();
  }
  std::ofstream(folder / "schema.toml") << schema.toml;
  const Settings common = {{"epsilon", "1"}, {"delta", "1e-6"}, {"seed", "7"}};
  Settings by_name = common;
  by_name.insert({{"data", files},
                  {"schema", (folder / "schema.toml").string()},
                  {"test-share", "0"},
                  {"out", (folder / "record").string()}});
  const Trained in_memory = train(common, parties()), in_files = train(by_name);
  EXPECT_EQ(in_memory.model->weights(), in_files.model->weights());
  EXPECT_EQ(in_memory.model->schema().toml, in_files.model->schema().toml);
  EXPECT_EQ(in_memory.model->weights(), Model::read(folder / "record/model.json").weights());
  EXPECT_EQ(in_memory.record, "");
}

TEST_F(Library, AGuaranteeIsWithinTheBudgetAndSaysAgainstWhom) {
  const Trained run = train({{"epsilon", "1"}, {"delta", "1e-6"}}, parties());
  EXPECT_EQ(run.outcome, "completed");
  EXPECT_LE(run.guarantee.epsilon, 1);
  EXPECT_GT(run.guarantee.epsilon, 0.99);
  EXPECT_EQ(run.guarantee.delta, 1e-6);
  EXPECT_EQ(run.guarantee.against, "all other parties together");
  EXPECT_EQ(run.guarantee.bound, "proved");
  EXPECT_FALSE(run.guarantee.theorem.empty());
  EXPECT_TRUE(run.guarantee.not_private.empty());
  ASSERT_EQ(run.guarantee.parties.size(), 3U);
  EXPECT_EQ(run.guarantee.parties[1].records, 700U);
  EXPECT_LE(run.history.back().epsilon, run.guarantee.epsilon);
}

TEST_F(Library, WhatClaimsNothingHasNoFiniteEpsilonAnywhere) {
  Schema measured = schema;
  measured.not_public = "bounds were taken from the rows";
  const std::vector<Rows> all = parties();
  std::vector<Rows> mixed = all;
  mixed[2] = parties(measured)[2];  // one party is enough
  const std::vector<std::pair<Settings, std::vector<Rows>>> cases = {
      {{{"epsilon", "1"}, {"seed", "1"}}, all}, {{{"noise", "none"}}, all}, {{{"epsilon", "1"}}, mixed}};
  for (const auto& [settings, rows] : cases) {
    const Trained run = train(settings, rows);
    ASSERT_EQ(run.guarantee.not_private.size(), 1U);
    EXPECT_EQ(run.model->not_private(), run.guarantee.not_private);
    EXPECT_TRUE(std::isinf(run.guarantee.epsilon) && std::isinf(run.guarantee.epsilon_all_others));
    for (const PartySpend& party : run.guarantee.parties) EXPECT_TRUE(std::isinf(party.epsilon));
    for (const Progress& p : run.history) EXPECT_TRUE(std::isinf(p.epsilon) && std::isinf(p.epsilon_all_others));
  }
}

TEST_F(Library, TheLedgerIsChargedAndRefusesWhatDoesNotFit) {
  Ledger ledger(folder / "my.ledger");
  ledger.cap("payments", 1.2, 1e-5);
  const Settings settings = {{"epsilon", "1"},
                             {"delta", "1e-5"},
                             {"ledger", ledger.file().string()},
                             {"dataset", "payments"},
                             {"out", (folder / "first").string()}};
  const Trained run = train(settings, parties());
  EXPECT_NEAR(ledger.spent("payments"), run.guarantee.epsilon, 1e-6);
  EXPECT_LT(ledger.left("payments"), 1);
  Settings second = settings;
  second["out"] = (folder / "second").string();
  try {
    train(second, parties());
    FAIL() << "a second run would pass the cap";
  } catch (const Error& e) {
    EXPECT_TRUE(e.is(budget_exceeded)) << e.what();
  }
  EXPECT_FALSE(fs::exists(folder / "second"));
  EXPECT_THAT([&] { static_cast<void>(ledger.spent("payment")); },
              ::testing::ThrowsMessage<Error>(HasSubstr("no such dataset")));
}

TEST_F(Library, MistakesAreToldBeforeAnythingRuns) {
  const auto fails = [&](const Settings& settings, const std::string& says) {
    EXPECT_THAT([&] { train(settings, parties()); }, ::testing::ThrowsMessage<Error>(HasSubstr(says)));
  };
  fails({{"epsilonn", "1"}}, "epsilon");
  fails({}, "how much privacy?");
  fails({{"epsilon", "1"}, {"data", "a.csv"}}, "the rows are given");
  fails({{"epsilon", "1"}, {"nodes", "5"}}, "each party's are given");
  fails({{"epsilon", "1"}, {"repeat", "2"}}, "a call trains once");
  fails({{"epsilon", "1"}, {"resume", "yes"}, {"out", "x"}}, "cannot be resumed");
  EXPECT_THAT([&] { train({{"epsilon", "1"}}, {parties()[0]}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("one party has nobody to learn with")));
  EXPECT_THAT([] { join("no-study.toml", {{"as", "a"}, {"data", "a.csv"}, {"ledger", "a.ledger"}}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("no-study.toml")));
}

TEST_F(Library, ARunStopsAfterTheRoundThatIsUnderWay) {
  std::atomic<bool> stop{false};
  int rounds = 0;
  const Trained run =
      train({{"epsilon", "1"}, {"delta", "1e-6"}, {"algorithm", "dp-gd"}, {"rounds", "40"}}, parties(), {},
            {.on_round =
                 [&](const Progress& p) {
                   stop = (rounds = p.round) == 3;
                   EXPECT_EQ(p.rounds, 40);
                 },
             .stop = &stop});
  EXPECT_EQ(run.outcome, "interrupted");
  EXPECT_EQ(rounds, static_cast<int>(run.history.back().round));
  EXPECT_LT(run.history.back().round, 6);
  EXPECT_LT(run.guarantee.epsilon, 1);
  EXPECT_TRUE(run.model.has_value());
}

TEST_F(Library, AModelSaysOfNewRowsWhatItSaidBeforeItWasSaved) {
  const Model model = *train_dealt({{"epsilon", "5"}, {"nodes", "3"}}, parties()[0]).model;
  model.save(folder / "model.json");
  const Model again = Model::read(folder / "model.json");
  const Bank other = bank(9, 50);
  const Rows rows = rows_of(other.matrix(), other.labels, again.schema());
  EXPECT_EQ(again.scores(rows), model.scores(rows));
  EXPECT_EQ(again.classes(), (std::vector<std::string>{"no", "yes"}));
  const std::vector<double> p = again.probabilities(rows), said = again.predicted(rows), s = again.scores(rows);
  for (std::size_t n = 0; n < rows.count(); ++n) {
    EXPECT_DOUBLE_EQ(p[2 * n] + p[2 * n + 1], 1);
    EXPECT_EQ(said[n], s[n] > 0 ? 1 : 0);
  }
  const nlohmann::json q = nlohmann::json::parse(again.evaluate(rows));
  EXPECT_TRUE(q.contains("error") && q.contains("measured_on_rows"));
  const double three[] = {1, 2, 3};
  EXPECT_THAT(
      [&] { static_cast<void>(rows_of(DenseMatrix{.first = three, .rows = 1, .columns = 3}, {}, again.schema())); },
      ::testing::ThrowsMessage<Error>(HasSubstr("the rows have 3 columns, the schema 2")));
}

TEST_F(Library, APageOfARunReplacesNothingButAPage) {
  const fs::path record = folder / "record", page = folder / "page.html";
  train({{"epsilon", "1"}, {"out", record.string()}}, parties());
  write_report({record}, page);
  write_report({record}, page);
  std::ofstream(folder / "mine.txt") << "mine";
  EXPECT_THAT([&] { write_report({record}, folder / "mine.txt"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("is not a report")));
}

}  // namespace
}  // namespace parley
