// Runs of the same options are one group: a line with its mean and its range.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "parley/report/drawing/chart.h"
#include "parley/report/run.h"

namespace parley::report {

struct Group {
  std::string name;       // the options in which it differs from the others; "" when it is the only one
  std::string algorithm;  // the same without its ε, for a line against ε
  std::vector<Run> runs;
  const Run& first() const { return runs.front(); }
};

std::vector<Group> group_runs(std::vector<Run> runs);

// What stands beside every ε, also in a file that is shown without its page: "NOT PRIVATE", "as dealt", both or "".
// "some NOT PRIVATE": not all of them are.
std::string mark_of(std::span<const Group> groups);
std::string in_brackets(const std::string& mark);  // " (as dealt)"; "" of no mark

struct Spread {
  double mean = absent, low = absent, high = absent;
  int count = 0;
};
Spread spread(const std::vector<double>& values);  // NaN values are left out
Spread over_runs(const Group& group, const std::function<double(const Run&)>& of);

// A value of each round, over the runs of a group; rounds in which no run has it are left out.
Line over_rounds(const Group& group, const std::function<double(const Round&)>& of);

// The largest loss that one of the runs has, with its δ.
const Run& worst(const std::vector<Group>& groups);

}  // namespace parley::report
