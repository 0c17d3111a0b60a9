// Noise that cancels between parties costs less against the colluders of a plan than against anybody. The ledger keeps an
// account of each; no decision mixes them.
#include <cmath>

#include "ledger_test.h"
#include "parley/ledger/verify.h"
#include "parley/privacy/gaussian.h"

namespace parley::ledger {
namespace {

using privacy::Against;
constexpr double delta = 1e-6;

privacy::Release shared(int round, double mu, double mu_colluders) {
  return {.node = 0,
          .round = round,
          .value = Vector::Ones(3),
          .charge = {.kind = "sums-gaussian", .mu = mu, .mu_colluders = mu_colluders}};
}

PlannedRun planned(const std::string& id, int rounds, double mu, double mu_colluders) {
  PlannedRun run{.id = id, .configuration = "c", .datasets = {{.name = "ward", .records = 1000}}};
  run.accounts.push_back({.node = 0, .dataset = "ward"});
  for (int t = 0; t < rounds; ++t) run.accounts[0].planned.push_back(shared(t, mu, mu_colluders).charge);
  return run;
}

double epsilon(double mu) {
  return privacy::gdp_epsilon(mu, delta);
}

TEST_F(OnFile, WithOneCapTheAccountAgainstAnybodyDecides) {
  const auto book = create(Cap(epsilon(1), delta));
  fails([&] { book->check_room(planned("a", 1, 1.01, 0.1)); }, {"exceed", "against anybody", "--colluders-epsilon"});
  book->check_room(planned("a", 1, 0.99, 0.1));
  Ledger ledger(book, planned("a", 1, 0.99, 0.1));
  EXPECT_TRUE(ledger.pay(shared(0, 0.99, 0.1)));
  EXPECT_FALSE(ledger.pay(shared(1, 0.5, 0.05))) << "against anybody it is over the cap";
}

TEST_F(OnFile, EachAccountHasItsOwnCap) {
  const auto book = create(Cap(epsilon(4), delta, epsilon(1)));
  fails([&] { book->check_room(planned("a", 1, 1.5, 1.01)); }, {"exceed", "against its colluders"});
  fails([&] { book->check_room(planned("a", 1, 4.01, 0.5)); }, {"exceed", "against anybody"});
  fails([&] { book->check_room(planned("a", 2, 1.5, 0.8)); }, {"exceed", "against its colluders"});
  PlannedRun own = planned("a", 1, 1.01, 1.01);  // noise of its own: both accounts have it in full
  own.accounts[0].planned[0].mu_colluders.reset();
  fails([&] { book->check_room(own); }, {"exceed", "against its colluders"});
  {
    Ledger ledger(book, planned("a", 2, 2, 0.6));
    EXPECT_TRUE(ledger.pay(shared(0, 2, 0.6)));
    EXPECT_TRUE(ledger.pay(shared(1, 2, 0.6)));
    EXPECT_FALSE(ledger.pay(shared(2, 0.9, 0.6))) << "colluders";
    EXPECT_FALSE(ledger.pay(shared(2, 3, 0.01))) << "anybody";
    EXPECT_NEAR(ledger.spent(0, delta), epsilon(std::hypot(2, 2)), 1e-9);
    EXPECT_NEAR(ledger.spent(0, delta, Against::colluders), epsilon(std::hypot(0.6, 0.6)), 1e-9);
  }
}

TEST_F(OnFile, BothAccountsAreOnDiskAndAddUpOverRuns) {
  {
    const auto book = create(Cap(epsilon(10), delta, epsilon(3)));
    for (const std::string id : {"a", "b"}) {
      Ledger ledger(book, planned(id, 1, 2, 0.6));
      EXPECT_TRUE(ledger.pay(shared(0, 2, 0.6)));
    }
  }
  const auto book = open();
  EXPECT_EQ(book->datasets().at("ward").cap.colluders_epsilon, epsilon(3));
  EXPECT_NEAR(book->spent("ward").epsilon(), epsilon(std::sqrt(8.0)), 1e-9);
  EXPECT_NEAR(book->spent("ward", Against::colluders).epsilon(), epsilon(0.6 * std::sqrt(2.0)), 1e-9);
  EXPECT_NEAR(*book->find_run("a")->accounts.at(0).planned_mu_colluders, 0.6, 1e-12);
  Ledger resumed(book, planned("a", 1, 2, 0.6));
  EXPECT_NEAR(resumed.spent(0, delta, Against::colluders), epsilon(0.6), 1e-9);
}

// Under a wide cap a run could be charged more than was planned, and nobody would see it.
TEST_F(OnFile, ChargesBeyondWhatWasRegisteredAreFoundInEachAccount) {
  const auto book = create(Cap(epsilon(20), delta, epsilon(10)));
  const auto found = [&](const std::string& id, double mu, double mu_colluders) {
    {
      Ledger ledger(book, planned(id, 2, 2, 0.6));
      EXPECT_TRUE(ledger.pay(shared(0, 2, 0.6)));
      EXPECT_TRUE(ledger.pay(shared(1, mu, mu_colluders)));
    }
    std::vector<std::string> wrong;
    for (const std::string& one : verify(*book).wrong)
      if (one.starts_with("run " + id + ", node 0: its charges")) wrong.push_back(one);
    return wrong;
  };
  EXPECT_THAT(found("as planned", 2, 0.6), testing::IsEmpty());
  EXPECT_THAT(found("anybody", 2.1, 0.6), testing::ElementsAre(HasSubstr("mu 2.9")));
  EXPECT_THAT(found("colluders", 2, 0.7), testing::ElementsAre(HasSubstr("mu against colluders 0.92")));
}

TEST_F(OnFile, ACapAgainstColludersIsNoLargerThanThatAgainstAnybody) {
  const auto book = create(Cap(epsilon(1), delta));
  fails([&] { book->set_cap("ward", Cap(1, delta, 2)); }, {"no cap against colluders"});
  fails([&] { book->set_cap("ward", Cap(1, delta, 0)); }, {"no cap against colluders"});
  book->set_cap("ward", Cap(INFINITY, delta, 2));
  EXPECT_TRUE(book->datasets().at("ward").cap.limited());
  PlannedRun seeded = planned("a", 1, 0.1, 0.1);
  seeded.not_private = {"seeded"};
  fails([&] { book->check_room(seeded); }, {"not private"});
}

}  // namespace
}  // namespace parley::ledger
