// Whether a node goes on must not depend on its rows, whatever others send (R12). The attack: a neighbour, or a
// trainer, sends values so large that the minimum lies far out, and watches whether the node stops. Two data sets
// differ in one row: all entries set, or one. With the rows' own rounding in the certificate the two stopped at
// different values (pvp, 10,000 records, 300 features: 700.04 told them apart 10 times in 10).
#include <gtest/gtest.h>

#include "parley/algorithm/nodes.h"
#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {
namespace {

const std::vector<std::string> minimising = {"dvp",    "pvp",     "m-admm",    "pp",
                                             "r-admm", "mr-admm", "star-admm", "star-pvp"};

// Full rows; the first has all its entries set, or one.
data::Rows rows_with(bool full_row, std::size_t records, Index features) {
  data::Rows rows;
  rows.features = features;
  PublicRandom draw(1, PublicRandom::Purpose::rows);
  for (std::size_t n = 0; n < records; ++n) {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (Index j = 0; j < (n == 0 && !full_row ? 1 : features); ++j) {
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back((draw.uniform() < 0.5 ? -0.99 : 0.99) / std::sqrt(static_cast<double>(features)));
    }
    rows.append(columns, values, n % 3 == 0 ? 1 : -1);
  }
  return rows;
}

class Attacked {
 public:
  Attacked(const std::string& algorithm, std::size_t records, Index features, double tolerance = 0)
      : dense_(rows_with(true, records, features)),
        sparse_(rows_with(false, records, features)),
        schedule_(make_plan({.algorithm = algorithm, .rounds = 4, .epsilon = {1}},
                            {.degree = {1, 1},
                             .records = {static_cast<double>(records), static_cast<double>(records)},
                             .features = features})
                      .nodes[0]) {
    if (tolerance > 0) schedule_.tolerance = tolerance * schedule_.weight;
  }

  // Does the node stop in its first private round, when every coordinate that it receives is `sent`?
  bool stops(bool dense, double sent, std::uint64_t seed = 1) const {
    const problem::Problem problem{.rows = dense ? &dense_ : &sparse_,
                                   .loss = schedule_.loss,
                                   .weight = schedule_.weight,
                                   .regularization = schedule_.regularization};
    const auto node = make_node(problem, schedule_);
    auto random = privacy::Random::seeded(seed, 1, 1, "test");
    node->commit({}, node->step({}, random).value);
    try {
      node->step({std::make_shared<const Vector>(Vector::Constant(problem.dimension(), sent))}, random);
      return false;
    } catch (const problem::Uncertified&) {
      return true;
    }
  }

  // The smallest value that stops the node; 2000: none does.
  double threshold(bool dense, std::uint64_t seed = 1) const {
    double low = 0, high = 1000;
    if (!stops(dense, high, seed)) return 2000;
    for (int i = 0; i < 45; ++i) (stops(dense, (low + high) / 2, seed) ? high : low) = (low + high) / 2;
    return high;
  }

 private:
  data::Rows dense_, sparse_;
  Schedule schedule_;
};

TEST(StopBit, NoValueWithinTheBoundStopsANodeThatFollowsItsPlan) {
  for (const std::string& name : minimising) {
    const Attacked node(name, 1500, 1000);
    const double full = node.threshold(true), sparse = node.threshold(false);
    EXPECT_EQ(full, sparse) << name;
    EXPECT_EQ(full, 2000) << name;
  }
}

// A tolerance far below what the plan allows, so that some values do stop it: the same for all rows.
TEST(StopBit, WhereANodeStopsItsRowsDoNotDecide) {
  for (const std::string& name : minimising)
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Attacked node(name, 1000, 50, 8e-9);
      const double most = node.threshold(true, seed);
      EXPECT_EQ(most, node.threshold(false, seed)) << name;
      EXPECT_LT(most, 1000) << name << ": there is something to attack";
      EXPECT_GT(most, 1) << name;
    }
}

}  // namespace
}  // namespace parley::algorithm
