// What to expect of newton before any data is seen: points of test error above the optimum without privacy, by
//   ν = √(Σ_i 1/μ_i²) d / (n √(N − c)),   with equal μ  F d/(n μ),  F = √(N/(N − c));  μ that of one row
// the noise of the mean gradient against its signal. c: how many of the N parties may pool what they know; N − 1 where
// each party's noise is its own, and then F = √N.
// The points are a table of 40 settings of one synthetic task (docs/check/frontier.md), not a promise. Nothing here
// reads rows.
#pragma once
#include <string>
#include <vector>

namespace parley::algorithm::newton {

struct Known {                  // all of it public
  std::vector<double> epsilon;  // of each party, whole run; infinite: no noise
  double delta = 0;
  double weights = 0;        // d: features, for each class of a softmax; 0: not known
  double records = 0;        // n, of all parties
  int colluders = 0;         // c
  int fewest_colluders = 1;  // that this run could be planned for: whoever receives the model is one of them
  long rows_per_person = 1;  // g: of μ for a person a row has μ/g
  int parties() const { return static_cast<int>(epsilon.size()); }
};
double noise_to_signal(const Known& known);  // ν; 0: no noise

struct Forecast {
  double points = 0;         // expected
  double low = 0, high = 0;  // between which the means of the settings in the table lie
  bool guessing = false;     // ν ≥ 0.3: no better than always guessing the larger class, where the smaller one is a
                             // quarter of the records
  bool ranged = true;        // false: several rows of a person, of which the table has no setting
};
Forecast forecast(double noise_to_signal);  // of single rows
Forecast forecast(const Known& known);

double guessing_below(const Known& known);  // the n at which ν is 0.3, rounded to two digits

// What would help, the most first.
struct Lever {
  std::string what;  // "twice the records"
  Forecast then;
  double epsilon_all_others = 0;  // ε against all other parties together, where the lever makes it another; 0: it stays
};
std::vector<Lever> levers(const Known& known);

// "about 1.2 points of test error more than without privacy (0.7 to 1.9 on a synthetic task …; not a promise)"
std::string in_words(const Forecast& f);
// "no better than guessing below about 6,100 records in all, where …"
std::string guessing_in_words(const Known& known);
// "half the features: 0.6 points; twice the records: 0.6 points; …"
std::string levers_in_words(const Known& known);

}  // namespace parley::algorithm::newton
