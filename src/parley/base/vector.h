#pragma once
#include <Eigen/Core>

namespace parley {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

}  // namespace parley
