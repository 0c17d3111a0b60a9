// Sums over the rows of one problem, in one pass: blocks of rows that fit the cache, their gradients added up with
// compensation (Kahan), in at most 16 chunks for threads, joined in order. Blocks and chunks follow from the sizes
// alone, so the bits depend neither on threads nor on the machine.
#pragma once
#include <cstdint>

#include "parley/problem/objective.h"

namespace parley::problem {

struct RowSums {
  double value = 0;   // Σ_n L(row n), class weights included as in all of these
  double slopes = 0;  // at least Σ_n ‖L'(row n)‖ over the scores of a row: bounds Σ_n ‖L' x_n‖
  Vector gradient;    // weight · Σ_n L'(row n) x_n
};

// curvature: weight · L'' of every row (softmax: its probabilities). lower, if given, is set to the part's Hessian
// (lower triangle), without regularisation; not for softmax.
void sum_rows(const Problem& p, const Vector& f, RowSums& out, double* curvature, Matrix* lower);

// lower += Σ_n c_n x_n x_nᵀ; only the lower triangle means something.
void add_outer_products(const data::Rows& rows, const double* c, Matrix& lower);

// out += Σ_n c_n x_n (x_nᵀv)
void add_hessian_times(const data::Rows& rows, const double* c, const Vector& v, Vector& out);

// Σ_n x_n x_nᵀ (lower triangle) and its diagonal. Privacy: a row adds its own products, as computed, whatever the other
// rows are; ‖computed sum − Σ contributions‖_F ≤ moment_rounding(rows), whatever they hold.
Matrix second_moments(const data::Rows& rows);
Vector squares(const data::Rows& rows);
double moment_rounding(double records);

// Passes over rows since the program began, of all threads, and the bytes of rows that they had to read. For
// benchmarks.
struct Passes {
  std::uint64_t count = 0, bytes = 0;
};
Passes passes_so_far();

// ‖computed gradient − Σ_n (rows' contributions as computed)‖ ≤ this · weight · slopes: a block adds plainly, blocks
// are compensated.
double summation_error(const Problem& p);
double worst_summation_error(double features);  // for any rows with so many features

}  // namespace parley::problem
