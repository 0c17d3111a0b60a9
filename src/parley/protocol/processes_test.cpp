// One live process for each party (R14), and accusations that count (R15).
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

Process process(int incarnation, std::uint8_t nonce) {
  return {.incarnation = incarnation, .nonce = {nonce}};
}

class Clones : public Trio {
 protected:
  // A second process of b's, on a copy of its disks.
  std::unique_ptr<Side> copy_of_b(const Process& as) {
    auto copy = std::make_unique<Side>(1, agreed);
    copy->medium->content = side(1).medium->content;
    copy->paid = side(1).paid;
    copy->process = as;
    copy->open(now);
    return copy;
  }
  // What the copy has to say reaches the others, and their answers it.
  void carry_for(Side& copy) {
    for (bool busy = true; busy;) {
      const Actions actions = copy.exchange->take();
      busy = !actions.sends.empty();
      for (const Send& send : actions.sends)
        copy.exchange->answered(send.call, exchange(send.peer).deliver("hospital_b", send.bytes));
    }
  }
};

TEST_F(Clones, TwoProcessesWithOneNumberStopBothAndNeitherClaimsAnything) {
  side(1).process = process(2, 7);
  side(1).open();
  round();
  round();
  const auto copy = copy_of_b(process(2, 8));
  carry_for(*copy);
  EXPECT_EQ(exchange(0).ending()->end, End::equivocation);
  EXPECT_EQ(exchange(2).ending()->end, End::equivocation);
  EXPECT_THAT(exchange(0).ending()->text, HasSubstr("two processes have the number 2"));
  EXPECT_TRUE(copy->exchange->ending()->past_unknown()) << copy->exchange->ending()->text;
  carry();  // the goodbyes reach the first one too
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_TRUE(exchange(1).ending()->past_unknown()) << exchange(1).ending()->text;
  EXPECT_FALSE(exchange(1).past_confirmed());
  side(1).open(now);  // it remembers
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
}

TEST_F(Clones, WhereTheOtherOneSpeaksACopyThatIsBehindIsACopyAllTheSame) {
  side(1).process = process(2, 7);
  side(1).open();
  round();
  const auto copy = copy_of_b(process(2, 8));
  round();
  round();
  carry_for(*copy);
  EXPECT_TRUE(copy->exchange->ending()->past_unknown()) << copy->exchange->ending()->text;
  carry();  // the first one hears that it has stopped, and says so itself
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_TRUE(exchange(1).ending()->past_unknown()) << exchange(1).ending()->text;
  EXPECT_FALSE(exchange(1).past_confirmed());
  side(0).open(now);  // what it keeps is remembered
  EXPECT_EQ(exchange(0).ending()->end, End::equivocation);
}

TEST_F(Clones, AnEmptyDiskOfADeadPartyIsNoContradiction) {
  side(1).process = process(1, 7);
  side(1).open();
  round();
  round();
  auto empty = std::make_unique<Side>(1, agreed);
  empty->process = process(1, 8);
  empty->open(now);
  empty->release();  // round 0, which is the start
  carry_for(*empty);
  ASSERT_TRUE(empty->exchange->ending().has_value()) << static_cast<int>(empty->exchange->phase());
  EXPECT_TRUE(empty->exchange->ending()->past_unknown()) << empty->exchange->ending()->text;
  for (const int i : {0, 2}) {
    ASSERT_TRUE(exchange(i).ending().has_value());
    EXPECT_EQ(exchange(i).ending()->end, End::peer_lost);
    side(i).open(now);
    EXPECT_FALSE(exchange(i).ending().has_value()) << "with the disk back, the run goes on";
  }
}

