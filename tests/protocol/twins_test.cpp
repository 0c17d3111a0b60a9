// The same simulation with one part of a party broken on purpose: it must find each of them. What cannot be broken from
// outside is broken in the source by mutants.py.
#include <gtest/gtest.h>

#include "protocol/seeds.h"

namespace parley::protocol {
namespace {

// How many seeds it takes to find it, and what is found.
std::uint64_t found_after(const std::function<void(Disk&, LedgerDisk&)>& broken, std::string& what) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Totals totals;
    try {
      live_through(seed, totals, [&](World& world) {
        for (int i = 0; i < static_cast<int>(world.endings.size()); ++i) broken(world.disk(i), world.ledger(i));
      });
    } catch (const Violation& v) {
      what = v.what();
      return seed + 1;
    }
  }
  what = "nothing";
  return 1000;
}

TEST(Twins, AcknowledgingBeforeTheSyncIsFound) {
  std::string what;
  EXPECT_LE(found_after([](Disk& disk, LedgerDisk&) { disk.sync_lies = true; }, what), 50U);
  EXPECT_TRUE(what.find("lost what it acknowledged") != std::string::npos ||
              what.find("older than the ledger") != std::string::npos ||
              what.find("the transcript is damaged") != std::string::npos)
      << what;
}

TEST(Twins, PayingAfterSendingIsFound) {
  std::string what;
  EXPECT_LE(found_after([](Disk&, LedgerDisk& ledger) { ledger.late = true; }, what), 1U);
  EXPECT_NE(what.find("not paid and durable"), std::string::npos) << what;
}

TEST(Twins, SolvingARoundAgainIsFound) {
  std::string what;
  EXPECT_LE(found_after([](Disk&, LedgerDisk& ledger) { ledger.forgets = true; }, what), 50U);
  EXPECT_NE(what, "nothing");
}

}  // namespace
}  // namespace parley::protocol
