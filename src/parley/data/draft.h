// A schema that 'parley data describe' drafted was read off rows and nobody has decided on it yet: a run must not use
// it. Its mark is a comment line that begins with DRAFT; whoever has replaced what was measured deletes it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace parley::data {

bool is_draft(std::string_view schema_toml);

// The text of a schema's file. Error when it is still a draft.
std::string read_schema(const std::filesystem::path& file, std::size_t most_bytes);

}  // namespace parley::data
