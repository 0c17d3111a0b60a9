// Softmax: L = ln Σ_c e^{s_c} − s_y with one score s_c = f_cᵀx per class; f = (f_0, …, f_{K−1}), one after another.
//   ∂L/∂s = p − e_y,   ∂²L/∂s² = diag(p) − ppᵀ,   p_c = e^{s_c} / Σ e^{s}
//   ‖p − e_y‖ ≤ √2: Σ_{c≠y} p_c² ≤ (Σ_{c≠y} p_c)² = (1 − p_y)².      ‖diag(p) − ppᵀ‖ ≤ ½: the variance of a number in
//   [min v, max v] is at most (max v − min v)²/4 ≤ ‖v‖²/2.
// With class weights all of it times w_y. In Evaluation::curvature a row has its K probabilities.
#pragma once
#include <span>

#include "parley/problem/kernels.h"
#include "parley/problem/objective.h"

namespace parley::problem {

// scores → probabilities, in place; returns ln Σ e^{s} − s_label. Σ p_c ≤ 1 holds in exact arithmetic too
// (softmax.cpp).
double softmax(std::span<double> scores, std::size_t label);

// gradient += weight Σ_n (p − e_y) ⊗ x_n over the rows first … first + count − 1; fills their part of `probabilities`
// and returns Σ_n w_y L and Σ_n w_y ‖p − e_y‖, without the problem's weight.
kernel::LossSums softmax_block(const Problem& p, std::size_t first, std::size_t count, const Vector& f,
                               double* probabilities, Vector& gradient);

// H = weight Σ_n (diag(p) − ppᵀ) ⊗ x_n x_nᵀ: added to the lower triangle, times v, its diagonal.
void softmax_hessian(const Problem& p, const double* probabilities, Matrix& lower);
void softmax_hessian_times(const Problem& p, const double* probabilities, const Vector& v, Vector& out);
void softmax_hessian_diagonal(const Problem& p, const double* probabilities, Vector& out);

// The class with the largest score, the smaller number on a tie.
std::size_t softmax_class(const data::Rows& rows, std::size_t n, const Vector& f, std::size_t classes);

}  // namespace parley::problem
