// Runs a cell with the product's own nodes, ledger and loop, in memory and on this thread alone. Seeded, hence NOT
// PRIVATE.
#pragma once
#include <atomic>
#include <functional>
#include <set>

#include "parley/experiment/cell.h"
#include "parley/experiment/measured.h"

namespace parley::experiment {

struct Job {  // some repeats of one cell, on one split
  std::size_t cell = 0;
  long first = 0, count = 1;
};
std::vector<Job> jobs(const Experiment& experiment, const std::vector<Cell>& cells);

struct Wanted {
  std::set<Metric> ever, every_round;  // measuring costs time
  bool at(Metric metric, bool last) const { return (last ? ever : every_round).contains(metric); }
};
Wanted wanted(const Experiment& experiment);

// on_round: after each round of each run. stop: nullopt comes back.
std::optional<Measured> run_job(const Experiment& experiment, const Cell& cell, const Job& job, const Wanted& wanted,
                                const std::function<void()>& on_round, const std::atomic<bool>& stop);

// More repeats of the same cell.
void append(Measured& to, Measured more);

}  // namespace parley::experiment
