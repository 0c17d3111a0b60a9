// What every Hessian here is made of.
#pragma once
#include "parley/base/vector.h"
#include "parley/data/dataset.h"

namespace parley::problem {

// lower += Σ_n c_n x_n x_nᵀ, the lower triangle only; c_n ≥ 0 for every row n.
void add_outer_products(const data::Rows& rows, const double* c, Matrix& lower);

}  // namespace parley::problem
