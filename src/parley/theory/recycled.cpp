#include "parley/theory/recycled.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/error.h"
#include "parley/theory/modified.h"
#include "parley/theory/spectrum.h"

namespace parley::theory {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// sup { x ≥ 0 : X − xY ≻ 0 } for symmetric X, Y; −1 when X itself is not positive definite.
double largest_multiple(const Matrix& x, const Matrix& y) {
  const Eigen::LLT<Matrix> root(x);
  if (root.info() != Eigen::Success) return -1;
  const Matrix half = root.matrixL().solve(y);
  const double top = largest_eigenvalue(symmetric_part(root.matrixL().solve(half.transpose())));
  return top > 0 ? 1 / top : infinite;
}

}  // namespace

RecycledConditions::RecycledConditions(const network::Graph& graph, const PublicRun& run,
                                       const std::vector<double>& damping_factor, int most_rounds)
    : bipartite_(graph.bipartite()), most_curvature_(run.most_curvature) {
  const Matrix minus = graph.laplacian(-1), plus = graph.laplacian(1);
  degree_ = plus.diagonal();
  const std::size_t rounds = run.penalty.size(),
                    last = rounds < 2 ? 1 : rounds - 1;  // pairs (t, t+1); a single round stands for both
  const std::size_t looked_at = std::min(last, static_cast<std::size_t>(most_rounds));
  for (std::size_t n = 0; n < looked_at; ++n) {
    const std::size_t t = looked_at == 1 ? 0 : n * (last - 1) / (looked_at - 1);
    Pair p{.now = run.penalty[t],
           .next = run.penalty[std::min(t + 1, rounds - 1)],
           .factor = damping_factor.empty() ? 1 : damping_factor[t]};
    if (!pairs_.empty() && pairs_.back().now == p.now && pairs_.back().next == p.next &&
        pairs_.back().factor == p.factor)
      continue;
    p.signless = p.next.asDiagonal() * plus;
    p.consensus = p.now.asDiagonal() * minus;
    p.inverse_curvature =
        symmetric_part(pseudo_inverse(p.next.asDiagonal() * minus) * most_curvature_.cwiseAbs2().asDiagonal());
    pairs_.push_back(std::move(p));
  }
}

Vector RecycledConditions::damped(const Pair& p, double damping) const {
  return (2 * p.now.cwiseProduct(degree_)).array() + damping * p.factor;
}

double RecycledConditions::first_limit(double damping) const {
  double least = infinite;
  for (const Pair& p : pairs_) {
    const Vector d = damped(p, damping);
    const Matrix left = Matrix::Identity(d.size(), d.size()) + p.signless * d.cwiseInverse().asDiagonal();
    const double multiple = largest_multiple(symmetric_part(left), p.inverse_curvature);  // (i)
    least = std::min(least, multiple < 0 ? -1 : multiple * d.minCoeff());
  }
  return least;
}

std::vector<RecycledConditions::Form> RecycledConditions::forms(double damping) const {
  std::vector<Form> result;
  const Vector scale = most_curvature_.cwiseInverse();
  const auto scaled = [&](const Matrix& m, double by) -> Matrix {
    return by * (scale.asDiagonal() * symmetric_part(m) * scale.asDiagonal());
  };
  for (const Pair& p : pairs_) {
    const Vector d = damped(p, damping);
    const Matrix left = p.signless * d.cwiseInverse().asDiagonal();  // (ii)
    result.push_back({.whole = scaled(p.signless - left * p.consensus, d.minCoeff()),
                      .part = scaled(2 * left * p.signless, d.minCoeff())});
  }
  return result;
}

double RecycledConditions::second_limit(double damping, double inverse_l) const {
  double least = infinite;
  for (const Form& f : forms(damping)) least = std::min(least, least_eigenvalue(f.whole - inverse_l * f.part));
  return least;
}

bool RecycledConditions::hold(double damping, double l, double mu) const {
  expects(l > 0 && mu > 1, "L > 0 and mu > 1");
  return second_limit(damping, 1 / l) > l * mu / (2 * (mu - 1)) && first_limit(damping) > l * mu / 2;
}

