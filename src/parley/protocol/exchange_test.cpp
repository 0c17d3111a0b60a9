#include "parley/protocol/exchange_test.h"

#include "parley/protocol/error_codes.h"

namespace parley::protocol {
namespace {

class Talk : public Trio {};

TEST_F(Talk, EveryoneEndsWithTheSameMeanInNodeOrder) {
  for (int t = 0; t <= 3; ++t) round();
  finish();
  const Vector sum = value_of(0, 3) + value_of(1, 3) + value_of(2, 3);
  for (auto& s : sides) {
    ASSERT_TRUE(s->exchange->ending().has_value());
    EXPECT_EQ(s->exchange->ending()->end, End::completed);
    EXPECT_EQ(s->exchange->model(), Vector(sum / 3));
    EXPECT_TRUE(s->exchange->finished());
    EXPECT_TRUE(s->reports.empty());
  }
}

TEST_F(Talk, AnInboxIsOrderedByNodeNumber) {
  for (auto& s : sides) s->release();
  carry();
  const auto inbox = exchange(1).inbox();
  ASSERT_TRUE(inbox.has_value());
  ASSERT_EQ(inbox->size(), 2U);
  EXPECT_EQ(*inbox->at(0), value_of(0, 0));
  EXPECT_EQ(*inbox->at(1), value_of(2, 0));
  EXPECT_FALSE(exchange(1).inbox().has_value()) << "once";
}

TEST_F(Talk, AValueIsAcknowledgedOnlyWhenItIsStored) {
  side(1).medium->full = true;
  EXPECT_THROW(exchange(1).deliver("hospital_a", side(0).value_bytes(0, value_of(0, 0))), Error);
  EXPECT_EQ(exchange(1).peers().front().stored, -1);
  side(1).medium->full = false;
  EXPECT_THROW(exchange(1).deliver("hospital_a", side(0).value_bytes(0, value_of(0, 0))), Error)
      << "a disk that failed once is not trusted again by this process";
}

TEST_F(Talk, ADuplicateWithAnotherSignatureIsTheSameValue) {
  round();
  Message m = side(0).message(Kind::value, 0, payload_of(value_of(0, 0)));
  sides[1]->keys.verify = [](int, std::string_view, std::string_view) { return true; };  // ECDSA is randomised
  side(1).open();
  m.signature = "another";
  EXPECT_EQ(exchange(1).deliver("hospital_a", encode(m)).verdict, Verdict::duplicate);
}

TEST_F(Talk, ATranscriptOfAnotherVersionIsNotOpened) {
  side(1).medium->content.clear();
  std::string older = side(0).value_bytes(0, value_of(0, 0));
  older[6] = 1;
  Transcript(std::make_unique<MemoryFile>(side(1).medium), owner_of(agreed, 1), [](auto, auto) {
  }).append(Transcript::Entry::received, older);
  try {
    side(1).open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(e.is(other_version));
    EXPECT_THAT(e.brief(), HasSubstr("protocol version 1, but this program speaks 4"));
  }
}

TEST(FinalIterates, AreSummedInNodeOrderWhateverOrderTheyCameIn) {
  Agreement agreed = three_in_a_row();
  agreed.dimension = 1;
  FinalIterates all(agreed);
  const double value[] = {0.1, 0.2, 0.3};
  for (const int node : {2, 0, 1}) {
    const Message m{.kind = Kind::final_iterate, .node = node, .payload = payload_of(Vector{{value[node]}})};
    all.add(m, encode(m));
  }
  EXPECT_EQ(all.model()[0], (0.1 + 0.2 + 0.3) / 3);
  EXPECT_NE(all.model()[0], (0.3 + 0.2 + 0.1) / 3);
}

// ---- R6: the configuration ----

TEST_F(Talk, AnotherConfigurationIsNamedFieldByFieldBeforeAnythingIsSent) {
  side(0).agreed.configuration = "4";
  side(0).agreed.configuration_hash = "hash-of-4";
  side(0).medium->content.clear();
  side(0).open();
  for (auto& s : sides) s->release();
  carry();
  ASSERT_TRUE(exchange(0).ending().has_value());
  EXPECT_EQ(exchange(0).ending()->end, End::refused);
  EXPECT_EQ(exchange(0).ending()->text, "hospital_b has another configuration: rounds is 4 here and 3 there");
  EXPECT_EQ(exchange(1).ending()->text, "hospital_a has another configuration: rounds is 3 here and 4 there");
  EXPECT_EQ(exchange(0).peers().front().stored, -1);
  EXPECT_EQ(exchange(1).peers().front().stored, -1);
}

TEST_F(Talk, APeerThatComesBackWithAnotherConfigurationIsWaitedFor) {
  round();
  Side wrong(0, agreed);
  wrong.agreed.configuration_hash = "hash-of-4";
  wrong.medium->content.clear();
  wrong.open();
  wrong.release();
  const auto sends = wrong.exchange->take().sends;
  const Receipt receipt = exchange(1).deliver("hospital_a", sends.at(0).bytes);
  EXPECT_EQ(receipt.verdict, Verdict::wrong_configuration);
  wrong.exchange->answered(sends.at(0).call, receipt);
  EXPECT_EQ(wrong.exchange->ending()->end, End::refused) << "its mistake";
  Side still(0, wrong.agreed);
  still.release();
  exchange(1).tick(0.75);
  for (const auto& send : exchange(1).take().sends)
    if (send.peer == 0) exchange(1).answered(send.call, still.exchange->deliver("hospital_b", send.bytes));
  EXPECT_THAT(exchange(1).take().reports,
              testing::Contains("hospital_a has another configuration: rounds is 3 here and 3 there"));
  EXPECT_FALSE(exchange(1).ending().has_value());
}

// ---- R7: a ledger that is older than what was released ----

TEST_F(Talk, ALedgerBehindWhatPeersHaveSeenIsRefusedBeforeANewRelease) {
  for (int t = 0; t <= 2; ++t) round();
  Side back(0, agreed);  // an old copy of its ledger and its transcript
  back.release();
  ASSERT_TRUE(back.exchange->deliver("hospital_b", side(1).value_bytes(0, value_of(1, 0))).good());
  for (const auto& send : back.exchange->take().sends) {
    const Receipt receipt = exchange(1).deliver("hospital_a", send.bytes);
    EXPECT_EQ(receipt.verdict, Verdict::ledger_behind);
    EXPECT_THAT(receipt.reason, HasSubstr("message from hospital_a refused (ledger_behind): round: the ledger of "
                                          "hospital_a is older than what it has released: it ends with round 0, and "
                                          "round 2 is stored here"));
    back.exchange->answered(send.call, receipt);
  }
  EXPECT_EQ(back.exchange->ending()->end, End::refused);
  EXPECT_THAT(back.exchange->ending()->text,
              HasSubstr("your ledger is older than what you have released: hospital_b has round 2"));
  EXPECT_TRUE(back.exchange->ending()->past_unknown());
  EXPECT_FALSE(back.exchange->inbox().has_value()) << "nothing to compute a new release from";
  EXPECT_FALSE(exchange(1).ending().has_value());
}

TEST_F(Talk, ALedgerWithAnotherHistoryThanPeersHaveSeenIsRefused) {
  for (int t = 0; t <= 1; ++t) round();
  Message hello = side(0).message(Kind::hello, 1, payload_of(Seen{}));
  hello.head = sha256("solved again");
  const Receipt receipt = exchange(1).deliver("hospital_a", side(0).signed_bytes(hello));
  EXPECT_EQ(receipt.verdict, Verdict::ledger_behind);
  EXPECT_THAT(receipt.reason, HasSubstr("it has another round 1 than is stored here"));
}

// An answer may be older than what its sender has done since.
TEST_F(Talk, AnAnswerThatIsOlderThanThePeersOwnValuesSendsNothingTwice) {
  round();
  round();
  side(0).release();
  carry();
  side(0).open();  // has released 2, and has the neighbour's 1: so that one has this node's 0
  exchange(0).tick(1);
  const auto hello = exchange(0).take().sends.at(0);
  const std::string old_answer =
      side(1).signed_bytes(side(1).message(Kind::hello, 1, payload_of(Seen{.process = side(0).process})));
  exchange(0).answered(hello.call, {.verdict = Verdict::accepted, .attachment = old_answer});
  EXPECT_EQ(std::get<Message>(decode(exchange(0).take().sends.at(0).bytes)).round, 1);
}

TEST_F(Talk, NoInboxForANewReleaseBeforeEveryNeighbourHasSpokenInThisProcess) {
  round();
  for (auto& s : sides) s->release();
  carry();
  side(1).open();  // killed; both inputs of round 1 are in its transcript
  EXPECT_FALSE(exchange(1).inbox().has_value());
  unreachable = 2;
  carry();
  pass(3);
  EXPECT_FALSE(exchange(1).inbox().has_value()) << "hospital_c may have seen more";
  unreachable = -1;
  pass(3);
  EXPECT_TRUE(exchange(1).inbox().has_value());
}

TEST_F(Talk, ALedgerBehindItsOwnTranscriptIsNotEvenStarted) {
  round();
  side(1).paid.clear();
  try {
    side(1).open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("your ledger is older than what you have released: it ends with round -1, and the "
                                    "transcript has round 0"));
  }
}

TEST_F(Talk, ATranscriptBehindTheLedgerIsNotStarted) {
  for (int t = 0; t <= 2; ++t) round();
  side(1).medium->content.clear();
  try {
    side(1).open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("the transcript is older than the ledger: round 2 was released, and values of round "
                          "1 that it was computed from are missing"));
  }
}

