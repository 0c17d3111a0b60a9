// on-loss = "continue": parties that vanish for ever, or come back too late, at any time, while the others suffer every
// other fault. Each life from one seed; PARLEY_CONTINUE_SEED=… replays one with its story.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/seeds.h"

namespace parley::protocol {
namespace {

using protocol::End;

struct Count {
  long went_on = 0, in_three_parts = 0, stopped = 0, whole = 0, crashes = 0, told = 0;
};

// Larger studies: who is left is more than half.
const std::vector<std::unique_ptr<Scenario>>& studies() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Scenario>> made;
    const auto add = [&](const std::string& name, long rounds, network::Graph g, const std::string& noise = "gamma") {
      made.push_back(std::make_unique<Scenario>(options_of(name, rounds, noise), std::move(g)));
    };
    add("mr-admm", 6, {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}});
    add("mr-admm", 5, {5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}});
    add("pp", 5, {3, {{0, 1}, {1, 2}, {0, 2}}});
    add("linear-admm", 6, {4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}});
    add("dp-admm", 4, network::trainer_star(4));
    add("dp-admm", 3, network::trainer_star(2));
    add("m-admm", 4, {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}}});
    add("mr-admm", 6, {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}}, "gaussian");
    add("star-pvp", 3, network::trainer_star(3));
    add("newton", 5, {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}}, "gaussian");
    add("newton", 6, {5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}}, "gaussian");
    add("newton", 4, network::complete_graph(4), "gaussian");
    add("dp-gd", 6, {4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}}}, "gaussian");
    return made;
  }();
  return all;
}

void live(std::uint64_t seed, Count& count, bool verbose) {
  PublicRandom random(seed, PublicRandom::Purpose::hold_out);
  const Scenario& scenario = *studies()[random.below(studies().size())];
  Faults faults = random.below(3) == 0 ? Faults::none() : Faults::from(random);
  faults.fresh_noise = random.below(2) == 0;
  World world(scenario, seed, faults);
  world.verbose = verbose;
  world.continues = true;
  world.timing = {.deadline = 1, .wait = 10, .first_wait = 15};
  const auto anyone = [&] { return static_cast<int>(random.below(static_cast<std::uint64_t>(scenario.nodes()))); };
  if (random.below(4) == 0) {  // a cap between nothing and what the study plans
    const int node = anyone();
    if (node < scenario.first.holders() && scenario.plan.nodes.front().delta == 0)
      world.caps[node] = 5 * random.uniform();
  }
  const std::uint64_t losses = 1 + (random.below(4) == 0 ? 1 : 0);
  for (std::uint64_t i = 0; i < losses; ++i) {
    const double until = world.now() + (faults.until > 0 ? 8 : 2.5) * random.uniform();
    world.run_while([&] { return world.now() < until; });
    const int node = anyone();
    if (random.below(3) > 0) {
      world.vanish(node);
    } else {  // it comes back, perhaps too late
      world.cut_off(node);
      const double back = world.now() + 40 * random.uniform();
      world.run_while([&] { return world.now() < back; });
      world.cut_off(node, false);
    }
  }
  world.run(1000);
  for (const auto& ending : world.endings)
    if (ending->end == End::equivocation || ending->end == End::refused || ending->end == End::continued)
      throw Violation("honest parties end as: " + ending->text);
  const bool completed = std::ranges::any_of(world.endings, [](const auto& e) { return e->end == End::completed; });
  count.went_on += completed && world.parts.size() > 1 ? 1 : 0;
  count.in_three_parts += completed && world.parts.size() > 2 ? 1 : 0;
  count.whole += completed && world.parts.size() == 1 ? 1 : 0;
  count.stopped += completed ? 0 : 1;
  if (!completed && std::getenv("PARLEY_CONTINUE_WHY") != nullptr)
    for (const auto& ending : world.endings)
      if (ending->text != "vanished") std::printf("STOP %s\n", ending->text.c_str());
  count.crashes += world.crashes;
  for (const auto& ending : world.endings)
    count.told += ending->text.find("gone on without") != std::string::npos ? 1 : 0;
}

TEST(GoingOn, NoPromiseIsBrokenWhenPartiesAreLost) {
  Count count;
  const char* only = std::getenv("PARLEY_CONTINUE_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const std::uint64_t last = only != nullptr ? first + 1 : seeds(100000, 1000, 100);
  int failures = 0;
  for (std::uint64_t seed = first; seed < last && failures < 5; ++seed) {
    try {
      live(seed, count, only != nullptr);
    } catch (const std::exception& e) {
      ++failures;
      ADD_FAILURE() << "seed " << seed << ": " << e.what() << "\n  replay: PARLEY_CONTINUE_SEED=" << seed;
    }
  }
  const auto part = [&](const char* name, long value) { RecordProperty(name, std::to_string(value)); };
  part("went on", count.went_on), part("in three parts", count.in_three_parts), part("stopped", count.stopped);
  part("whole", count.whole), part("crashes", count.crashes), part("told that they were left", count.told);
  std::printf("went on %ld, in three parts %ld, stopped %ld, whole %ld, crashes %ld, told %ld\n", count.went_on,
              count.in_three_parts, count.stopped, count.whole, count.crashes, count.told);
  if (only != nullptr) return;
  EXPECT_GT(count.went_on, static_cast<long>(last / 10));
  EXPECT_GT(count.told, 0);
  EXPECT_GT(count.stopped, 0);
}

}  // namespace
}  // namespace parley::protocol
