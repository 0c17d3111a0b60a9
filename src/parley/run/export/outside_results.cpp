#include "parley/run/export/outside_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/table.h"

namespace parley::run {
namespace {

const std::vector<std::string> needed = {"algorithm", "epsilon", "test_error"},
                               known = {"algorithm", "epsilon", "delta", "split", "run", "test_error", "note"};

void check_columns(const data::Table& table) {
  for (const auto& column : table.columns)
    if (std::ranges::find(known, column) == known.end()) {
      const std::string near = nearest(column, known);
      throw Error({.what = "results have no such column",
                   .value = "'" + column + "'",
                   .allowed = join(known, ", "),
                   .where = table.source,
                   .fix = near.empty() ? "remove it" : "did you mean '" + near + "'?"});
    }
  for (const auto& column : needed)
    if (std::ranges::find(table.columns, column) == table.columns.end())
      throw Error({.what = "results need the column '" + column + "'",
                   .value = join(table.columns, ", "),
                   .where = table.source,
                   .fix = "add it: one line for each run of an algorithm"});
}

class Line {
 public:
  Line(const data::Table& table, std::size_t row) : table_(table), row_(row) {}

  std::string text(const std::string& column) const {
    const auto found = std::ranges::find(table_.columns, column);
    return found == table_.columns.end() ? ""
                                         : table_.cells[row_][static_cast<std::size_t>(found - table_.columns.begin())];
  }
  std::optional<double> number(const std::string& column) const {
    const std::string cell = text(column);
    if (cell.empty()) return std::nullopt;
    return parse_number(cell, "'" + column + "'", data::place(table_, row_));
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& allowed,
                           const std::string& fix) const {
    throw Error({.what = what, .value = value, .allowed = allowed, .where = data::place(table_, row_), .fix = fix});
  }

 private:
  const data::Table& table_;
  std::size_t row_;
};

std::string list(const std::vector<double>& numbers) {
  std::vector<std::string> parts;
  for (const double x : numbers) parts.push_back(number(x));
  return join(parts, ", ");
}

void check_line(const Line& line, const OutsideSetting& setting) {
  if (line.text("algorithm").empty())
    line.refuse("a result has no name of an algorithm", "''", "a name", "write one in the column 'algorithm'");
  const auto epsilon = line.number("epsilon"), error = line.number("test_error"), split = line.number("split");
  if (!epsilon || std::ranges::find(setting.budgets, *epsilon) == setting.budgets.end())
    line.refuse("the epsilon of a result is not among the budgets of this comparison", line.text("epsilon"),
                list(setting.budgets), "compare at its epsilon: --epsilon");
  if (const double delta = line.number("delta").value_or(0); !(delta >= 0 && delta <= setting.delta))
    line.refuse("the delta of a result is not one that this comparison allows", number(delta),
                "0 to " + number(setting.delta), "compare at its delta: --delta");
  if (split && *split != static_cast<double>(setting.split_seed))
    line.refuse("a result was measured on another split of the rows", number(*split),
                std::to_string(setting.split_seed),
                "measure it on the rows that 'parley data export' writes, or compare with its --split-seed");
  if (!error || *error < 0 || (setting.classifies && *error > 1))
    line.refuse("a result has no test error", "'" + line.text("test_error") + "'",
                setting.classifies ? "the share of test rows that are wrong, 0 to 1"
                                   : "the root mean square error, in the column's own unit",
                "write 0.154 for 15.4 %");
}

}  // namespace

std::vector<OutsideResult> read_outside_results(const std::filesystem::path& file, const OutsideSetting& setting) {
  const data::Table table = data::read_csv(file);
  check_columns(table);
  std::map<std::pair<std::string, double>, OutsideResult> all;
  std::vector<std::pair<std::string, double>> order;
  std::set<std::vector<std::string>> seen;
  const bool numbered = std::ranges::find(table.columns, "run") != table.columns.end();
  for (std::size_t n = 0; n < table.cells.size(); ++n) {
    const Line line(table, n);
    check_line(line, setting);
    const std::pair key(line.text("algorithm"), *line.number("epsilon"));
    if (numbered && !seen.insert({key.first, number(key.second), line.text("run")}).second)
      line.refuse("the same run of an algorithm stands there twice", line.text("run"), "each run once",
                  "remove a line, or number the runs");
    const double error = *line.number("test_error"), delta = line.number("delta").value_or(0);
    const auto [at, added] = all.emplace(key, OutsideResult{.algorithm = key.first,
                                                            .epsilon = key.second,
                                                            .test_error = {.mean = 0, .low = error, .high = error}});
    if (added) order.push_back(key);
    OutsideResult& one = at->second;
    one.delta = std::max(one.delta, delta);
    one.test_error.low = std::min(one.test_error.low, error);
    one.test_error.high = std::max(one.test_error.high, error);
    one.test_error.mean += (error - one.test_error.mean) / static_cast<double>(++one.runs);
  }
  std::vector<OutsideResult> list;
  for (const auto& key : order) list.push_back(all.at(key));
  return list;
}

std::vector<std::string> outside_names(const std::vector<OutsideResult>& results) {
  std::vector<std::string> names;
  for (const OutsideResult& r : results)
    if (std::ranges::find(names, r.algorithm) == names.end()) names.push_back(r.algorithm);
  return names;
}

}  // namespace parley::run
