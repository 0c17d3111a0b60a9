#include "parley/data/read/columns.h"

#include <algorithm>
#include <set>

#include "parley/base/text.h"
#include "parley/data/read/cell.h"
#include "parley/data/read/delimiter.h"

namespace parley::data {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Error::Fields absent_column(const Names& columns, const std::string& source, const std::string& name,
                            const std::string& what) {
  const std::string near = nearest(name, columns);
  return {.what = what + " '" + name + "' is not in the table",
          .allowed = join(columns, ", "),
          .where = source,
          .fix = near.empty() ? "check the header line" : "did you mean '" + near + "'?"};
}

// What the schema asks for and the file lacks.
Names absent_names(const Names& columns, const Schema& schema) {
  Names names;
  for (const auto& c : schema.columns)
    if (c.kind != Kind::drop && !holds(columns, c.name)) names.push_back(c.name);
  return names;
}

Error::Fields unknown_column(const std::string& name, const Names& columns, const std::string& source,
                             const Schema& schema, bool with_label) {
  Error::Fields p{.what = "column '" + name + "' is not in the schema", .where = source};
  const std::string mark = columns.size() == 1 ? suspected_delimiter({name}, 0, 0) : "";
  const std::string near = nearest(name, absent_names(columns, schema));
  if (!mark.empty())
    p.fix = "its fields seem to be separated otherwise: give --delimiter " + mark;
  else if (!near.empty())
    p.fix = "did you mean '" + near + "'? Rename it in the header line: names are compared letter by letter";
  else if (with_label)
    p.fix = "add [[columns]] name = \"" + name + "\" kind = \"drop\" to ignore it, or describe it";
  else
    p.fix = "take it out of the file: the schema is the model's, and its parties agreed on it";
  return p;
}

// Nothing in the header line is near to a name of the schema, nor is it one text that another delimiter would cut.
bool strange(const Names& columns, const Names& known) {
  if (columns.size() == 1 && !suspected_delimiter({columns.front()}, 0, 0).empty()) return false;
  return std::ranges::all_of(columns, [&](const auto& name) { return nearest(name, known).empty(); });
}

Error::Fields no_such_columns(const Names& columns, const std::string& source, const Schema& schema) {
  Names names;
  for (const auto& c : schema.columns) names.push_back(c.name);
  names.push_back(schema.label.column);
  return {.what = "no column of this file is in the schema",
          .value = abbreviated(columns),
          .allowed = abbreviated(names),
          .where = source,
          .fix =
              "give the file of rows that this schema describes; its first line names the columns. If it has no such "
              "line, say --header no: the schema then calls them c1, c2, ..."};
}

}  // namespace

std::size_t need_column(const Names& columns, const std::string& source, const std::string& name,
                        const std::string& what) {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) throw Error(absent_column(columns, source, name, what));
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<Error::Fields> wrong_columns(const Names& columns, const std::string& source, const Schema& schema,
                                         bool with_label) {
  std::vector<Error::Fields> wrong;
  std::set<std::string> known{schema.label.column};
  for (const auto& c : schema.columns) known.insert(c.name);
  if (!schema.unit.person.empty()) known.insert(schema.unit.person);
  Names unknown;
  for (const auto& name : columns)
    if (!known.contains(name)) unknown.push_back(name);
  if (unknown.size() == columns.size() && strange(unknown, {known.begin(), known.end()}))
    return {no_such_columns(columns, source, schema)};
  // A label that is misspelt on either side shows as a column too many: what it is comes first.
  const bool no_label = with_label && !holds(columns, schema.label.column);
  if (no_label && !nearest(schema.label.column, unknown).empty()) {
    wrong.push_back(absent_column(unknown, source, schema.label.column, "label column"));
    wrong.back().allowed = join(columns, ", ");
    std::erase(unknown, nearest(schema.label.column, unknown));
  }
  for (const auto& name : unknown) wrong.push_back(unknown_column(name, columns, source, schema, with_label));
  if (no_label && (wrong.empty() || !wrong.front().what.starts_with("label")))
    wrong.push_back(absent_column(columns, source, schema.label.column, "label column"));
  for (const auto& name : absent_names(columns, schema))
    wrong.push_back(absent_column(columns, source, name, "schema column"));
  return wrong;
}

void check_columns(const Names& columns, const std::string& source, const Schema& schema, bool with_label) {
  const auto wrong = wrong_columns(columns, source, schema, with_label);
  if (!wrong.empty()) throw Error(wrong.front());
}

}  // namespace parley::data
