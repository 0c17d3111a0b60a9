#include "parley/problem/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/problem/row_sums.h"

namespace parley::problem {
namespace {

std::size_t classes(const Problem& p) {
  return static_cast<std::size_t>(p.loss.classes);
}

void fill_scores(const data::Rows& rows, std::size_t n, const double* f, std::span<double> scores) {
  for (std::size_t c = 0; c < scores.size(); ++c)
    scores[c] = score(rows, n, f + c * static_cast<std::size_t>(rows.features));
}

std::size_t label(const data::Rows& rows, std::size_t n) {
  return static_cast<std::size_t>(rows.label[n]);
}

// Of row n: the problem's and its class'.
double weight(const Problem& p, std::size_t n) {
  return p.weight * p.loss.weight_of(p.rows->label[n]);
}

// out_c += a_c x_n for every class c.
void add_row(const data::Rows& rows, std::size_t n, std::span<const double> a, double* out) {
  for (std::size_t c = 0; c < a.size(); ++c, out += rows.features)
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) out[rows.column[k]] += a[c] * rows.value[k];
}

}  // namespace

// e_c = e^{s_c − m} with m the largest score: nothing overflows, and Σe = 1 + the rest.
// Z is made a little too large, by 2(K + 1)u against the (K − 1)u that its sum and the 3u that this factor and a
// division can lose, so that Σ_c fl(e_c/Z) ≤ 1 exactly. Then Σ_{c≠y} p_c² ≤ (1 − p_y)² and ‖p − e_y‖ ≤ √2, rounding
// included. Error of p in the 1-norm, given the scores: s_c − m has u|s_c − m|, and Σ p_c|s_c − m| ≤ ln K since the
// entropy of p is ln Z + Σ p_c |s_c − m|; e^x has 2u; both again through Z, with 3(K + 1)u of its own; 2u for the
// division and p_y − 1. Together at most (2 ln K + 3K + 10)u ≤ (4K + 16)u.
double softmax(std::span<double> scores, std::size_t label) {
  const auto largest = std::max_element(scores.begin(), scores.end());
  const double most = *largest, behind = most - scores[label];
  double rest = 0;
  for (double& s : scores) {
    const bool first = &s == &*largest;
    s = std::exp(s - most);
    if (!first) rest += s;
  }
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const double z = (1 + rest) * (1 + 2 * static_cast<double>(scores.size() + 1) * u);
  for (double& s : scores) s /= z;
  return behind + std::log1p(rest);
}

// Computed, too, p − e_y has norm at most √2 (1 + u).
kernel::LossSums softmax_block(const Problem& p, std::size_t first, std::size_t count, const Vector& f,
                               double* probabilities, Vector& gradient) {
  const data::Rows& rows = *p.rows;
  std::vector<double> slope(classes(p));
  kernel::LossSums sums;
  for (std::size_t n = first; n < first + count; ++n) {
    const std::span<double> at(probabilities + n * slope.size(), slope.size());
    fill_scores(rows, n, f.data(), at);
    const double of_class = p.loss.weight_of(rows.label[n]), of_row = weight(p, n);
    sums.value += of_class * softmax(at, label(rows, n));
    double square = 0;
    for (std::size_t c = 0; c < slope.size(); ++c) {
      const double each = at[c] - (c == label(rows, n) ? 1 : 0);
      square += each * each;
      slope[c] = of_row * each;
    }
    sums.slopes += of_class * std::sqrt(square);
    add_row(rows, n, slope, gradient.data());
  }
  return sums;
}

// One block per pair of classes, each a sum of c_n x_n x_nᵀ; the signs of c_n are all + on the diagonal and all − off
// it.
void softmax_hessian(const Problem& p, const double* probabilities, Matrix& lower) {
  const data::Rows& rows = *p.rows;
  const std::size_t k = classes(p);
  const Index d = rows.features;
  std::vector<double> curvature(rows.count());
  Matrix block;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      for (std::size_t n = 0; n < rows.count(); ++n) {
        const double* const at = probabilities + n * k;
        curvature[n] = weight(p, n) * at[a] * (a == b ? 1 - at[a] : at[b]);
      }
      block.setZero(d, d);
      add_outer_products(rows, curvature.data(), block);
      auto target = lower.block(static_cast<Index>(a) * d, static_cast<Index>(b) * d, d, d);
      if (a == b)
        target.triangularView<Eigen::Lower>() += block;
      else
        target -= Matrix(block.selfadjointView<Eigen::Lower>());
    }
}

void softmax_hessian_times(const Problem& p, const double* probabilities, const Vector& v, Vector& out) {
  const data::Rows& rows = *p.rows;
  std::vector<double> s(classes(p));
  for (std::size_t n = 0; n < rows.count(); ++n, probabilities += s.size()) {
    fill_scores(rows, n, v.data(), s);
    double mean = 0;
    for (std::size_t c = 0; c < s.size(); ++c) mean += probabilities[c] * s[c];
    for (std::size_t c = 0; c < s.size(); ++c) s[c] = weight(p, n) * probabilities[c] * (s[c] - mean);
    add_row(rows, n, s, out.data());
  }
}

void softmax_hessian_diagonal(const Problem& p, const double* probabilities, Vector& out) {
  const data::Rows& rows = *p.rows;
  const std::size_t count = classes(p);
  for (std::size_t n = 0; n < rows.count(); ++n, probabilities += count)
    for (std::size_t c = 0; c < count; ++c) {
      const double curvature = weight(p, n) * probabilities[c] * (1 - probabilities[c]);
      double* const block = out.data() + c * static_cast<std::size_t>(rows.features);
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        block[rows.column[k]] += curvature * rows.value[k] * rows.value[k];
    }
}

std::size_t softmax_class(const data::Rows& rows, std::size_t n, const Vector& f, std::size_t classes) {
  std::vector<double> s(classes);
  fill_scores(rows, n, f.data(), s);
  return static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
}

}  // namespace parley::problem
