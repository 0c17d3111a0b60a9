// Prices for persons in a ledger: computed again from their parameters, and never added up with those of rows.
#include "parley/ledger/ledger_test.h"
#include "parley/ledger/spend.h"
#include "parley/ledger/verify.h"
#include "parley/privacy/gaussian_round.h"

namespace parley::ledger {
namespace {

using testing::AllOf;

privacy::Charge output_noise(std::optional<double> rows, double mu) {
  privacy::Charge c = priced("output-gaussian", {{"tolerance", 0}, {"output_scale", 1}});
  c.mu = mu;
  if (rows) c.parameters.emplace_back("rows_per_person", *rows);
  return c;
}

TEST(PersonPrice, IsGTimesThatOfARow) {  // accounting.md: A mu_out(sigma_f = 1)
  EXPECT_NEAR(recomputed(output_noise({}, 0)).mu, 0.1081849654, 1e-10);
  EXPECT_NEAR(recomputed(output_noise(1, 0)).mu, 0.1081849654, 1e-10);
  EXPECT_NEAR(recomputed(output_noise(4, 0)).mu, 4 * 0.1081849654, 4e-10);
  const privacy::Charge pure = priced("output-gamma", {{"tolerance", 0}, {"output_rate", 1}});
  privacy::Charge of_three = pure;
  of_three.parameters.emplace_back("rows_per_person", 3);
  EXPECT_NEAR(recomputed(of_three).epsilon, 3 * recomputed(pure).epsilon, 1e-14);
}

TEST(PersonPrice, IsInfiniteForWhatIsNoNumberOfRowsOrOnlyVerified) {
  for (const double rows : {0.0, -2.0, 0.5, 2.5, 1e7, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(std::isinf(recomputed(output_noise(rows, 0)).epsilon)) << rows;
  privacy::Charge verified =
      priced("objective-gaussian", {{"tolerance", 0}, {"objective_scale", 9}, {"verified_only", 1}});
  EXPECT_TRUE(std::isfinite(recomputed(verified).mu));
  verified.parameters.emplace_back("rows_per_person", 2);
  EXPECT_TRUE(std::isinf(recomputed(verified).epsilon));
}

TEST(PersonPrice, BothAccountsOfSharedNoiseAreMultiplied) {
  privacy::Charge c{.kind = "sums-gaussian",
                    .mu = 1,
                    .mu_colluders = 1,
                    .parameters = {{"gradient_bound", 1},
                                   {"gradient_scale", 10},
                                   {"tolerance", 0},
                                   {"curvature_scale", 0},
                                   {"curvature_tolerance", 0},
                                   {"own_share", 0.9},
                                   {"pair_share", 1},
                                   {"parties", 5},
                                   {"colluders", 1}}};
  const Price row = recomputed(c);
  c.parameters.emplace_back("rows_per_person", 2);
  const Price two = recomputed(c);
  EXPECT_NEAR(two.mu, 2 * row.mu, 1e-14);
  EXPECT_NEAR(*two.mu_colluders, 2 * *row.mu_colluders, 1e-14);
}

class PersonLedger : public OnFile {
 protected:
  static PlannedRun run_for(const std::string& id, const Unit& unit, double mu) {
    PlannedRun run{.id = id, .configuration = "c", .unit = unit, .datasets = {{.name = "ward", .records = 1000}}};
    run.accounts.push_back({.node = 0, .dataset = "ward", .planned = {output_noise_for(unit, mu)}});
    return run;
  }
  static privacy::Charge output_noise_for(const Unit& unit, double mu) {
    return unit.rows == 0 ? output_noise({}, mu) : output_noise(static_cast<double>(unit.rows), mu);
  }
  static void spend(const std::shared_ptr<LedgerFile>& book, const std::string& id, const Unit& unit, double mu) {
    Ledger ledger(book, run_for(id, unit, mu));
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 0, .value = Vector::Ones(3), .charge = output_noise_for(unit, mu)}));
  }
  const Unit row{}, four{.person = "patient", .rows = 4}, two{.person = "patient", .rows = 2},
      other{.person = "visit", .rows = 2};
};

TEST_F(PersonLedger, RunsForPersonsAndForRowsAreNotAddedUp) {
  const auto book = create(Cap(5, 1e-6));
  spend(book, "a", four, 0.44);
  fails([&] { book->check_room(run_for("b", row, 0.11)); }, {"earlier runs on dataset 'ward' were for another unit",
                                                             "one row", "one person by 'patient', with up to 4 rows"});
  fails([&] { book->check_room(run_for("b", other, 0.22)); }, {"one person by 'visit', with up to 2 rows"});
  book->check_room(run_for("a", row, 0.11));  // the run itself is told apart when it starts again
  fails([&] { Ledger(book, run_for("a", two, 0.22)); }, {"cannot go on", "its prices were for one person"});
  spend(book, "c", two, 0.22);  // each price covers all that a person gave to that run
  EXPECT_EQ(book->unit_of("ward"), four);
  EXPECT_THAT(verify(*book).wrong, testing::IsEmpty());
}

TEST_F(PersonLedger, ARunForRowsKeepsPersonsOut) {
  const auto book = create(Cap(5, 1e-6));
  spend(book, "a", row, 0.11);
  fails([&] { book->check_room(run_for("b", four, 0.44)); }, {"another unit", "one row"});
  book->check_room(run_for("b", row, 0.11));
  book->set_cap("other", Cap(5, 1e-6));
  PlannedRun elsewhere = run_for("b", four, 0.44);
  elsewhere.datasets[0].name = elsewhere.accounts[0].dataset = "other";
  book->check_room(elsewhere);
}

TEST_F(PersonLedger, VerifyFindsThePriceOfARowThatWasRegisteredForAPerson) {
  const auto book = create(Cap(5, 1e-6));
  {
    PlannedRun planned = run_for("a", four, 0.44);
    Ledger ledger(book, planned);
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 0, .value = Vector::Ones(3), .charge = output_noise({}, 0.11)}));
  }
  EXPECT_THAT(verify(*book).wrong,
              testing::Contains(HasSubstr("charged for another unit than one person by 'patient', with up to 4 rows")));
}

TEST_F(PersonLedger, VerifyFindsAPersonThatWasChargedLikeARow) {
  const auto book = create(Cap(5, 1e-6));
  {
    Ledger ledger(book, run_for("a", four, 0.44));
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 0, .value = Vector::Ones(3), .charge = output_noise(4, 0.11)}));
  }
  EXPECT_THAT(verify(*book).wrong, testing::Contains(AllOf(HasSubstr("charged mu 0.11"), HasSubstr("cost 0.432"))));
}

}  // namespace
}  // namespace parley::ledger
