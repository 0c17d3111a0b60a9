// A party with everything real but the network: nodes, ledger files in SQLite, transcripts on a disk.
#include "parley/party/party.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "parley/ledger/ledger.h"
#include "protocol/seeds.h"

namespace parley::protocol {
namespace {

namespace fs = std::filesystem;
using protocol::End;

struct Office {  // of one party
  Office(const Scenario& s, int number, const fs::path& folder, double cap = 1000)
      : scenario(s), node(number), place(folder / ("party_" + std::to_string(number))) {
    fs::create_directory(place);
    ledger::LedgerFile(place / "ledger", ledger::LedgerFile::Open::create_if_missing).set_cap("ward", ledger::Cap(cap));
    open();
  }

  void open() {
    party.reset();
    ledger.reset();
    ledger::PlannedRun run{.id = "run-1", .configuration = "hash-1", .datasets = {{.name = "ward", .records = 100}}};
    run.accounts.push_back({.node = node, .dataset = "ward"});
    ledger.emplace(std::make_shared<ledger::LedgerFile>(place / "ledger"), run);
    party = std::make_unique<party::Party>(
        party::Party::Own{.node = scenario.node(node),
                          .pay = [this](privacy::Release r) { return ledger->pay(std::move(r)); },
                          .stored = [this](int round) { return ledger->stored(node, round); },
                          .fail = [this](int round, const std::string& why) { failed.emplace_back(round, why); },
                          .counts = [this](int round) { return study::counts_in_final(scenario.first, round); },
                          .on_round = [this](const privacy::Paid&, const privacy::Inbox&) { ++rounds; }},
        protocol::Exchange::Setup{.agreed = scenario.agreement(),
                                  .self = node,
                                  .last_released = ledger->last_round(node),
                                  .keys = simulated_keys(node),
                                  .process = {.incarnation = 1},
                                  .timing = {},
                                  .now = 0},
        open_append_file(place / "transcript"));
  }
  void solve() {
    while (auto job = party->job()) {
      auto random = privacy::NoiseSource(Scenario::seed).stream(node, job->round);
      party->solved(party->solve(*job, random));
    }
  }

  const Scenario& scenario;
  int node;
  fs::path place;
  std::optional<ledger::Ledger> ledger;
  std::unique_ptr<party::Party> party;
  int rounds = 0;
  std::vector<std::pair<int, std::string>> failed;
};

class OnRealDisks : public testing::Test {
 protected:
  OnRealDisks() {
    std::string pattern =
        ((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) / "parley-party-XXXXXX")
            .string();
    folder = mkdtemp(pattern.data());
  }
  ~OnRealDisks() override { fs::remove_all(folder); }

