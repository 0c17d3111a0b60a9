// How often 95 % intervals hold the true coefficient: studies are simulated with the product's plan, sums, noise and
// final phase (newton_final.h). What parties share of their noise is left out: it cancels in the sums, bit by bit
// (shared_noise_audit_test.cpp), and what stays is each party's own part.
#pragma once
#include <string>
#include <vector>

#include "parley/algorithm/options.h"

namespace parley::statistical {

enum class Truth {
  model,    // what is fitted is true
  curved,   // the score has a square and a product that the model leaves out
  unequal,  // probabilities come from another link and stay within 4 % and 90 %
};

struct StudySetting {
  std::string name;
  long records = 40000;        // of all parties
  int numbers = 5, flags = 4;  // columns: numbers in [-1, 1], of which some lean to one side; flags are 0 or 1
  double epsilon = 1;
  int parties = 5;
  int colluders = 0;  // 0: all others
  bool linear = false;
  double clip = 0, ridge = 0;  // 0: the planner's
  Truth truth = Truth::model;
  double effect = 1;          // size of the coefficients
  bool forget_noise = false;  // broken twin: intervals of sampling alone
};

struct Coverage {
  double held = 0, printed = 0, all = 0;  // coefficients, over all studies
  double wider = 0;                       // mean of SE against that of sampling alone, of those printed
  double share() const { return held / printed; }
};
// On two threads; the same for the same seed.
Coverage coverage(const StudySetting& setting, int studies, unsigned long long seed);

}  // namespace parley::statistical
