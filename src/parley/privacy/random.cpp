#include "parley/privacy/random.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>

#include "parley/base/durable.h"
#include "parley/privacy/pair_noise.h"

namespace parley::privacy {
namespace {

using Key = std::array<unsigned char, 32>;

// Of short text and secrets; leaves no copy of them behind.
Key digest_and_cleanse(std::string& bytes) {
  Key key{};
  unsigned int length = 0;
  const bool good = EVP_Digest(bytes.data(), bytes.size(), key.data(), &length, EVP_sha256(), nullptr) == 1;
  OPENSSL_cleanse(bytes.data(), bytes.size());
  expects(good && length == key.size(), "SHA-256 works");
  return key;
}

void append_fresh(std::string& bytes, Entropy entropy) {
  Key fresh{};
  entropy(fresh);
  bytes.append(reinterpret_cast<const char*>(fresh.data()), fresh.size());
  OPENSSL_cleanse(fresh.data(), fresh.size());
}

void openssl_entropy(std::span<unsigned char> bytes) {
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw NoEntropy({.what = "no randomness from the operating system",
                     .where = "OpenSSL RAND_priv_bytes",
                     .fix = "nothing was released; check /dev/urandom"});
}

}  // namespace

// getrandom gives up to 256 bytes whole once the kernel's generator is ready; anything else is a doubt, and a doubt
// ends the run (R9).
void fill_from(long (*call)(void*, std::size_t, unsigned), std::span<unsigned char> bytes) {
  long got = -1;
  for (int interrupted = 0; interrupted < 100; ++interrupted) {
    got = call(bytes.data(), bytes.size(), 0);
    if (got >= 0 || errno != EINTR) break;
  }
  if (got != static_cast<long>(bytes.size()))
    throw NoEntropy({.what = "no randomness from the operating system: " +
                             (got < 0 ? std::string(std::strerror(errno)) : "fewer bytes than asked for"),
                     .where = "getrandom",
                     .fix = "nothing was released; a sandbox may forbid this system call"});
}

void os_entropy(std::span<unsigned char> bytes) {
  fill_from(::getrandom, bytes);
}

// What all streams of a run have in common; in memory only.
class RunKey {
 public:
  explicit RunKey(Entropy entropy) : entropy_(entropy) {
    std::string bytes = "parley run key 2";
    bytes.reserve(128);  // no copy of a secret is left where the text once was
    append_fresh(bytes, openssl_entropy);
    append_fresh(bytes, entropy_);
    key_ = digest_and_cleanse(bytes);
  }
  RunKey(const RunKey&) = delete;
  RunKey& operator=(const RunKey&) = delete;
  ~RunKey() { OPENSSL_cleanse(key_.data(), key_.size()); }

  Key stream(const std::string& label) const {
    std::string bytes = "parley noise key 2";
    bytes.reserve(128 + label.size());
    bytes.append(reinterpret_cast<const char*>(key_.data()), key_.size());
    append_fresh(bytes, entropy_);
    bytes += label;
    return digest_and_cleanse(bytes);
  }

 private:
  Entropy entropy_;
  Key key_{};
};

struct Random::Cipher {
  explicit Cipher(const Key& key) { start(key); }
  Cipher(std::shared_ptr<const RunKey> its_run, std::string its_label)
      : run(std::move(its_run)), label(std::move(its_label)) {}
  void start(const Key& key) {
    const std::array<unsigned char, 16> counter{};
    EVP_CIPHER_CTX* const made = EVP_CIPHER_CTX_new();
    if (made == nullptr || EVP_EncryptInit_ex(made, EVP_chacha20(), nullptr, key.data(), counter.data()) != 1) {
      EVP_CIPHER_CTX_free(made);
      throw Error({.what = "the cipher behind the noise cannot be started",
                   .where = "OpenSSL ChaCha20",
                   .fix = "check the OpenSSL installation"});
    }
    context = made;
  }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() {
    EVP_CIPHER_CTX_free(context);  // cleanses the key
    OPENSSL_cleanse(buffer.data(), sizeof buffer);
  }

  void refill() {
    if (context == nullptr) {  // not before the first draw: a copy of the process made until now draws another key
      Key key = run->stream(label);
      start(key);
      OPENSSL_cleanse(key.data(), key.size());
    }
    static constexpr std::array<unsigned char, 4096> zeros{};
    int written = 0;
    const bool good = EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(buffer.data()), &written,
                                        zeros.data(), zeros.size()) == 1;
    expects(good && written == static_cast<int>(zeros.size()), "a full block of keystream");
    next = 0;
  }

