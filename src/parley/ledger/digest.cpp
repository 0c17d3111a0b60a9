#include "parley/ledger/digest.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/input_file.h"

namespace parley::ledger {

std::string random_hex(int bytes) {
  std::string raw(static_cast<std::size_t>(bytes), '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(raw.data()), bytes) != 1)
    throw Error({.what = "no randomness from the operating system",
                 .where = "OpenSSL RAND_bytes",
                 .fix = "check /dev/urandom"});
  return hex(raw);
}

struct Fingerprint::State {
  explicit State(const Key& key) : id(key_id(key)) {
    mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    context = mac == nullptr ? nullptr : EVP_MAC_CTX_new(mac);
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 2> parameters = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
    expects(context != nullptr && EVP_MAC_init(context, key.data(), key.size(), parameters.data()) == 1,
            "OpenSSL starts HMAC-SHA256");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
  }
  std::string id;
  EVP_MAC* mac = nullptr;
  EVP_MAC_CTX* context = nullptr;
};

Fingerprint::Fingerprint(const std::optional<Key>& key) : state_(key ? std::make_shared<State>(*key) : nullptr) {}

void Fingerprint::add(std::string_view bytes) {
  if (!state_) return;
  const int done = EVP_MAC_update(state_->context, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  expects(done == 1, "OpenSSL continues HMAC-SHA256");
}

std::string Fingerprint::text() {
  if (!state_) return "";
  Digest digest{};
  std::size_t size = 0;
  const int done = EVP_MAC_final(state_->context, digest.data(), &size, digest.size());
  expects(done == 1 && size == digest.size(), "OpenSSL ends HMAC-SHA256");
  return state_->id + ":" + hex(digest);
}

std::string key_id(const Key& key) {
  const std::string text(key.begin(), key.end());
  return hex(sha256("parley ledger key id " + text)).substr(0, 16);
}

std::optional<Key> read_key(const std::filesystem::path& file) {
  Key key{};
  auto bytes = read_bytes(file, key.size());
  if (!bytes || bytes->size() != key.size()) return std::nullopt;
  std::ranges::copy(*bytes, key.begin());
  OPENSSL_cleanse(bytes->data(), bytes->size());
  return key;
}

void create_key(const std::filesystem::path& file) {
  if (read_key(file)) return;
  Key key{};
  if (RAND_priv_bytes(key.data(), key.size()) != 1)
    throw Error({.what = "no randomness from the operating system",
                 .where = "OpenSSL RAND_priv_bytes",
                 .fix = "check /dev/urandom"});
  const bool good = create_file(file, {reinterpret_cast<const char*>(key.data()), key.size()}, 0600);
  const std::string reason = good ? "" : std::strerror(errno);
  OPENSSL_cleanse(key.data(), key.size());
  if (!good)
    throw Error({.what = "cannot write the fingerprint key: " + reason,
                 .where = file.string(),
                 .fix = "check free space and permissions, or remove what stands there"});
}

}  // namespace parley::ledger
