// An insider of a run of sums that goes on after a loss: it lies about whom it has lost, about how far it is, in what it
// sends to whom, and in the model. Nobody who is honest is left out, blamed, or ends with another model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "protocol/world.h"

namespace parley::protocol {
namespace {

constexpr int insider = 3;

struct Insider {
  explicit Insider(int nodes, long rounds = 6)
      : scenario(options_of("newton", rounds, "gaussian"), network::complete_graph(nodes)),
        world(scenario, 7, Faults::none()) {
    world.continues = true;
    world.timing = {.deadline = 1, .wait = 10, .first_wait = 15};
  }
  int released(int node) {
    if (world.endings[static_cast<std::size_t>(node)]) return scenario.agreement().rounds;
    return world.running(node) ? world.party(node).part(1).exchange().released() : -1;  // not started yet
  }
  bool all_released(int round) {
    for (int i = 0; i < scenario.nodes(); ++i)
      if (released(i) < round) return false;
    return true;
  }
  void until_all_released(int round) {
    world.run_while([&] { return !all_released(round); });
  }
  void to_the_end() {
    world.run_while(
        [&] {
          for (int i = 0; i < scenario.nodes(); ++i)
            if (i != insider && !world.endings[static_cast<std::size_t>(i)]) return true;
          return false;
        },
        1000);
  }
  const Ending& ending(int node) { return *world.endings[static_cast<std::size_t>(node)]; }
  static std::string signed_again(Message m) {
    m.signature = simulated_keys(m.node).sign(signed_part(m));
    return encode(m);
  }
  Message last_value() {
    Message last;
    for (const std::string& bytes : world.sent_values) {
      const auto parsed = decode(bytes);
      if (const auto& m = std::get<Message>(parsed); m.node == insider && m.round >= last.round) last = m;
    }
    return last;
  }
  Scenario scenario;
  World world;
};

TEST(Insider, WhoStatesThatItHasLostTheLivingLeavesNobodyOut) {
  Insider run(5);
  std::map<int, std::string> stated;
  run.world.tamper = [&](int, int, const std::string& bytes) {
    const auto parsed = decode(bytes);
    if (const auto* m = std::get_if<Message>(&parsed); m != nullptr && m->kind == Kind::loss) stated[m->node] = bytes;
    return bytes;
  };
  run.until_all_released(3);
  run.world.cut_off(insider);
  Message lie = run.last_value();
  lie.kind = Kind::loss;
  lie.payload = payload_of(Loss{{2, 4}});
  stated[insider] = Insider::signed_again(lie);
  for (const int i : {0, 1}) run.world.deliver(insider, i, stated[insider]);
  run.world.run_while([&] { return !stated.contains(0) || !stated.contains(1); });
  Survivors known(run.scenario.first.agreed, insider);
  for (const int i : {0, 1, insider}) known.add(std::get<Message>(decode(stated.at(i))), stated.at(i));
  const auto outlook = known.outlook(Patience::short_of);
  ASSERT_THAT(outlook.next.members, testing::ElementsAre(0, 1, insider));
  Message consent = lie;
  consent.kind = Kind::consent;
  consent.round = outlook.next.through;
  consent.head = outlook.next.id;
  consent.payload = payload_of(
      Consent{.agrees = true,
              .members = outlook.next.members,
              .configuration = study::next_part(run.scenario.first, outlook.next).agreed.configuration_hash});
  for (const int i : {0, 1}) run.world.deliver(insider, i, Insider::signed_again(consent));
  run.to_the_end();
  for (const int i : {2, 4}) EXPECT_FALSE(run.ending(i).left_behind()) << run.ending(i).text;
  for (const study::Part& part : run.world.parts) EXPECT_NE(part.agreed.nodes(), 3) << "the insider's choice";
}

// To one neighbour another value of an early round; then it vanishes. The honest ones hold different sums.
TEST(Insider, WhoSendsTwoValuesAndVanishesFramesNobody) {
  Insider run(4);
  std::map<int, Digest> real, fake;
  constexpr int victim = 1, twisted = 2;
  run.world.tamper = [&](int from, int to, const std::string& bytes) {
    auto parsed = decode(bytes);
    auto* m = std::get_if<Message>(&parsed);
    if (m == nullptr || m->run != run.scenario.first.agreed.run) return bytes;
    const bool value = m->kind == Kind::value || m->kind == Kind::silent;
    if (from == insider && m->node == insider && value) real[m->round] = m->head;
    if (from == insider && to == victim && m->node == insider) {
      if (value) {
        Vector v = *vector_of(m->payload);
        if (m->round == twisted) v[v.size() - 1] += 65536 * run.scenario.agreement().grid(insider, twisted);
        m->payload = payload_of(v);
        m->head = next_head(m->round == 0 ? Digest{} : fake[m->round - 1], m->run, insider, m->round, m->payload);
        fake[m->round] = m->head;
      } else if (m->round >= 0 && fake.contains(m->round)) {
        m->head = fake[m->round];
      }
      return Insider::signed_again(*m);
    }
    if (from == victim && to == insider && m->kind == Kind::hello) {
      Seen seen = *seen_of(m->payload);
      if (seen.round >= 0 && real.contains(seen.round)) seen.head = real[seen.round];
      m->payload = payload_of(seen);
      return Insider::signed_again(*m);
    }
    return bytes;
  };
  run.until_all_released(5);
  run.world.vanish(insider);
  run.to_the_end();
  ASSERT_TRUE(fake.contains(twisted));
  int found = 0;  // by itself; the others are told
  for (const int i : {0, 1, 2}) {
    EXPECT_NE(run.ending(i).end, End::completed);
    EXPECT_THAT(run.ending(i).text, testing::HasSubstr("hold different values"));
    found += run.ending(i).end == End::contradicted ? 1 : 0;
  }
  EXPECT_GE(found, 1);
}

// Its last release, the model, is free: one that does not follow from the sums moves nobody's.
TEST(Insider, WhoReleasesAnotherModelMovesNobodys) {
  for (const bool continues : {false, true}) {
    Insider run(4);
    run.world.continues = continues;
    const int last = run.scenario.agreement().rounds;
    run.world.tamper = [&](int, int, const std::string& bytes) {
      auto parsed = decode(bytes);
      auto* m = std::get_if<Message>(&parsed);
      if (m == nullptr || m->node != insider || m->round != last) return bytes;
      Vector v = run.scenario.released.back()[insider];
      v[0] += 900;
      const std::string payload = payload_of(v);
      Digest head{};
      for (int t = 0; t < last; ++t)
        head = next_head(head, m->run, insider, t,
                         payload_of(run.scenario.released[static_cast<std::size_t>(t)][insider]));
      m->head = next_head(head, m->run, insider, last, payload);
      if (m->kind == Kind::value || m->kind == Kind::final_iterate) m->payload = payload;
      return Insider::signed_again(*m);
    };
    run.to_the_end();
    for (const int i : {0, 1, 2}) {
      EXPECT_NE(run.ending(i).end, End::completed) << "with the insider's model";
      EXPECT_THAT(run.ending(i).text, testing::HasSubstr("does not follow from the releases"));
    }
  }
}

TEST(Insider, WhoStatesARoundThatNobodyCanHaveReachedEndsNoRunAsCompleted) {
  Insider run(5);
  run.until_all_released(3);
  run.world.cut_off(insider);
  Message lie = run.last_value();
  lie.kind = Kind::loss;
  lie.round = run.scenario.agreement().rounds;
  lie.payload = payload_of(Loss{});
  for (const int i : {0, 1, 2, 4}) run.world.deliver(insider, i, Insider::signed_again(lie));
  run.to_the_end();
  for (const int i : {0, 1, 2, 4}) EXPECT_NE(run.ending(i).end, End::completed) << run.ending(i).text;
}

}  // namespace
}  // namespace parley::protocol
