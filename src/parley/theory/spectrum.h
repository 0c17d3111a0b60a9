// The few facts about matrices that the conditions ask for. Matrices here are as large as the network, N × N, and
// dense.
#pragma once
#include "parley/base/vector.h"

namespace parley::theory {

// The smallest nonzero and the largest singular value; zero is what is below 1e-10 of the largest. Both 0 for the zero
// matrix.
struct SingularValues {
  double least = 0;
  double most = 0;
};
SingularValues singular_values(const Matrix& a);

Matrix symmetric_part(const Matrix& a);  // (X + Xᵀ)/2: "X ≻ Y" below means that of X − Y is positive definite
double least_eigenvalue(const Matrix& symmetric);
double largest_eigenvalue(const Matrix& symmetric);
Matrix pseudo_inverse(const Matrix& a);  // X⁺ of Moore and Penrose

}  // namespace parley::theory
