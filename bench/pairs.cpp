// One party that shares noise with 9,999 others: agreeing on keys, and the streams of a whole newton run (d = 60 numbers a
// round, T = 32 gradients, and d(d + 1)/2 of curvature once). Reference: own noise of the same run, from the same cipher.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>

#include "parley/base/error.h"
#include "parley/identity/pair_agreement.h"
#include "parley/privacy/pair_noise.h"
#include "parley/privacy/random.h"
#include "program.h"
#include "stopwatch.h"

namespace parley::bench {
namespace {

constexpr int parties = 10000, features = 60, gradients = 32;

long resident_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

json measure() {
  const auto own = identity::AgreementKey::make();
  std::vector<std::string> others;
  for (int j = 1; j < parties; ++j) others.push_back(identity::AgreementKey::make().public_key());
  const long before = resident_kib();
  const Stopwatch agreeing(Stopwatch::Of::process);
  std::vector<privacy::PairKey> keys(parties);
  const std::string configuration(64, 'c'), run_id(32, 'r');
  for (int j = 1; j < parties; ++j)
    keys[static_cast<std::size_t>(j)] = *own.pair_secret(
        others[static_cast<std::size_t>(j) - 1], {.configuration = configuration, .run = run_id, .i = 0, .j = j});
  const double agreed = agreeing.read().cpu;
  const privacy::AgreedPairs pairs(0, std::move(keys));
  const Vector point = Vector::Zero(features);
  double sum = 0;
  const Stopwatch streaming(Stopwatch::Of::process);
  for (int round = 1; round <= gradients; ++round)
    sum += pairs.sum(0, {.round = round, .release = 0, .point = &point}, features).sum();
  const double gradient = streaming.read().cpu;
  const Stopwatch curving(Stopwatch::Of::process);
  sum += pairs.sum(0, {.round = 1, .release = 1, .point = &point}, features * (features + 1) / 2).sum();
  const double curvature = curving.read().cpu;
  const Stopwatch alone(Stopwatch::Of::process);
  privacy::Random random = privacy::Random::secret();
  sum += privacy::gaussian_vector(gradients * features + features * (features + 1) / 2, 1, random).sum();
  const double of_its_own = alone.read().cpu;
  const long grown = resident_kib() - before;
  fmt::print(
      "one party of {}: {} keys agreed in {:.2f} s; streams of a run {:.2f} s ({} gradients of {}: {:.2f} s, "
      "curvature: {:.2f} s); its own noise {:.5f} s, {:.0f} times less; {} KiB more memory; {} bytes of keys "
      "received\n",
      parties, parties - 1, agreed, gradient + curvature, gradients, features, gradient, curvature, of_its_own,
      (gradient + curvature) / of_its_own, grown, 40 * (parties - 1));
  expects(std::isfinite(sum), "finite noise");
  return {{"parties", parties},
          {"agree_seconds", agreed},
          {"gradient_seconds", gradient},
          {"curvature_seconds", curvature},
          {"own_noise_seconds", of_its_own},
          {"grown_kib", grown}};
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "pairs", parley::bench::measure);
}