TEST_F(Clones, AGoodbyeOfWhoHasForgottenIsAnsweredWithTheProof) {
  round();
  round();
  const Message goodbye = side(1).message(Kind::goodbye, 0, payload_of(Goodbye{.end = End::peer_lost}));
  const Receipt receipt = exchange(0).deliver("hospital_b", side(1).signed_bytes(goodbye));
  EXPECT_EQ(receipt.verdict, Verdict::ledger_behind);
  EXPECT_FALSE(unbundled(receipt.attachment, 3).empty());
}

TEST_F(Clones, AGoodbyeOfAnEarlierProcessComesTooLate) {
  round();
  Message hello = side(1).message(Kind::hello, 0, payload_of(Seen{}));
  hello.process = process(5, 9);
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(hello)).good());
  const Message goodbye = side(1).message(Kind::goodbye, 0, payload_of(Goodbye{.end = End::refused}));
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(goodbye)).good());
  EXPECT_FALSE(exchange(0).ending().has_value());
}

TEST_F(Clones, AnOlderProcessThatGoesOnIsFoundByTheValueThatTheNewerOneDoesNotKnow) {
  round();
  round();
  unreachable = 1;
  side(1).release();  // by the first process, which nobody has heard of yet
  carry();
  unreachable = -1;
  Message hello = side(1).message(Kind::hello, 1, payload_of(Seen{}));
  hello.process = process(5, 9);
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(hello)).good());
  Message value = side(1).message(Kind::value, 2, payload_of(value_of(1, 2)));
  side(0).release();
  const Receipt receipt = exchange(0).deliver("hospital_b", side(1).signed_bytes(value));
  EXPECT_EQ(receipt.verdict, Verdict::second_process);
  EXPECT_EQ(exchange(0).ending()->end, End::equivocation);
}

TEST_F(Clones, AHelloOfAnEarlierProcessIsRefusedWithTheLaterOne) {
  round();
  Message hello = side(1).message(Kind::hello, 0, payload_of(Seen{}));
  hello.process = process(5, 9);
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(hello)).good());
  hello.process = process(4, 3);
  const Receipt receipt = exchange(0).deliver("hospital_b", side(1).signed_bytes(hello));
  EXPECT_EQ(receipt.verdict, Verdict::ledger_behind);
  EXPECT_FALSE(unbundled(receipt.attachment, 3).empty());
  EXPECT_FALSE(exchange(0).ending().has_value());
}

TEST_F(Clones, WhichProcessWasMetIsKnownToTheNextOneHere) {
  round();
  Message hello = side(1).message(Kind::hello, 0, payload_of(Seen{}));
  hello.process = process(5, 9);
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(hello)).good());
  side(0).open(now);
  hello.process = process(4, 3);
  EXPECT_EQ(exchange(0).deliver("hospital_b", side(1).signed_bytes(hello)).verdict, Verdict::ledger_behind);
}

TEST_F(Clones, WhoSaysThatItHasMoreOfThisPartyThanItsLedgerConfirmsNothing) {
  for (auto& s : sides) s->release();
  for (const Send& send : exchange(0).take().sends) {
    const Seen more{.round = 2, .head = {9}, .process = side(0).process};
    const Message hello = side(1).message(Kind::hello, 0, payload_of(more));
    exchange(0).answered(send.call, {.attachment = side(1).signed_bytes(hello)});
  }
  EXPECT_EQ(exchange(0).phase(), Phase::greeting);
  EXPECT_THAT(exchange(0).take().reports, testing::Contains(HasSubstr("gives no proof")));
}

