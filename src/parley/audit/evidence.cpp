#include "parley/audit/evidence.h"

#include <algorithm>

#include "parley/audit/linear.h"
#include "parley/audit/one_round.h"
#include "parley/audit/sums.h"
#include "parley/base/error.h"

namespace parley::audit {

Evidence weigh(const Scene& scene, const Transcript& transcript) {
  const algorithm::Algorithm& a = scene.schedule.algorithm;
  if (a.sums) return weigh_sums(scene, transcript);
  return a.linear || a.star ? weigh_linear(scene, transcript) : weigh_minima(scene, transcript);
}

const std::array<Statistic, 4>& statistics() {
  static const std::array<Statistic, 4> all{{{"log ratio", &Evidence::log_ratio},
                                             {"quiet", &Evidence::quiet},
                                             {"echo", &Evidence::echo},
                                             {"bare", &Evidence::bare}}};
  return all;
}

std::vector<double> Observed::values(const Statistic& statistic, int world, bool first_half, double sign) const {
  const auto& all = seen[static_cast<std::size_t>(world)];
  const std::size_t half = all.size() / 2;
  std::vector<double> values;
  for (std::size_t i = first_half ? 0 : half; i < (first_half ? half : all.size()); ++i)
    values.push_back(sign * all[i].*statistic.member);
  return values;
}

Observed observe(const Scene& scene, const Mechanism& mechanism, double (*claimed)(const Transcript&), long runs,
                 std::uint64_t seed, int stream) {
  Observed o;
  for (const int world : {0, 1}) {
    privacy::Random random = privacy::Random::seeded(seed, stream, static_cast<std::uint64_t>(world), "audit");
    for (long run = 0; run < runs; ++run) {
      const Transcript transcript = mechanism(world, random);
      const double charged = claimed(transcript);
      expects(o.seen[0].empty() || o.claim == charged, "charges that depend on nothing but the plan");
      o.claim = charged;
      const Evidence e = weigh(scene, transcript);
      o.free_residual = std::max(o.free_residual, e.free_residual);
      o.seen[static_cast<std::size_t>(world)].push_back(e);
    }
  }
  return o;
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
