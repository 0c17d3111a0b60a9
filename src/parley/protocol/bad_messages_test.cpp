// Every bad message that docs/check/protocol-refusals.md promises to refuse: its own text, naming peer and field;
// nothing changes; the honest run goes on.
#include <cmath>
#include <limits>

#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

// b has released rounds 0 and 1 and stored a's round 0; a's round 1 is awaited.
class BadMessage : public Trio {
 protected:
  BadMessage() {
    round();
    side(1).release();
    carry();
  }
  struct State {
    std::string transcript;
    std::vector<int> rounds;
    bool operator==(const State&) const = default;
  };
  State state() {
    State s{.transcript = side(1).medium->content, .rounds = {exchange(1).released()}};
    for (const auto& peer : exchange(1).peers()) s.rounds.insert(s.rounds.end(), {peer.stored, peer.has});
    return s;
  }
  // From a to b.
  void is_refused(const std::string& bytes, Verdict verdict, const std::string& detail,
                  const std::string& caller = "hospital_a") {
    const State before = state();
    const Receipt receipt = exchange(1).deliver(caller, bytes);
    EXPECT_EQ(name_of(receipt.verdict), name_of(verdict)) << receipt.reason;
    EXPECT_THAT(receipt.reason, HasSubstr("message from " + caller + " refused"));
    EXPECT_THAT(receipt.reason, HasSubstr("): " + std::string(field_of(verdict)) + ": "));
    EXPECT_THAT(receipt.reason, HasSubstr(detail));
    EXPECT_EQ(state(), before);
    const Actions actions = exchange(1).take();
    EXPECT_TRUE(actions.sends.empty());
    ASSERT_EQ(actions.reports.size(), 1U);
    EXPECT_EQ(actions.reports.front(), receipt.reason);
    goes_on();
  }
  void goes_on() {
    ASSERT_FALSE(exchange(1).ending().has_value());
    side(0).release();
    side(2).release();
    carry();
    for (auto& s : sides) ASSERT_TRUE(s->exchange->inbox().has_value());
    for (int t = 2; t <= 3; ++t) round();
    finish();
    for (auto& s : sides) EXPECT_EQ(s->exchange->ending()->end, End::completed);
  }
  std::string good() { return side(0).value_bytes(1, value_of(0, 1)); }
};

TEST_F(BadMessage, NotANumber) {
  is_refused(side(0).value_bytes(1, Vector{{0, std::nan("")}}), Verdict::not_finite, "coordinate 1 is NaN");
}

TEST_F(BadMessage, Infinite) {
  is_refused(side(0).value_bytes(1, Vector{{std::numeric_limits<double>::infinity(), 0}}), Verdict::not_finite,
             "coordinate 0 is +Inf");
}

TEST_F(BadMessage, NegativeInfinite) {
  is_refused(side(0).value_bytes(1, Vector{{-std::numeric_limits<double>::infinity(), 0}}), Verdict::not_finite,
             "coordinate 0 is -Inf");
}

TEST_F(BadMessage, BeyondThePublicBound) {
  is_refused(side(0).value_bytes(1, Vector{{0, -10.25}}), Verdict::beyond_bound,
             "coordinate 1 is -10.25, the public bound is 10");
}

TEST_F(BadMessage, OffThePublicGrid) {
  is_refused(side(0).value_bytes(1, Vector{{0.3, 0}}), Verdict::off_grid, "coordinate 0 is 0.3, no multiple of 0.25");
}

TEST_F(BadMessage, TooFewCoordinates) {
  is_refused(side(0).value_bytes(1, Vector{{1}}), Verdict::wrong_dimension, "8 bytes, but 16 are expected");
}

TEST_F(BadMessage, TooManyCoordinates) {
  is_refused(side(0).value_bytes(1, Vector{{1, 1, 1}}), Verdict::wrong_dimension, "24 bytes, but 16 are expected");
}

TEST_F(BadMessage, HalfACoordinate) {
  is_refused(side(0).signed_bytes(side(0).message(Kind::value, 1, std::string(15, '\0'))), Verdict::wrong_dimension,
             "15 bytes, but 16 are expected");
}

TEST_F(BadMessage, SilenceInsteadOfAValue) {
  is_refused(side(0).signed_bytes(side(0).message(Kind::silent, 1, "")), Verdict::wrong_turn,
             "silence in round 1, which has a value");
}

