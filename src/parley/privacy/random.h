// The only source of randomness for noise: the ChaCha20 keystream of OpenSSL under a 256-bit key.
// Privacy: with secret() the key comes from the operating system, is used for one node and one round, and is never
// stored. With seeded() the key is derived from a number that people know: the same code, the same bits every time, and
// NO privacy.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "parley/base/vector.h"

namespace parley::privacy {

class Random {
 public:
  static Random secret();
  static Random seeded(std::uint64_t seed, std::uint64_t node, std::uint64_t round, std::string_view purpose);

  std::uint64_t bits();
  double uniform();      // in (0, 1), every double there reachable with its own probability (no 2⁻⁵³ grid near 0)
  double exponential();  // −ln U
  double normal();       // Box–Muller on full-precision uniforms

 private:
  struct Cipher;
  explicit Random(const std::array<unsigned char, 32>& key);
  std::shared_ptr<Cipher> cipher_;
};

// Where a run's noise comes from: fresh secrets, or one stream per (seed, node, round), so that results do not depend
// on the order in which threads, ranks or processes draw.
class NoiseSource {
 public:
  explicit NoiseSource(std::optional<std::uint64_t> seed) : seed_(seed) {}
  bool is_private() const { return !seed_; }
  Random stream(int node, int round, std::string_view purpose = "noise") const;

 private:
  std::optional<std::uint64_t> seed_;
};

// b with density ∝ exp(−rate·‖b‖): norm from Gamma(d, 1/rate), direction uniform on the sphere. [ZKL20 §III-C]
Vector gamma_norm_vector(Index dimension, double rate, Random& random);

// b with independent N(0, scale²) coordinates; scale is the standard deviation, not the variance.
Vector gaussian_vector(Index dimension, double scale, Random& random);

}  // namespace parley::privacy
