// A run between organisations and a simulation with the same secrets: what each party finds by X25519 with the keys of the
// others, in a process of its own, is what one process has that holds all keys. Own noise comes from a seed in both.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parley/algorithm/nodes.h"
#include "parley/ledger/ledger.h"
#include "parley/network/transport.h"
#include "parley/party/noise_key_file.h"
#include "parley/run/driver.h"
#include "parley/study/continuation.h"

namespace parley::party {
namespace {

constexpr int parties = 4;
constexpr std::uint64_t seed = 11;

// All keys of a simulation, each agreed by its pair.
class KeysOfAll final : public privacy::PairKeys {
 public:
  explicit KeysOfAll(std::vector<std::shared_ptr<const privacy::PairKeys>> of) : of_(std::move(of)) {}
  int parties() const override { return static_cast<int>(of_.size()); }
  privacy::PairKey key(int i, int j) const override { return of_[static_cast<std::size_t>(std::min(i, j))]->key(i, j); }

 private:
  std::vector<std::shared_ptr<const privacy::PairKeys>> of_;
};

class AgreedNoise : public testing::Test {
 protected:
  AgreedNoise() : keys_(agreed()) {
    const std::chrono::sys_seconds day{std::chrono::seconds(1800000000)};
    for (int i = 0; i < parties; ++i) {
      own_.push_back({*identity::AgreementKey::from(std::string(32, static_cast<char>('a' + i))), day});
      keys_.add({.kind = protocol::Kind::noise_key, .node = i, .round = -1, .payload = own_.back().payload()}, "");
    }
    const algorithm::Options o{
        .algorithm = "newton", .rounds = 3, .epsilon = {1}, .delta = 1e-5, .colluders = std::uint64_t{1}};
    plan_ = algorithm::make_plan(
        o,
        {.degree = std::vector<int>(parties, parties - 1), .records = std::vector<double>(parties, 3), .features = 2});
    for (int i = 0; i < parties; ++i) {
      data::Rows& rows = rows_.emplace_back();
      rows.features = 2;
      for (int n = 0; n < 3; ++n) {
        const std::array<std::int32_t, 2> columns{0, 1};
        const std::array<double, 2> values{0.5 - 0.1 * n, 0.2 * i};
        rows.append(columns, values, n == i ? 1 : -1);
      }
    }
  }

  static protocol::Agreement agreed() {
    protocol::Agreement a{.run = "r",
                          .configuration_hash = "c",
                          .parties = {"a", "b", "c", "d"},
                          .graph = network::complete_graph(parties)};
    a.shared_noise = true;
    return a;
  }

  std::shared_ptr<const privacy::PairKeys> pairs(int self) const {
    return pairs_of(own_[static_cast<std::size_t>(self)], keys_, agreed(), self, parties);
  }

  std::vector<std::unique_ptr<algorithm::Node>> nodes() const {
    std::vector<std::unique_ptr<algorithm::Node>> made;
    for (std::size_t i = 0; i < parties; ++i)
      made.push_back(
          algorithm::make_node({.rows = &rows_[i], .loss = plan_.nodes[i].summed_loss(), .weight = 1}, plan_.nodes[i]));
    return made;
  }

  // As run/simulate.cpp does it.
  std::vector<std::vector<Vector>> simulated(std::shared_ptr<const privacy::PairKeys> keys) const {
    const auto all = nodes();
    privacy::NoiseSource noise(seed);
    noise.share(std::move(keys));
    ledger::Ledger ledger(parties, false);
    network::InProcess transport(network::complete_graph(parties));
    run::Phases phases;
    std::vector<std::vector<Vector>> released;
    run::drive({.nodes = all,
                .noise = &noise,
                .ledger = &ledger,
                .transport = &transport,
                .release_bound = plan_.nodes[0].release_bound,
                .watch =
                    [&](int, std::span<const privacy::Paid> paid) {
                      auto& round = released.emplace_back();
                      for (const auto& p : paid) round.push_back(*p.value());
                      return true;
                    }},
               phases);
    return released;
  }

  // As party/party_process.cpp does it: each party with what it alone can compute.
  std::vector<std::vector<Vector>> between_parties() const {
    const auto all = nodes();
    std::vector<privacy::Inbox> inboxes(parties);
    std::vector<std::vector<Vector>> released;
    for (int round = 0; all[0]->has_next(); ++round) {
      std::vector<Vector> values;
      for (int i = 0; i < parties; ++i) {
        const privacy::NoiseSource noise(seed);
        privacy::Random random = noise.stream(i, round, study::noise_of_part(1));
        if (round > 0) random.share(pairs(i), i);
        values.push_back(all[static_cast<std::size_t>(i)]->step(inboxes[static_cast<std::size_t>(i)], random).value);
      }
      for (std::size_t i = 0; i < parties; ++i) all[i]->commit(inboxes[i], values[i]);
      for (std::size_t i = 0; i < parties; ++i) {
        inboxes[i].clear();
        for (std::size_t j = 0; j < parties; ++j)
          if (j != i) inboxes[i].push_back(std::make_shared<const Vector>(values[j]));
      }
      released.push_back(std::move(values));
    }
    return released;
  }

  std::vector<NoiseKey> own_;
  protocol::NoiseKeys keys_;
  algorithm::Plan plan_;
  std::vector<data::Rows> rows_;
};

TEST_F(AgreedNoise, BothOfAPairFindTheSameVectorAndNoOtherPairDoes) {
  std::set<privacy::PairKey> seen;
  const privacy::PairIndex index{.round = 2, .release = 1};
  for (int i = 0; i < parties; ++i)
    for (int j = 0; j < parties; ++j) {
      if (i == j) continue;
      Vector mine = Vector::Zero(7), theirs = Vector::Zero(7);
      privacy::add_pair_noise(mine, 1, pairs(i)->key(i, j), index);
      privacy::add_pair_noise(theirs, 1, pairs(j)->key(j, i), index);
      EXPECT_EQ(mine, theirs);
      seen.insert(pairs(i)->key(i, j));
    }
  EXPECT_EQ(seen.size(), std::size_t{parties * (parties - 1) / 2});
}

TEST_F(AgreedNoise, ARunBetweenPartiesHasTheBitsOfTheSimulationWithTheSameKeys) {
  std::vector<std::shared_ptr<const privacy::PairKeys>> of_all;
  for (int i = 0; i < parties; ++i) of_all.push_back(pairs(i));
  const auto between = between_parties(), one = simulated(std::make_shared<KeysOfAll>(of_all));
  ASSERT_EQ(between.size(), 5U) << "the start, three rounds and the model";
  EXPECT_EQ(between, one);
  EXPECT_NE(simulated(std::make_shared<privacy::SimulatedPairs>(parties, privacy::PairKey{}))[1], one[1])
      << "with other keys the bits are others";
}

}  // namespace
}  // namespace parley::party
