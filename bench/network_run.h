// An algorithm between peers on given rows as run/simulate.cpp drives it (plan, nodes, ledger in memory, values passed in the process),
// without metrics and record, and what it cost. Ring graph, for sums over rows all pairs; seeded noise: the same work in
// every repetition.
#pragma once
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/network/graph.h"
#include "parley/problem/row_sums.h"
#include "parley/run/driver.h"
#include "stopwatch.h"

namespace parley::bench {

algorithm::Options paper_setting();   // penalty 1, gamma noise of rate 0.5
algorithm::Options planned();         // mr-admm, epsilon = 1, delta = 10⁻⁵, the rest by the planner
algorithm::Options planned_newton();  // the same budget

std::vector<data::Rows> deal(const data::Rows& all, int parts);  // in turn, as even as possible

class Network {
 public:
  Network(std::vector<data::Rows> rows, const algorithm::Options& options);  // at least two nodes
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  struct Cost {
    Seconds seconds;         // of the rounds; cpu: of all threads
    run::Phases phases;      // by the wall
    problem::Passes passes;  // over rows
  };
  Cost run(int threads) const;  // throws unless it completes

  double seconds_plan() const { return seconds_plan_; }  // processor time of make_plan
  const std::vector<data::Rows>& rows() const { return rows_; }
  const algorithm::Plan& plan() const { return plan_; }

 private:
  std::vector<data::Rows> rows_;
  network::Graph graph_;
  double seconds_plan_ = 0;
  algorithm::Plan plan_;
  std::vector<problem::Problem> problems_;
};

}  // namespace parley::bench
