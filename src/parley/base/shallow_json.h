// JSON from files that others may have written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace parley {

// nullopt: not there, not a regular file, or larger than `most` bytes.
std::optional<std::string> read_bytes(const std::filesystem::path& file, std::uintmax_t most);

// Of a run.json: 10,000 nodes of a dense graph stay far below.
inline constexpr std::uintmax_t largest_record = 256U << 20U;

// null: no JSON, or nested deeper than any file of ours. Trap: json is copied and dumped by recursion.
nlohmann::json shallow_json(const std::string& text);

}  // namespace parley