TEST_F(Clones, NothingNewIsReleasedBeforeEveryNeighbourHasConfirmedThisProcess) {
  side(1).process = process(3, 1);
  side(1).open();
  for (auto& s : sides) s->release();
  Actions actions = exchange(1).take();
  for (const Send& send : actions.sends) {
    Message hello = side(send.peer).message(Kind::hello, -1, payload_of(Seen{.process = process(3, 2)}));  // of another
    exchange(1).answered(send.call, {.attachment = side(send.peer).signed_bytes(hello)});
  }
  EXPECT_EQ(exchange(1).phase(), Phase::greeting);
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Clones, AnAccusationWithoutASignatureOfTheAccusedDoesNotCount) {
  round();
  Message hello = side(0).message(Kind::hello, 0, payload_of(Seen{.round = 3, .head = {9}}));
  EXPECT_TRUE(exchange(1).deliver("hospital_a", side(0).signed_bytes(hello)).good());
  EXPECT_FALSE(exchange(1).ending().has_value());
  side(1).release();
  const Actions actions = exchange(1).take();
  for (const Send& send : actions.sends) {
    Message lie = side(1).message(Kind::value, 3, payload_of(value_of(1, 3)));
    lie.signature = signature_of(0, signed_part(lie));
    exchange(1).answered(send.call, {.verdict = Verdict::ledger_behind,
                                     .reason = "your ledger is older",
                                     .attachment = bundle({encode(lie)}, 1000)});
  }
  EXPECT_FALSE(exchange(1).ending().has_value());
  EXPECT_THAT(exchange(1).take().reports, testing::Contains(HasSubstr("gives no proof")));
}

TEST_F(Clones, AProofIsReadAlsoWhereTheRunHasEnded) {
  round();
  exchange(1).stop(End::interrupted, "its owner stops it");
  carry();
  EXPECT_TRUE(exchange(1).past_confirmed());
  Message later = side(1).message(Kind::value, 1, payload_of(value_of(1, 1)));
  const Goodbye goodbye{.end = End::equivocation, .proof = bundle({side(1).signed_bytes(later)}, 2000)};
  const Message word = side(0).message(Kind::goodbye, 0, payload_of(goodbye));
  EXPECT_TRUE(exchange(1).deliver("hospital_a", side(0).signed_bytes(word)).good());
  EXPECT_FALSE(exchange(1).past_confirmed());
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
}

TEST_F(Clones, ALastWordThatACopyHasSignedIsAnAccusation) {
  for (int k = 0; k <= 3; ++k) round();
  const auto last_words = [&](const Process& as) {
    Message final_iterate = side(1).message(Kind::final_iterate, 3, payload_of(value_of(1, 3)));
    final_iterate.process = as;
    return side(1).signed_bytes(final_iterate);
  };
  EXPECT_TRUE(exchange(1).deliver("hospital_a", last_words(process(1, 0))).good());  // its own, put back
  EXPECT_FALSE(exchange(1).deliver("hospital_a", last_words(process(2, 5))).good());
  EXPECT_TRUE(exchange(1).ending()->past_unknown()) << exchange(1).ending()->text;
}

// R9: other runs go on with the ledger unless it is marked, so the mark comes before anything that a kill could cut off.
TEST_F(Clones, AProofIsMarkedInTheLedgerBeforeItIsKeptAndAgainByALaterProcess) {
  std::vector<std::string> marked;
  bool full = false;
  side(1).accused = [&](const std::string& what, std::string_view message) {
    if (full) throw Error({.what = "no space left", .where = "the ledger", .fix = ""});
    EXPECT_EQ(side(1).medium->content.find(message), std::string::npos) << "kept before it was marked";
    marked.push_back(what);
  };
  side(1).open(now);
  round();
  const std::string later = side(1).value_bytes(2, value_of(1, 2));
  const Goodbye goodbye{.end = End::refused, .proof = bundle({later}, 1000)};
  const std::string shown = side(0).signed_bytes(side(0).message(Kind::goodbye, 0, payload_of(goodbye)));
  full = true;
  EXPECT_THROW(exchange(1).deliver("hospital_a", shown), Error);
  EXPECT_EQ(side(1).medium->content.find(later), std::string::npos);
  full = false;
  side(1).open(now);
  EXPECT_FALSE(exchange(1).ending().has_value());
  exchange(1).deliver("hospital_a", shown);
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
  ASSERT_EQ(marked.size(), 1U);
  EXPECT_EQ(marked[0], "hospital_a has round 2 of hospital_b, and the ledger ends with 0");
  EXPECT_NE(side(1).medium->content.find(later), std::string::npos);

  marked.clear();  // of a version that kept no marks
  side(1).accused = [&](const std::string&, std::string_view message) { marked.emplace_back(message); };
  side(1).open(now);
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
  EXPECT_EQ(marked, std::vector<std::string>{later});
}

