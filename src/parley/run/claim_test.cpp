#include "parley/run/claim.h"

#include <gtest/gtest.h>

namespace parley::run {
namespace {

TEST(SpentOfPlanned, SaysBothLossesAndAgainstWhomWhereNoiseIsShared) {
  const algorithm::Cost spent{.epsilon = 0.5, .all_others = 1.07}, planned{.epsilon = 1, .all_others = 2.1457};
  EXPECT_EQ(spent_of_planned("ε", spent, planned, {}), "ε 0.5000 of 1.0000");
  EXPECT_EQ(spent_of_planned("ε", spent, planned, {.parties = 4, .colluders = 1, .noise = {.own = 0.2, .pair = 0.5}}),
            "ε 0.5000 of 1.0000 against any 1 of the 4 parties together, 1.0700 of 2.1457 against all other parties "
            "together");
}

}  // namespace
}  // namespace parley::run
