#include "parley/privacy/random.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "parley/base/error.h"

namespace parley::privacy {

struct Random::Cipher {
  explicit Cipher(const std::array<unsigned char, 32>& key) : context(EVP_CIPHER_CTX_new()) {
    const std::array<unsigned char, 16> counter{};
    if (context == nullptr || EVP_EncryptInit_ex(context, EVP_chacha20(), nullptr, key.data(), counter.data()) != 1)
      throw Error({.what = "the cipher behind the noise cannot be started",
                   .where = "OpenSSL ChaCha20",
                   .fix = "check the OpenSSL installation"});
  }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() {
    EVP_CIPHER_CTX_free(context);  // cleanses the key
    OPENSSL_cleanse(buffer.data(), sizeof buffer);
  }

  void refill() {
    static constexpr std::array<unsigned char, 4096> zeros{};
    int written = 0;
    const bool good = EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(buffer.data()), &written,
                                        zeros.data(), zeros.size()) == 1;
    expects(good && written == static_cast<int>(zeros.size()), "a full block of keystream");
    next = 0;
  }

  EVP_CIPHER_CTX* context;
  std::array<std::uint64_t, 512> buffer{};
  std::size_t next = 512;
};

Random::Random(const std::array<unsigned char, 32>& key) : cipher_(std::make_shared<Cipher>(key)) {}

Random Random::secret() {
  std::array<unsigned char, 32> key{};
  if (RAND_priv_bytes(key.data(), key.size()) != 1)  // fail closed: no entropy, no noise, no release
    throw Error({.what = "no randomness from the operating system",
                 .where = "OpenSSL RAND_priv_bytes",
                 .fix = "nothing was released; check /dev/urandom"});
  Random random(key);
  OPENSSL_cleanse(key.data(), key.size());
  return random;
}

Random Random::seeded(std::uint64_t seed, std::uint64_t node, std::uint64_t round, std::string_view purpose) {
  const std::string text = "parley NOT PRIVATE seed " + std::to_string(seed) + " node " + std::to_string(node) +
                           " round " + std::to_string(round) + " " + std::string(purpose);
  std::array<unsigned char, 32> key{};
  unsigned int length = 0;
  expects(EVP_Digest(text.data(), text.size(), key.data(), &length, EVP_sha256(), nullptr) == 1 && length == 32,
          "SHA-256 works");
  return Random(key);
}

std::uint64_t Random::bits() {
  if (cipher_->next == cipher_->buffer.size()) cipher_->refill();
  return cipher_->buffer[cipher_->next++];
}

// A uniform real in (0, 1), rounded down to a double: exponent −1−z where z counts leading zero bits (geometric), then
// 52 bits.
double Random::uniform() {
  int zeros = 0;
  std::uint64_t word = bits();
  while (word == 0 && zeros < 1024) {
    zeros += 64;
    word = bits();
  }
  zeros += std::countl_zero(word);
  const double mantissa = 1 + std::ldexp(static_cast<double>(bits() >> 12), -52);
  return std::ldexp(mantissa, -1 - zeros);
}

double Random::exponential() {
  return -std::log(uniform());
}

double Random::normal() {
  const double radius = std::sqrt(2 * exponential());
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Random NoiseSource::stream(int node, int round, std::string_view purpose) const {
  if (!seed_) return Random::secret();
  return Random::seeded(*seed_, static_cast<std::uint64_t>(node), static_cast<std::uint64_t>(round), purpose);
}

// Gamma(d) with whole d is the sum of d exponentials: exact, no rejection.
Vector gamma_norm_vector(Index dimension, double rate, Random& random) {
  expects(dimension > 0 && rate > 0, "a dimension and a noise rate above 0");
  double norm = 0;
  for (Index k = 0; k < dimension; ++k) norm += random.exponential();
  Vector b = gaussian_vector(dimension, 1, random);
  while (b.squaredNorm() == 0) b = gaussian_vector(dimension, 1, random);
  b *= norm / (rate * b.norm());
  expects(b.allFinite(), "finite noise");
  return b;
}

Vector gaussian_vector(Index dimension, double scale, Random& random) {
  expects(dimension > 0 && scale > 0 && std::isfinite(scale), "a dimension and a finite noise scale above 0");
  Vector b(dimension);
  for (Index k = 0; k < dimension; ++k) b[k] = scale * random.normal();
  return b;
}

}  // namespace parley::privacy