TEST_F(BadMessage, ARoundBeforeTheFirst) {
  is_refused(side(0).value_bytes(-1, value_of(0, 0)), Verdict::past_round, "-1, the first possible is 0");
}

TEST_F(BadMessage, ARoundAheadOfTheOneAwaited) {
  is_refused(side(0).value_bytes(2, value_of(0, 2)), Verdict::future_round, "2, but 1 is awaited");
}

TEST_F(BadMessage, ARoundThatTakesWhatIsNotReleased) {
  ASSERT_TRUE(exchange(1).deliver("hospital_a", good()).good());
  const Receipt receipt = exchange(1).deliver("hospital_a", side(0).value_bytes(2, value_of(0, 2)));
  EXPECT_TRUE(receipt.good());  // b has released round 1, so a may be at 2 …
  const Receipt next = exchange(1).deliver("hospital_a", side(0).value_bytes(3, value_of(0, 3)));
  EXPECT_EQ(next.verdict, Verdict::future_round);  // … but not at 3
  EXPECT_THAT(next.reason, HasSubstr("3, which takes round 2 of this node, and that is not released"));
}

TEST_F(BadMessage, ARoundAfterTheLast) {
  is_refused(side(0).value_bytes(4, value_of(0, 4)), Verdict::future_round, "4, the last is 3");
}

TEST_F(BadMessage, OfAnotherRun) {
  Message m = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  m.run = "run-0";
  is_refused(side(0).signed_bytes(m), Verdict::wrong_run, "'run-0', but this is 'run-1'");
}

TEST_F(BadMessage, OfAnotherConfiguration) {
  Message m = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  m.configuration = "hash-of-4";
  EXPECT_EQ(exchange(1).deliver("hospital_a", side(0).signed_bytes(m)).attachment, "3");  // to name the difference
  EXPECT_EQ(exchange(1).take().reports.size(), 1U);
  EXPECT_THAT(
      exchange(1).deliver("hospital_a", side(0).signed_bytes(m)).reason,
      HasSubstr("message from hospital_a refused (wrong_configuration): configuration: hash hash-of-4, but here "
                "it is hash-of-3"));
  goes_on();
}

TEST_F(BadMessage, AReplayIsAcknowledgedAgainAndChangesNothing) {
  const State before = state();
  const Receipt receipt = exchange(1).deliver("hospital_a", side(0).value_bytes(0, value_of(0, 0)));
  EXPECT_EQ(receipt.verdict, Verdict::duplicate);
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(exchange(1).take().reports.empty());
  goes_on();
}

TEST_F(BadMessage, AReplayByAnotherCaller) {
  is_refused(side(0).value_bytes(0, value_of(0, 0)), Verdict::wrong_sender,
             "'hospital_a', but the certificate says hospital_c", "hospital_c");
}

TEST_F(BadMessage, ASecondIterateIsKeptAndEndsTheRun) {
  for (const int behind : {0, 1}) {
    SCOPED_TRACE(behind);
    Side b(1, agreed);
    b.release();
    b.release();
    for (int t = 0; t <= behind; ++t)
      ASSERT_TRUE(b.exchange->deliver("hospital_a", side(0).value_bytes(t, value_of(0, t))).good());
    const std::string stored = b.medium->content;
    const std::string second = side(0).value_bytes(0, value_of(0, 0) + Vector::Constant(2, 0.25));
    const Receipt receipt = b.exchange->deliver("hospital_a", second);
    EXPECT_EQ(receipt.verdict, Verdict::second_value);
    EXPECT_THAT(receipt.reason,
                HasSubstr("message from hospital_a refused (second_value): payload: a value for round 0 "
                          "that is not the one stored"));
    ASSERT_TRUE(b.exchange->ending().has_value());
    EXPECT_EQ(b.exchange->ending()->end, End::equivocation);
    EXPECT_EQ(b.exchange->peers().front().stored, behind);  // the first one stands
    EXPECT_TRUE(b.medium->content.starts_with(stored));
    EXPECT_THAT(b.medium->content.substr(stored.size()), HasSubstr(second));
    EXPECT_EQ(b.exchange->deliver("hospital_a", second).verdict, Verdict::stopped);
  }
}

