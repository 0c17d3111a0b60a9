// What may leave a node, and its price. A Release is a proposal; only the ledger turns it into a Paid value, and only
// Paid values can be given to a transport: Paid has no public constructor.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/vector.h"

namespace parley::ledger {
class Ledger;
}

namespace parley::privacy {

// Whom a price holds against. With noise that cancels (shared_noise.h) it is smaller against so many parties that pool
// what they know as the plan allows for; without it there is no difference.
enum class Against { anybody, colluders };

struct Charge {
  std::string kind = "none";  // "objective-gamma", "output-gamma", "objective-gaussian", "output-gaussian",
      // "linear-gamma", "linear-gaussian", "sums-gaussian"; "none": a function of released values and public
      // parameters; "no-noise": data without noise, which no private ledger pays
  double epsilon = 0;                    // of a pure round: proved, rounded up; infinite for "no-noise"
  double mu = 0;                         // of a Gaussian round: it is mu-GDP against anybody, rounded up
  std::optional<double> mu_colluders{};  // the same against the colluders of the plan, where noise cancels
  std::vector<std::pair<std::string, double>> parameters{};  // what is needed to recompute epsilon

  double mu_against(Against whom) const { return whom == Against::colluders ? mu_colluders.value_or(mu) : mu; }
};

struct Release {
  int node = 0;
  int round = 0;
  Vector value;  // empty: nothing to say in this round (it is the other side's turn in a star)
  Charge charge;
};

using Released = std::shared_ptr<const Vector>;

// The neighbours' released values of the last round, ordered by node id: sums are bit-identical on every carrier.
using Inbox = std::vector<Released>;

// A released value at the public bound: the run diverged. Decided on what everybody sees.
inline bool reaches_bound(const Vector& value, double bound) {
  return value.size() > 0 && value.cwiseAbs().maxCoeff() >= 0.999 * bound;
}

class Paid {
 public:
  int node() const { return node_; }
  int round() const { return round_; }
  const Released& value() const { return value_; }

 private:
  friend class ledger::Ledger;
  Paid(int node, int round, Released value) : node_(node), round_(round), value_(std::move(value)) {}
  int node_;
  int round_;
  Released value_;
};

}  // namespace parley::privacy
