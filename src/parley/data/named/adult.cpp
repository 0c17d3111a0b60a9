#include "parley/data/named/adult.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/data/fetch.h"
#include "parley/data/named/adult_schema.h"
#include "parley/data/schema.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

namespace fs = std::filesystem;

bool holds_adult(const fs::path& dir) {
  std::error_code ignored;
  return fs::is_regular_file(dir / "adult.data", ignored) && fs::is_regular_file(dir / "adult.test", ignored);
}

std::vector<fs::path> places(const std::string& data_dir) {
  if (!data_dir.empty()) return {data_dir};
  std::vector<fs::path> found;
  if (const char* set = std::getenv("PARLEY_DATA"); set != nullptr && *set != '\0') found.emplace_back(set);
  if (const fs::path cache = cache_dir(); !cache.empty()) found.push_back(cache);
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  if (failed) return found;
  for (fs::path up = here;; up = up.parent_path()) {
    found.push_back(up / "shared" / "data");
    if (up == up.root_path()) return found;
  }
}

CsvLayout adult_layout() {
  return {.header = false, .columns = adult_columns(), .comment = '|'};  // adult.test opens with a '|' line
}

Table read_both(const fs::path& dir) {
  const CsvLayout layout = adult_layout();
  Table all = read_csv(dir / "adult.data", layout);
  Table test = read_csv(dir / "adult.test", layout);
  std::move(test.cells.begin(), test.cells.end(), std::back_inserter(all.cells));
  all.line.insert(all.line.end(), test.line.begin(), test.line.end());
  all.source = (dir / "adult.{data,test}").string();
  return all;
}

Table complete_rows(const Table& all) {
  Table kept{.source = all.source, .columns = all.columns, .cells = {}, .line = {}};
  for (std::size_t n = 0; n < all.cells.size(); ++n) {
    const auto& row = all.cells[n];
    if (std::find(row.begin(), row.end(), "?") != row.end()) continue;
    kept.cells.push_back(row);
    kept.line.push_back(all.line[n]);
  }
  return kept;
}

// The papers' preprocessing is the public one with three things replaced by what the rows say: incomplete rows are
// dropped (complete_rows), categories are those that occur, and a numeric column is divided by its maximum, i.e. scaled
// from [0, max].
Schema paper_schema(const Table& table) {
  Schema schema = parse_schema(adult_public_schema(), "adult_public_schema");
  schema.intercept = false;
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    Column& column = schema.columns[c];
    expects(column.name == table.columns[c], "the schema lists Adult's columns in file order");
    column.missing = Missing::error;
    if (column.kind == Kind::numeric) {
      double max = 0;
      for (const auto& row : table.cells) max = std::max(max, parse_number(row[c], column.name, table.source));
      column.bounds = Bounds{.low = 0, .high = max};
    } else {
      std::set<std::string> occurs;
      for (const auto& row : table.cells) occurs.insert(row[c]);
      column.categories.assign(occurs.begin(), occurs.end());
    }
  }
  return schema;
}

// x_c = 2 (v − min)/(max − min) − 1 with v the number, or the category's place in the documented list.
Dataset integer_coded(const Table& table, const std::string& name, const std::string& split_column) {
  // The label, the split key, and Errors about them, as ever; the features are replaced below.
  Dataset all = encode(table, paper_schema(table), name, split_column);
  const Schema schema = parse_schema(adult_public_schema(), "adult_public_schema");
  const std::size_t columns = schema.columns.size();
  std::vector<std::vector<double>> code(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const auto& categories = schema.columns[c].categories;
    for (const auto& row : table.cells)
      code[c].push_back(schema.columns[c].kind == Kind::numeric
                            ? parse_number(row[c], schema.columns[c].name, table.source)
                            : static_cast<double>(std::ranges::find(categories, row[c]) - categories.begin()));
    const auto [low, high] = std::ranges::minmax(code[c]);
    for (double& v : code[c]) v = high > low ? 2 * ((v - low) / (high - low)) - 1 : 0;
  }
  Rows rows;
  rows.features = static_cast<Index>(columns);
  std::vector<std::int32_t> all_columns(columns);
  std::iota(all_columns.begin(), all_columns.end(), 0);
  for (std::size_t n = 0; n < table.cells.size(); ++n) {
    std::vector<double> x;
    for (std::size_t c = 0; c < columns; ++c) x.push_back(code[c][n]);
    clip_to_unit_norm(x);
    rows.append(all_columns, x, all.rows.label[n]);
  }
  all.rows = std::move(rows);
  all.feature_names.assign(adult_columns().begin(), adult_columns().begin() + static_cast<std::ptrdiff_t>(columns));
  all.schema_toml.clear();  // no schema says this: `predict` takes rows that are coded and scaled already, as LIBSVM
  all.not_public =
      "HHCG20's preprocessing measures the rows: columns are scaled to [-1, 1] by their minimum and maximum, and "
      "incomplete rows are dropped";
  return all;
}

}  // namespace

