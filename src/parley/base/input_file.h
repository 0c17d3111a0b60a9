// Files that others may have made. Only a regular file is opened: a pipe would be waited for, a device has no end, and
// a symbolic link counts as what it leads to. No more is read than the caller allows, and no line, depth or number of
// values is taken on trust.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/durable.h"

namespace parley {

class InputFile {
 public:
  InputFile(const std::filesystem::path& path, std::string what);  // what: "the model", in messages
  std::uintmax_t size() const { return size_; }                    // when it was opened
  std::size_t read(char* to, std::size_t most);                    // fewer only at the end of the file
  std::string beginning(std::size_t most);
  std::string rest(std::uintmax_t most);  // Error: there is more than that

 private:
  std::filesystem::path path_;
  std::string what_;
  Descriptor file_;
  std::uintmax_t size_ = 0;
};
std::optional<InputFile> opened(const std::filesystem::path& path);  // nullopt: not there, or no regular file

// The lines of a file, one after another, each with its end: \n, \r\n or, where a lone \r ends one too, \r.
class InputLines {
 public:
  enum class Ends { lf, lf_or_cr };
  InputLines(InputFile file, std::size_t longest, Ends ends);
  // false: at the end. nullopt: the line is longer than any may be; nothing more is read.
  std::optional<bool> next(std::string_view& line);

 private:
  std::size_t end_of_line();  // one past it, in buffer_; npos: not in there
  InputFile file_;
  std::size_t longest_;
  Ends ends_;
  std::string buffer_;
  std::size_t at_ = 0, searched_ = 0;
  bool ended_ = false;  // the file; the buffer may still hold lines
};

constexpr std::uintmax_t mebibyte = std::uintmax_t{1} << 20U;
// All of it. Error: not there, no regular file, or larger than `most`.
std::string read_file(const std::filesystem::path& path, const std::string& what, std::uintmax_t most = 256 * mebibyte);

// nullopt: not there, no regular file, or larger than `most`.
std::optional<std::string> read_bytes(const std::filesystem::path& path, std::uintmax_t most);

// Of a run.json: 10,000 nodes of a dense graph stay far below.
constexpr std::uintmax_t largest_record = 256 * mebibyte;

// null: no JSON, deeper than any file of ours, of more values, or with a key twice in one object. Traps: json is copied
// and dumped by recursion, and its destructor allocates, so one that fills the memory ends the program.
nlohmann::json shallow_json(const std::string& text);

}  // namespace parley
