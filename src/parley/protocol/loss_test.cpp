// Peers that go silent, come back, or leave.
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

class Loss : public Trio {};

TEST_F(Loss, ASilentPeerIsReportedByNameWithinTwiceTheDeadline) {
  round();
  unreachable = 2;
  pass(1.25);
  EXPECT_FALSE(reported(1, "hospital_c"));
  pass(0.75);
  EXPECT_TRUE(reported(1, "hospital_c has not answered for 1 s; waiting for it up to 100 s"));
  EXPECT_FALSE(reported(0, "hospital_c")) << "no neighbour of it";
  EXPECT_FALSE(reported(1, "hospital_a"));
}

TEST_F(Loss, APeerThatCallsAndDoesNotAnswerIsLookedForAtAWrongAddress) {
  round();
  unreachable = 2;
  pass(1.25);
  const Digest head = side(1).message(Kind::value, 0, payload_of(value_of(1, 0))).head;
  const Message hello = side(2).message(Kind::hello, 0, payload_of(Seen{.round = 0, .head = head}));
  EXPECT_TRUE(exchange(1).deliver("hospital_c", side(2).signed_bytes(hello)).good());
  pass(0.75);
  EXPECT_TRUE(reported(1, "but it calls this party: its address in the study here is probably wrong"));
}

TEST_F(Loss, APeerThatWasNeverHeardIsNotSaidToAnswerAgain) {
  unreachable = 2;
  pass(3);
  unreachable = -1;
  pass(2);
  EXPECT_TRUE(reported(1, "hospital_c answers"));
  EXPECT_FALSE(reported(1, "hospital_c answers again"));
}

TEST_F(Loss, ARunResumesWhenAPeerComesBackInTime) {
  round();
  unreachable = 2;
  pass(90);
  EXPECT_FALSE(exchange(1).ending().has_value());
  unreachable = -1;
  pass(2);
  EXPECT_TRUE(reported(1, "hospital_c answers again"));
  for (int t = 1; t <= 3; ++t) round();
  finish();
  EXPECT_EQ(exchange(1).ending()->end, End::completed);
}

TEST_F(Loss, PastTheStatedTimeEveryoneStopsAndKnowsWhoIsLost) {
  for (int t = 0; t <= 1; ++t) round();
  unreachable = 2;
  pass(103);
  for (const int i : {0, 1}) {
    ASSERT_TRUE(exchange(i).ending().has_value()) << i;
    EXPECT_EQ(exchange(i).ending()->end, End::peer_lost);
    EXPECT_THAT(exchange(i).ending()->text,
                HasSubstr("hospital_c has not answered for 100 s and is lost after round 1"));
    EXPECT_FALSE(exchange(i).inbox().has_value());
  }
  EXPECT_THAT(exchange(0).ending()->text, HasSubstr("hospital_b has stopped: "));
  pass(3);
  for (const int i : {0, 1}) EXPECT_TRUE(exchange(i).finished());
}

TEST_F(Loss, ARunThatStoppedForALossGoesOnWhenAllAreStartedAgain) {
  round();
  unreachable = 2;
  pass(203);
  unreachable = -1;
  for (auto& s : sides) s->open(now);
  carry();
  for (auto& s : sides) {
    s->reports.clear();
    ASSERT_TRUE(s->exchange->inbox().has_value());
  }
  for (int t = 1; t <= 3; ++t) round();
  finish();
  for (auto& s : sides) EXPECT_EQ(s->exchange->ending()->end, End::completed);
}

TEST_F(Loss, APeerThatWasNeverThereIsWaitedForLonger) {
  unreachable = 2;
  for (auto& s : sides) s->release();
  pass(199);
  EXPECT_TRUE(reported(1, "hospital_c has not been heard for 1 s; waiting for it up to 200 s"));
  EXPECT_FALSE(exchange(1).ending().has_value());
  pass(2);
  EXPECT_EQ(exchange(1).ending()->end, End::peer_lost);
}