fs::path find_adult(const std::string& data_dir) {
  std::vector<std::string> looked;
  for (const fs::path& place : places(data_dir))
    for (const fs::path& dir : {place, place / "adult"}) {
      if (holds_adult(dir)) return dir;
      looked.push_back(dir.string());
    }
  throw Error({.what = "Adult (adult.data and adult.test) was not found; looked in\n    " + join(looked, "\n    "),
               .fix = "run `parley data fetch adult`, or name the folder with --data-dir or PARLEY_DATA"});
}

std::vector<std::string> adult_preprocessings() {
  return {"public", "compact", "paper", "integer"};
}

namespace {

struct Kept {
  std::mutex mutex;
  int keepers = 0;
  std::map<std::array<std::string, 3>, Dataset> datasets;  // folder, preprocessing, split column
};
Kept& kept() {
  static Kept only;
  return only;
}

Dataset parse_adult(const fs::path& dir, const std::string& preprocessing, const std::string& split_column) {
  const auto known = adult_preprocessings();
  if (std::find(known.begin(), known.end(), preprocessing) == known.end()) {
    const std::string guess = nearest(preprocessing, known);
    throw Error({.what = "unknown preprocessing of Adult",
                 .value = "'" + preprocessing + "'",
                 .allowed = join(known, ", "),
                 .where = "option preprocessing",
                 .fix = guess.empty() ? "" : "did you mean '" + guess + "'?"});
  }
  const std::string name = "adult (" + preprocessing + ")";
  if (preprocessing == "integer")
    return integer_coded(complete_rows(read_csv(dir / "adult.data", adult_layout())), name, split_column);
  const Table table = read_both(dir);
  if (preprocessing == "public")
    return encode(table, parse_schema(adult_public_schema(), "adult_public_schema"), name, split_column);
  if (preprocessing == "compact")
    return encode(table, parse_schema(adult_compact_schema(), "adult_compact_schema"), name, split_column);
  const Table complete = complete_rows(table);
  Dataset paper = encode(complete, paper_schema(complete), name, split_column);
  paper.not_public =
      "the papers' preprocessing measures the rows: columns are divided by their maximum, categories are those "
      "that occur, and incomplete rows are dropped";
  return paper;
}

}  // namespace

KeptAdult::KeptAdult() {
  const std::scoped_lock hold(kept().mutex);
  ++kept().keepers;
}

KeptAdult::~KeptAdult() {
  const std::scoped_lock hold(kept().mutex);
  if (--kept().keepers == 0) kept().datasets.clear();
}

Dataset load_adult(const fs::path& dir, const std::string& preprocessing, const std::string& split_column) {
  std::unique_lock hold(kept().mutex);
  if (kept().keepers == 0) {
    hold.unlock();
    return parse_adult(dir, preprocessing, split_column);
  }
  const std::array key = {dir.string(), preprocessing, split_column};
  auto found = kept().datasets.find(key);
  if (found == kept().datasets.end())
    found = kept().datasets.emplace(key, parse_adult(dir, preprocessing, split_column)).first;
  return found->second;
}

}  // namespace parley::data
