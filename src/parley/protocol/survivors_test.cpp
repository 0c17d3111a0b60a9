// Who goes on after a loss: agreement in every order, no two sets in any partition, liars, lost consents, late comers.
#include "parley/protocol/survivors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "parley/base/public_random.h"

namespace parley::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using What = Survivors::Outlook::What;

Agreement study(network::Graph graph, int turn = 1, std::optional<int> trainer = std::nullopt) {
  Agreement a{.run = "run-1", .configuration_hash = "hash", .graph = std::move(graph), .dimension = 2, .rounds = 10};
  for (int i = 0; i < a.graph.nodes(); ++i) a.parties.push_back("party_" + std::to_string(i));
  a.turn = turn;
  a.trainer = trainer;
  return a;
}

network::Graph ring(int nodes) {
  return network::make_graph({.graph = "ring"}, nodes);
}

network::Graph complete(int nodes) {
  return network::make_graph({.graph = "complete"}, nodes);
}

Message loss(const Agreement& a, int node, int released, std::vector<int> lost = {}) {
  return {.kind = Kind::loss,
          .run = a.run,
          .sender = a.name(node),
          .node = node,
          .round = released,
          .head = sha256(std::to_string(node) + " " + std::to_string(released)),
          .payload = payload_of(Loss{std::move(lost)})};
}

Message consent(const Agreement& a, int node, const Succession& next, const std::string& configuration = "next") {
  return {.kind = Kind::consent,
          .run = a.run,
          .sender = a.name(node),
          .node = node,
          .round = next.through,
          .head = next.id,
          .payload = payload_of(Consent{.agrees = true, .members = next.members, .configuration = configuration})};
}

Message refusal(const Agreement& a, int node, const Succession& next, const std::string& reason) {
  Message m = consent(a, node, next);
  m.payload = payload_of(Consent{.members = next.members, .reason = reason});
  return m;
}

struct One {
  One(const Agreement& a, int node) : agreed(a), self(node), known(a, node) {}
  void hear(const Message& m) {
    ASSERT_NE(known.judge(m).verdict, Verdict::second_value);
    if (known.judge(m).verdict != Verdict::accepted) return;
    known.add(m, encode(m));
    heard.push_back(m);
  }
  void state(int released, std::vector<int> lost = {}) { hear(loss(agreed, self, released, std::move(lost))); }
  // As Exchange does it: states what it has when it hears of a loss, consents when it can.
  Survivors::Outlook act(int released, Patience patience) {
    if (known.begun() && !known.stated(self)) state(released);
    auto outlook = known.outlook(patience);
    if (outlook.what == What::consent) {
      hear(consent(agreed, self, outlook.next));
      outlook = known.outlook(patience);
    }
    return outlook;
  }
  const Agreement& agreed;
  int self;
  Survivors known;
  std::vector<Message> heard;
};

TEST(Survivors, AgreeInWhateverOrderTheirMessagesArrive) {
  const Agreement a = study(ring(5));
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    PublicRandom random(seed, PublicRandom::Purpose::rows);
    std::vector<One> all;
    for (int i = 0; i < 5; ++i) all.emplace_back(a, i);
    const std::vector<int> released = {7, 6, 6, 7, 5};  // 4 is dead
    all[0].state(7, {4});
    if (random.below(2) == 0) all[3].state(7, {4});
    std::set<std::string> ids;
    for (int step = 0; step < 100000 && ids.size() < 4; ++step) {
      const auto from = random.below(4), to = random.below(4);
      if (all[from].heard.empty() || (from + 1 != to && to + 1 != from)) continue;
      all[to].hear(all[from].heard[random.below(all[from].heard.size())]);
      ids.clear();
      for (std::size_t i = 0; i < 4; ++i) {
        const auto outlook = all[i].act(released[i], Patience::short_of);
        ASSERT_NE(outlook.what, What::over) << outlook.why;
        if (outlook.what == What::go_on) {
          ids.insert(std::to_string(i));
          EXPECT_THAT(outlook.next.members, ElementsAre(0, 1, 2, 3));
          EXPECT_EQ(outlook.next.through, 6);
          EXPECT_THAT(outlook.next.released, ElementsAre(7, 6, 6, 7));
        }
      }
    }
    ASSERT_EQ(ids.size(), 4U) << "seed " << seed;
  }
}