TEST_F(Loss, AMachineThatSleptBlamesNobody) {
  round();
  for (auto& s : sides) s->exchange->tick(now += 5000);
  carry();
  pass(1);
  for (auto& s : sides) EXPECT_FALSE(s->exchange->ending().has_value());
}

TEST_F(Loss, AnInterruptedPeerIsWaitedForAndSaysSo) {
  round();
  exchange(0).stop(End::interrupted, "interrupted by its owner");
  carry();
  EXPECT_TRUE(reported(1, "hospital_a was interrupted by its owner; waiting for it"));
  EXPECT_FALSE(exchange(1).ending().has_value());
  EXPECT_TRUE(exchange(0).finished());
  EXPECT_EQ(exchange(0).deliver("hospital_b", side(1).value_bytes(1, value_of(1, 1))).verdict, Verdict::unavailable);
  side(0).open(now);
  carry();
  ASSERT_TRUE(exchange(0).inbox().has_value());
  for (int t = 1; t <= 3; ++t) round();
}

TEST_F(Loss, APeerWithoutBudgetEndsTheRunForAll) {
  round();
  exchange(0).stop(End::budget_exhausted, "the budget ends before round 1");
  carry();
  for (const int i : {1, 2}) EXPECT_EQ(exchange(i).ending()->end, End::peer_lost);
  EXPECT_EQ(exchange(1).ending()->text, "hospital_a has stopped: the budget ends before round 1");
  EXPECT_TRUE(exchange(2).finished());
}

TEST_F(Loss, ADivergedRunIsOneForAll) {
  round();
  side(2).release(Vector::Constant(2, agreed.release_bound));
  exchange(2).stop(End::diverged, "a released value is at the public bound");
  carry();
  for (auto& s : sides) EXPECT_EQ(s->exchange->ending()->end, End::diverged);
}

TEST_F(Loss, WhoOnlySaysThatTheRunDivergedHasLeftIt) {
  round();
  exchange(2).stop(End::diverged, "a released value is at the public bound");
  carry();
  for (const int i : {0, 1}) EXPECT_EQ(exchange(i).ending()->end, End::peer_lost);
}

TEST_F(Loss, AfterTheEndNothingButGoodbyesLeave) {
  round();
  unreachable = 2;
  side(1).release();
  carry();
  exchange(1).stop(End::interrupted, "interrupted");
  unreachable = -1;
  pass(1);
  EXPECT_EQ(exchange(2).peers().front().stored, 0) << "round 1 was not sent after the end";
}

TEST_F(Loss, EquivocationIsRememberedByTheNextProcess) {
  round();
  exchange(1).deliver("hospital_a", side(0).value_bytes(0, value_of(0, 2)));
  ASSERT_EQ(exchange(1).ending()->end, End::equivocation);
  side(1).paid.clear();
  side(1).paid.push_back(*side(2).ledger.pay({.node = 1, .round = 0, .value = value_of(1, 0), .charge = {}}));
  side(1).open();
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_THAT(exchange(1).ending()->text, HasSubstr("hospital_a contradicted itself in round 0"));
  carry();
  EXPECT_THAT(exchange(2).ending()->text, HasSubstr("hospital_b has stopped: hospital_a contradicted itself"));
}

TEST_F(Loss, AStartThatIsNotWhatWasReleasedBeforeIsKeptAndRemembered) {
  round();
  exchange(1).contradicts_part_before(0);
  ASSERT_EQ(exchange(1).ending()->end, End::equivocation);
  EXPECT_EQ(exchange(1).contradicted_by(), 0);
  EXPECT_THAT(exchange(1).ending()->text, HasSubstr("hospital_a: it begins this part with another value than it has "
                                                    "released before; the message is in the transcript"));
  side(1).open();
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
  EXPECT_EQ(exchange(1).contradicted_by(), 0);
}

