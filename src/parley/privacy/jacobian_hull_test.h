// An oracle for c(r) of gaussian_round.h, r = σ/κ > 1.75: the numerical hull bound of accounting.md b4, in the worst
// case k → 0. The privacy profile per k is at most
//   D(f) = E(Â(U) − f)₊,  U ~ N(0,1),  Â = 0 | (U + r)²/(4r) | U  on  U < −r | |U| < r | U > r   (pointwise bound)
//   D(0) ≤ 1/√(2π)                                                                                (total variation)
// and, for f < 0, −f + D(−f); profiles are convex, so the lower convex hull bounds them too; c(r) is the smallest
// Gaussian above. Numbers on a grid, not a proof.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace parley::privacy {

inline double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
inline double normal_tail(double x) {
  return std::erfc(x / std::numbers::sqrt2) / 2;
}

inline double pointwise_profile(double f, double r) {
  if (f >= r) return normal_density(f) - f * normal_tail(f);  // plain Gaussian
  const double l = 2 * std::sqrt(r * f) - r, mass = normal_tail(l) - normal_tail(r);
  const double first = normal_density(l) - normal_density(r),
               second = mass - r * normal_density(r) + l * normal_density(l);
  return (second + 2 * r * first + r * r * mass) / (4 * r) - f * mass + normal_density(r) - f * normal_tail(r);
}

// The smallest μ whose Gaussian profile μ·m(f/μ), m(y) = φ(y) − yΦ(−y), reaches `height` at f.
inline double gaussian_through(double f, double height, double most) {
  double low = 1e-9, high = most;
  for (int i = 0; i < 80; ++i) {
    const double mu = (low + high) / 2, y = f / mu;
    (mu * (normal_density(y) - y * normal_tail(y)) < height ? low : high) = mu;
  }
  return high;
}

inline double jacobian_hull(double r, int points = 4001) {
  using Point = std::pair<double, double>;
  const auto at = [&](int i) { return (r + 6) * i / (points - 1); };
  std::vector<double> profile;
  for (int i = 0; i < points; ++i) profile.push_back(pointwise_profile(at(i), r));
  profile[0] = std::min(profile[0], normal_density(0));
  std::vector<Point> hull;
  for (int i = 1 - points; i < points; ++i) {
    const Point p = i < 0 ? Point{-at(-i), at(-i) + profile[-i]} : Point{at(i), profile[i]};
    const auto above = [&](const Point& a, const Point& b) {  // b lies on or above the chord from a to p
      return (b.second - a.second) * (p.first - a.first) >= (p.second - a.second) * (b.first - a.first);
    };
    while (hull.size() >= 2 && above(hull[hull.size() - 2], hull.back())) hull.pop_back();
    hull.push_back(p);
  }
  double c = 1;
  std::size_t next = 1;
  for (int i = 0; i < points; ++i) {
    while (next + 1 < hull.size() && hull[next].first < at(i)) ++next;
    const auto [x1, y1] = hull[next - 1];
    const auto [x2, y2] = hull[next];
    const double height = y1 + (y2 - y1) * (at(i) - x1) / (x2 - x1);
    if (height > 1e-13) c = std::max(c, gaussian_through(at(i), height, 4 + r));
  }
  return c;
}

}  // namespace parley::privacy
