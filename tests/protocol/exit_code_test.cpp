// Every end of a party's run has one exit code, and what it means holds.
#include "parley/party/exit_code.h"

#include <gtest/gtest.h>

#include "parley/ledger/error_codes.h"
#include "parley/problem/solve.h"

namespace parley::party {
namespace {

using protocol::End;
using protocol::Reason;

TEST(ExitCode, SaysWhetherStartingAgainHelps) {
  const auto code = [](End end, Reason reason = Reason::own) {
    return static_cast<int>(exit_of({.end = end, .reason = reason}, false));
  };
  EXPECT_EQ(code(End::completed), 0);
  EXPECT_EQ(code(End::budget_exhausted), 3);
  EXPECT_EQ(code(End::refused, Reason::refusal), 3);
  EXPECT_EQ(code(End::interrupted), 4);
  for (const Reason reason : {Reason::silence, Reason::peer_stopped, Reason::no_agreement})
    EXPECT_EQ(code(End::peer_lost, reason), 4);
  EXPECT_EQ(code(End::peer_lost, Reason::left_behind), 5);
  EXPECT_EQ(exit_of({.end = End::peer_lost, .reason = Reason::no_agreement, .for_ever = true}, false),
            Exit::never_again);
  EXPECT_EQ(code(End::refused, Reason::past_unknown), 5);
  EXPECT_EQ(code(End::diverged), 5);
  EXPECT_EQ(code(End::equivocation), 5);
  EXPECT_EQ(code(End::contradicted), 5);
}

TEST(ExitCode, OfARunThatWasCompleteBeforeIsItsOwnUnlessAContradictionEndsIt) {
  for (const End end : {End::completed, End::interrupted, End::peer_lost})
    EXPECT_EQ(exit_of({.end = end}, true), Exit::completed_already);
  EXPECT_EQ(exit_of({.end = End::equivocation}, true), Exit::never_again);
}

TEST(ExitCode, OfAnErrorIsOneUnlessTheRunIsClosedForGood) {
  EXPECT_EQ(exit_of(Error({.what = "no such file"})), Exit::mistake);
  EXPECT_EQ(exit_of(Error({.what = "closed", .code = ledger::run_closed})), Exit::never_again);
  EXPECT_EQ(exit_of(problem::Uncertified(Error::Fields{.what = "no certificate"})), Exit::never_again);
}

TEST(ExitCode, TheTableHasEveryCodeInOrder) {
  for (std::size_t i = 0; i < exit_codes().size(); ++i) EXPECT_EQ(static_cast<std::size_t>(exit_codes()[i].code), i);
}

}  // namespace
}  // namespace parley::party
