// A model in the formats of other programs. Privacy: a model file is read, and no rows.
#include <fmt/core.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/model_and_rows.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/export/onnx.h"
#include "parley/run/export/sql.h"

namespace parley::cli {
namespace {

struct ExportOptions {
  std::string model, onnx, sql;
  run::SqlNames names;
};

std::vector<Option> rows(ExportOptions& o) {
  return {{"model", "", "model.json of a run", any_text("a file"), &o.model, "Options"},
          {"sql", "", "where the query goes that scores the rows of a table, in SQLite or PostgreSQL",
           any_text("a file"), &o.sql, "Options"},
          {"onnx", "", "where the ONNX file goes, in doubles", any_text("a file"), &o.onnx, "Options"},
          {"table", "", "with --sql: the table of the rows, with the columns of the model's schema", any_text("a name"),
           &o.names.table, "Options"},
          {"keep", "", "with --sql: columns handed through, to tell rows apart, e.g. id,region", any_text("names"),
           &o.names.keep, "Options"}};
}

void check(const Arguments& arguments, const ExportOptions& o) {
  if (o.model.empty() || (o.sql.empty() && o.onnx.empty()))
    throw Error({.what = o.model.empty() ? "--model is missing" : "it is not said into which format",
                 .allowed = "--sql FILE, --onnx FILE, or both",
                 .where = "parley export",
                 .fix = "parley export --model DIR/model.json --sql score.sql"});
  for (const auto* name : {"table", "keep"})
    if (o.sql.empty() && arguments.has(name))
      throw Error({.what = std::string("--") + name + " is for a query, and none is written",
                   .where = std::string("option --") + name,
                   .fix = "add --sql FILE, or leave it out"});
  std::error_code unknown;
  for (const std::string* out : {&o.sql, &o.onnx})
    if (!out->empty() && std::filesystem::equivalent(*out, o.model, unknown))
      throw Error({.what = "the export would overwrite the model",
                   .value = *out,
                   .where = "parley export",
                   .fix = "give another file"});
  if (!o.sql.empty() && (o.sql == o.onnx || std::filesystem::equivalent(o.sql, o.onnx, unknown)))
    throw Error({.what = "both formats would go to one file",
                 .value = o.sql,
                 .where = "parley export",
                 .fix = "give two files"});
}

int run_export(const Arguments& arguments) {
  ExportOptions o;
  set_from(arguments, rows(o));
  check(arguments, o);
  const run::Model model = run::read_model(o.model);
  const run::Scoring scoring = run::scoring_of(model);
  // Both are made before one is written.
  const std::string sql = o.sql.empty() ? "" : run::sql_query(scoring, o.names, PARLEY_VERSION);
  const std::string onnx = o.onnx.empty() ? "" : run::onnx_model(scoring, PARLEY_VERSION);
  for (const auto& note : notes_on(model)) fmt::print(stderr, "note: {}\n", note);
  if (!o.sql.empty()) {
    write_file(o.sql, sql);
    fmt::print("SQL:  {} (scores the rows of table {}; a row that 'parley predict' would refuse has no score)\n", o.sql,
               o.names.table);
    if (o.names.keep.empty())
      fmt::print("      No column tells its rows apart: name some with --keep, for example --keep id.\n");
  }
  if (!o.onnx.empty()) {
    write_file(o.onnx, onnx);
    fmt::print("ONNX: {} ({}, doubles, opset 13)\n", o.onnx,
               scoring.has_columns() ? fmt::format("an input for each of {} columns", scoring.columns.size())
                                     : fmt::format("one input of {} features", scoring.features()));
  }
  return 0;
}

}  // namespace

Command export_command() {
  static ExportOptions defaults;
  return {.name = "export",
          .summary = "write a model for other programs: a SQL query for a database, or ONNX",
          .own = rows(defaults),
          .examples =
              "  parley export --model runs/demo/model.json --sql score.sql --table people --keep id\n"
              "  parley export --model runs/demo/model.json --onnx model.onnx\n",
          .run = run_export};
}

}  // namespace parley::cli