TEST_F(Loss, APartyThatComesBackWhileOthersSayGoodbyeWaitsUntilTheyAreStartedAgain) {
  round();
  unreachable = 2;
  while (!exchange(1).ending()) pass(0.25);
  unreachable = -1;
  side(2).open(now);
  pass(1);
  EXPECT_FALSE(exchange(2).ending().has_value());
  EXPECT_TRUE(reported(2, "waiting for it to be started again"));
  side(0).open(now);
  side(1).open(now);
  pass(1);
  for (auto& s : sides) ASSERT_TRUE(s->exchange->inbox().has_value());
  for (int t = 1; t <= 3; ++t) round();
  finish();
  for (auto& s : sides) EXPECT_EQ(s->exchange->ending()->end, End::completed);
}

// On a path, who loses its middle reaches nobody: all have signed so, and no process can take that back.
TEST_F(Loss, WhereWhatWasSignedLeavesNoWayToGoOnTheRunIsOverHoweverOftenItIsStarted) {
  for (auto& s : sides) {
    s->consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
    s->open(now);
  }
  round();
  unreachable = 1;
  while (!exchange(0).ending() || !exchange(1).ending()) pass(1);
  for (const int start : {0, 1}) {
    for (const int i : {0, 1, 2}) {
      ASSERT_TRUE(exchange(i).ending().has_value()) << start;
      EXPECT_EQ(exchange(i).ending()->end, End::peer_lost);
      EXPECT_TRUE(exchange(i).ending()->for_ever) << i << ": " << exchange(i).ending()->text;
    }
    EXPECT_THAT(exchange(0).ending()->text, HasSubstr("agree on a new study"));
    unreachable = -1;
    for (auto& s : sides) s->open(now);
    pass(210);
  }
}

TEST_F(Loss, WhoCanStillBeHeardMayBringAnAgreementAndTheRunIsNotOver) {
  for (auto& s : sides) {
    s->consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
    s->open(now);
  }
  round();
  unreachable = 0;
  while (!exchange(1).survivors().stated(1)) pass(0.25);
  side(1).open(now);  // alone: hospital_c has gone too
  unreachable = 1;
  pass(210);
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_FALSE(exchange(1).ending()->for_ever) << exchange(1).ending()->text;
}

// Evidence in its own transcript confirms nothing: transcript and ledger may be old copies alike.
TEST_F(Loss, AnEndingIsRememberedAndTheLedgerIsNotConfirmedByIt) {
  for (int t = 0; t <= 2; ++t) round();
  exchange(1).deliver("hospital_a", side(0).value_bytes(1, value_of(0, 2)));
  ASSERT_EQ(exchange(1).ending()->end, End::equivocation);
  EXPECT_TRUE(exchange(1).past_confirmed());
  side(1).open();
  ASSERT_EQ(exchange(1).ending()->end, End::equivocation);
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Loss, ACompletedRunStaysSoWhateverIsSaidAfterwards) {
  for (int t = 0; t <= 3; ++t) round();
  finish();
  ASSERT_EQ(exchange(1).ending()->end, End::completed);
  const Vector model = exchange(1).model();
  const auto second = [&](double x) {
    return side(0).signed_bytes(side(0).message(Kind::final_iterate, 3, payload_of(Vector::Constant(2, x))));
  };
  EXPECT_EQ(exchange(1).deliver("hospital_c", second(0.25)).verdict, Verdict::second_value);
  const std::string kept = side(1).medium->content;
  EXPECT_EQ(exchange(1).deliver("hospital_c", second(0.5)).verdict, Verdict::second_value);
  EXPECT_EQ(side(1).medium->content, kept) << "one is evidence enough";
  EXPECT_EQ(exchange(1).ending()->end, End::completed);
  EXPECT_EQ(exchange(1).model(), model);
  carry();
  EXPECT_TRUE(reported(1, "its model stands"));

  side(1).open(now);
  ASSERT_FALSE(exchange(1).ending().has_value());
  ASSERT_TRUE(exchange(1).inbox().has_value());
  FinalIterate mine([](int) { return false; });
  for (const auto& p : side(1).paid) mine.add(p);
  exchange(1).finish(mine);
  ASSERT_EQ(exchange(1).ending()->end, End::completed);
  EXPECT_EQ(exchange(1).model(), model);
  EXPECT_THAT(*exchange(1).contradiction(), HasSubstr("hospital_a contradicted itself"));
}

