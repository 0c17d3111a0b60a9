// What to expect of newton before any data is seen: points of test error above the optimum without privacy, by
//   ν = F d/(n μ),  F = √N for noise of each party's own
// From a table of 40 settings of the synthetic census task (docs/newton.md, section 4). Nothing here reads data.
#pragma once

namespace parley::algorithm::newton {

struct Forecast {
  double points = 0;          // expected
  double low = 0, high = 0;   // between which the means of the settings in the table lie
  bool beyond_table = false;  // noisier than anything that was tried: no better than guessing
};
Forecast forecast(double noise_to_signal);

}  // namespace parley::algorithm::newton