  std::vector<std::unique_ptr<Office>> offices(const Scenario& s) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    std::vector<std::unique_ptr<Office>> all;
    for (int i = 0; i < s.nodes(); ++i) all.push_back(std::make_unique<Office>(s, i, folder));
    return all;
  }
  // Carries messages until all have completed; after message number `dies`, every process is killed and started again.
  // Returns how many messages it took.
  static long complete(const Scenario& s, std::vector<std::unique_ptr<Office>>& all, long dies) {
    long messages = 0;
    double now = 0;
    for (bool going = true; going;) {
      now += 0.5;
      going = false;
      for (auto& office : all) {
        office->party->tick(now);
        office->solve();
        for (const auto& send : office->party->take().sends) {
          Office& to = *all[static_cast<std::size_t>(send.peer)];
          const auto receipt = to.party->deliver(s.agreement().name(office->node), send.bytes);
          office->party->answered(send.call, receipt);
          office->solve();
          to.solve();
          if (++messages != dies) continue;
          for (auto& each : all) each->open();
          break;
        }
        const auto& ending = office->party->ending();
        going = going || !ending || ending->end != End::completed;
      }
      if (now > 1000) throw Violation("somebody waits for ever");
    }
    return messages;
  }
  fs::path folder;
};

TEST_F(OnRealDisks, KilledAfterAnyMessageARunEndsAsIfNothingHadHappened) {
  const Scenario& s = *scenarios().front();
  auto all = offices(s);
  const long messages = complete(s, all, -1);
  EXPECT_GT(messages, 30);
  const long stride = std::getenv("PARLEY_TEST_FULL") != nullptr    ? 1
                      : std::getenv("PARLEY_TEST_SHORT") != nullptr ? 17
                                                                    : 5;
  for (long dies = 1; dies < messages; dies += stride) {
    all = offices(s);
    complete(s, all, dies);
    for (auto& office : all) {
      SCOPED_TRACE(dies);
      const auto at = static_cast<std::size_t>(office->node);
      ASSERT_TRUE(same_bits(office->party->model(), s.model));
      ASSERT_EQ(office->ledger->spent(office->node), s.spent[at]);
      ASSERT_EQ(office->ledger->charges(office->node).size(), s.released.size());
      for (std::size_t t = 0; t < s.released.size(); ++t)
        ASSERT_TRUE(same_bits(*office->ledger->stored(office->node, static_cast<int>(t))->value(), s.released[t][at]));
    }
  }
}

TEST_F(OnRealDisks, ABudgetThatEndsEndsTheRunWithAModelAndNothingMoreIsCharged) {
  const Scenario& s = *scenarios()[4];  // two peers
  fs::remove_all(folder);
  fs::create_directory(folder);
  Office rich(s, 0, folder), poor(s, 1, folder, 3);
  for (double now = 0; now < 20; now += 0.5) {
    for (Office* office : {&rich, &poor}) {
      office->party->tick(now);
      office->solve();
      Office& other = office == &rich ? poor : rich;
      for (const auto& send : office->party->take().sends)
        office->party->answered(send.call, other.party->deliver(s.agreement().name(office->node), send.bytes));
    }
  }
  ASSERT_TRUE(poor.party->ending().has_value());
  EXPECT_EQ(poor.party->ending()->end, End::budget_exhausted);
  EXPECT_LE(poor.ledger->spent(1), 3);
  EXPECT_GT(poor.ledger->spent(1), 0);
  ASSERT_TRUE(rich.party->ending().has_value());
  EXPECT_EQ(rich.party->ending()->end, End::peer_lost);
  EXPECT_THAT(rich.party->ending()->text, testing::HasSubstr("party_1 has stopped: the budget ends before round"));
  for (Office* office : {&rich, &poor}) {
    EXPECT_EQ(office->party->own_iterate().size(), s.dimension);
    EXPECT_EQ(office->rounds, office->ledger->last_round(office->node) + 1);
    EXPECT_TRUE(office->party->finished());
  }
}

TEST_F(OnRealDisks, WhatIsSolvedWhenTheRunHasEndedIsNeitherPaidNorSent) {
  const Scenario& s = *scenarios()[4];
  Office office(s, 0, folder);
  const auto job = office.party->job();
  ASSERT_TRUE(job.has_value());
  EXPECT_FALSE(office.party->job().has_value()) << "once";
  office.party->interrupt();
  auto random = privacy::NoiseSource(Scenario::seed).stream(0, 0);
  office.party->solved(office.party->solve(*job, random));
  EXPECT_EQ(office.ledger->last_round(0), -1);
  EXPECT_EQ(office.rounds, 0);
}

TEST_F(OnRealDisks, WhatCannotBeSolvedIsMarkedAndWhenTheRunHasEndedNobodyHearsOfIt) {
  const Scenario& s = *scenarios()[4];
  Office office(s, 0, folder);
  EXPECT_THROW(office.party->unsolved("failed"), std::logic_error) << "nothing is being solved";
  ASSERT_TRUE(office.party->job().has_value());
  EXPECT_TRUE(office.party->unsolved("uncertified"));
  EXPECT_THAT(office.failed, testing::ElementsAre(std::pair(0, std::string("uncertified"))));
  office.party->interrupt();
  EXPECT_FALSE(office.party->unsolved("uncertified")) << "dropped, as its release would be";
  EXPECT_EQ(office.failed.size(), 1u);
}

}  // namespace
}  // namespace parley::protocol