// 1/a + 1/c < 2u with u = 1/L means a(u)(2uc − 1) > c and u > 1/(2c). Where a > 0 the left side is log-concave in u: a
// grid finds its neighbourhood, and golden section its top.
std::optional<RecycledConditions::Constants> RecycledConditions::search(double damping, bool best_ones) const {
  double c = first_limit(damping);
  if (c <= 0) return std::nullopt;
  c = std::min(c, 1e12);
  const double from = 1 / (2 * c);
  const std::vector<Form> second = forms(damping);
  const auto limit = [&](double u) {
    double a = infinite;
    for (const Form& f : second) {
      a = std::min(a, least_eigenvalue(f.whole - u * f.part));
      if (a <= 0) break;
    }
    return a;
  };
  const auto gain = [&](double log_step) {  // > 1: feasible
    const double a = limit(from * (1 + std::exp(log_step)));
    return a <= 0 ? -infinite : a * std::exp(log_step) / c;
  };
  double best = 0, most = -infinite;
  constexpr double low = -14, high = 42, step = 2;
  for (double x = low; x <= high; x += step) {
    const double g = gain(x);
    if (g > most) most = g, best = x;
    if ((most > 1 && !best_ones) || (most > 0 && g == -infinite))
      break;  // a is concave: it does not become positive again
  }
  if (most == -infinite) return std::nullopt;
  double left = best - step, right = best + step;
  constexpr double golden = 0.6180339887498949;
  double x1 = right - golden * (right - left), x2 = left + golden * (right - left), g1 = gain(x1), g2 = gain(x2);
  for (int i = 0; i < 34 && (most <= 1 || best_ones); ++i) {
    if (g1 < g2) {
      left = x1, x1 = x2, g1 = g2, x2 = left + golden * (right - left), g2 = gain(x2);
    } else {
      right = x2, x2 = x1, g2 = g1, x1 = right - golden * (right - left), g1 = gain(x1);
    }
    if (const double g = std::max(g1, g2); g > most) most = g, best = g1 > g2 ? x1 : x2;
  }
  if (most <= 1) return std::nullopt;
  const double u = from * (1 + std::exp(best)), a = limit(u), l = 1 / u;
  const double mu_low = 2 * a / (2 * a - l), mu_high = 2 * c / l;
  return Constants{.l = l, .mu = 1 + std::sqrt((mu_low - 1) * (mu_high - 1))};
}

std::optional<RecycledConditions::Constants> RecycledConditions::constants(double damping) const {
  return search(damping, true);
}

template <class Holds>
RecycledConditions::Smallest RecycledConditions::smallest(const Holds& holds) const {
  const bool equal = std::ranges::all_of(pairs_, [](const Pair& p) { return equal_entries(p.next); });
  const bool indefinite =
      std::ranges::any_of(pairs_, [](const Pair& p) { return least_eigenvalue(symmetric_part(p.signless)) <= 0; });
  Smallest none{.damping = std::nullopt,
                .every_larger = false,
                .why_none = "none found up to 1e14 times the largest curvature M"};
  if (bipartite_)
    none.why_none = "bipartite: D + A is singular, and (ii), (iv) ask for more";
  else if (indefinite)
    none.why_none =
        "penalties too unequal: the symmetric part of W(D + A) is not positive definite, and (ii) asks for more";
  if (bipartite_ && equal) return none;  // x with (D+A)x = 0 refutes (ii) whatever γ
  if (holds(0.0)) return {.damping = 0};
  // upwards by factors of 4 over all that could matter: conditions need not be monotone in γ where degrees or penalties
  // differ
  const double scale = most_curvature_.maxCoeff();
  double fails = 0, works = -1;
  for (double gamma = scale * 1e-4; gamma < scale * 1e14 && works < 0; gamma *= 4)
    (holds(gamma) ? works : fails) = gamma;
  if (works < 0) return none;
  for (int i = 0; i < 100 && works - fails > 1e-9 * works; ++i) {
    const double middle = fails == 0 ? works / 2 : std::sqrt(fails * works);
    (holds(middle) ? works : fails) = middle;
  }
  Smallest result{.damping = works};
  for (int i = 1; i <= 40; ++i)
    result.every_larger = result.every_larger && holds(works * std::pow(10.0, 6.0 * i / 40));
  return result;
}

RecycledConditions::Smallest RecycledConditions::smallest_damping() const {
  return smallest([this](double gamma) { return search(gamma, false).has_value(); });
}

RecycledConditions::Smallest RecycledConditions::smallest_damping(double l, double mu) const {
  return smallest([&](double gamma) { return hold(gamma, l, mu); });
}

}  // namespace parley::theory
