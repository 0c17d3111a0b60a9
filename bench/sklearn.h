// scikit-learn on the same rows, in a process of its own (sklearn_solve.py), one thread.
#pragma once
#include <nlohmann/json.hpp>

#include "parley/problem/objective.h"

namespace parley::bench {

// {solver: {seconds, seconds_wall, tol, gap, w}} where it reaches the gap, {solver: {skipped}} where it does not, or
// {skipped} when no python3 imports sklearn. `best` is the least objective known, of parley's problem.
nlohmann::json sklearn(const problem::Problem& p, double best, double wanted_gap, int repetitions);

// lbfgs as people call it: with this tolerance of its own, at most 1,000 iterations. {seconds, seconds_wall, iterations},
// or {skipped}.
nlohmann::json sklearn_lbfgs(const problem::Problem& p, double tolerance, int repetitions);

}  // namespace parley::bench
