// What was spent on one set of rows, over rounds and over runs, and what may be spent. Two rules, proved in
// docs/proofs/composition.md:
//   δ = 0   sums: Σε over all charges; a Gaussian charge has no finite ε
//   δ > 0   the GDP filter: Σμ² over all charges, a pure charge as the μ of gdp_of_pure(ε); ε is then that of √Σμ² at δ
// Every sum is rounded up and every limit down. Rules are never mixed in one decision. Sums are kept in long double, so
// that what the rounding of many rounds costs stays far below the 1e-13 that planners leave free under a cap.
// Two accounts, each with its own cap, never mixed: against anybody, and against any set of organisations that has, in
// every run, at most as many of its parties as that run's plan allows for. They differ where noise cancels between parties.
#pragma once
#include <optional>
#include <span>

#include "parley/privacy/release.h"

namespace parley::ledger {

// The most that may ever be spent on a row of a dataset. Infinite epsilon: not limited, for public or synthetic rows.
struct Cap {
  Cap(double most_epsilon, double at_delta = 0, std::optional<double> most_against_colluders = std::nullopt)
      : epsilon(most_epsilon), delta(at_delta), colluders_epsilon(most_against_colluders) {}
  double epsilon;  // against anybody
  double delta;
  std::optional<double> colluders_epsilon;  // against the colluders that each run allows for; empty: not limited apart
  bool limited() const;
};

// The largest Σε (δ = 0) or Σμ² (δ > 0) under the cap, rounded down.
double limit_of(const Cap& cap, privacy::Against whom = privacy::Against::anybody);

struct Price {                           // of one release
  double epsilon = 0, mu = 0;            // against anybody
  std::optional<double> mu_colluders{};  // where noise cancels between parties
  Price against(privacy::Against whom) const {
    return {.epsilon = epsilon, .mu = whom == privacy::Against::colluders ? mu_colluders.value_or(mu) : mu};
  }
};

class Spend {
 public:
  explicit Spend(double delta = 0, std::span<const Price> prices = {},
                 privacy::Against whom = privacy::Against::anybody)
      : delta_(delta) {
    for (const Price& price : prices) add(price.against(whom));
  }
  void add(const Price& price);  // as it is against anybody
  void add(const Spend& run) { add_up(run.sum_); }
  double total() const;    // Σε or Σμ²
  double epsilon() const;  // at delta; never below the truth
  double delta() const { return delta_; }

 private:
  void add_up(long double term);

  double delta_;
  long double sum_ = 0;  // never below the truth
};

inline Spend larger(const Spend& a, const Spend& b) {
  return b.total() > a.total() ? b : a;
}

// What one more run may cost. By the GDP filter that is the run whose μ² fits, not the difference of two ε.
double left_under(const Cap& cap, const Spend& spent, privacy::Against whom = privacy::Against::anybody);

// Computes a charge again from its kind and parameters (docs/proofs/composition.md, kinds of charge: theorems 1 to 4,
// 6, 7 and G). Infinite where nothing covers the parameters, or the kind is not known. A charge with verified_only = 1
// rests on the numerically verified bound.
Price recomputed(const privacy::Charge& charge);

}  // namespace parley::ledger
