// Where the bytes of a table come from: a file, a compressed file, standard input, a database. They are read once, from
// the beginning to the end.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace parley::data {

struct Bytes {
  std::string name;                                     // for messages
  std::function<std::size_t(char*, std::size_t)> read;  // fewer than asked for only at the end
  std::function<double()> share = [] { return 0.0; };   // of all bytes, how many were read; 0: nobody knows
};

Bytes text_bytes(std::string_view text, std::string name);  // the text must outlive them
Bytes file_bytes(const std::filesystem::path& path);        // uncompressed when it is in gzip's format
Bytes standard_input();
Bytes gzip_bytes(Bytes compressed);  // Error where it is damaged, or grows out of proportion

// "-": standard input; postgresql://…: the rows of the query, which must be plain (plain_query.h); else a
// file.
Bytes open_bytes(const std::string& name, const std::string& query = "");
bool is_database(std::string_view name);

}  // namespace parley::data