TEST_F(Clones, AMarkInTheLedgerIsEnough) {
  round();
  side(1).accused_before = "hospital_a has round 2 of hospital_b, and the ledger ends with 0";
  side(1).open(now);
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_TRUE(exchange(1).ending()->past_unknown());
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Clones, AnotherFinalIterateOfItsOwnIsNoCrash) {
  for (int k = 0; k <= 3; ++k) round();
  const Message other = side(1).message(Kind::final_iterate, 3, payload_of(value_of(2, 2)));
  EXPECT_TRUE(exchange(1).deliver("hospital_a", side(1).signed_bytes(other)).good());
  finish();
  EXPECT_TRUE(exchange(1).ending()->past_unknown()) << exchange(1).ending()->text;
  EXPECT_FALSE(exchange(1).past_confirmed());
}

TEST_F(Clones, HellosOfHigherAndHigherNumbersFillNoDisk) {
  round();
  Message hello = side(1).message(Kind::hello, 0, payload_of(Seen{}));
  long refused = 0;
  std::size_t size = 0;
  for (int number = 2; number <= 3000; ++number) {
    hello.process = process(number, 1);
    const Receipt receipt = exchange(0).deliver("hospital_b", side(1).signed_bytes(hello));
    EXPECT_TRUE(receipt.good() || receipt.verdict == Verdict::unavailable);
    if (receipt.good()) size = side(0).medium->content.size();
    refused += receipt.good() ? 0 : 1;
  }
  EXPECT_EQ(refused, 2000);
  EXPECT_EQ(side(0).medium->content.size(), size);
  EXPECT_LT(size, 1'000'000U);
}

// An answer with a hello whose node is no neighbour's was looked up before it was inspected, and ended the process.
TEST_F(Clones, AHelloOfAnybodyElseIsNoAnswer) {
  for (auto& s : sides) s->release();
  for (const int node : {0, 2, 99, -1}) {  // itself, no neighbour, nobody
    for (const Send& send : exchange(0).take().sends) {
      Message hello = side(1).message(Kind::hello, -1, payload_of(Seen{}));
      hello.node = node;
      exchange(0).answered(send.call, {.attachment = side(1).signed_bytes(hello)});
      exchange(0).tick(now += 1);
    }
    EXPECT_FALSE(exchange(0).ending().has_value());
    EXPECT_EQ(exchange(0).phase(), Phase::greeting);
  }
  for (const Send& send : exchange(0).take().sends) exchange(0).answered(send.call, {.attachment = send.bytes});
  EXPECT_EQ(exchange(0).phase(), Phase::greeting);
}

TEST_F(Clones, WhoIsToldThatItIsLeftBehindWithoutProofGoesOn) {
  round();
  side(0).release();
  for (const Send& send : exchange(0).take().sends)
    exchange(0).answered(send.call, {.verdict = Verdict::left_behind, .reason = "so it is"});
  EXPECT_FALSE(exchange(0).ending().has_value());
  EXPECT_THAT(exchange(0).take().reports, testing::Contains(HasSubstr("gives no proof")));
}

// b was started again with an empty disk, and a value of a's reaches it before a hello.
TEST_F(Clones, AnAccusationIsToldAlsoAfterAnInterruption) {
  round();
  const Message goodbye = side(1).message(Kind::goodbye, 0, payload_of(Goodbye{.end = End::interrupted}));
  EXPECT_TRUE(exchange(0).deliver("hospital_b", side(1).signed_bytes(goodbye)).good());
  side(0).release();
  for (const Send& send : exchange(0).take().sends)
    exchange(0).answered(send.call, {.verdict = Verdict::ledger_behind, .reason = "older"});
  EXPECT_THAT(exchange(0).take().reports, testing::Contains(HasSubstr("gives no proof")));
}