// Any partition, any loss of messages, any patience: those who go on are one set.
TEST(Survivors, NoTwoSetsGoOn) {
  int went_on = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    PublicRandom random(seed, PublicRandom::Purpose::rows);
    const int nodes = 3 + static_cast<int>(random.below(4));
    const Agreement a = study(random.below(2) == 0 ? ring(nodes) : complete(nodes));
    std::vector<One> all;
    std::vector<int> side, released;
    for (int i = 0; i < nodes; ++i) {
      all.emplace_back(a, i);
      side.push_back(static_cast<int>(random.below(2)));
      released.push_back(3 + static_cast<int>(random.below(2)));
    }
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int i = 0; i < nodes; ++i) {
      std::vector<int> lost;
      for (const int j : a.graph.neighbours(i))
        if (side[at(i)] != side[at(j)]) lost.push_back(j);
      if (!lost.empty() && random.below(3) > 0) all[at(i)].state(released[at(i)], lost);
    }
    const bool heals = random.below(2) == 0;
    std::set<std::vector<int>> sets;
    for (int step = 0; step < 400; ++step) {
      const int from = static_cast<int>(random.below(static_cast<std::uint64_t>(nodes)));
      const int to = static_cast<int>(random.below(static_cast<std::uint64_t>(nodes)));
      if (all[at(from)].heard.empty() || (side[at(from)] != side[at(to)] && !(heals && step > 200))) continue;
      all[at(to)].hear(all[at(from)].heard[random.below(all[at(from)].heard.size())]);
      const auto patience = step < 50 ? Patience::fresh : random.below(3) == 0 ? Patience::out_of : Patience::short_of;
      const auto outlook = all[at(to)].act(released[at(to)], patience);
      if (outlook.what == What::go_on) sets.insert(outlook.next.members);
    }
    ASSERT_LE(sets.size(), 1U) << "seed " << seed;
    went_on += static_cast<int>(sets.size());
    if (!sets.empty()) {
      ASSERT_GT(2 * sets.begin()->size(), at(nodes));
    }
  }
  EXPECT_GT(went_on, 300);
}

class Four : public testing::Test {
 protected:
  // All of 0, 1, 2 know what all have stated; 3 is dead.
  Four() {
    for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<One>(a, i));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) all[at(i)]->hear(loss(a, j, 4, j == 1 ? std::vector<int>{} : std::vector<int>{3}));
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  Survivors::Outlook look(int i, Patience p = Patience::short_of) { return all[at(i)]->known.outlook(p); }
  Agreement a = study(ring(4));
  std::vector<std::unique_ptr<One>> all;
};

TEST_F(Four, WaitForTheLostOneALittleAndThenProposeAmongThemselves) {
  EXPECT_EQ(look(0, Patience::fresh).what, What::wait);
  const auto outlook = look(0);
  ASSERT_EQ(outlook.what, What::consent);
  EXPECT_THAT(outlook.next.members, ElementsAre(0, 1, 2));
  EXPECT_THAT(outlook.next.edges, ElementsAre(std::pair(0, 1), std::pair(1, 2)));
}

TEST_F(Four, GoOnOnlyWithTheConsentOfAll) {
  const Succession next = look(0).next;
  for (const int i : {0, 1}) all[0]->hear(consent(a, i, next));
  EXPECT_EQ(look(0).what, What::wait);
  const auto over = look(0, Patience::out_of);
  EXPECT_EQ(over.what, What::over);
  EXPECT_THAT(over.why, HasSubstr("waited for party_2"));
  all[0]->hear(consent(a, 2, next));
  EXPECT_EQ(look(0).what, What::go_on);
}

TEST_F(Four, NobodyFollowsAProposalBeforeItHasWaitedItself) {
  const Succession next = look(0).next;
  all[1]->hear(consent(a, 0, next));
  EXPECT_EQ(look(1, Patience::fresh).what, What::wait) << "the lost one may be alive, whatever another says";
  EXPECT_EQ(look(1).what, What::consent);
  EXPECT_EQ(look(1).next.id, next.id);
}

