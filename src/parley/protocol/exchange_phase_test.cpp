// The table of phases: what it promises, and that docs/check/protocol-phases.md shows the same one.
#include "parley/protocol/exchange_phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/protocol/receipt.h"

namespace parley::protocol {
namespace {

std::vector<std::string> rows_of_code() {
  std::vector<std::string> rows;
  for (const Transition& t : transitions())
    rows.push_back("| " + std::string(name_of(t.from)) + " | " + std::string(name_of(t.on)) + " | " +
                   std::string(name_of(t.to)) + " |");
  return rows;
}

TEST(Phases, TheTableInTheDocsIsTheOneInTheCode) {
  const std::string head = "| phase | event | next phase |";
  std::vector<std::string> rows;
  bool inside = false;
  const std::string page = read_file(PARLEY_FOLDER "/../../../docs/check/protocol-phases.md", "the page");
  for (const std::string& line : split_list(page, '\n')) {
    if (inside && !line.starts_with("|")) break;
    if (inside && !line.starts_with("|---")) rows.push_back(line);
    inside = inside || line == head;
  }
  EXPECT_EQ(rows, rows_of_code());
}

// The numbers on the wire, which another program reads there.
TEST(Phases, TheVerdictsInTheDocsAreThoseInTheCode) {
  const std::string page = read_file(PARLEY_FOLDER "/../../../docs/check/wire.md", "the page");
  for (std::size_t i = 0; i < verdict_count; ++i)
    EXPECT_THAT(page, testing::HasSubstr("\n| " + std::string(name_of(static_cast<Verdict>(i))) + " | " +
                                         std::to_string(i) + " |\n"));
}

TEST(Phases, EachEventLeadsToOnePhase) {
  std::set<std::pair<Phase, Event>> seen;
  for (const Transition& t : transitions())
    EXPECT_TRUE(seen.emplace(t.from, t.on).second) << name_of(t.from) << " " << name_of(t.on);
}

TEST(Phases, WhatTheTableDoesNotHaveIsABug) {
  EXPECT_THROW(next(Phase::completed, Event::stop), std::logic_error);
  EXPECT_THROW(next(Phase::stopped, Event::told), std::logic_error);
  EXPECT_EQ(next(Phase::greeting, Event::confirmed), Phase::rounds);
}

// Nothing new is released in any phase but `rounds`, and only `greeting` leads there: R7 for every path.
TEST(Phases, OnlyAPartyThatAllHaveConfirmedReleases) {
  for (const Transition& t : transitions()) {
    if (t.to == Phase::rounds) {
      EXPECT_EQ(t.from, Phase::greeting);
      EXPECT_EQ(t.on, Event::confirmed);
    }
  }
}

// A party that has signed who goes on completes nothing any more, and one that has ended begins nothing.
TEST(Phases, AConsentAndAnEndAreForGood) {
  for (const Transition& t : transitions()) {
    if (t.from == Phase::consented) {
      EXPECT_NE(t.to, Phase::completed);
    }
    if (ended(t.from)) {
      EXPECT_EQ(t.to, Phase::stopped);
      EXPECT_TRUE(t.on == Event::contradiction || t.on == Event::accusation);
    }
  }
}

}  // namespace
}  // namespace parley::protocol
