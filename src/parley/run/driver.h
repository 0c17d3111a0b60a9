// The one loop that every engine runs: solve, pay, commit, record, watch, exchange.
// It knows no algorithm, no data and no carrier.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/ledger/ledger.h"
#include "parley/network/transport.h"
#include "parley/privacy/random.h"

namespace parley::run {

enum class Outcome { completed, budget_exhausted, diverged, interrupted };
std::string name_of(Outcome outcome);

struct Phases {  // seconds
  double solve = 0, ledger = 0, record = 0, exchange = 0;
};

struct Drive {
  std::span<const std::unique_ptr<algorithm::Node>> nodes;  // the local ones
  const privacy::NoiseSource* noise = nullptr;
  ledger::Ledger* ledger = nullptr;
  network::Transport* transport = nullptr;
  int threads = 1;
  double release_bound = 1000;
  // What (node, round) of this run released before it was interrupted: taken in place of a new step, without data.
  std::function<std::optional<privacy::Release>(int node, int round)> released_before{};
  // What (node, round) would release and is charged for, without its value: a round that cannot be solved is charged to
  // the ledger like one that was released, before anybody hears of it. Empty: it is only thrown.
  std::function<privacy::Release(int node, int round)> unreleased{};
  // Each round's paid values, before any other process hears of them, even in a sum. Empty: nobody records.
  std::function<void(int round, std::span<const privacy::Paid> paid)> record{};
  // Then: measure and report. False: stop after this round. Empty: nobody watches.
  std::function<bool(int round, std::span<const privacy::Paid> paid)> watch{};
  // The largest of what every process of this run says (network::Ranks): all end in the same round. Empty: only one.
  std::function<double(double)> largest{};
};

// Privacy: what reaches the transport was charged and recorded first. `diverged` is decided on released values only. A
// step that throws ends the run for good: it is marked in the ledger before the exception leaves.
Outcome drive(const Drive& d, Phases& phases);

}  // namespace parley::run
