#include "parley/audit/evidence.h"

#include <algorithm>

#include "parley/audit/linear.h"
#include "parley/audit/one_round.h"

namespace parley::audit {

Evidence weigh(const Scene& scene, const Transcript& transcript) {
  const algorithm::Algorithm& a = scene.schedule.algorithm;
  return a.linear || a.star ? weigh_linear(scene, transcript) : weigh_minima(scene, transcript);
}

const std::array<Statistic, 4>& statistics() {
  static const std::array<Statistic, 4> all{{{"log ratio", &Evidence::log_ratio},
                                             {"quiet", &Evidence::quiet},
                                             {"echo", &Evidence::echo},
                                             {"bare", &Evidence::bare}}};
  return all;
}

void Noises::add(const Vector& noise, double size) {
  quietest_ = std::min(quietest_, size);
  all_.push_back(noise);
}

double Noises::echo() const {
  if (all_.size() < 2) return 0;
  double nearest = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < all_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) nearest = std::min(nearest, (all_[i] - all_[j]).norm());
  return -nearest;
}

}  // namespace parley::audit
