#include "parley/protocol/message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace parley::protocol {
namespace {

Message sample() {
  return {.kind = Kind::value,
          .run = "run-1",
          .configuration = "hash",
          .sender = "hospital_a",
          .node = 3,
          .round = 70000,
          .head = sha256("x"),
          .payload = payload_of(Vector{{1.5, -0.0, 1e-310, -1e300}}),
          .signature = std::string(72, 's')};
}

TEST(Message, ComesBackAsItWasSent) {
  const Message m = sample();
  const auto parsed = decode(encode(m));
  const auto& back = std::get<Message>(parsed);
  EXPECT_EQ(back.kind, m.kind);
  EXPECT_EQ(back.run, m.run);
  EXPECT_EQ(back.configuration, m.configuration);
  EXPECT_EQ(back.sender, m.sender);
  EXPECT_EQ(back.node, m.node);
  EXPECT_EQ(back.round, m.round);
  EXPECT_EQ(back.head, m.head);
  EXPECT_EQ(back.payload, m.payload);
  EXPECT_EQ(back.signature, m.signature);
  EXPECT_EQ(signed_part(back), signed_part(m));
}

// Golden bytes: another machine, another compiler and the next version of this program must read the same.
TEST(Message, IsTheseBytes) {
  const Message m{.kind = Kind::value,
                  .run = "r",
                  .configuration = "c",
                  .sender = "ab",
                  .node = 1,
                  .round = -1,
                  .process = {.incarnation = 7, .nonce = {0xAB}},
                  .payload = payload_of(Vector{{1.0}}),
                  .signature = "S"};
  EXPECT_EQ(hex(encode(m)),
            "7061726c6579"  // parley
            "0400"
            "02"  // version, kind
            "0172"
            "0163"
            "026162"  // run, configuration, sender
            "01000000"
            "ffffffff"  // node, round
            "07000000"
            "ab000000000000000000000000000000"                                  // process: number, nonce
            "0000000000000000000000000000000000000000000000000000000000000000"  // head
            "08000000"
            "000000000000f03f"  // payload
            "0100"
            "53");  // signature
  EXPECT_EQ(hex(next_head({}, "r", 1, 0, payload_of(Vector{{1.0}}))),
            hex(sha256(std::string("parley release 1") + std::string(32, '\0') + "\x01r" +
                       std::string("\x01\0\0\0\0\0\0\0", 8) + payload_of(Vector{{1.0}}))));
}

TEST(Message, EveryDoubleKeepsItsBits) {
  const Vector value{{0.0, -0.0, 5e-324, -1e308, std::numeric_limits<double>::infinity(), std::nan("7")}};
  const auto back = vector_of(payload_of(value));
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->size(), value.size());
  EXPECT_EQ(std::memcmp(back->data(), value.data(), sizeof(double) * 6), 0);
  EXPECT_FALSE(vector_of("1234567").has_value());
}

TEST(Message, TheSignatureCoversEveryOtherField) {
  const std::string whole = signed_part(sample());
  std::vector<Message> changed(8, sample());
  changed[0].kind = Kind::silent;
  changed[1].run = "run-2";
  changed[2].configuration = "hush";
  changed[3].sender = "hospital_b";
  changed[4].node = 4;
  changed[5].round = 1;
  changed[6].head = {};
  changed[7].payload.back() ^= 1;
  for (const Message& m : changed) EXPECT_NE(signed_part(m), whole);
  Message signature = sample();
  signature.signature = "another";
  EXPECT_EQ(signed_part(signature), whole);
}

TEST(Message, NoFieldCanBeMovedIntoItsNeighbour) {
  Message a = sample(), b = sample();
  a.run = "ab", a.configuration = "c";
  b.run = "a", b.configuration = "bc";
  EXPECT_NE(signed_part(a), signed_part(b));
}

TEST(Message, AHeadStandsForEverythingReleasedSoFar) {
  const Digest none{};
  const Digest one = next_head(none, "run", 1, 0, "value");
  EXPECT_NE(one, next_head(none, "run", 1, 0, "other"));
  EXPECT_NE(one, next_head(none, "run", 1, 1, "value"));
  EXPECT_NE(one, next_head(none, "run", 2, 0, "value"));
  EXPECT_NE(one, next_head(none, "runs", 1, 0, "value"));
  EXPECT_NE(next_head(one, "run", 1, 1, "v"), next_head(none, "run", 1, 1, "v"));
}

TEST(Message, HelloAndGoodbyeComeBack) {
  const Seen seen{.round = -1, .head = sha256("h")};
  EXPECT_EQ(seen_of(payload_of(seen))->round, -1);
  EXPECT_EQ(seen_of(payload_of(seen))->head, seen.head);
  EXPECT_FALSE(seen_of("short").has_value());
  EXPECT_FALSE(seen_of(payload_of(Seen{.round = -2})).has_value());
  const Goodbye goodbye{.end = End::peer_lost, .text = std::string(1000, 'x')};
  EXPECT_EQ(goodbye_of(payload_of(goodbye))->end, End::peer_lost);
  EXPECT_EQ(goodbye_of(payload_of(goodbye))->text.size(), 255U);
  EXPECT_EQ(goodbye_of(payload_of(goodbye))->reason, Reason::own);
  EXPECT_EQ(payload_of(Goodbye{.end = End::peer_lost, .reason = Reason::peer_stopped, .text = "b"}),
            std::string("\x04\x02\x01") + "b");
  EXPECT_FALSE(goodbye_of(std::string("\x63\x00\x00", 3)).has_value());
  EXPECT_FALSE(goodbye_of(std::string("\x04\x07\x00", 3)).has_value()) << "a reason that no party has";
  EXPECT_FALSE(goodbye_of("").has_value());
}

TEST(Message, WhatGoesIntoALogIsPrintableAndShort) {
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(printable(std::string(100, 'x')).size(), 67U);
}

TEST(Message, EveryVerdictHasItsNameAndField) {
  for (std::size_t v = 0; v < verdict_count; ++v) {
    EXPECT_FALSE(name_of(static_cast<Verdict>(v)).empty()) << v;
    EXPECT_EQ(field_of(static_cast<Verdict>(v)).empty(), v < 2) << v;
  }
}

}  // namespace
}  // namespace parley::protocol
