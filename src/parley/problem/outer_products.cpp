#include "parley/problem/outer_products.h"

#include <algorithm>
#include <cmath>

namespace parley::problem {
namespace {

// lower += Σ_n c_n x_n x_nᵀ, entry by entry: entries²/2 scattered additions per row. Two columns at a time share the
// loads.
void add_by_entries(const data::Rows& rows, const double* c, Matrix& lower) {
  const Index d = lower.rows();
  for (std::size_t n = 0; n < rows.count(); ++n) {
    if (c[n] == 0) continue;
    const std::int32_t* const column = rows.column.data() + rows.start[n];
    const double* const x = rows.value.data() + rows.start[n];
    const std::size_t entries = rows.start[n + 1] - rows.start[n];
    std::size_t a = 0;
    for (; a + 1 < entries; a += 2) {
      const double s0 = c[n] * x[a], s1 = c[n] * x[a + 1];
      double* const h0 = lower.data() + column[a] * d;  // a column of H
      double* const h1 = lower.data() + column[a + 1] * d;
      h0[column[a]] += s0 * x[a];
      for (std::size_t b = a + 1; b < entries; ++b) {
        const double v = x[b];
        const std::int32_t r = column[b];
        h0[r] += s0 * v;
        h1[r] += s1 * v;
      }
    }
    if (a < entries) lower(column[a], column[a]) += c[n] * x[a] * x[a];
  }
}

// The same for rows that are mostly full: panels P of √c_n x_n side by side, lower += P Pᵀ as a matrix product.
void add_by_panels(const data::Rows& rows, const double* c, Matrix& lower) {
  constexpr std::size_t width =
      128;  // one block of Eigen's product on every machine: the bits do not depend on cache sizes
  Matrix panel(lower.rows(), static_cast<Index>(width));
  for (std::size_t first = 0; first < rows.count(); first += width) {
    panel.setZero();
    for (std::size_t n = first; n < std::min(first + width, rows.count()); ++n) {
      const double root = std::sqrt(c[n]);
      double* const x = panel.col(static_cast<Index>(n - first)).data();
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = root * rows.value[k];
    }
    lower.selfadjointView<Eigen::Lower>().rankUpdate(panel);
  }
}

}  // namespace

void add_outer_products(const data::Rows& rows, const double* c, Matrix& lower) {
  const bool mostly_full = 2 * rows.value.size() > rows.count() * static_cast<std::size_t>(lower.rows());
  if (mostly_full)
    add_by_panels(rows, c, lower);
  else
    add_by_entries(rows, c, lower);
}

}  // namespace parley::problem
