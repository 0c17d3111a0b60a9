#include "parley/algorithm/newton/spectrum.h"

#include <Eigen/Eigenvalues>
#include <cstring>
#include <mutex>

#include "parley/algorithm/newton/newton.h"
#include "parley/base/error.h"

namespace parley::algorithm::newton {
namespace {

struct Kept {
  Vector moments;
  double mean = 0;
  std::shared_ptr<const Spectrum> spectrum;

  bool is_of(const Vector& numbers, double factor) const {
    const auto bytes = static_cast<std::size_t>(numbers.size()) * sizeof(double);
    return spectrum && mean == factor && moments.size() == numbers.size() &&
           std::memcmp(moments.data(), numbers.data(), bytes) == 0;
  }
};

}  // namespace

std::shared_ptr<const Spectrum> spectrum_of(const Vector& moments, double mean, Index features) {
  static std::mutex one;  // whoever comes second waits, and finds it
  static Kept last;
  const std::lock_guard lock(one);
  if (last.is_of(moments, mean)) return last.spectrum;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(unpacked(moments, features) * mean);
  expects(eigen.info() == Eigen::Success, "the eigenvalues of a symmetric matrix");
  last = {moments, mean, std::make_shared<const Spectrum>(Spectrum{eigen.eigenvectors(), eigen.eigenvalues()})};
  return last.spectrum;
}

}  // namespace parley::algorithm::newton
