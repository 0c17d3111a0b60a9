// Who tells two histories, by what several transcripts hold (R14).
#include "parley/protocol/compare/histories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::protocol {
namespace {

Message message(Kind kind, int node, int round, const std::string& payload, int nonce = 1) {
  Message m{.kind = kind, .run = "r", .sender = "p", .node = node, .round = round, .process = {.incarnation = 1}};
  m.process.nonce[0] = static_cast<std::uint8_t>(nonce);
  m.head = next_head({}, m.run, node, round, payload);
  m.payload = payload;
  return m;
}

struct Found {
  int node, number, one, other;
  Kind kind;
};
void expect(const Histories& h, const std::vector<Found>& all) {
  ASSERT_EQ(h.contradictions().size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Contradiction& c = h.contradictions()[i];
    EXPECT_EQ((std::vector{c.node, c.number, c.one, c.other}),
              (std::vector{all[i].node, all[i].number, all[i].one, all[i].other}));
    EXPECT_EQ(c.kind, all[i].kind);
  }
}

TEST(Histories, TheSameTwiceIsOne) {
  Histories h;
  for (const int holder : {0, 1, 2})
    for (const Kind kind :
         {Kind::hello, Kind::value, Kind::final_iterate, Kind::seal, Kind::noise_key, Kind::loss, Kind::consent})
      h.add(holder, message(kind, 1, 3, "a"));
  expect(h, {});
}

TEST(Histories, TwoHeadsForOneRoundAreToldOnceForEachWhoHoldsAnother) {
  Histories h;
  for (const int round : {3, 4}) {
    h.add(0, message(Kind::value, 1, round, "a"));
    h.add(1, message(Kind::value, 1, round, "b"));
    h.add(2, message(Kind::silent, 1, round, "c"));
    h.add(3, message(Kind::value, 1, round, "a"));
    h.add(3, message(Kind::value, 2, round, "z"));  // of another party
  }
  expect(h, {{1, 3, 0, 1, Kind::value}, {1, 3, 0, 2, Kind::value}});
}

TEST(Histories, AProcessHasOneNonceInAllThatItSigns) {
  for (const Kind kind : {Kind::value, Kind::hello, Kind::final_iterate, Kind::seal, Kind::noise_key}) {
    Histories h;
    h.add(0, message(Kind::hello, 1, 0, "a", 1));
    h.add(2, message(kind, 1, 5, "a", 2));
    expect(h, {{1, 1, 0, 2, Kind::hello}});
  }
}

TEST(Histories, WhatIsSignedOnceHasOnePayloadAndOneHead) {
  for (const Kind kind : {Kind::final_iterate, Kind::seal, Kind::noise_key, Kind::loss, Kind::consent}) {
    Histories h;
    h.add(0, message(kind, 1, 5, "a"));
    h.add(2, message(kind, 1, 5, "b"));
    Message other_head = message(kind, 1, 5, "a");
    other_head.head[0] ^= 1;
    h.add(3, other_head);
    expect(h, {{1, 5, 0, 2, kind}, {1, 5, 0, 3, kind}});
  }
}

TEST(Histories, AValueAfterAStatementAfterALossContradictsIt) {
  Histories statement_first, value_first;
  statement_first.add(0, message(Kind::loss, 1, 3, "a"));
  statement_first.add(2, message(Kind::value, 1, 3, "b"));
  expect(statement_first, {});
  statement_first.add(2, message(Kind::value, 1, 4, "b"));
  expect(statement_first, {{1, 4, 0, 2, Kind::loss}});
  value_first.add(2, message(Kind::value, 1, 4, "b"));
  value_first.add(2, message(Kind::value, 2, 9, "b"));  // of another party
  value_first.add(0, message(Kind::loss, 1, 3, "a"));
  expect(value_first, {{1, 4, 2, 0, Kind::loss}});
}

}  // namespace
}  // namespace parley::protocol