TEST_F(BadMessage, ASecondIterateWithAHeadThatHidesIt) {
  Message m = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  m.head = next_head({}, m.run, 0, 1, m.payload);  // follows from another round 0 than the one that was sent
  const Receipt receipt = exchange(1).deliver("hospital_a", side(0).signed_bytes(m));
  EXPECT_EQ(receipt.verdict, Verdict::other_history);
  EXPECT_THAT(receipt.reason, HasSubstr("message from hospital_a refused (other_history): head: "));
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation);
}

TEST_F(BadMessage, Truncated) {
  const std::string whole = good();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Receipt receipt = exchange(1).deliver("hospital_a", whole.substr(0, size));
    EXPECT_EQ(receipt.verdict, Verdict::truncated) << size;
    EXPECT_THAT(receipt.reason, HasSubstr("message from hospital_a refused (truncated): length: ends after " +
                                          std::to_string(size) + " bytes, in "));
  }
  exchange(1).take();
  const Receipt longer = exchange(1).deliver("hospital_a", whole + "!");
  EXPECT_THAT(longer.reason, HasSubstr("1 bytes stand after the signature"));
  goes_on();
}

TEST_F(BadMessage, EveryFlippedBit) {
  const std::string whole = good();
  const State before = state();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Receipt receipt = exchange(1).deliver("hospital_a", flipped);
    EXPECT_FALSE(receipt.good()) << bit;
    EXPECT_THAT(receipt.reason, HasSubstr("message from hospital_a refused")) << bit;
  }
  EXPECT_EQ(state(), before);
  exchange(1).take();
  goes_on();
}

TEST_F(BadMessage, AFlippedBitInTheValue) {
  std::string bytes = good();
  const std::size_t at = bytes.find(payload_of(value_of(0, 1)));
  bytes[at + 6] = static_cast<char>(bytes[at + 6] ^ 1);
  is_refused(bytes, Verdict::bad_signature, "not that of hospital_a over these bytes");
}

TEST_F(BadMessage, Oversize) {
  is_refused(good() + std::string(10000, 'x'), Verdict::oversize, "bytes, at most 8226 are read");
}

TEST_F(BadMessage, OfAnotherSenderThanTheCertificateSays) {
  Message m = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  m.sender = "hospital_c";
  is_refused(side(0).signed_bytes(m), Verdict::wrong_sender, "'hospital_c', but the certificate says hospital_a");
}

TEST_F(BadMessage, WithAnotherNodeNumber) {
  Message m = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  m.node = 2;
  is_refused(side(0).signed_bytes(m), Verdict::wrong_sender, "'hospital_a' is not node 2");
}

TEST_F(BadMessage, FromSomebodyNotInTheRoster) {
  is_refused(good(), Verdict::unknown_caller, "'eve' is not in the roster", "eve");
}

TEST_F(BadMessage, FromSomebodyWhoIsNoNeighbour) {
  const Receipt receipt = exchange(0).deliver("hospital_c", side(2).value_bytes(1, value_of(2, 1)));
  EXPECT_EQ(receipt.verdict, Verdict::unknown_caller);
  EXPECT_THAT(receipt.reason, HasSubstr("hospital_c is no neighbour of hospital_a"));
}

TEST_F(BadMessage, OfAnotherVersion) {
  std::string bytes = good();
  bytes[6] = 1;
  is_refused(bytes, Verdict::unknown_version, "1, but this program speaks 4");
}

TEST_F(BadMessage, OfAnotherProgram) {
  is_refused("GET / HTTP/1.1", Verdict::unknown_version, "not a message of parley");
}

TEST_F(BadMessage, OfAnUnknownKind) {
  std::string bytes = good();
  bytes[8] = 77;
  is_refused(bytes, Verdict::unknown_kind, "77");
}

TEST_F(BadMessage, AFinalIterateThatIsNotPartOfTheModel) {
  agreed.model_of = {2};
  Side b(1, agreed);
  const Receipt receipt = b.exchange->deliver(
      "hospital_a", side(0).signed_bytes(side(0).message(Kind::final_iterate, 3, payload_of(value_of(0, 3)))));
  EXPECT_EQ(receipt.verdict, Verdict::wrong_turn);
  EXPECT_THAT(receipt.reason, HasSubstr("a final iterate, and hospital_a's is not part of the model"));
}

}  // namespace
}  // namespace parley::protocol
