// Whether a claim holds, decided from what was measured by one of a few rules:
//   lower      each of the runs is lower than the next
//   close      all are within `tolerance` of the first
//   falls, rises   from the first value of the sweep to the last (without a sweep: from the first round to the last)
//   lowest     along the sweep, the smallest mean lies at a value between [low, high]
//   gain       of four runs a, b, c, d: a − b is larger than c − d
//   steadier   the range over runs, averaged over rounds, is smaller than the next one's
//   smoother   the mean change from one round to the next is smaller than the next one's
//   reaches    all end within `tolerance` (relative) of what the optimum without privacy has; distance: below it
//   misses     none does
//   ratio      the first divided by the second lies between [low, high]
//   below      all are below `tolerance`
// A difference of means counts when it exceeds two standard errors (paired by run: same seeds); otherwise the runs do
// not decide. Two runs of a swept series are compared at every value.
#pragma once
#include <string>
#include <vector>

#include "parley/experiment/experiment.h"
#include "parley/experiment/measured.h"

namespace parley::experiment {

enum class Finding { holds, undecided, fails };

struct Judgement {
  std::string says;
  Finding finding = Finding::fails;
  std::string measured;  // a sentence
  bool claim = true;
};

std::string misuse(const Judge& judge, bool has_range);  // why the rule cannot be asked like this; empty when it can

bool reads_rounds(const Judge& judge);  // more than the last one

Judgement decide(const Judge& judge, const std::vector<Measured>& all);

// holds: every part does; does not hold: no part does; undecided: no part is decided; else holds in part.
std::string verdict(const std::vector<Judgement>& judgements);
std::string in_words(Finding finding);

}  // namespace parley::experiment
