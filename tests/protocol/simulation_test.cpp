// Thousands of runs under faults, each from one seed. PARLEY_TEST_FULL: 100,000; PARLEY_TEST_SHORT: 100. A failing seed
// prints itself; PARLEY_PROTOCOL_SEED=… replays it alone, with its story.
#include <gtest/gtest.h>

#include <cstdlib>

#include "protocol/seeds.h"

namespace parley::protocol {
namespace {

TEST(Simulation, AnUndisturbedRunIsTheInProcessRun) {
  for (const auto& scenario : scenarios()) {
    World world(*scenario, 1, Faults::none());
    ASSERT_NO_THROW(world.run());
    for (const Vector& model : world.models) EXPECT_TRUE(same_bits(model, scenario->model));
    EXPECT_EQ(world.crashes, 0);
    EXPECT_LT(world.now(), 20) << "nobody lingers";
    EXPECT_TRUE(world.reports.empty()) << world.reports.front();
  }
}

TEST(Simulation, NoPromiseIsBrokenUnderFaults) {
  Totals totals;
  const char* only = std::getenv("PARLEY_PROTOCOL_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const std::uint64_t last = only != nullptr ? first + 1 : seeds(100000, 1000, 100);
  int failures = 0;
  for (std::uint64_t seed = first; seed < last && failures < 5; ++seed) {
    try {
      live_through(seed, totals, [&](World& world) { world.verbose = only != nullptr; });
    } catch (const std::exception& e) {
      ++failures;
      ADD_FAILURE() << "seed " << seed << ": " << e.what() << "\n  replay: PARLEY_PROTOCOL_SEED=" << seed;
    }
  }
  RecordProperty("crashes", std::to_string(totals.crashes));
  RecordProperty("messages", std::to_string(totals.messages));
  EXPECT_TRUE(only != nullptr || totals.crashes > static_cast<long>(last / 2));
}

}  // namespace
}  // namespace parley::protocol