TEST_F(Clones, ARefusalCostsTheTwoTheirEdgeWhereALossDoesNotEndTheStudy) {
  for (auto& s : sides) {
    s->consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
    s->open();
  }
  round();
  side(1).release();
  for (const Send& send : exchange(1).take().sends)
    exchange(1).answered(send.call, send.peer == 2 ? Receipt{.verdict = Verdict::off_grid, .reason = "so it is"}
                                                   : exchange(0).deliver("hospital_b", send.bytes));
  EXPECT_FALSE(exchange(1).ending().has_value()) << exchange(1).ending()->text;
  EXPECT_EQ(exchange(1).phase(), Phase::stated);
  EXPECT_THAT(exchange(1).take().reports, testing::Contains(HasSubstr("asking all who are left")));
}

// Whoever only says that somebody contradicted itself loses its own edge; it puts nobody out.
TEST_F(Clones, AnAccusingGoodbyeWithoutProofCostsOneEdgeWhereALossDoesNotEndTheStudy) {
  for (auto& s : sides) {
    s->consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
    s->open();
  }
  round();
  const Message goodbye = side(1).message(Kind::goodbye, 0, payload_of(Goodbye{.end = End::contradicted}));
  exchange(0).deliver("hospital_b", side(1).signed_bytes(goodbye));
  EXPECT_FALSE(exchange(0).ending().has_value()) << exchange(0).ending()->text;
  EXPECT_EQ(exchange(0).phase(), Phase::stated);
}

TEST_F(Clones, WhoLacksWhatItHadIsGreetedAgainAndEndsNobodyElse) {
  round();
  side(0).release();
  for (const Send& send : exchange(0).take().sends)
    exchange(0).answered(send.call, {.verdict = Verdict::future_round, .reason = "1, but 0 is awaited"});
  EXPECT_FALSE(exchange(0).ending().has_value());
  exchange(0).tick(now += 1);
  const auto sends = exchange(0).take().sends;
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(std::get<Message>(decode(sends[0].bytes)).kind, Kind::hello);
}

TEST_F(Clones, ASecondProcessIsNoticedInLastWords) {
  for (int k = 0; k <= 3; ++k) round();
  Message final_iterate = side(1).message(Kind::final_iterate, 3, payload_of(value_of(1, 3)));
  final_iterate.process = process(1, 9);
  EXPECT_EQ(exchange(0).deliver("hospital_b", side(1).signed_bytes(final_iterate)).verdict, Verdict::second_process);
  EXPECT_EQ(exchange(0).ending()->end, End::equivocation);
}

// Insiders who are there and bring nothing. limit: wait and eight deadlines.
class Held : public Trio {
 protected:
  // a waits for b, and b for c, which answers and brings nothing.
  void hold_by_c() {
    round();
    side(0).release();
    side(1).release();
    answer_only(2, {}, 1);
    ASSERT_TRUE(exchange(0).inbox().has_value());
    side(0).release();
  }
  void answer_only(int node, const Receipt& receipt, double seconds = 130) {
    for (const double end = now + seconds; now < end; now += 0.25) {
      for (const int honest : {0, 1}) {
        exchange(honest).tick(now);
        Actions actions = exchange(honest).take();
        auto& reports = side(honest).reports;
        reports.insert(reports.end(), actions.reports.begin(), actions.reports.end());
        for (const Send& send : actions.sends) {
          Receipt answer = receipt;
          if (send.peer != node)
            answer = exchange(send.peer).deliver(agreed.name(honest), send.bytes);
          else if (answer.good() && std::get<Message>(decode(send.bytes)).kind == Kind::hello)
            answer = exchange(node).deliver(agreed.name(honest), send.bytes);
          exchange(honest).answered(send.call, answer);
        }
      }
    }
  }
};

