#include "parley/privacy/pair_noise.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "parley/base/digest.h"
#include "parley/base/error.h"

namespace parley::privacy {
namespace {

void put(std::string& bytes, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
}

PairKey digest_and_cleanse(std::string& bytes) {
  const PairKey key = sha256(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

PairKey stream_key(const PairKey& pair, const PairIndex& index) {
  std::string bytes = "parley pair stream 1";
  const std::size_t point = index.point ? static_cast<std::size_t>(index.point->size()) * sizeof(double) : 0;
  bytes.reserve(bytes.size() + pair.size() + 3 * sizeof(std::uint64_t) +
                point);  // no copy of a secret is left where the text once was
  bytes.append(reinterpret_cast<const char*>(pair.data()), pair.size());
  put(bytes, static_cast<std::uint64_t>(index.round));
  put(bytes, static_cast<std::uint64_t>(index.release));
  put(bytes, point);
  if (point > 0) bytes.append(reinterpret_cast<const char*>(index.point->data()), point);
  return digest_and_cleanse(bytes);
}

// So many words of the keystream under a key.
class Words {
 public:
  Words(PairKey key, Index count) : words_(static_cast<std::size_t>(count)) {
    const std::array<unsigned char, 16> counter{};
    const std::vector<unsigned char> zeros(words_.size() * sizeof(std::uint64_t));
    const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                  &EVP_CIPHER_CTX_free);
    int written = 0;
    const bool good = context != nullptr &&
                      EVP_EncryptInit_ex(context.get(), EVP_chacha20(), nullptr, key.data(), counter.data()) == 1 &&
                      EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(words_.data()), &written,
                                        zeros.data(), static_cast<int>(zeros.size())) == 1;
    OPENSSL_cleanse(key.data(), key.size());
    if (!good || written != static_cast<int>(zeros.size()))
      throw Error({.what = "the cipher behind the shared noise does not work",
                   .where = "OpenSSL ChaCha20",
                   .fix = "nothing was released; check the OpenSSL installation"});
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { OPENSSL_cleanse(words_.data(), words_.size() * sizeof(std::uint64_t)); }
  std::uint64_t operator[](Index at) const { return words_[static_cast<std::size_t>(at)]; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

void add_pair_noise(Vector& sum, double sign, const PairKey& key, const PairIndex& index) {
  const Index twos = (sum.size() + 1) / 2;
  const Words words(stream_key(key, index), 3 * twos);
  for (Index k = 0; k < twos; ++k) {
    const auto high = static_cast<double>(words[3 * k]), low = static_cast<double>(words[3 * k + 1]);
    const double u = (high + (low + 0.5) * 0x1p-64) * 0x1p-64;  // in (0, 1], down to 2⁻¹²⁹
    const double angle = 2 * std::numbers::pi * (static_cast<double>(words[3 * k + 2]) * 0x1p-64);
    const double radius = sign * std::sqrt(-2 * std::log(u));
    sum[2 * k] += radius * std::cos(angle);
    if (2 * k + 1 < sum.size()) sum[2 * k + 1] += radius * std::sin(angle);
  }
}

Vector PairKeys::sum(int node, const PairIndex& index, Index dimension) const {
  expects(node >= 0 && node < parties(), "a party that shares noise");
  Vector all = Vector::Zero(dimension);
  for (int j = 0; j < parties(); ++j) {
    if (j == node) continue;
    PairKey shared = key(node, j);
    add_pair_noise(all, node < j ? 1 : -1, shared, index);
    OPENSSL_cleanse(shared.data(), shared.size());
  }
  return all;
}

SimulatedPairs::~SimulatedPairs() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

PairKey SimulatedPairs::key(int i, int j) const {
  std::string bytes = "parley simulated pair 1";
  bytes.reserve(128);
  bytes.append(reinterpret_cast<const char*>(secret_.data()), secret_.size());
  put(bytes, static_cast<std::uint64_t>(std::min(i, j)));
  put(bytes, static_cast<std::uint64_t>(std::max(i, j)));
  return digest_and_cleanse(bytes);
}

AgreedPairs::~AgreedPairs() {
  for (PairKey& key : keys_) OPENSSL_cleanse(key.data(), key.size());
}

PairKey AgreedPairs::key(int i, int j) const {
  expects((i == self_) != (j == self_), "a key of this party's with another one");
  return keys_[static_cast<std::size_t>(i == self_ ? j : i)];
}

}  // namespace parley::privacy
