#include "parley/data/describe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"

namespace parley::data {
namespace {

constexpr std::size_t many = 12;  // up to here different numbers are taken for codes, that is for categories

constexpr std::size_t most_classes = 20;

std::optional<double> as_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// What the rows show of one column.
struct Seen {
  std::set<std::string> values;  // without the missing marks
  std::set<double> numbers;      // of those values that are numbers
  bool numeric = true;           // all values are
  bool missing = false;          // some cell is

  Seen(const Table& table, std::size_t column, const std::vector<std::string>& marks) {
    for (const auto& row : table.cells) {
      const std::string& cell = row[column];
      if (std::ranges::find(marks, cell) != marks.end())
        missing = true;
      else
        values.insert(cell);
    }
    for (const auto& value : values) {
      const auto x = as_number(value);
      if (x) numbers.insert(*x);
      numeric = numeric && x;
    }
  }

  // By size when all are numbers, else by bytes.
  std::vector<std::string> sorted() const {
    std::vector<std::string> list(values.begin(), values.end());
    if (numeric) std::ranges::sort(list, {}, [](const std::string& s) { return std::pair(as_number(s), s); });
    return list;
  }
  bool constant() const { return values.size() + (missing ? 1 : 0) <= 1; }
  bool measured() const { return numeric && numbers.size() > many; }
  bool classes(std::size_t rows) const {  // 3 to 20 values, not one per row
    return values.size() >= 3 && values.size() <= most_classes && 2 * values.size() <= rows && !measured() && !missing;
  }
};

// [min, max] outward to multiples of the power of ten below max − min: [17, 93] → [10, 100].
std::optional<Bounds> widened(const std::set<double>& numbers) {
  const double min = *numbers.begin(), max = *numbers.rbegin();
  const double step = std::pow(10, std::floor(std::log10(max - min)));
  Bounds b{std::floor(min / step) * step, std::ceil(max / step) * step};
  if (step < 1) {  // Trap: 3 · 0.1 is not 0.3, but 3 / 10 is.
    const double per_unit = std::round(1 / step);
    b = {std::floor(min * per_unit) / per_unit, std::ceil(max * per_unit) / per_unit};
  }
  if (!std::isfinite(b.low) || b.low > min) b.low = min;
  if (!std::isfinite(b.high) || b.high < max) b.high = max;
  if (!std::isfinite(b.high - b.low)) return std::nullopt;
  return Bounds{b.low + 0.0, b.high + 0.0};  // no "-0" in the file
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

// reason: why a column is dropped.
Column guess(const std::string& name, const Seen& seen, std::size_t rows, std::string& reason) {
  Column c{.name = name};
  if (seen.constant()) {
    reason = "the same in every row";
  } else if (seen.measured()) {
    c.bounds = widened(seen.numbers);
    if (!c.bounds) {
      reason = "its numbers are too far apart to scale";
      return c;
    }
    c.kind = Kind::numeric;
    c.missing = seen.missing ? Missing::middle : Missing::error;
  } else if (seen.values.size() > 50 && 2 * seen.values.size() > rows) {
    reason = "looks like an identifier: " + std::to_string(seen.values.size()) + " values in " + std::to_string(rows) +
             " rows";
  } else {
    c.categories = seen.sorted();
    std::erase(c.categories, "other");  // would collide with the bucket's feature, and lands there anyway
    if (c.categories.empty()) {
      reason = "only 'other' and missing cells";
      return c;
    }
    c.kind = Kind::categorical;
    c.other = Other::bucket;
    c.missing = Missing::other;
  }
  return c;
}

// The last column with two values and no missing cell; without one, the last that has classes or is measured.
std::size_t label_column(const Table& table, const std::vector<Seen>& seen) {
  for (std::size_t i = seen.size(); i-- > 0;)
    if (seen[i].values.size() == 2 && !seen[i].missing) return i;
  for (std::size_t i = seen.size(); i-- > 0;)
    if (seen[i].classes(table.cells.size()) || (seen[i].measured() && !seen[i].missing && widened(seen[i].numbers)))
      return i;
  throw Error({.what = "no column can be the label",
               .allowed = "a column without missing cells that has two values, 3 to " + std::to_string(most_classes) +
                          " that repeat, or more than " + std::to_string(many) + " numbers",
               .where = table.source,
               .fix = "write the schema by hand, or give a larger sample"});
}

}  // namespace

std::string draft_schema(const Table& table) {
  Schema schema;
  std::vector<Seen> seen;
  seen.reserve(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) seen.emplace_back(table, i, schema.missing);
  const std::size_t label = label_column(table, seen);
  schema.label.column = table.columns[label];
  if (seen[label].values.size() == 2) {
    const auto values = seen[label].sorted();
    schema.label.negative = {values[0]};
    schema.label.positive = {values[1]};
  } else if (seen[label].classes(table.cells.size())) {
    schema.label.classes = seen[label].sorted();
  } else {
    schema.label.bounds = widened(seen[label].numbers);
  }

  std::string dropped;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == label) continue;
    std::string reason;
    schema.columns.push_back(guess(table.columns[i], seen[i], table.cells.size(), reason));
    if (!reason.empty()) dropped += "# Dropped: " + one_line(table.columns[i]) + " (" + reason + ").\n";
  }
  const std::string file = one_line(table.source);
  return "# ============================================================================================\n"
         "# DRAFT. NOT FOR USE AS IT IS.\n"
         "# The bounds and categories below were read off the rows of " +
         file +
         ".\n"
         "# If these rows are private, this file is a leak: it shows their extremes and rare values, and\n"
         "# no privacy budget covers it. Do not send it to anyone. Replace every bound and category by\n"
         "# what is publicly known (a code book, a form, a law, physics) before use, then delete this.\n"
         "# ============================================================================================\n"
         "# Label: guessed to be '" +
         one_line(schema.label.column) +
         (schema.label.positive.empty() ? "'; check it.\n" : "'; check which value is positive (+1).\n") + dropped +
         "\n" + to_toml(schema);
}

}  // namespace parley::data
