#include "parley/data/read/delimiter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parley/base/error.h"

namespace parley::data {
namespace {

constexpr std::array<std::pair<char, std::string_view>, 4> usual{
    {{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "pipe"}}};

// How often each of `usual` stands outside quotes, in the first line that is neither blank nor a comment.
std::array<std::size_t, usual.size()> counted(std::string_view text, char comment) {
  std::array<std::size_t, usual.size()> counts{};
  bool quoted = false, any = false, line_start = true, skipped = false;
  for (const char c : text) {
    if (line_start && !quoted && comment != 0 && c == comment) skipped = true;
    line_start = c == '\n' || c == '\r';
    if (line_start && !quoted) {
      if (any) break;
      skipped = false;
      continue;
    }
    if (skipped) continue;
    any = any || (c != ' ' && c != '\t');
    if (c == '"') quoted = !quoted;
    for (std::size_t i = 0; i < usual.size(); ++i) counts[i] += !quoted && c == usual[i].first ? 1 : 0;
  }
  return counts;
}

}  // namespace

char found_delimiter(std::string_view text, const CsvLayout& layout) {
  if (!layout.header) return ',';
  const auto counts = counted(text, layout.comment);
  const auto most = std::ranges::max_element(counts);  // the first of equals: the comma before the others
  return *most == 0 ? ',' : usual[static_cast<std::size_t>(most - counts.begin())].first;
}

char delimiter_of(const std::string& word, const std::string& where) {
  if (word == "auto") return 0;
  for (const auto& [c, name] : usual)
    if (word == name) return c;
  if (word == "\\t") return '\t';
  const bool one = word.size() == 1 && static_cast<unsigned char>(word[0]) < 0x80 &&
                   std::string_view("\"\n\r\\0 .+-").find(word[0]) == std::string_view::npos && word[0] != 0 &&
                   !std::isalnum(static_cast<unsigned char>(word[0]));
  if (one) return word[0];
  throw Error({.what = "this cannot separate fields",
               .value = "'" + word + "'",
               .allowed = "auto, comma, semicolon, tab, pipe, or one character such as ^",
               .where = where,
               .fix = "leave it out: it is found from the header line"});
}

std::string delimiter_word(char delimiter) {
  for (const auto& [c, name] : usual)
    if (c == delimiter) return std::string(name);
  return "'" + std::string(1, delimiter) + "'";
}

std::string found_delimiter_note(const std::string& file, char delimiter) {
  if (delimiter == ',') return "";
  return "the fields of " + file + " are taken to be separated by " + delimiter_word(delimiter) +
         " (its header line says so; --delimiter decides)";
}

std::string suspected_delimiter(const std::vector<std::string_view>& fields, std::size_t columns, char used) {
  for (const auto& [c, name] : usual) {
    if (c == used) continue;
    std::size_t count = 0;
    for (const auto& field : fields) count += static_cast<std::size_t>(std::ranges::count(field, c));
    if (count > 0 && (count + 1 == columns || fields.size() == 1)) return std::string(name);
  }
  return "";
}

}  // namespace parley::data
