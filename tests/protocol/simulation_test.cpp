// Thousands of runs under faults, each from one seed. PARLEY_TEST_FULL: 100,000; PARLEY_TEST_SHORT: 100. A failing seed
// prints itself; PARLEY_PROTOCOL_SEED=… replays it alone, with its story.
#include <gtest/gtest.h>

#include <cstdlib>

#include "protocol/world.h"

namespace parley::protocol {
namespace {

std::uint64_t seeds() {
  if (std::getenv("PARLEY_TEST_FULL") != nullptr) return 100000;
  return std::getenv("PARLEY_TEST_SHORT") != nullptr ? 100 : 1000;
}

struct Totals {
  long crashes = 0, messages = 0;
};

void live_through(std::uint64_t seed, bool verbose, Totals& totals) {
  PublicRandom random(seed, PublicRandom::Purpose::hold_out);
  const auto& scenario = *scenarios()[random.below(scenarios().size())];
  World world(scenario, seed, Faults::from(random));
  world.verbose = verbose;
  world.run();
  for (const auto& ending : world.endings)
    if (ending->end != network::End::completed) throw Violation("it ends: " + ending->text);
  totals.crashes += world.crashes;
  totals.messages += world.messages;
}

TEST(Simulation, AnUndisturbedRunIsTheInProcessRun) {
  for (const auto& scenario : scenarios()) {
    World world(*scenario, 1, Faults::none());
    ASSERT_NO_THROW(world.run());
    for (const Vector& model : world.models) EXPECT_TRUE(same_bits(model, scenario->model));
    EXPECT_EQ(world.crashes, 0);
    EXPECT_TRUE(world.reports.empty()) << world.reports.front();
  }
}

TEST(Simulation, NoPromiseIsBrokenUnderFaults) {
  Totals totals;
  const char* only = std::getenv("PARLEY_PROTOCOL_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const std::uint64_t last = only != nullptr ? first + 1 : seeds();
  int failures = 0;
  for (std::uint64_t seed = first; seed < last && failures < 5; ++seed) {
    try {
      live_through(seed, only != nullptr, totals);
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
