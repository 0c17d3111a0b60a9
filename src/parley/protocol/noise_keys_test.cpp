// Keys for shared noise (docs/check/protocol-sums.md, section 15): nothing is released from rows before all are here.
#include "parley/protocol/noise_keys.h"

#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

std::string key_of(int node, char mark = 'k') {
  std::string key(noise_key_bytes, mark);
  key[0] = static_cast<char>('0' + node);
  return key;
}

// a - b - c: values go to neighbours only, keys to all.
class SharedInARow : public Trio {
 protected:
  SharedInARow() {
    agreed.shared_noise = true;
    for (int i = 0; i < 3; ++i) {
      auto made = std::make_unique<Side>(i, agreed);
      made->noise_key = key_of(i);
      made->medium->content.clear();
      made->open();
      sides[static_cast<std::size_t>(i)] = std::move(made);
    }
  }
  Message noise_key(int node, const std::string& payload) { return side(node).message(Kind::noise_key, -1, payload); }
  Receipt bring(int by, int to, const std::string& bytes) { return exchange(to).deliver(agreed.name(by), bytes); }
};

TEST_F(SharedInARow, KeysReachAllAndTheRunCompletes) {
  for (int i = 0; i <= 3; ++i) round();
  for (int node = 0; node < 3; ++node)
    for (int other = 0; other < 3; ++other) EXPECT_EQ(exchange(node).noise_keys().payload(other), key_of(other));
  finish();
  for (int node = 0; node < 3; ++node) EXPECT_EQ(exchange(node).phase(), Phase::completed);
}

TEST_F(SharedInARow, NobodyIsToldOfARoundFromWhichItCouldReleaseBeforeAllKeysAreHere) {
  side(2).noise_key.clear();  // c has none
  side(2).medium->content.clear();
  side(2).open();
  for (auto& s : sides) s->release();
  pass(2);
  for (int node = 0; node < 3; ++node) {
    EXPECT_FALSE(exchange(node).noise_keys().complete());
    EXPECT_FALSE(exchange(node).inbox().has_value()) << node << ": its neighbours' round 0 is here, c's key is not";
  }
  pass(400);  // b calls c, and loses it
  EXPECT_THAT(exchange(1).ending()->text, HasSubstr("its key for shared noise has not come"));
  EXPECT_EQ(exchange(1).released(), 0);
}

TEST_F(SharedInARow, ASecondKeyIsAContradictionEverywhere) {
  pass(2);
  const std::string second = side(2).signed_bytes(noise_key(2, key_of(2, 'x')));
  const Receipt receipt = bring(1, 0, second);
  EXPECT_EQ(receipt.verdict, Verdict::second_value);
  EXPECT_EQ(exchange(0).ending()->end, End::equivocation);
  pass(2);
  EXPECT_EQ(exchange(1).ending()->end, End::equivocation) << "a has shown it";
  EXPECT_THAT(*exchange(1).contradiction(), HasSubstr("another key for shared noise"));
  side(0).open();
  EXPECT_EQ(exchange(0).contradiction().has_value(), true) << "a restart does not forget it";
}

TEST_F(SharedInARow, AnotherKeyThanTheOneSignedBeforeStopsTheNextProcess) {
  pass(2);
  side(0).noise_key = key_of(0, 'x');
  side(0).process.incarnation = 2;
  EXPECT_THROW(side(0).open(), Error);
  side(0).noise_key = key_of(0);
  side(0).open();
  EXPECT_TRUE(exchange(0).noise_keys().complete()) << "from its transcript";
}

TEST_F(SharedInARow, AfterARoundWasReleasedNoKeyIsMade) {
  side(0).noise_key.clear();  // a transcript that lacks it
  side(0).medium->content.clear();
  side(0).open();
  for (auto& each : sides) each->release();
  pass(2);
  side(0).release();
  side(0).noise_key = key_of(0);
  side(0).process.incarnation = 2;
  EXPECT_THROW(side(0).open(), Error);
}

