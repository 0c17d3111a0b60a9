// Eigenvalues and eigenvectors of a released symmetric matrix: public, and the same at every party, so the parties that one
// process simulates share them. They are what a run with many features takes longest for: d³ operations.
#pragma once
#include <memory>

#include "parley/base/vector.h"

namespace parley::algorithm::newton {

struct Spectrum {
  Matrix vectors;
  Vector values;
};

// Of unpacked(moments) · mean. The last one is kept: of the same bits nothing is computed twice.
std::shared_ptr<const Spectrum> spectrum_of(const Vector& moments, double mean, Index features);

}  // namespace parley::algorithm::newton