TEST_F(Held, WhoAnswersHelloAndReleasesNothingIsLost) {
  round();
  side(0).release();
  side(1).release();
  answer_only(2, {});
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_EQ(exchange(1).ending()->end, End::peer_lost);
  EXPECT_THAT(exchange(1).ending()->text, HasSubstr("hospital_c answers, but its round 1 has not come for"));
  EXPECT_TRUE(reported(1, "its round 1 has been awaited for"));
}

// a waits for b, and b for c: it is c that is lost, also at a, whose clock runs as long.
TEST_F(Held, WhoWaitsItselfIsNotBlamed) {
  hold_by_c();
  answer_only(2, {});
  ASSERT_TRUE(exchange(0).ending().has_value());
  EXPECT_EQ(exchange(0).ending()->reason, Reason::peer_stopped) << exchange(0).ending()->text;
  EXPECT_THAT(exchange(0).ending()->text, HasSubstr("hospital_c answers, but its round 1 has not come"));
  EXPECT_TRUE(reported(0, "it says that it waits for hospital_c"));
}

// hospital_c brings nothing and is started again before each limit: hospital_b in between is not lost for it.
TEST_F(Held, RestartsDoNotMakeThePartyBetweenLookGuilty) {
  hold_by_c();
  for (int incarnation = 2; incarnation <= 5 && !exchange(1).ending(); ++incarnation) {
    answer_only(2, {}, 100);
    Message hello = side(2).message(Kind::hello, 0, payload_of(Seen{}));
    hello.process = process(incarnation, 9);
    exchange(1).deliver("hospital_c", side(2).signed_bytes(hello));
  }
  answer_only(2, {}, 200);
  ASSERT_TRUE(exchange(1).ending().has_value());
  EXPECT_THAT(exchange(1).ending()->text, HasSubstr("hospital_c answers, but its round 1 has not come"));
  ASSERT_TRUE(exchange(0).ending().has_value());
  EXPECT_THAT(exchange(0).ending()->text, HasSubstr("hospital_c answers, but its round 1 has not come"));
}

TEST_F(Held, ExcusesHaveALimit) {
  round();
  side(0).release();
  const auto excuse = [&](double seconds) {
    for (const double end = now + seconds; now < end && !exchange(0).ending(); now += 0.25) {
      exchange(0).tick(now);
      for (const Send& send : exchange(0).take().sends) {
        const Seen seen{
            .round = 1, .head = side(0).message(Kind::hello, 1, "").head, .process = {1, {}}, .waits_for = 2};
        const Message hello = side(1).message(Kind::hello, 0, payload_of(seen));
        exchange(0).answered(send.call, {.attachment = side(1).signed_bytes(hello)});
      }
    }
  };
  excuse(300);
  EXPECT_FALSE(exchange(0).ending().has_value());
  excuse(30);  // three parties, each with 100 and eight deadlines
  ASSERT_TRUE(exchange(0).ending().has_value());
  EXPECT_THAT(exchange(0).ending()->text, HasSubstr("hospital_b answers, but its round 1 has not come for 324 s"));
}

TEST_F(Held, WhoAnswersUnavailableForEverIsLost) {
  round();
  side(0).release();
  side(1).release();
  answer_only(2, {.verdict = Verdict::unavailable, .reason = "later"});
  EXPECT_EQ(exchange(1).ending()->end, End::peer_lost);
}

TEST_F(Held, WhoAnswersWithAnotherVersionForEverIsLost) {
  round();
  side(0).release();
  side(1).release();
  answer_only(2, {.verdict = Verdict::unknown_version, .reason = "9"});
  EXPECT_EQ(exchange(1).ending()->end, End::peer_lost);
}

}  // namespace
}  // namespace parley::protocol
