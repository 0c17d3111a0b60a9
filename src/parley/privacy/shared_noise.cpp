#include "parley/privacy/shared_noise.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::privacy {

double Sharing::of_one() const {
  return std::sqrt(noise.own * noise.own + std::max(0, parties - 1) * noise.pair * noise.pair);
}

double conditional_variance(int parties, int colluders, const SharedNoise& noise) {
  expects(parties >= 2 && colluders >= 1 && colluders < parties, "one colluder at least, and one honest party");
  expects(noise.own > 0 && noise.pair >= 0, "noise of each party's own");
  const auto h = static_cast<long double>(parties - colluders);
  const long double own = static_cast<long double>(noise.own) * noise.own,
                    all = own + h * static_cast<long double>(noise.pair) * noise.pair;
  const long double v = 1 / (1 / (h * own) + (h - 1) / (h * all));
  return std::nextafter(static_cast<double>(v * (1 - 0x1p-58L)), 0.0);
}

SharedNoise shared_noise_for(int parties, int colluders, double m) {
  expects(m > 1, "pair noise larger than what is asked for");
  const auto h = static_cast<double>(parties - colluders);
  if (parties - colluders < 2) return {};
  const double own = std::sqrt(1 / (h - (h - 1) / m));
  SharedNoise noise{.own = own * (1 + 1e-12), .pair = std::sqrt((m - own * own) / h)};
  expects(conditional_variance(parties, colluders, noise) >= 1, "the variance that was asked for");
  return noise;
}

}  // namespace parley::privacy
