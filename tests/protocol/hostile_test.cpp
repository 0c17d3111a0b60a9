// What is no fault but worse: a party that says two things, one whose disks are put back to an older day, one that
// never comes back. The promises to the honest ones hold, from many seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/seeds.h"

namespace parley::protocol {
namespace {

using protocol::End;
using protocol::Message;

struct Life {
  explicit Life(std::uint64_t seed, Faults faults = Faults::none())
      : random(seed, PublicRandom::Purpose::hold_out),
        scenario(*scenarios()[random.below(scenarios().size())]),
        world(scenario, seed, faults) {}
  int node() { return static_cast<int>(random.below(static_cast<std::uint64_t>(scenario.nodes()))); }
  int neighbour_of(int node) {
    const auto& all = scenario.graph.neighbours(node);
    return all[random.below(all.size())];
  }
  void until(double time) {
    world.run_while([&] { return world.now() < time; });
  }
  PublicRandom random;
  const Scenario& scenario;
  World world;
};

template <class Test>
void for_seeds(const Test& test) {
  for (std::uint64_t seed = 0; seed < seeds(10000, 200, 40); ++seed) {
    try {
      test(seed);
    } catch (const Violation& v) {
      FAIL() << "seed " << seed << ": " << v.what();
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Hostile, APartyThatSaysTwoThingsIsCaughtByWhoeverHearsBoth) {
  int caught = 0;
  for_seeds([&](std::uint64_t seed) {
    Life life(seed);
    life.until(0.6 + 2 * life.random.uniform());
    if (life.world.sent_values.empty()) return;
    auto parsed = protocol::decode(life.world.sent_values[life.random.below(life.world.sent_values.size())]);
    Message m = std::get<Message>(parsed);
    const int liar = m.node, hears = life.neighbour_of(liar);
    if (m.payload.empty() || !life.world.running(hears)) return;
    Vector value = *protocol::vector_of(m.payload);
    value[0] += life.scenario.agreement().grid(liar, m.round);
    m.payload = protocol::payload_of(value);
    Digest head{};
    for (int t = 0; t < m.round; ++t)
      head = protocol::next_head(
          head, m.run, liar, t,
          protocol::payload_of(life.world.ledger(liar).durable()[static_cast<std::size_t>(t)].value));
    m.head = protocol::next_head(head, m.run, liar, m.round, m.payload);
    m.signature = simulated_keys(liar).sign(protocol::signed_part(m));
    life.world.deliver(liar, hears, protocol::encode(m));
    life.world.run();
    const auto& ending = *life.world.endings[static_cast<std::size_t>(hears)];
    // It may also have heard the lie first, and refused the liar's next greeting for its other history; or it had the
    // model already, which stands.
    ASSERT_TRUE(ending.end == End::equivocation || ending.end == End::completed ||
                (ending.end == End::peer_lost && ending.text.find("another round") != std::string::npos))
        << ending.text;
    ++caught;
  });
  EXPECT_GT(caught, 10);
}

// Ledger and transcript together, so that only the peers can know (R7). Whatever is solved again has fresh noise, so a
// second value would differ, and the world would see it leave.
TEST(Hostile, APartyPutBackToAnOlderDayIsRefusedAndReleasesNothing) {
  int refused = 0;
  for_seeds([&](std::uint64_t seed) {
    Life life(seed, {.fresh_noise = true});
    life.world.timing = {.deadline = 1, .wait = 20, .first_wait = 20};
    life.until(0.6 + life.random.uniform());
    const int node = life.node();
    const std::string transcript = life.world.disk(node).content();
    const std::size_t releases = life.world.ledger(node).durable().size();
    life.until(life.world.now() + life.random.uniform());
    if (!life.world.running(node)) return;
    life.world.kill(node);
    life.world.disk(node).restore(transcript);
    life.world.ledger(node).restore(releases);
    bool seen_more = false;
    for (const int j : life.scenario.graph.neighbours(node))
      if (life.world.running(j))
        for (const auto& peer : life.world.party(j).now().exchange().peers())
          // Round 0, the start, has no data in it, and comes out the same again.
          seen_more = seen_more || (peer.node == node && peer.stored >= std::max(1, static_cast<int>(releases)));
    life.world.forget_acknowledged(node);
    life.world.run();
    const auto& ending = *life.world.endings[static_cast<std::size_t>(node)];
    if (!seen_more) return;
    // Peers that have completed and gone cannot tell it; without their word it releases nothing either.
    ASSERT_TRUE(ending.end == End::refused || ending.end == End::peer_lost) << ending.text;
    if (ending.end == End::peer_lost) return;
    ASSERT_THAT(ending.text, testing::HasSubstr("older than what"));
    ++refused;
  });
  EXPECT_GT(refused, 10);
}

TEST(Hostile, APartyThatNeverComesBackIsLostByNameAndTheOthersKeepWhatTheyHave) {
  int lost = 0;
  for_seeds([&](std::uint64_t seed) {
    Life life(seed);
    life.world.timing = {.deadline = 1, .wait = 10, .first_wait = 10};
    life.until(1.5 * life.random.uniform());
    const int node = life.node();
    life.world.cut_off(node);
    life.world.run();
    for (int i = 0; i < life.scenario.nodes(); ++i) {
      const auto& ending = *life.world.endings[static_cast<std::size_t>(i)];
      ASSERT_TRUE(ending.end == End::peer_lost || ending.end == End::completed) << ending.text;
      if (i == node || ending.end == End::completed) continue;
      ASSERT_THAT(ending.text, testing::HasSubstr("party_" + std::to_string(node) + " has not"));
      ++lost;
    }
    ASSERT_LT(life.world.now(), 40);
  });
  EXPECT_GT(lost, 10);
}

}  // namespace
}  // namespace parley::protocol
