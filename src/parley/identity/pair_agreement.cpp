#include "parley/identity/pair_agreement.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstdint>

#include "parley/base/durable.h"
#include "parley/identity/openssl.h"

namespace parley::identity {
namespace {

using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string public_of(EVP_PKEY* key) {
  std::string text(agreement_key_bytes, '\0');
  std::size_t size = text.size();
  expects(EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(text.data()), &size) == 1 &&
              size == agreement_key_bytes,
          "OpenSSL gives the public part of an X25519 key");
  return text;
}

PairSecret hmac_sha256(std::string_view key, std::string_view text) {
  PairSecret code{};
  unsigned size = 0;
  expects(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(), code.data(),
               &size) != nullptr &&
              size == code.size(),
          "OpenSSL computes HMAC-SHA256");
  return code;
}

void put(std::string& text, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>((value >> shift) & 0xff);
}

std::string info_of(const PairName& name) {
  std::string info = "parley pair 1";
  put(info, name.run.size());
  info += name.run;
  put(info, static_cast<std::uint64_t>(std::min(name.i, name.j)));
  put(info, static_cast<std::uint64_t>(std::max(name.i, name.j)));
  return info;
}

}  // namespace

AgreementKey::AgreementKey(Secret secret, std::string public_key)
    : secret_(std::move(secret)), public_(std::move(public_key)) {}

AgreementKey AgreementKey::make() {
  leave_no_core_dump();
  const CleanErrors clean;
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  std::string raw(agreement_key_bytes, '\0');
  std::size_t size = raw.size();
  if (key == nullptr ||
      EVP_PKEY_get_raw_private_key(key.get(), reinterpret_cast<unsigned char*>(raw.data()), &size) != 1)
    throw Error({.what = "no key for shared noise could be made",
                 .where = "OpenSSL X25519",
                 .fix = "nothing was released; check the OpenSSL installation"});
  return {Secret(std::move(raw)), public_of(key.get())};
}

std::optional<AgreementKey> AgreementKey::from(std::string_view raw) {
  if (raw.size() != agreement_key_bytes) return std::nullopt;
  leave_no_core_dump();
  const CleanErrors clean;
  const Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes_of(raw), raw.size()));
  expects(key != nullptr, "OpenSSL takes 32 bytes for an X25519 key");
  return AgreementKey(Secret(std::string(raw)), public_of(key.get()));
}

std::optional<PairSecret> AgreementKey::pair_secret(std::string_view others_public_key, const PairName& name) const {
  if (others_public_key.size() != agreement_key_bytes) return std::nullopt;
  const CleanErrors clean;
  const Key own(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes_of(raw()), raw().size()));
  const Key other(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, bytes_of(others_public_key), others_public_key.size()));
  const Context context(own == nullptr ? nullptr : EVP_PKEY_CTX_new(own.get(), nullptr));
  PairSecret shared{};
  std::size_t size = shared.size();
  // Trap: OpenSSL refuses an all-zero result itself; it is looked at again, since privacy rests on it (RFC 7748, 6.1).
  const bool good = other != nullptr && context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
                    EVP_PKEY_derive_set_peer(context.get(), other.get()) == 1 &&
                    EVP_PKEY_derive(context.get(), shared.data(), &size) == 1 && size == shared.size() &&
                    std::ranges::any_of(shared, [](unsigned char byte) { return byte != 0; });
  std::optional<PairSecret> key;
  if (good)
    key = hkdf_sha256(name.configuration, {reinterpret_cast<const char*>(shared.data()), shared.size()}, info_of(name));
  OPENSSL_cleanse(shared.data(), shared.size());
  return key;
}

PairSecret hkdf_sha256(std::string_view salt, std::string_view secret, std::string_view info) {
  PairSecret extracted = hmac_sha256(salt, secret);
  const PairSecret expanded =
      hmac_sha256({reinterpret_cast<const char*>(extracted.data()), extracted.size()}, std::string(info) + '\x01');
  OPENSSL_cleanse(extracted.data(), extracted.size());
  return expanded;
}

}  // namespace parley::identity