TEST(Survivors, OneProposalCannotLeaveOutWhoIsAlive) {
  const Agreement a = study(complete(5));
  One liar(a, 0), honest(a, 1);
  liar.state(4, {3, 4});
  liar.hear(loss(a, 1, 4));
  liar.hear(loss(a, 2, 4));
  const Succession without = liar.known.outlook(Patience::short_of).next;
  ASSERT_THAT(without.members, ElementsAre(0, 1, 2));
  for (const Message& m : liar.heard) honest.hear(m);
  honest.hear(consent(a, 0, without));
  EXPECT_EQ(honest.known.outlook(Patience::fresh).what, What::wait);
  for (const int i : {3, 4}) honest.hear(loss(a, i, 4));
  EXPECT_THAT(honest.known.outlook(Patience::fresh).next.members, ElementsAre(0, 1, 2, 3, 4));
}

TEST(Survivors, AStatementOfARoundThatNobodyCanHaveReachedEndsIt) {
  for (const auto& [passed_on, round, possible] : std::vector<std::tuple<bool, int, bool>>{
           {true, 5, true}, {true, 6, false}, {false, 6, true}, {false, 7, false}}) {
    Agreement a = study(ring(5));
    a.passed_on = passed_on;
    One zero(a, 0);
    for (int i = 0; i < 4; ++i) zero.hear(loss(a, i, i == 2 ? round : i == 0 ? 4 : 5, {}));
    zero.hear(loss(a, 4, 5, {}));
    const auto outlook = zero.known.outlook(Patience::fresh);
    EXPECT_EQ(outlook.what, possible ? What::consent : What::over) << outlook.why;
    if (!possible) {
      EXPECT_THAT(outlook.why, HasSubstr("both cannot be true"));
    }
  }
}

TEST_F(Four, WhoHoldsOtherValuesEndsItAndNobodyIsNamedForIt) {
  const Succession next = look(0).next;
  for (const int i : {0, 1}) all[0]->hear(consent(a, i, next));
  Message other = consent(a, 2, next);
  other.payload = payload_of(
      Consent{.agrees = true, .members = next.members, .configuration = "next", .values = sha256("other values")});
  all[0]->hear(other);
  EXPECT_EQ(look(0).what, What::over);
  EXPECT_TRUE(look(0).contradicted);
  EXPECT_THAT(look(0).why, HasSubstr("hold different values"));
}

TEST_F(Four, OneRefusalEndsItForAllWithItsReason) {
  const Succession next = look(0).next;
  for (const int i : {0, 1, 2}) {
    all[at(i)]->hear(consent(a, 0, next));
    all[at(i)]->hear(refusal(a, 2, next, "the cap of ward-2 does not allow it"));
    EXPECT_EQ(look(i).what, What::over);
    EXPECT_EQ(look(i).why, "party_2 cannot go on: the cap of ward-2 does not allow it");
  }
}

TEST_F(Four, WhoPlansOtherwiseEndsIt) {
  const Succession next = look(0).next;
  for (const int i : {0, 1}) all[0]->hear(consent(a, i, next));
  all[0]->hear(consent(a, 2, next, "another plan"));
  EXPECT_EQ(look(0).what, What::over);
  EXPECT_THAT(look(0).why, HasSubstr("party_2 plans the next part otherwise"));
}

TEST_F(Four, WhoSignsTwoStatementsOrTwoConsentsIsCaught) {
  EXPECT_EQ(all[0]->known.judge(loss(a, 2, 4, {3})).verdict, Verdict::duplicate);
  EXPECT_EQ(all[0]->known.judge(loss(a, 2, 5, {3})).verdict, Verdict::second_value);
  EXPECT_EQ(all[0]->known.judge(loss(a, 2, 4)).verdict, Verdict::second_value);
  const Succession next = look(0).next;
  all[0]->hear(consent(a, 2, next));
  EXPECT_EQ(all[0]->known.judge(consent(a, 2, next)).verdict, Verdict::duplicate);
  EXPECT_EQ(all[0]->known.judge(consent(a, 2, next, "another plan")).verdict, Verdict::second_value);
  EXPECT_EQ(all[0]->known.judge(refusal(a, 2, next, "no")).verdict, Verdict::second_value);
}

// A liar tells 0 and 1 different things: their ids differ, and neither set of consents is complete.
TEST_F(Four, WhatALiarTellsDifferentlyLeadsNowhere) {
  One zero(a, 0), one(a, 1);
  for (One* who : {&zero, &one}) {
    for (const int j : {0, 1}) who->hear(loss(a, j, 4, j == 0 ? std::vector<int>{3} : std::vector<int>{}));
    who->hear(loss(a, 2, who == &zero ? 4 : 3, {3}));
  }
  const auto mine = zero.act(4, Patience::short_of), its = one.act(4, Patience::short_of);
  for (const Message& m : one.heard)
    if (m.kind == Kind::consent) zero.hear(m);
  zero.hear(consent(a, 2, zero.known.outlook(Patience::fresh).next));
  EXPECT_EQ(mine.what, What::wait);
  EXPECT_EQ(its.what, What::wait);
  EXPECT_EQ(zero.known.outlook(Patience::out_of).what, What::over);
}

