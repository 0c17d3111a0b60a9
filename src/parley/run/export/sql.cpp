#include "parley/run/export/sql.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema_texts.h"

namespace parley::run {

using data::Column;
using data::Kind;
using data::Transform;

namespace {

std::string doubled(const std::string& text, char quote) {
  std::string s(1, quote);
  for (const char c : text) s += c == quote ? std::string(2, c) : std::string(1, c);
  return s + quote;
}

}  // namespace

std::string sql_text(const std::string& text) {
  return doubled(text, '\'');
}

std::string sql_name(const std::string& name) {
  return doubled(name, '"');
}

std::string sql_number(double value) {
  const std::string s = number(value);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

namespace {

// Long sums in pairs: SQLite reads at most 1,000 levels of an expression.
std::string sum_of(const std::vector<std::string>& terms) {
  if (terms.empty()) return "0.0";
  if (terms.size() == 1) return terms[0];
  const auto half = terms.begin() + static_cast<std::ptrdiff_t>(terms.size() / 2);
  return "(" + sum_of({terms.begin(), half}) + " + " + sum_of({half, terms.end()}) + ")";
}

// As data::folded: a run of blanks of up to 2²⁰ is one, and only A to Z have small letters. Trap: SQLite's parser has room for
// 100 open brackets, so each of the two is a stage of its own.
std::string without_blanks(std::string text) {
  for (const char* blank : {"\t", "\r", "\n"}) text = "replace(" + text + ", '" + blank + "', ' ')";
  for (int i = 0; i < 20; ++i) text = "replace(" + text + ", '  ', ' ')";
  return "ltrim(rtrim(" + text + ", ' '), ' ')";
}

std::string small_letters(std::string text) {
  for (char c = 'A'; c <= 'Z'; ++c)
    text = "replace(" + text + ", '" + c + "', '" + static_cast<char>(c - 'A' + 'a') + "')";
  return text;
}

class Query {
 public:
  Query(const Scoring& s, const SqlNames& names) : s_(s), names_(names) {}

  std::string text() const {
    std::string last = "parley_cells", q = "WITH " + cells();
    std::vector<SqlColumn> numbers;
    for (std::size_t i = 0; i < s_.columns.size(); ++i)
      if (const Column& c = s_.columns[i].column; c.kind == Kind::numeric || c.codes)
        numbers.push_back({.name = std::to_string(i),
                           .date = c.date,
                           .since = c.since.empty() ? 0 : data::day_of(c.since).value_or(0)});
    q += sql_number_stages(numbers, last);
    q += "parley_values AS MATERIALIZED (\n  SELECT " + kept();
    for (std::size_t i = 0; i < s_.columns.size(); ++i)
      q += (i == 0 ? "" : ",") + std::string("\n    ") + sql_value(s_, i) + " AS parley_v" + std::to_string(i);
    q += "\n  FROM " + last + "\n),\n" + sums();
    q += "parley_scores AS MATERIALIZED (\n  SELECT " + kept() + divided() + "\n  FROM parley_sums\n)";
    return q + (s_.model.loss.kind == problem::LossKind::softmax ? softmax() : one_score()) + "\n";
  }

 private:
  std::string kept() const {  // helper names, so that a kept column called "score" is none of ours
    std::string list;
    for (std::size_t i = 0; i < names_.keep.size(); ++i) list += "parley_k" + std::to_string(i) + ", ";
    return list;
  }

  // The table's cells as text; NULL is an empty cell.
  std::string cells() const {
    const data::Fold fold = s_.schema.fold;
    const bool blanks = fold == data::Fold::blanks || fold == data::Fold::both,
               letters = fold == data::Fold::letters || fold == data::Fold::both;
    std::vector<std::string> first, second, table;
    for (std::size_t i = 0; i < names_.keep.size(); ++i) {
      const std::string kept = "parley_k" + std::to_string(i);
      first.push_back("parley_rows." + sql_name(names_.keep[i]) + " AS " + kept);
      second.push_back(kept);
    }
    for (std::size_t i = 0; i < s_.columns.size(); ++i) {
      const std::string n = std::to_string(i),
                        cell = "format('%s', parley_rows." + sql_name(s_.columns[i].column.name) + ")";
      first.push_back((blanks ? without_blanks(cell) : cell) + " AS parley_" + (letters ? "c" : "t") + n);
      second.push_back(small_letters("parley_c" + n) + " AS parley_t" + n);
    }
    for (const auto& part : split_list(names_.table, '.')) table.push_back(sql_name(part));
    const auto stage = [](const std::string& name, const std::vector<std::string>& parts, const std::string& from) {
      return name + " AS MATERIALIZED (\n  SELECT\n    " + join(parts, ",\n    ") + "\n  FROM " + from + "\n),\n";
    };
    const std::string from = join(table, ".") + " AS parley_rows";
    return letters ? stage("parley_texts", first, from) + stage("parley_cells", second, "parley_texts")
                   : stage("parley_cells", first, from);
  }

  // One more column for |x|², where rows are divided by their norm.
  std::string sums() const {
    std::string text = "parley_sums AS MATERIALIZED (\n  SELECT " + kept();
    const int all = s_.scores();
    for (int k = 0; k < all; ++k) {
      std::vector<std::string> terms;
      for (std::size_t i = 0; i < s_.columns.size(); ++i) terms.push_back(term(i, static_cast<std::size_t>(k)));
      if (s_.schema.intercept) terms.push_back("(" + sql_number(s_.weight(k, s_.features() - 1)) + ")");
      text += (k == 0 ? "" : ",") + std::string("\n    ") + sum_of(terms) + " AS parley_s" + std::to_string(k);
    }
    if (s_.divisor() == 0) {
      std::vector<std::string> squares;
      for (std::size_t i = 0; i < s_.columns.size(); ++i) squares.push_back(term(i, static_cast<std::size_t>(all)));
      if (s_.schema.intercept) squares.emplace_back("1.0");
      text += ",\n    " + sum_of(squares) + " AS parley_square";
    }
    return text + "\n  FROM parley_values\n),\n";
  }

  // What column i adds to sum k; NULL of a NULL.
  std::string term(std::size_t i, std::size_t k) const {
    const ScoredColumn& c = s_.columns[i];
    const std::string v = "parley_v" + std::to_string(i);
    if (c.column.kind == Kind::numeric && c.column.transform != Transform::bins)
      return k == static_cast<std::size_t>(s_.scores())
                 ? v + " * " + v
                 : "(" + sql_number(s_.weight(static_cast<int>(k), c.first)) + ") * " + v;
    std::string text = "CAST(CASE " + v;
    const std::size_t last = c.column.kind == Kind::categorical
                                 ? c.column.categories.size() + (c.column.other == data::Other::bucket ? 1 : 0)
                                 : c.column.edges.size() + 1;
    for (std::size_t category = 0; category < last; ++category)
      text += " WHEN " + std::to_string(category) + " THEN " + sql_number(s_.row_of(c, static_cast<int>(category))[k]);
    return text + " WHEN " + std::to_string(no_category) + " THEN 0.0 END AS DOUBLE PRECISION)";
  }

  std::string divided() const {
    const double divisor = s_.divisor();
    const std::string by = divisor > 0
                               ? sql_number(divisor)
                               : "CASE WHEN parley_square > 1.0 THEN sqrt(CAST(parley_square AS DOUBLE PRECISION)) "
                                 "WHEN parley_square <= 1.0 THEN 1.0 END";
    std::vector<std::string> parts;
    for (int k = 0; k < s_.scores(); ++k) {
      const std::string score = "parley_s" + std::to_string(k);
      parts.push_back("CAST(" + score + " AS DOUBLE PRECISION) / " + by + " AS " + score);
    }
    return join(parts, ", ");
  }

  std::string result() const {
    std::string text = "\nSELECT ";
    for (std::size_t i = 0; i < names_.keep.size(); ++i)
      text += "parley_k" + std::to_string(i) + " AS " + sql_name(names_.keep[i]) + ", ";
    return text;
  }

  std::string end(const std::string& from) const {
    return (s_.not_private.empty() ? "" : ",\n  " + sql_text(s_.not_private) + " AS not_private") + "\nFROM " + from;
  }

  // Trap: PostgreSQL ends with an error where exp would be 0 or infinite.
  std::string one_score() const {
    std::string text = result() + "parley_s0 AS score";
    if (s_.probabilities())
      text +=
          ",\n  CASE WHEN parley_s0 > 700.0 THEN 1.0 WHEN parley_s0 < -700.0 THEN 0.0 ELSE 1.0 / (1.0 + "
          "exp(-parley_s0)) "
          "END AS probability";
    if (s_.classes.empty())
      text += ",\n  (" + sql_number(s_.unit.low) + ") + (parley_s0 + 1.0) / 2.0 * (" + sql_number(s_.unit.high) +
              " - (" + sql_number(s_.unit.low) + ")) AS prediction";
    else
      text += ",\n  CASE WHEN parley_s0 > 0.0 THEN " + sql_text(s_.classes[1]) + " WHEN parley_s0 <= 0.0 THEN " +
              sql_text(s_.classes[0]) + " END AS class";
    return text + end("parley_scores");
  }

  // The first of the largest scores, then every exponential from there.
  std::string softmax() const {
    const int all = s_.scores();
    const auto score = [](int k) { return "parley_s" + std::to_string(k); };
    std::string top = "CASE", largest = "CASE parley_top", said = "CASE parley_top";
    for (int k = 0; k < all; ++k) {
      std::vector<std::string> least;
      for (int other = 0; other < all; ++other)
        if (other != k) least.push_back(score(k) + " >= " + score(other));
      const std::string is = " WHEN " + std::to_string(k) + " THEN ";
      top += " WHEN " + join(least, " AND ") + " THEN " + std::to_string(k);
      largest += is + score(k);
      said += is + sql_text(s_.classes[static_cast<std::size_t>(k)]);
    }
    std::string text =
        ",\nparley_tops AS MATERIALIZED (\n  SELECT parley_scores.*, " + top +
        " END AS parley_top\n  FROM parley_scores\n),\n" +
        "parley_largest AS MATERIALIZED (\n  SELECT parley_tops.*, " + largest +
        " END AS parley_most\n  FROM parley_tops\n),\nparley_powers AS MATERIALIZED (\n  SELECT parley_largest.*";
    std::vector<std::string> powers, shown;
    for (int k = 0; k < all; ++k) {
      const std::string n = std::to_string(k), power = "parley_e" + n;
      text += ",\n    CASE WHEN " + score(k) + " - parley_most < -700.0 THEN 0.0 ELSE exp(" + score(k) +
              " - parley_most) END AS " + power;
      powers.push_back(power);
      shown.push_back(score(k) + " AS score_" + std::to_string(k + 1));
    }
    for (int k = 0; k < all; ++k)
      shown.push_back(powers[static_cast<std::size_t>(k)] + " / " + sum_of(powers) + " AS probability_" +
                      std::to_string(k + 1));
    return text + "\n  FROM parley_largest\n)" + result() + join(shown, ",\n  ") + ",\n  " + said + " END AS class" +
           end("parley_powers");
  }

  const Scoring& s_;
  const SqlNames& names_;
};

void check(const Scoring& s, const SqlNames& names) {
  if (!s.has_columns())
    throw Error({.what = "this model was trained on LIBSVM rows: their features have no columns in a database",
                 .where = "option --sql",
                 .fix = "use --onnx, or train on CSV rows with a schema"});
  if (names.table.empty() ||
      std::ranges::any_of(split_list(names.table, '.'), [](const auto& part) { return part.empty(); }))
    throw Error({.what = "this is no name of a table",
                 .value = "'" + names.table + "'",
                 .allowed = "a name, or schema.name",
                 .where = "option --table",
                 .fix = "--table people"});
  // SQLite's own limits on columns of a result (2,000) and on terms; a query near them is of no use to anybody.
  if (constexpr std::size_t most = 200; s.columns.size() > most || s.scores() > 100)
    throw Error({.what = "the model is too large for one query",
                 .value = std::to_string(s.columns.size()) + " columns, " + std::to_string(s.scores()) + " scores",
                 .allowed = "200 columns and 100 classes",
                 .where = "option --sql",
                 .fix = "use --onnx"});
  std::vector<std::string> texts;
  for (const ScoredColumn& c : s.columns) {
    texts.push_back(c.column.name);
    for (const auto& [text, k] : category_texts(c.column, s.schema).texts) texts.push_back(text);
  }
  if (std::ranges::any_of(texts, [](const std::string& t) { return t.find('\0') != std::string::npos; }))
    throw Error({.what = "a text of the schema has a zero byte, which no database takes",
                 .where = "option --sql",
                 .fix = "use --onnx"});
}

std::string one_line(std::string text) {  // a comment ends at the line
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string sql_query(const Scoring& scoring, const SqlNames& names, const std::string& version) {
  check(scoring, names);
  std::string head;
  for (const auto& words : words_of(scoring)) head += "-- " + one_line(words) + "\n";
  if (scoring.model.loss.kind == problem::LossKind::softmax)
    for (std::size_t k = 0; k < scoring.classes.size(); ++k)
      head += "-- score_" + std::to_string(k + 1) + ", probability_" + std::to_string(k + 1) + ": class " +
              one_line(scoring.classes[k]) + "\n";
  else if (!scoring.classes.empty())
    head += "-- score" + std::string(scoring.probabilities() ? " and probability" : "") + ": of class " +
            one_line(scoring.classes[1]) + "\n";
  return head + "-- Written by parley " + version + " for SQLite (3.38 or later) and PostgreSQL (12 or later).\n" +
         "-- A row that 'parley predict' would refuse has NULL in every column of the result.\n" +
         Query(scoring, names).text();
}

}  // namespace parley::run
