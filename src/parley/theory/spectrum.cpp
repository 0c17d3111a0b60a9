#include "parley/theory/spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace parley::theory {
namespace {

constexpr double zero_share = 1e-10;  // of the largest singular value

Vector eigenvalues(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace

SingularValues singular_values(const Matrix& a) {
  const Vector values = Eigen::BDCSVD<Matrix>(a).singularValues();  // descending
  SingularValues result{.least = 0, .most = values[0]};
  for (const double s : values)
    if (s > zero_share * result.most) result.least = s;
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
