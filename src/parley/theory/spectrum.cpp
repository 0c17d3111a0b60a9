#include "parley/theory/spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace parley::theory {
namespace {

constexpr double zero_share = 1e-10;  // of the largest singular value

Vector eigenvalues(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace

// The eigenvalues of [0 A; Aᵀ 0] are ± the singular values of A, and zeros: as exact as those of a decomposition of A,
// unlike the roots of the eigenvalues of AᵀA.
SingularValues singular_values(const Matrix& a) {
  Matrix both = Matrix::Zero(a.rows() + a.cols(), a.rows() + a.cols());
  both.topRightCorner(a.rows(), a.cols()) = a;
  both.bottomLeftCorner(a.cols(), a.rows()) = a.transpose();
  const Vector values = eigenvalues(both);  // ascending
  SingularValues result{.least = 0, .most = values[values.size() - 1]};
  for (const double s : values)
    if (s > zero_share * result.most && (result.least == 0 || s < result.least)) result.least = s;
  return result;
}

Matrix symmetric_part(const Matrix& a) {
  return (a + a.transpose()) / 2;
}
double least_eigenvalue(const Matrix& symmetric) {
  return eigenvalues(symmetric)[0];
}
double largest_eigenvalue(const Matrix& symmetric) {
  return eigenvalues(symmetric)[symmetric.rows() - 1];
}

Matrix pseudo_inverse(const Matrix& a) {
  Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
  decomposition.setThreshold(zero_share);
  return decomposition.compute(a).pseudoInverse();
}

}  // namespace parley::theory