  EVP_CIPHER_CTX* context = nullptr;  // null: a secret stream that nobody has drawn from
  std::shared_ptr<const RunKey> run{};
  std::string label{};
  std::array<std::uint64_t, 512> buffer{};
  std::size_t next = 512;
};

Random::Random(const std::array<unsigned char, 32>& key) : cipher_(std::make_shared<Cipher>(key)) {}

Random::Random(std::shared_ptr<const RunKey> run, std::string label)
    : cipher_(std::make_shared<Cipher>(std::move(run), std::move(label))) {}

Random Random::secret() {
  return {std::make_shared<const RunKey>(os_entropy), "alone"};
}

Random Random::seeded(std::uint64_t seed, std::uint64_t node, std::uint64_t round, std::string_view purpose) {
  std::string text = "parley NOT PRIVATE seed " + std::to_string(seed) + " node " + std::to_string(node) + " round " +
                     std::to_string(round) + " " + std::string(purpose);
  return Random(digest_and_cleanse(text));
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

NoiseSource::NoiseSource(std::optional<std::uint64_t> seed, Entropy entropy) : seed_(seed) {
  if (seed) return;
  leave_no_core_dump();
  run_ = std::make_shared<const RunKey>(entropy);
}

Random NoiseSource::stream(int node, int round, std::string_view purpose) const {
  const std::string label = "node " + std::to_string(node) + " round " + std::to_string(round) + " ";
  Random stream =
      seed_ ? Random::seeded(*seed_, static_cast<std::uint64_t>(node), static_cast<std::uint64_t>(round), purpose)
            : Random(run_, label + std::string(purpose));
  stream.pairs_ = pairs_;
  stream.node_ = node;
  stream.round_ = round;
  return stream;
}

std::array<unsigned char, 32> NoiseSource::secret_for_pairs(int part) const {
  const std::string purpose = part == 1 ? "pairs" : "pairs of part " + std::to_string(part);
  if (!seed_) return run_->stream(purpose);
  std::string text = "parley NOT PRIVATE seed " + std::to_string(*seed_) + " " + purpose;
  return digest_and_cleanse(text);
}

void Random::share(std::shared_ptr<const PairKeys> pairs, int node) {
  pairs_ = std::move(pairs);
  node_ = node;
}

Vector Random::shared(Index dimension, int release, const Vector* point) const {
  expects(pairs_ != nullptr, "keys with every other party before noise that cancels");
  return pairs_->sum(node_, {.round = round_, .release = release, .point = point}, dimension);
}

double largest_gamma_norm(double dimension, double rate) {
  return (dimension + 140 + std::sqrt(19600 + 280 * dimension)) / rate * (1 + 1e-9);
}

double largest_gaussian_norm(double dimension, double scale) {
  return (std::sqrt(dimension) + std::sqrt(280.0)) * scale * (1 + 1e-9);
}

// Gamma(d) with whole d is the sum of d exponentials: exact, no rejection but of what is never seen.
Vector gamma_norm_vector(Index dimension, double rate, Random& random) {
  expects(dimension > 0 && rate > 0, "a dimension and a noise rate above 0");
  const double longest = largest_gamma_norm(static_cast<double>(dimension), 1);
  double norm = 0;
  do {
    norm = 0;
    for (Index k = 0; k < dimension; ++k) norm += random.exponential();
  } while (!(norm <= longest));
  Vector b = gaussian_vector(dimension, 1, random);
  while (b.squaredNorm() == 0) b = gaussian_vector(dimension, 1, random);
  b *= norm / (rate * b.norm());
  expects(b.allFinite(), "finite noise");
  return b;
}

Vector gaussian_vector(Index dimension, double scale, Random& random) {
  expects(dimension > 0 && scale > 0 && std::isfinite(scale), "a dimension and a finite noise scale above 0");
  const double longest = largest_gaussian_norm(static_cast<double>(dimension), scale);
  Vector b(dimension);
  do {
    for (Index k = 0; k < dimension; ++k) b[k] = scale * random.normal();
  } while (!(b.norm() <= longest));
  return b;
}

void add_noise(Vector& value, double scale, const SharedNoise& noise, Random& random, int release,
               const Vector* point) {
  value += gaussian_vector(value.size(), scale * noise.own, random);
  if (noise.pair > 0) value += scale * noise.pair * random.shared(value.size(), release, point);
}

}  // namespace parley::privacy