TEST_F(SharedInARow, ACopyThatHasMadeAnotherKeyIsShownToItsParty) {
  pass(2);
  Message copy = noise_key(0, key_of(0, 'x'));
  EXPECT_EQ(bring(1, 0, side(0).signed_bytes(copy)).verdict, Verdict::stopped);
  EXPECT_TRUE(exchange(0).ending()->past_unknown());
}

// Its folder may have been removed before a row was used: the run ends, and the ledger is not marked as old.
TEST_F(SharedInARow, AnotherKeyOfItsOwnSaysNothingOfItsLedger) {
  std::vector<std::string> marked;
  side(0).accused = [&](const std::string& what, std::string_view) { marked.push_back(what); };
  side(0).open();
  pass(2);
  bring(1, 0, side(0).signed_bytes(noise_key(0, key_of(0, 'x'))));
  ASSERT_TRUE(exchange(0).ending().has_value());
  EXPECT_TRUE(exchange(0).ending()->past_unknown());
  side(0).open();
  EXPECT_TRUE(exchange(0).ending()->past_unknown()) << "a later process too";
  EXPECT_TRUE(marked.empty());
}

TEST_F(SharedInARow, WhoComesBackWithAnEmptyDiskGetsAllKeysAgain) {
  pass(2);
  side(2).medium->content.clear();
  side(2).process.incarnation = 2;
  side(2).open();
  pass(2);
  EXPECT_TRUE(exchange(2).noise_keys().complete());
}

// The same signed bytes are here and there, and no clock: whoever is judged by one is judged so by all.
TEST(NoiseKeys, ADayFarFromTheMiddleOneIsFound) {
  Agreement agreed = three_in_a_row();
  agreed.shared_noise = true;
  const auto found = [&](std::array<std::uint64_t, 3> days) {
    NoiseKeys keys(agreed);
    for (int node = 0; node < 3; ++node) {
      std::string payload = key_of(node);
      for (std::size_t k = 0; k < 8; ++k)
        payload[32 + k] = static_cast<char>(days[static_cast<std::size_t>(node)] >> (8 * k));
      keys.add({.kind = Kind::noise_key, .node = node, .round = -1, .payload = payload}, "");
      EXPECT_EQ(noise_key_day(payload), days[static_cast<std::size_t>(node)]);
    }
    return keys.out_of_time();
  };
  const std::uint64_t now = 1'800'000'000, far = now + noise_key_spread;
  EXPECT_FALSE(found({now, now, far}));
  EXPECT_EQ(found({now, far + 1, now}), 1);
  EXPECT_EQ(found({now - noise_key_spread - 1, now, now}), 0);
  EXPECT_EQ(found({now, now, ~std::uint64_t{0}}), 2);
  EXPECT_EQ(found({0, now, now}), 0);
}

TEST_F(SharedInARow, WrongOnesAreRefused) {
  pass(2);
  const auto refused = [&](Message m) { return bring(1, 0, side(m.node).signed_bytes(m)).verdict; };
  EXPECT_EQ(refused(noise_key(2, "short")), Verdict::truncated);
  EXPECT_EQ(refused(side(2).message(Kind::noise_key, 0, key_of(2))), Verdict::future_round);
  Message forged = noise_key(2, key_of(2, 'x'));
  forged.signature = signature_of(1, signed_part(forged));
  EXPECT_EQ(bring(1, 0, encode(forged)).verdict, Verdict::bad_signature);
  EXPECT_FALSE(exchange(0).ending().has_value());
}

TEST_F(Trio, WithoutSharedNoiseThereAreNoKeys) {
  const std::string bytes = side(1).signed_bytes(side(1).message(Kind::noise_key, -1, key_of(1)));
  EXPECT_EQ(exchange(0).deliver(agreed.name(1), bytes).verdict, Verdict::wrong_turn);
}

}  // namespace
}  // namespace parley::protocol
