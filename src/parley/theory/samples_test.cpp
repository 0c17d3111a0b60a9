#include "parley/theory/samples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace parley::theory {
namespace {

const SampleQuestion question{.target_excess = 0.3,
                              .failure_probability = 0.05,
                              .reference_norm = 2,
                              .optimality_gap = 0.1,
                              .constant = 3,
                              .slack = 0.5};

TEST(SampleSize, Theorem3) {
  EXPECT_NEAR(records_needed(question), 3 * 4 * std::log(20.0) / 0.04, 1e-9);
}

TEST(SampleSize, Theorem4AsPrinted) {
  const double c = 1750, n = 5, d = 10, alpha = 2, log_d = std::log(d / 0.05);
  const double printed =
      3 * c * n * std::log(20.0) / (n * c * 0.04 / 8 - 1.5 * n * d * d / (c * alpha * alpha) * log_d * log_d);
  EXPECT_NEAR(*records_needed_private(question, c, alpha, d), printed, 1e-9 * printed);
}

// "If alpha goes to infinity, the result reduces to ... the same as given in Theorem 3": up to the factor 2 that w
// absorbs.
TEST(SampleSize, WithoutNoiseTheorem4IsTwiceTheorem3) {
  EXPECT_NEAR(*records_needed_private(question, 1750, 1e9, 10), 2 * records_needed(question), 1e-6);
}

TEST(SampleSize, MoreNoiseNeedsMoreRecordsUntilNoneSuffice) {
  const double least = least_noise_rate(question, 1750, 10);
  EXPECT_FALSE(records_needed_private(question, 1750, least * 0.999, 10).has_value());
  double before = 1e300;
  for (const double rate : {1.001, 1.5, 3.0, 10.0}) {
    const double needed = *records_needed_private(question, 1750, least * rate, 10);
    EXPECT_LT(needed, before);
    before = needed;
  }
  SampleQuestion finer = question;
  finer.target_excess = 0.2;  // half the room: four times the records
  EXPECT_NEAR(records_needed(finer), 4 * records_needed(question), 1e-8);
}

}  // namespace
}  // namespace parley::theory