TEST_F(Loss, APastIsConfirmedByEveryNeighbourOrNotAtAll) {
  for (int t = 0; t <= 1; ++t) round();
  EXPECT_TRUE(exchange(1).past_confirmed());
  side(1).open(now);
  EXPECT_FALSE(exchange(1).past_confirmed());
  unreachable = 2;
  pass(1);
  EXPECT_FALSE(exchange(1).past_confirmed()) << "hospital_c has not said what it has";
  exchange(1).stop(End::interrupted, "interrupted");
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Loss, APastThatOthersContradictIsUnknown) {
  for (int t = 0; t <= 2; ++t) round();
  side(1).paid.clear();
  side(1).medium->content.clear();
  side(1).open(now);
  pass(1);
  ASSERT_TRUE(exchange(1).ending().has_value());
  ASSERT_EQ(exchange(1).ending()->end, End::refused);
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Loss, APartyThatHasCompletedDoesNotInsistWithOneThatRefusesIt) {
  for (int t = 0; t <= 3; ++t) round();
  finish();
  side(1).open(now);  // its final iterates are in the transcript
  ASSERT_TRUE(exchange(1).inbox().has_value());
  FinalIterate mine([](int) { return false; });
  for (const auto& p : side(1).paid) mine.add(p);
  exchange(1).finish(mine);
  ASSERT_EQ(exchange(1).ending()->end, End::completed);
  for (const auto& send : exchange(1).take().sends)
    exchange(1).answered(send.call, {.verdict = Verdict::unknown_caller, .reason = "who are you"});
  EXPECT_TRUE(exchange(1).take().sends.empty()) << "not at once";
  exchange(1).tick(now + 0.25);
  EXPECT_FALSE(exchange(1).take().sends.empty());
}

TEST_F(Loss, TwoFinalIteratesOfOneOriginAreEquivocation) {
  for (int t = 0; t <= 3; ++t) round();
  const auto final_of = [&](const Vector& v) {
    return side(0).signed_bytes(side(0).message(Kind::final_iterate, 3, payload_of(v)));
  };
  EXPECT_TRUE(exchange(1).deliver("hospital_a", final_of(value_of(0, 3))).good());
  EXPECT_EQ(exchange(1).deliver("hospital_c", final_of(value_of(0, 3))).verdict, Verdict::duplicate);
  EXPECT_EQ(exchange(1).deliver("hospital_c", final_of(value_of(0, 2))).verdict, Verdict::second_value);
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
}

// A node that tells its neighbours different values is found out by the head in its flooded final iterate.
TEST_F(Loss, AFinalIterateThatFollowsFromOtherReleasesIsEquivocation) {
  for (int t = 0; t <= 3; ++t) round();
  Message m = side(0).message(Kind::final_iterate, 3, payload_of(value_of(0, 3)));
  m.head = sha256("another history");
  const Receipt receipt = exchange(1).deliver("hospital_a", side(0).signed_bytes(m));
  EXPECT_EQ(receipt.verdict, Verdict::other_history);
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
}

TEST_F(Loss, AFinalIterateThatComesBeforeTheLastValueIsComparedLater) {
  for (int t = 0; t <= 2; ++t) round();
  side(1).release();
  Message m = side(0).message(Kind::final_iterate, 3, payload_of(value_of(0, 3)));
  m.head = sha256("another history");
  EXPECT_TRUE(exchange(1).deliver("hospital_c", side(0).signed_bytes(m)).good());
  EXPECT_EQ(exchange(1).deliver("hospital_a", side(0).value_bytes(3, value_of(0, 3))).verdict, Verdict::second_value);
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
}

}  // namespace
}  // namespace parley::protocol
