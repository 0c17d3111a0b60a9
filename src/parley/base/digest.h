// SHA-256 and hexadecimal text: chains, fingerprints and hashes of the whole tree are made here.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace parley {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);  // FIPS 180-4

std::string hex(std::string_view bytes);  // two lower-case digits a byte
std::string hex(const Digest& digest);
std::string in_fours(std::string_view digits);               // "63ee cabe …", to be read aloud
bool is_hex(std::string_view text, std::size_t digits);      // lower case, exactly as many
std::optional<std::string> from_hex(std::string_view text);  // nullopt: not what hex() writes

}  // namespace parley
