#include "parley/base/digest.h"

#include <openssl/evp.h>

#include "parley/base/error.h"

namespace parley {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

}  // namespace

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  expects(done == 1 && size == digest.size(), "OpenSSL computes SHA-256");
  return digest;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15];
  }
  return text;
}

std::string hex(const Digest& digest) {
  return hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string in_fours(std::string_view digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 4) text += (i == 0 ? "" : " ") + std::string(digits.substr(i, 4));
  return text;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of(hex_digits) == std::string_view::npos;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0 || !is_hex(text, text.size())) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(hex_digits.find(text[i]) << 4 | hex_digits.find(text[i + 1]));
  return bytes;
}

}  // namespace parley