TEST_F(Four, OneThatConsentsToItselfAloneLeavesNobodyBehind) {
  const Message stated = loss(a, 2, 4, {3});
  const Succession alone{
      .members = {2},
      .released = {4},
      .edges = {},
      .through = 4,
      .id = sha256("parley survivors 1" + std::string(1, '\0') + static_cast<char>(a.run.size()) + a.run +
                   payload_of(Loss{{2}}) + payload_of(Seen{4, stated.head}) + payload_of(Loss{{3}}))};
  all[0]->hear(consent(a, 2, alone));
  EXPECT_NE(look(0).what, What::over);
}

TEST_F(Four, WhoComesBackTooLateIsToldThatItWasLeftBehind) {
  const Succession next = look(0).next;
  One three(a, 3);
  three.state(3, {0, 2});
  EXPECT_EQ(three.known.outlook(Patience::short_of).what, What::wait);
  for (int i = 0; i < 3; ++i) three.hear(loss(a, i, 4, i == 1 ? std::vector<int>{} : std::vector<int>{3}));
  EXPECT_EQ(three.known.outlook(Patience::short_of).what, What::wait) << "the others may go on";
  for (int i = 0; i < 3; ++i) three.hear(consent(a, i, next));
  const auto outlook = three.known.outlook(Patience::short_of);
  EXPECT_EQ(outlook.what, What::over);
  EXPECT_EQ(outlook.why, "the others have gone on without party_3 after round 4");
}

