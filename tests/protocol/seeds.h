// A whole life of a world from one seed, and how many of them a test takes.
#pragma once
#include <cstdlib>
#include <functional>

#include "protocol/world.h"

namespace parley::protocol {

inline std::uint64_t seeds(std::uint64_t full, std::uint64_t usual, std::uint64_t few) {
  if (std::getenv("PARLEY_TEST_FULL") != nullptr) return full;
  return std::getenv("PARLEY_TEST_SHORT") != nullptr ? few : usual;
}

struct Totals {
  long crashes = 0, messages = 0;
};

// Violation unless everyone completes. with: changes the world before it begins (the twins).
inline void live_through(std::uint64_t seed, Totals& totals, const std::function<void(World&)>& with = {}) {
  PublicRandom random(seed, PublicRandom::Purpose::hold_out);
  const auto& scenario = *scenarios()[random.below(scenarios().size())];
  World world(scenario, seed, Faults::from(random));
  if (with) with(world);
  world.run();
  for (const auto& ending : world.endings)
    if (ending->end != protocol::End::completed) throw Violation("it ends: " + ending->text);
  totals.crashes += world.crashes;
  totals.messages += world.messages;
}

}  // namespace parley::protocol
