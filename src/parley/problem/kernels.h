// The inner loops over rows, the only place where speed decides how code is written. Each is compiled for baseline
// x86-64, AVX2 and AVX-512, and the loader picks one (GNU ifunc).
// The bits do not depend on which: sums run in eight fixed lanes, multiplications and additions are never fused
// (-ffp-contract=off), and exp is ours. Rows that are full (Rows::full) are read without their column numbers.
// Privacy: what a row contributes to a sum is a function of the row and f alone.
#pragma once
#include <cstddef>

#include "parley/data/dataset.h"

namespace parley::problem::kernel {

// out[n] = fᵀx_n for the rows first … first + count − 1. Any order of a row's terms: error ≤ (entries + 1)u ‖f‖‖x‖.
void scores(const data::Rows& rows, std::size_t first, std::size_t count, const double* f, double* out);

// Logistic loss of scores s with labels y: slope = weight·L'(s), curvature = weight·L''(s), and the sums of L and of
// |L'| without the weight. The arrays have room for count rounded up to 8. |L'| ≤ 1, its error ≤ 16u.
struct LossSums {
  double value = 0, slopes = 0;
};
LossSums logistic(const double* s, const double* y, std::size_t count, double weight, double* slope, double* curvature);

void add_gradient(const data::Rows& rows, std::size_t first, std::size_t count, const double* slope,
                  double* gradient);  // gradient += Σ slope_n x_n

// lower += Σ c_n x_n x_nᵀ, column by column, features × features; only the lower triangle means something. c_n ≥ 0.
void add_outer_products(const data::Rows& rows, std::size_t first, std::size_t count, const double* c, double* lower);

}  // namespace parley::problem::kernel