TEST(Survivors, ABrokenEdgeIsLeftOutAndNobodyIs) {
  const Agreement a = study(complete(4));
  One zero(a, 0);
  for (int i = 0; i < 4; ++i)
    zero.hear(loss(a, i, 2, i == 0 ? std::vector<int>{3} : i == 3 ? std::vector<int>{0} : std::vector<int>{}));
  const auto outlook = zero.known.outlook(Patience::fresh);
  ASSERT_EQ(outlook.what, What::consent);
  EXPECT_THAT(outlook.next.members, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(outlook.next.edges.size(), 5U);
}

TEST(Survivors, HalfOfThemStop) {
  const Agreement a = study(complete(4));
  One zero(a, 0);
  zero.state(2, {2, 3});
  zero.hear(loss(a, 1, 2, {2, 3}));
  const auto outlook = zero.known.outlook(Patience::short_of);
  EXPECT_EQ(outlook.what, What::over);
  EXPECT_THAT(outlook.why, HasSubstr("2 of 4 parties are left together, and only more than half may go on"));
  EXPECT_THAT(outlook.why, HasSubstr("nothing was heard of party_2, party_3"));
}

TEST(Survivors, ItIsOverForEverOnlyWhereNoFurtherStatementCanHelp) {
  const Agreement a = study(network::make_graph({.graph = "path"}, 5));
  const auto over = [&](const std::vector<Message>& heard, int self = 0) {
    One one(a, self);
    for (const Message& m : heard) one.hear(m);
    const auto outlook = one.known.outlook(Patience::out_of);
    EXPECT_EQ(outlook.what, What::over);
    return outlook.for_ever;
  };
  EXPECT_FALSE(over({loss(a, 0, 4), loss(a, 1, 4)})) << "2 to 4 may come back";
  EXPECT_FALSE(over({loss(a, 0, 4), loss(a, 1, 4), loss(a, 3, 4, {4})})) << "2 may, and 4 of 5 reach each other";
  EXPECT_TRUE(over({loss(a, 0, 4), loss(a, 1, 4, {2})})) << "nobody behind 2 is ever reached";
  EXPECT_TRUE(over({loss(a, 0, 4), loss(a, 1, 8)})) << "both cannot be true";
  One silent(a, 2);  // has stated nothing, since its past is not confirmed, say
  silent.hear(loss(a, 1, 4, {2}));
  EXPECT_FALSE(silent.known.over_for_ever());
  silent.hear(loss(a, 3, 4, {2}));
  EXPECT_TRUE(silent.known.over_for_ever());
}

TEST_F(Four, ARefusalOrAnotherConsentIsForEver) {
  const Succession next = look(0).next;
  EXPECT_FALSE(all[0]->known.outlook(Patience::out_of).for_ever);
  all[0]->hear(consent(a, 0, next));
  EXPECT_FALSE(all[0]->known.outlook(Patience::out_of).for_ever) << "1 and 2 may still consent";
  Succession other = next;
  other.id = sha256("what 1 believes");
  all[0]->hear(consent(a, 1, other));
  EXPECT_TRUE(all[0]->known.outlook(Patience::out_of).for_ever);
  all[1]->hear(refusal(a, 2, next, "no"));
  EXPECT_TRUE(all[1]->known.outlook(Patience::out_of).for_ever);
  all[2]->hear(consent(a, 2, next));
  all[2]->hear(consent(a, 1, next, "another plan"));
  EXPECT_TRUE(all[2]->known.outlook(Patience::out_of).for_ever);
}

TEST(Survivors, TheCommonRoundIsAWholeTurnAndNeverBelowTheStart) {
  for (const auto& [rounds, turn, through] : std::vector<std::tuple<std::vector<int>, int, int>>{{{5, 5, 6}, 1, 5},
                                                                                                 {{5, 5, 6}, 2, 4},
                                                                                                 {{4, 5, 5}, 2, 4},
                                                                                                 {{-1, 0, 0}, 2, 0},
                                                                                                 {{10, 10, 10}, 2, 10},
                                                                                                 {{10, 9, 10}, 2, 8}}) {
    const Agreement a = study(complete(4), turn);
    One zero(a, 0);
    for (int i = 0; i < 3; ++i) zero.hear(loss(a, i, rounds[static_cast<std::size_t>(i)], {3}));
    EXPECT_EQ(zero.known.outlook(Patience::short_of).next.through, through);
  }
  Agreement odd = study(complete(4), 2);
  odd.rounds = 5;  // the last round: no turn follows
  One zero(odd, 0);
  for (int i = 0; i < 3; ++i) zero.hear(loss(odd, i, 5, {3}));
  EXPECT_EQ(zero.known.outlook(Patience::short_of).next.through, 5);
}

TEST(Survivors, AStarGoesOnWithoutAProviderAndNotWithoutItsTrainer) {
  const Agreement a = study(network::trainer_star(3), 2, 3);
  One provider(a, 0);
  provider.state(4);
  provider.hear(loss(a, 1, 4));
  provider.hear(loss(a, 3, 4, {2}));
  auto outlook = provider.known.outlook(Patience::short_of);
  ASSERT_EQ(outlook.what, What::consent);
  EXPECT_THAT(outlook.next.members, ElementsAre(0, 1, 3));

  One alone(a, 0);
  alone.state(4, {3});
  outlook = alone.known.outlook(Patience::out_of);
  EXPECT_EQ(outlook.what, What::over);
  EXPECT_THAT(outlook.why, HasSubstr("the trainer is lost"));

  const Agreement small = study(network::trainer_star(2), 2, 2);
  One trainer(small, 2);
  trainer.state(4, {1});
  trainer.hear(loss(small, 0, 4));
  EXPECT_THAT(trainer.known.outlook(Patience::short_of).why, HasSubstr("one party with records is left"));
}

TEST(Survivors, PayloadsAreReadAsTheyWereWritten) {
  const Consent yes{.agrees = true, .members = {0, 2, 5}, .configuration = "abc", .reason = ""};
  const auto read = consent_of(payload_of(yes));
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->members, ElementsAre(0, 2, 5));
  EXPECT_EQ(read->configuration, "abc");
  EXPECT_FALSE(consent_of(payload_of(yes).substr(1)).has_value());
  EXPECT_FALSE(consent_of(payload_of(yes) + "x").has_value());
  EXPECT_FALSE(loss_of(payload_of(Loss{{2, 1}})).has_value()) << "ascending";
  EXPECT_FALSE(loss_of(payload_of(Loss{{1, 1}})).has_value());
  EXPECT_FALSE(loss_of(std::string("\xff\xff", 2)).has_value());
  EXPECT_THAT(loss_of(payload_of(Loss{{1, 3}}))->lost, ElementsAre(1, 3));
}

}  // namespace
}  // namespace parley::protocol
