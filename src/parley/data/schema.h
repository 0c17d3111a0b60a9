// The public schema: how text cells become features, agreed on by all parties before anyone looks at rows.
// Bounds and categories are public knowledge; nothing in a schema may be measured on private rows (see describe.h).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::data {

enum class Kind { numeric, categorical, drop };
enum class Transform { none, log1p, sqrt, bins };
enum class OutOfRange { clip, error };
enum class Missing { error, low, middle, high, zero, other, category };
enum class Other { error, bucket, zero };
enum class Fold { none, letters, blanks, both };           // what does not count when texts are compared
enum class DatePart { none, days, year, month, weekday };  // what a date becomes before anything else
enum class Scale { clip, bound };
enum class ExtraRows { error, drop };

inline constexpr long most_rows_per_person = 1'000'000;  // as privacy/group.h

struct Bounds {
  double low = 0;
  double high = 1;
  bool operator==(const Bounds&) const = default;
};

// What is not written in the file is an error when it occurs in a cell (missing, other), except out_of_range, which
// clips.
struct Column {
  std::string name;
  Kind kind = Kind::drop;

  // numeric: (t(x) − t(low)) / (t(high) − t(low)) ∈ [0, 1], or one-hot of (−∞, e₁) [e₁, e₂) … [e_k, ∞) with
  // Transform::bins
  std::optional<Bounds> bounds{};  // always set but for bins, where it only says what is out of range
  Transform transform = Transform::none;
  std::vector<double> edges{};  // strictly increasing
  OutOfRange out_of_range = OutOfRange::clip;

  // categorical: one-hot
  std::vector<std::string> categories{};
  Other other = Other::error;  // a value that is not in categories; bucket: one more feature "name=other"

  // numeric: error, low, middle, high (of the bounds; with bins: the first, middle, last bin), with bins also zero.
  // categorical: error, zero, other (as an unlisted value), category (the mark itself is among the categories).
  Missing missing = Missing::error;

  // categorical: other texts for a category, {text, category}; whole numbers are compared as numbers (01 is 1)
  std::vector<std::pair<std::string, std::string>> aliases{};
  bool codes = false;

  // A cell YYYY-MM-DD becomes a number: days since `since`, year, month (1 to 12) or weekday (1 Monday to 7 Sunday).
  DatePart date = DatePart::none;
  std::string since{};
  // The first category or bin has no feature: the others say how they differ from it. parse_schema sets it (Scale::bound).
  bool reference = false;

  bool operator==(const Column&) const = default;
};

struct Label {
  std::string column;
  std::vector<std::string> positive{};  // these become +1
  std::vector<std::string> negative{};  // these become −1; any other value is an Error
  std::vector<std::string> classes{};   // instead of both: the label is the class number 0, 1, …; softmax
  std::optional<Bounds> bounds{};       // regression instead: 2 (y − low) / (high − low) − 1
  OutOfRange out_of_range = OutOfRange::clip;

  bool regression() const { return bounds.has_value(); }
  bool operator==(const Label&) const = default;
};

// Whom a guarantee is for: whoever has the same text in this column, with at most so many rows at one party. Empty and
// 0: one row.
struct Unit {
  std::string person{};
  long rows_per_person = 0;
  bool operator==(const Unit&) const = default;
};

struct Schema {
  bool intercept = true;                            // a constant feature, the last one; it counts in |x| <= 1
  std::vector<std::string> missing{"", "NA", "?"};  // cells that mean "missing"
  // clip: x ← x/max(1, |x|), row by row. bound: numbers become [−1, 1] and every row is divided by divisor(), so that
  // features are linear in what was measured (docs/use/intervals.md).
  Scale scale = Scale::clip;
  Label label;
  std::vector<Column> columns;
  Fold fold = Fold::none;
  Unit unit{};
  ExtraRows extra_rows =
      ExtraRows::error;  // of more rows of a person the first ones in the file stay, or it is refused

  bool operator==(const Schema&) const = default;
};

// `where` names the file in messages. Every Error says file and line.
Schema parse_schema(std::string_view toml, const std::string& where);

// parse_schema(to_toml(s)) == s for every s that parse_schema can return.
std::string to_toml(const Schema& schema);

// For rows that nothing is trained on: whose they are does not matter, and a person column is one to drop.
Schema without_persons(Schema schema);

// "age", "age[25,35)", "workclass=Private", "workclass=other", "(intercept)": one per feature, in order.
std::vector<std::string> feature_names(const Schema& schema);

// The most non-zeros of a row: one for each column that is used, and the intercept.
long most_entries(const Schema& schema);

// R ≥ the norm of every row that the schema allows: √(one for each column that is used, and the intercept), rounded up.
double divisor(const Schema& schema);

// Every row has exactly one of this column's features, so that with an intercept they are collinear.
bool covers_all(const Column& column);

// What a column adds to feature_names; nothing for drop.
std::vector<std::string> feature_names(const Column& column);

// t(x): x, log(1 + x) or √x. Bins have no t.
double transformed(Transform t, double x);

}  // namespace parley::data
