// A model as one SQL query, for scoring inside a database; the same text for SQLite (3.38 or later) and PostgreSQL (12 or
// later). A row's cells are read as text, by the model's schema, as `parley predict` reads those of a file.
#pragma once
#include <string>
#include <vector>

#include "parley/run/export/scoring.h"

namespace parley::run {

struct SqlNames {
  std::string table = "rows";       // "people", "archive.people"
  std::vector<std::string> keep{};  // columns that are handed through, to tell rows apart
};

// Columns of the result: those kept; score, probability, class (logistic); score, class (a hinge); score, prediction (a
// number); score_1, …, probability_1, …, class (softmax); and not_private. All are NULL where predict would stop at a cell.
// Error where the model has no schema: LIBSVM rows have no columns.
std::string sql_query(const Scoring& scoring, const SqlNames& names, const std::string& version);

// Stages of the query that make a number of a cell's text: sql_numbers.cpp. What parley takes as a number, up to 1e99; NULL
// otherwise.
struct SqlColumn {
  std::string name;                            // parley_t3 holds its text, parley_x3 will hold its number
  data::DatePart date = data::DatePart::none;  // a number, or this part of a date
  long since = 0;                              // the day that is 0
};
std::string sql_number_stages(const std::vector<SqlColumn>& columns, std::string& last_stage);

// Of a column's text and number: a number between 0 and 1 (with one bound for all rows −1 and 1), or which category or bin;
// NULL: refused. sql_values.cpp.
std::string sql_value(const Scoring& scoring, std::size_t column);

std::string sql_text(const std::string& text);  // 'it''s'
std::string sql_name(const std::string& name);  // "a ""name"""
std::string sql_number(double value);           // never an integer: 5.0

}  // namespace parley::run
