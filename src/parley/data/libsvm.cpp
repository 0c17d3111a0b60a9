#include "parley/data/libsvm.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/next_rows.h"

namespace parley::data {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";
constexpr std::size_t longest_line = 64 * mebibyte;

// Takes the first blank-separated word off text; "" at the end.
std::string_view next_word(std::string_view& text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return text = {};
  text.remove_prefix(first);
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

double parse_label(std::string_view word, const std::string& where) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double y = 2;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), y);
  if (code == std::errc{} && end == word.data() + word.size() && (y == -1 || y == 0 || y == 1)) return y;
  throw Error({.what = "the label is not binary",
               .value = quoted(word),
               .allowed = "-1 and +1, or 0 and 1",
               .where = where,
               .fix = "map the labels to two classes first; for regression use CSV with a schema"});
}

std::int32_t parse_index(std::string_view word, std::int32_t previous, Index features, const std::string& where) {
  long long index = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), index);
  const bool whole =
      !word.empty() && end == word.data() + word.size() && code != std::errc::invalid_argument && word[0] != '-';
  if (!whole || (code == std::errc{} && index < 1))
    throw Error({.what = "the feature index is not a whole number >= 1",
                 .value = quoted(word),
                 .where = where,
                 .fix = "write index:value with indices that count from 1"});
  if (code == std::errc{} && index <= previous)
    throw Error({.what = "feature indices must increase strictly",
                 .value = quoted(word) + " after " + std::to_string(previous),
                 .where = where,
                 .fix = "sort the entries of the row by index and list each index once"});
  if (code != std::errc{} || index > features)
    throw Error({.what = "the feature index is larger than the number of features, which is public knowledge and the "
                         "same for all parties",
                 .value = quoted(word),
                 .allowed = "1 to " + std::to_string(features),
                 .where = where,
                 .fix = "if the agreed number is wrong, all parties set it with --features"});
  return static_cast<std::int32_t>(index);
}

}  // namespace

LibsvmRows::LibsvmRows(std::string source, Index features) : source_(std::move(source)) {
  if (features < 1 || features > std::numeric_limits<std::int32_t>::max())
    throw Error({.what = "the number of features is not usable",
                 .value = std::to_string(features),
                 .allowed = "1 to 2147483647",
                 .where = "option --features",
                 .fix = "give the number of features that all parties agreed on"});
  rows_.features = features;
}

void LibsvmRows::add(std::string_view rest) {
  if (++line_ == 1 && rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  rest = rest.substr(0, rest.find('#'));
  std::string_view word = next_word(rest);
  if (word.empty()) return;

  const std::string where = source_ + ":" + std::to_string(line_);
  double y = parse_label(word, where);
  if (y == 0 && zero_line_ == 0) zero_line_ = line_;
  if (y == -1 && minus_line_ == 0) minus_line_ = line_;
  if (zero_line_ != 0 && minus_line_ != 0)
    throw Error({.what = "labels 0 and -1 are mixed (line " + std::to_string(std::min(zero_line_, minus_line_)) +
                         " has the other)",
                 .allowed = "-1 and +1, or 0 and 1",
                 .where = where,
                 .fix = "use one way of writing the two classes"});
  if (y == 0) y = -1;

  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::int32_t previous = 0;
  while (!(word = next_word(rest)).empty()) {
    const auto colon = word.find(':');
    if (colon == std::string_view::npos)
      throw Error({.what = "an entry has no colon",
                   .value = quoted(word),
                   .allowed = "index:value",
                   .where = where,
                   .fix = "write entries as index:value"});
    previous = parse_index(word.substr(0, colon), previous, rows_.features, where);
    const double value =
        parse_number(word.substr(colon + 1), "the value of feature " + std::to_string(previous), where);
    if (value == 0) continue;
    columns.push_back(previous - 1);
    values.push_back(value);
  }
  clip_to_unit_norm(values);
  rows_.append(columns, values, y);
  any_ = true;
}

void LibsvmRows::end() const {
  if (!any_) throw Error({.what = "the file has no rows", .where = source_, .fix = "give lines like: +1 1:0.5 3:1"});
}

Rows LibsvmRows::take() {
  Rows none;
  none.features = rows_.features;
  return std::exchange(rows_, std::move(none));
}

void LibsvmRows::refuse_long() const {
  throw Error({.what = "a line is longer than any line may be",
               .allowed = "at most " + std::to_string(longest_line / mebibyte) + " MiB",
               .where = source_ + ":" + std::to_string(line_ + 1),
               .fix = "check that this is a LIBSVM file with one row a line"});
}

LibsvmReader::LibsvmReader(const std::filesystem::path& path, Index features)
    : lines_(InputFile(path, "the data file"), longest_line, InputLines::Ends::lf), rows_(path.string(), features) {}

std::optional<Rows> LibsvmReader::next(std::size_t most_rows) {
  return next_rows(lines_, rows_, most_rows);
}

Rows parse_libsvm(std::string_view text, const std::string& source, Index features) {
  LibsvmRows rows(source, features);
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    text.remove_prefix(line.size());
    rows.add(line);
  }
  rows.end();
  return rows.take();
}

Rows read_libsvm(const std::filesystem::path& path, Index features) {
  return *LibsvmReader(path, features).next(std::numeric_limits<std::size_t>::max());
}

}  // namespace parley::data
