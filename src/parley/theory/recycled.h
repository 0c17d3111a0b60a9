// Convergence of MR-ADMM and R-ADMM. Zhang, Khalili, Liu, TIFS 2020, Theorem 1. With D̃ = 2WD + γI, t the private
// rounds, for some L > 0, μ > 1:
//   (i)    I + W(t+1)(D+A)D̃(t)⁻¹  ≻  Lμ / (2σ_min(D̃(t))) (W(t+1)(D−A))⁺ D_M                      D_M = diag(M_i²)
//   (ii)   W(t+1)(D+A)  ≻  W(t+1)(D+A)D̃(t)⁻¹(W(t)(D−A) + (2/L) W(t+1)(D+A)) + Lμ / (2σ_min(D̃(t))(μ−1)) D_M
//   (iii), (iv)   the same with W = ηI, L = μ = 2
// The search over μ is done by hand. Let c be the largest Lμ/2 that (i) allows in every round, and a(L) the largest
// Lμ/(2(μ−1)) that (ii) allows. Then Lμ/2 < c and Lμ/(2(μ−1)) < a(L) for some μ > 1 if and only if 1/a(L) + 1/c < 2/L.
// Only L is left to search, and a is concave in 1/L. Sufficient conditions: a run may converge, and usually does, with
// far less damping.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/base/vector.h"
#include "parley/network/graph.h"
#include "parley/theory/run.h"

namespace parley::theory {

class RecycledConditions {
 public:
  // damping_factor: γ(k)/γ(1), one per private round (all 1 in the theorem). At most `most_rounds` pairs (t, t+1), the
  // first and the last among them, are looked at.
  RecycledConditions(const network::Graph& graph, const PublicRun& run, const std::vector<double>& damping_factor = {},
                     int most_rounds = 8);

  double first_limit(double damping) const;  // c; < 0 when (i) fails for every L, μ; infinite when it always holds
  double second_limit(double damping, double inverse_l) const;  // a(1/inverse_l)
  bool hold(double damping, double l, double mu) const;         // (i) and (ii)

  struct Constants {
    double l = 0, mu = 0;
  };
  std::optional<Constants> constants(double damping) const;  // L and μ for which (i) and (ii) hold, if there are any

  struct Smallest {
    std::optional<double> damping;  // the infimum; at it the conditions hold with equality
    bool every_larger = true;       // so far as 40 larger values, up to 10⁶ times it, tell
    std::string why_none;
  };
  Smallest smallest_damping() const;                     // with the best L and μ
  Smallest smallest_damping(double l, double mu) const;  // (iii), (iv): 2, 2

 private:
  struct Pair {
    Vector now, next;  // W(t), W(t+1)
    double factor = 1;
    Matrix signless, consensus;  // W(t+1)(D+A) and W(t)(D−A)
    Matrix inverse_curvature;    // the symmetric part of (W(t+1)(D−A))⁺ D_M
  };
  Vector damped(const Pair& pair, double damping) const;  // the diagonal of D̃
  struct Form {  // (ii), scaled so that a(1/u) is the least eigenvalue of whole − u·part
    Matrix whole, part;
  };
  std::vector<Form> forms(double damping) const;
  std::optional<Constants> search(double damping,
                                  bool best) const;  // best: not the first that do, but those with most room
  template <class Holds>
  Smallest smallest(const Holds& holds) const;

  bool bipartite_;
  Vector degree_, most_curvature_;
  std::vector<Pair> pairs_;
};

}  // namespace parley::theory
