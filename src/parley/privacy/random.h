// The only source of randomness for noise: the ChaCha20 keystream of OpenSSL under a 256-bit key.
// Privacy: a secret stream serves one node and one round and is never stored. It has no key before its first draw; then
//   key = SHA-256("parley noise key 2" ‖ key of the run ‖ 32 bytes of getrandom(2) ‖ node ‖ round ‖ purpose)
// so a process that was forked, or restored from a snapshot, between two draws does not draw the same noise twice. With
// seeded() the key is derived from a number that people know: the same code, the same bits every time, and NO privacy.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/vector.h"
#include "parley/privacy/shared_noise.h"

namespace parley::privacy {

// There is no randomness to be had: no noise was drawn, so nothing was solved with it.
class NoEntropy : public Error {
 public:
  using Error::Error;
};

// Fills all of it with fresh bytes, or throws NoEntropy.
using Entropy = void (*)(std::span<unsigned char> bytes);

// The kernel's generator, asked anew each time: this process keeps no state that a copy of it would share.
void os_entropy(std::span<unsigned char> bytes);
// The same through a system call like getrandom(2), for tests: an error, or fewer bytes than asked for, is NoEntropy.
void fill_from(long (*call)(void*, std::size_t, unsigned), std::span<unsigned char> bytes);

class RunKey;
class PairKeys;

class Random {
 public:
  static Random secret();
  static Random seeded(std::uint64_t seed, std::uint64_t node, std::uint64_t round, std::string_view purpose);

  std::uint64_t bits();
  double uniform();      // in (0, 1), every double there reachable with its own probability (no 2⁻⁵³ grid near 0)
  double exponential();  // −ln U
  double normal();       // Box–Muller on full-precision uniforms

  // Σ ±z of this stream's party in this stream's round (pair_noise.h). A bug where the parties have exchanged no keys: a
  // release without them would have less noise than it is charged for.
  Vector shared(Index dimension, int release, const Vector* point) const;
  // From here on: the noise that this node shares with others, by its number among them.
  void share(std::shared_ptr<const PairKeys> pairs, int node);

 private:
  friend class NoiseSource;
  struct Cipher;
  explicit Random(const std::array<unsigned char, 32>& key);
  Random(std::shared_ptr<const RunKey> run, std::string label);
  std::shared_ptr<Cipher> cipher_;  // copies draw from one stream
  std::shared_ptr<const PairKeys> pairs_{};
  int node_ = 0, round_ = 0;
};

// Where a run's noise comes from: fresh secrets, or one stream per (seed, node, round), so that results do not depend
// on the order in which threads, ranks or processes draw.
class NoiseSource {
 public:
  // entropy: for tests, which show what a source that repeats itself would do.
  explicit NoiseSource(std::optional<std::uint64_t> seed, Entropy entropy = os_entropy);
  bool is_private() const { return !seed_; }
  void share(std::shared_ptr<const PairKeys> pairs) { pairs_ = std::move(pairs); }  // from here on, all streams
  // For the keys of a simulation: fresh, or from the seed; another one in each part of a run.
  std::array<unsigned char, 32> secret_for_pairs(int part = 1) const;
  Random stream(int node, int round, std::string_view purpose = "noise") const;

 private:
  std::optional<std::uint64_t> seed_;
  std::shared_ptr<const RunKey> run_;  // null with a seed
  std::shared_ptr<const PairKeys> pairs_{};
};

// The largest norms that the two samplers below give: a longer vector is drawn again, which happens with probability
// below 10⁻⁶⁰ (docs/proofs/floating-point.md, lemma 5). Whether a round goes on rests on these and not on the noise that
// was drawn: a stop that depended on the noise would cut its density off where somebody else chooses.
//   Gamma(d) > d + x  with probability ≤ exp(−x²/(2(d + x))) = e^−140   for x = 140 + √(140² + 280 d)
//   ‖N(0, I)‖ > √d + x  with probability ≤ exp(−x²/2) = e^−140          for x = √280
double largest_gamma_norm(double dimension, double rate);
double largest_gaussian_norm(double dimension, double scale);

// b with density ∝ exp(−rate·‖b‖): norm from Gamma(d, 1/rate), direction uniform on the sphere. [ZKL20 §III-C]
Vector gamma_norm_vector(Index dimension, double rate, Random& random);

// b with independent N(0, scale²) coordinates; scale is the standard deviation, not the variance.
Vector gaussian_vector(Index dimension, double scale, Random& random);

// value + scale (s n + p Σ ±z): noise of the standard deviation `scale` given everybody else's (shared_noise.h). Its own
// noise comes first, so that the value is hidden before anything else is added. release, point: which vector of the round.
void add_noise(Vector& value, double scale, const SharedNoise& noise, Random& random, int release,
               const Vector* point = nullptr);

}  // namespace parley::privacy