TEST_F(Talk, InputsOfTheAwaitedRoundThatADiskHasLostAreSentAgain) {
  for (const std::size_t lost : {1U, 300U, 600U}) {
    SCOPED_TRACE(lost);
    for (auto& s : sides) s = std::make_unique<Side>(s->node, agreed);
    round();
    for (auto& s : sides) s->release();
    carry();
    side(1).medium->content.resize(side(1).medium->content.size() - lost);
    side(1).open(now);
    EXPECT_TRUE(exchange(1).peers()[0].stored == 0 || exchange(1).peers()[1].stored == 0);
    now = 0;
    pass(2);
    EXPECT_EQ(exchange(1).peers()[0].stored, 1);
    EXPECT_EQ(exchange(1).peers()[1].stored, 1);
    EXPECT_TRUE(exchange(1).inbox().has_value());
  }
}

TEST_F(Talk, ALedgerWithOtherValuesThanTheTranscriptIsRefused) {
  round();
  side(1).paid = {*side(0).ledger.pay({.node = 1, .round = 0, .value = Vector::Ones(2), .charge = {}})};
  try {
    side(1).open();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("the ledger and the transcript do not belong together"));
  }
}

TEST_F(Talk, WhatIsSentAgainAfterARestartIsTheSameBytes) {
  const auto greet = [&] {  // hospital_b answers the hello; what comes then is the value
    const auto hello = exchange(0).take().sends.at(0);
    exchange(0).answered(hello.call, exchange(1).deliver("hospital_a", hello.bytes));
    return exchange(0).take().sends.at(0);
  };
  side(1).release();
  side(0).release();
  const Send first = greet();
  EXPECT_EQ(std::get<Message>(decode(first.bytes)).kind, Kind::value);
  int signatures = 0;
  side(0).keys.sign = [&](std::string_view bytes) {  // another one each time
    return ++signatures, signature_of(0, bytes);
  };
  side(0).open();
  EXPECT_EQ(greet().bytes, first.bytes);
  EXPECT_EQ(signatures, 1) << "the hello";
}

}  // namespace
}  // namespace parley::protocol
