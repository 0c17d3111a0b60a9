// Values that everybody needs, on a graph on which not everybody calls everybody
// (docs/check/protocol-sums.md, section 14).
#include "parley/protocol/passed_on.h"

#include "parley/protocol/exchange_test.h"
#include "parley/protocol/noise_keys.h"

namespace parley::protocol {
namespace {

Agreement row_with_values_for_all() {
  Agreement agreed = three_in_a_row();
  agreed.passed_on = true;
  return agreed;
}

class PassedOnInARow : public Trio {  // a - b - c: a and c hear each other through b
 protected:
  PassedOnInARow() { begin(row_with_values_for_all()); }
  void begin(const Agreement& with) {
    agreed = with;
    sides.clear();
    for (int i = 0; i < 3; ++i) sides.push_back(std::make_unique<Side>(i, agreed));
  }
  Receipt bring(int by, int to, const std::string& bytes) { return exchange(to).deliver(agreed.name(by), bytes); }
  void hears_b_until(double end) {  // c, which b answers, and that is all
    for (; now < end; now += 0.25) {
      exchange(2).tick(now);
      for (Actions actions = exchange(2).take(); !actions.sends.empty(); actions = exchange(2).take())
        for (const Send& send : actions.sends) {
          const auto parsed = decode(send.bytes);
          const Message& m = std::get<Message>(parsed);
          Receipt receipt;
          if (m.kind == Kind::hello)
            receipt.attachment = side(1).signed_bytes(side(1).message(
                Kind::hello, 0, payload_of(Seen{.round = m.round, .head = m.head, .process = m.process})));
          exchange(2).answered(send.call, receipt);
        }
    }
  }
  std::string value_by(int node, int round, const Process& process) {
    Message m = side(node).message(Kind::value, round, payload_of(value_of(node, round)));
    m.process = process;
    return side(node).signed_bytes(m);
  }
};

TEST_F(PassedOnInARow, EverybodyHearsEverybodyInTheOrderOfNodes) {
  for (int round = 0; round <= 3; ++round) {
    for (auto& s : sides) s->release();
    carry();
    for (int node = 0; node < 3; ++node) {
      const auto inbox = exchange(node).inbox();
      ASSERT_TRUE(inbox.has_value());
      ASSERT_EQ(inbox->size(), 2u);
      for (std::size_t j = 0; j < 2; ++j) {
        const int from = static_cast<int>(j) + (static_cast<int>(j) >= node ? 1 : 0);
        EXPECT_EQ(*(*inbox)[j], value_of(from, round));
        EXPECT_EQ(exchange(node).heard(j), agreed.name(from));
      }
    }
  }
  finish();
  for (int node = 0; node < 3; ++node) EXPECT_EQ(exchange(node).phase(), Phase::completed);
}

TEST_F(PassedOnInARow, NobodyIsWaitedForTwice) {
  side(1).release();
  side(2).release();
  carry();
  EXPECT_FALSE(exchange(2).inbox().has_value()) << "a has not spoken";
  side(0).release();
  carry();
  EXPECT_TRUE(exchange(2).inbox().has_value());
}

TEST_F(PassedOnInARow, AContradictionThatIsPassedOnIsEvidenceLikeADirectOne) {
  round();
  const std::string other = side(0).value_bytes(0, Vector{{1, 1}});
  EXPECT_EQ(bring(1, 2, other).verdict, Verdict::second_value);
  EXPECT_EQ(exchange(2).ending()->end, End::equivocation);
  EXPECT_THAT(*exchange(2).contradiction(), HasSubstr("hospital_a"));
  side(2).process.incarnation = 2;
  side(2).open();
  EXPECT_THAT(*exchange(2).contradiction(), HasSubstr("hospital_a")) << "a restarted process remembers";
  carry();
  EXPECT_TRUE(exchange(1).ending().has_value()) << "all hear of it";
}

// c keeps a's other value, b has the first one, and a itself is shown its own signature.
TEST_F(PassedOnInARow, WhoIsToldOfAContradictionKeepsTheProofAndTheAccusedIsShownIt) {
  round();
  EXPECT_EQ(bring(1, 2, side(0).value_bytes(0, Vector{{1, 1}})).verdict, Verdict::second_value);
  carry();
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
  EXPECT_THAT(*exchange(1).contradiction(), HasSubstr("hospital_a"));
  EXPECT_TRUE(exchange(0).ending()->past_unknown()) << "it claims nothing";
}

TEST_F(PassedOnInARow, WhoHasPassedOnTheOtherValueIsShownTheFirst) {
  for (auto& s : sides) s->release();
  EXPECT_EQ(bring(1, 2, side(0).value_bytes(0, Vector{{1, 1}})).verdict, Verdict::accepted)
      << "c has another one than b";
  carry();
  for (const int node : {1, 2}) {
    EXPECT_EQ(exchange(node).ending()->end, End::equivocation) << node;
    EXPECT_THAT(*exchange(node).contradiction(), HasSubstr("hospital_a"));
  }
}

TEST_F(PassedOnInARow, TheFirstOneCountsByWhicheverWayItCame) {
  Agreement ring = row_with_values_for_all();
  ring.parties = {"hospital_a", "hospital_b", "hospital_c", "hospital_d"};
  ring.model_of = {0, 1, 2, 3};
  ring.graph = network::Graph(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  Side a(0, ring), c(2, ring);
  const std::string value = a.value_bytes(0, value_of(0, 0));
  EXPECT_EQ(c.exchange->deliver("hospital_b", value).verdict, Verdict::accepted);
  EXPECT_EQ(c.exchange->deliver("hospital_d", value).verdict, Verdict::duplicate);
  EXPECT_EQ(c.exchange->deliver("hospital_d", a.value_bytes(0, Vector{{1, 1}})).verdict, Verdict::second_value);
}

TEST_F(PassedOnInARow, OnlyWithASignatureOfItsSender) {
  Message m = side(0).message(Kind::value, 0, payload_of(value_of(0, 0)));
  EXPECT_EQ(bring(1, 2, side(1).signed_bytes(m)).verdict, Verdict::bad_signature);
}

TEST_F(PassedOnInARow, WhereIteratesGoToNeighboursNothingIsPassedOn) {
  begin(three_in_a_row());
  EXPECT_EQ(bring(1, 2, side(0).value_bytes(0, value_of(0, 0))).verdict, Verdict::wrong_sender);
}

// Of a neighbour's processes its hellos tell, and those come from itself.
TEST_F(PassedOnInARow, AValueOfANeighbourComesFromItselfAndAContradictionFromAnybody) {
  Agreement triangle = row_with_values_for_all();
  triangle.graph = network::Graph(3, {{0, 1}, {1, 2}, {0, 2}});
  begin(triangle);
  const std::string value = side(0).value_bytes(0, value_of(0, 0));
  EXPECT_EQ(bring(1, 2, value).verdict, Verdict::wrong_sender);
  EXPECT_EQ(bring(0, 2, value).verdict, Verdict::accepted);
  EXPECT_EQ(bring(1, 2, value).verdict, Verdict::duplicate);
  EXPECT_EQ(bring(1, 2, side(0).value_bytes(0, Vector{{1, 1}})).verdict, Verdict::second_value);
}

TEST_F(PassedOnInARow, WhoIsStartedAgainPassesOnWhatItHadStored) {
  for (auto& s : sides) s->release();
  unreachable = 2;
  carry();
  ASSERT_EQ(exchange(1).stored(0), 0);
  side(1).process.incarnation = 2;
  side(1).open();
  unreachable = -1;
  pass(2);
  EXPECT_EQ(exchange(2).stored(0), 0);
}

TEST_F(PassedOnInARow, WhoComesBackWithAnOlderDiskIsGivenItAgain) {
  for (auto& s : sides) s->release();
  const std::string before = side(2).medium->content;
  carry();
  ASSERT_EQ(exchange(2).stored(0), 0);
  side(2).medium->content = before;
  side(2).process.incarnation = 2;
  side(2).open(now);
  ASSERT_EQ(exchange(2).stored(0), -1);
  pass(2);
  EXPECT_EQ(exchange(2).stored(0), 0);
}

// Round 0 was signed again by a later process of a's, and round 1 by the earlier one: both are what its ledger has.
TEST_F(PassedOnInARow, AValueOfAnEarlierProcessIsNoContradiction) {
  side(2).release();
  EXPECT_EQ(bring(1, 2, value_by(0, 0, {.incarnation = 2})).verdict, Verdict::accepted);
  EXPECT_EQ(bring(1, 2, value_by(0, 1, {.incarnation = 1})).verdict, Verdict::accepted);
}

TEST_F(PassedOnInARow, TwoProcessesOfOneNumberAreAContradiction) {
  side(2).release();
  EXPECT_EQ(bring(1, 2, value_by(0, 0, {.incarnation = 1})).verdict, Verdict::accepted);
  EXPECT_EQ(bring(1, 2, value_by(0, 1, {.incarnation = 1, .nonce = {7}})).verdict, Verdict::second_process);
}

TEST_F(PassedOnInARow, AnOwnValueThatComesBackIsKnownAndOneOfACopyIsAProof) {
  side(2).release();
  EXPECT_EQ(bring(1, 2, side(2).value_bytes(0, value_of(2, 0))).verdict, Verdict::duplicate);
  EXPECT_FALSE(exchange(2).ending().has_value());
  EXPECT_EQ(bring(1, 2, side(2).value_bytes(0, Vector{{1, 1}})).verdict, Verdict::stopped);
  EXPECT_TRUE(exchange(2).ending()->past_unknown());
}

// Two answer for ever, and what a third one said does not come.
TEST_F(PassedOnInARow, WhatOthersDoNotBringHasALimit) {
  side(2).release();
  hears_b_until(1);
  EXPECT_EQ(bring(1, 2, side(1).value_bytes(0, value_of(1, 0))).verdict, Verdict::accepted);
  hears_b_until(323);
  EXPECT_FALSE(exchange(2).ending().has_value()) << "three times wait and eight deadlines";
  hears_b_until(330);
  ASSERT_TRUE(exchange(2).ending().has_value());
  EXPECT_EQ(exchange(2).ending()->end, End::peer_lost);
  EXPECT_THAT(exchange(2).ending()->text, HasSubstr("round 0 of hospital_a has not come through others"));
}

// b is between the others: each thing that it let through would have given it that time once more.
TEST_F(PassedOnInARow, WhatIsLetThroughOneAtATimeHasTheSameLimit) {
  agreed.shared_noise = true;
  begin(agreed);
  const auto key = [](int node) { return std::string(noise_key_bytes, static_cast<char>('0' + node)); };
  side(2).noise_key = key(2);
  side(2).medium->content.clear();
  side(2).open();
  side(2).release();
  hears_b_until(1);
  const auto key_of = [&](int node) {
    return side(node).signed_bytes(side(node).message(Kind::noise_key, -1, key(node)));
  };
  EXPECT_EQ(bring(1, 2, side(1).value_bytes(0, value_of(1, 0))).verdict, Verdict::accepted);
  EXPECT_EQ(bring(1, 2, key_of(1)).verdict, Verdict::accepted);
  hears_b_until(200);
  EXPECT_EQ(bring(1, 2, key_of(0)).verdict, Verdict::accepted);
  hears_b_until(323);
  EXPECT_FALSE(exchange(2).ending().has_value());
  hears_b_until(330);
  ASSERT_TRUE(exchange(2).ending().has_value());
  EXPECT_THAT(exchange(2).ending()->text, HasSubstr("round 0 of hospital_a has not come through others"));
}

TEST(PassedOn, GoesToWhomItsSenderDoesNotCall) {
  Agreement agreed = row_with_values_for_all();
  agreed.graph = network::Graph(5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}});
  PassedOn of_one(agreed, 1);
  const auto nobody_has = [](int, const PassedOn::Key&) { return false; };
  const auto all_have = [](int, const PassedOn::Key&) { return true; };
  const Message m{.kind = Kind::value, .node = 0, .round = 0};
  of_one.add(m, "bytes");
  ASSERT_NE(of_one.next_for(3, nobody_has), nullptr);
  EXPECT_EQ(of_one.next_for(3, nobody_has)->second, "bytes");
  EXPECT_EQ(of_one.next_for(0, nobody_has), nullptr) << "its sender";
  EXPECT_EQ(of_one.next_for(2, nobody_has), nullptr) << "a neighbour of its sender's";
  EXPECT_EQ(of_one.next_for(3, all_have), nullptr);
  of_one.drop(all_have);
  EXPECT_NE(of_one.next_for(3, nobody_has), nullptr) << "the last two rounds are kept";
  of_one.add({.kind = Kind::value, .node = 0, .round = 2}, "later");
  of_one.drop(nobody_has);
  EXPECT_EQ(of_one.next_for(3, nobody_has)->first.round, 0) << "as long as somebody lacks it";
  of_one.drop(all_have);
  EXPECT_EQ(of_one.next_for(3, nobody_has)->first.round, 2);
}

TEST(PassedOn, OnACompleteGraphNothingIs) {
  Agreement agreed = row_with_values_for_all();
  agreed.graph = network::complete_graph(3);
  PassedOn passed(agreed, 1);
  passed.add({.kind = Kind::value, .node = 0, .round = 0}, "bytes");
  EXPECT_EQ(passed.next_for(2, [](int, const PassedOn::Key&) { return false; }), nullptr);
}

TEST(Sizes, AValueHasThoseOfItsRound) {
  Agreement agreed = three_in_a_row();
  agreed.largest_size = 3;
  agreed.size = [](int, int round) { return Index{round == 1 ? 3 : 2}; };
  Side a(0, agreed), b(1, agreed);
  b.release();
  const auto deliver = [&](const std::string& bytes) { return b.exchange->deliver("hospital_a", bytes).verdict; };
  EXPECT_EQ(deliver(a.value_bytes(0, Vector{{1, 1, 1}})), Verdict::wrong_dimension);
  EXPECT_EQ(deliver(a.value_bytes(0, value_of(0, 0))), Verdict::accepted);
  EXPECT_EQ(deliver(a.value_bytes(1, Vector{{1, 1}})), Verdict::wrong_dimension);
  EXPECT_EQ(deliver(a.value_bytes(1, Vector{{1, 1, 1}})), Verdict::accepted);
  EXPECT_THROW(a.release(Vector{{1, 1, 1}}), std::logic_error);
}

}  // namespace
}  // namespace parley::protocol
