#include <fmt/core.h>

#include <cstdio>
#include <limits>
#include <utility>

#include "cli/commands.h"
#include "cli/data_check.h"
#include "cli/exports/data_export.h"
#include "cli/terminal.h"
#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/describe.h"
#include "parley/data/fetch.h"
#include "parley/data/named/adult_schema.h"
#include "parley/data/named/census.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/csv_options.h"
#include "parley/data/read/delimiter.h"
#include "parley/data/table.h"

namespace parley::cli {
namespace {

struct DataOptions {
  std::string data_dir, url = data::adult_url, out;
  long rows = 50000, split_seed = 1;
  std::string schema, label;
  Choice<run::RowsFormat> format = run::RowsFormat::csv;
  data::CsvOptions csv;
};

std::vector<Option> rows(DataOptions& o) {
  std::vector<Option> rows = {
      {"data-dir", "", "fetch: where the files go; default: the user's cache", any_text("a folder"), &o.data_dir,
       "Options"},
      {"url", "", "fetch: another server with the same files", any_text("an address"), &o.url, "Options"},
      {"out", "", "describe, generate, schema: where the text goes; default: stdout. export: a new folder",
       any_text("a file or folder"), &o.out, "Options"},
      {"format", "", "export: how rows are written", one_of(o.format), &o.format.text, "Options"},
      {"rows", "", "generate: number of rows", between(1, 100000000), &o.rows, "Options"},
      {"split-seed", "", "generate: public seed of the rows", at_least(0), &o.split_seed, "Options"},
      {"label", "", "describe: the column to predict; default: guessed", any_text("a column"), &o.label, "Options"},
      {"schema", "", "check: the schema of the files", any_text("a file"), &o.schema, "Options"}};
  for (Option& row : data::option_rows(o.csv, "Options")) {
    row.help = "describe, check: " + row.help;
    rows.push_back(std::move(row));
  }
  return rows;
}

void put(const DataOptions& o, const std::string& text) {
  if (o.out.empty())
    fmt::print("{}", text);
  else
    write_file(o.out, text);
}

std::string to_csv(const data::Table& table) {
  std::string text = join(table.columns, ",") + "\n";
  for (const auto& row : table.cells) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_cell(row[c]);
    text += "\n";
  }
  return text;
}

int describe(const DataOptions& o, const std::string& source) {
  data::check_query_used(o.csv, {source});
  data::check_there(source, "parley data describe");
  data::CsvReader reader(data::open_bytes(source, o.csv.query), o.csv.layout());
  const data::Table sample = *reader.next(std::numeric_limits<std::size_t>::max());
  if (const std::string note = data::found_delimiter_note(sample.source, reader.delimiter());
      o.csv.delimiter == "auto" && !note.empty())
    fmt::print(stderr, "note: {}\n", note);
  fmt::print(
      stderr,
      "{}\n  Bounds and categories are read off the rows of {}. If these rows are private, the schema is a leak:\n"
      "  use a public or synthetic sample, or replace every bound and category by what is publicly known.\n",
      alarm("WARNING: for public or synthetic samples only.", stderr), sample.source);
  put(o, data::draft_schema(sample, o.label));
  if (!o.out.empty())
    fmt::print(stderr,
               "Next: answer each 'Decide' in {0}, delete its head, then 'parley data check ROWS.csv --schema {0}'.\n",
               o.out);
  return 0;
}

int run_data(const Arguments& arguments) {
  DataOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const std::string what = arguments.words.empty() ? "" : arguments.words[0],
                    name = arguments.words.size() > 1 ? arguments.words[1] : "";
  if (what == "describe" && !name.empty()) return describe(o, name);
  if (what == "check" && !name.empty())
    return check_data({arguments.words.begin() + 1, arguments.words.end()}, o.schema, o.csv);
  if (what == "export" && !name.empty()) return export_rows(name, o.out, o.format);
  if (what == "fetch" && name == "adult") {
    const std::filesystem::path folder =
        o.data_dir.empty() ? data::cache_dir() / "adult" : std::filesystem::path(o.data_dir);
    data::fetch_adult(folder, o.url, [](const std::string& text) { fmt::print(stderr, "{}\n", text); });
    fmt::print("adult is in {}\n", folder.string());
    return 0;
  }
  if (what == "generate" && name == "census") {
    put(o, to_csv(data::census_table(static_cast<std::size_t>(o.rows), static_cast<std::uint64_t>(o.split_seed))));
    return 0;
  }
  if (what == "schema" && (name == "census" || name == "adult-public" || name == "adult-compact")) {
    put(o, std::string(name == "census"         ? data::census_schema()
                       : name == "adult-public" ? data::adult_public_schema()
                                                : data::adult_compact_schema()));
    return 0;
  }
  throw Error(
      {.what = arguments.words.empty() ? "no task given" : "parley data does not know this task",
       .value = "'" + join(arguments.words, " ") + "'",
       .allowed = "check FILE... --schema S, describe FILE, export RUN --out DIR, fetch adult, generate census, schema "
                  "census|adult-public|adult-compact",
       .where = "parley data",
       .fix = "parley data --help"});
}

}  // namespace

Command data_command() {
  static DataOptions defaults;
  return {
      .name = "data",
      .summary = "check files against a schema, draft one, write a run's rows, fetch Adult, generate synthetic rows",
      .tasks = {{"check",
                 "FILE…",
                 "say everything that is wrong with files of rows",
                 {"schema", "header", "delimiter", "query"}},
                {"describe",
                 "FILE",
                 "draft a schema from a public or synthetic sample",
                 {"label", "out", "header", "delimiter", "query"}},
                {"export",
                 "RUN",
                 "write the rows that a run learned from and was tested on, for another program",
                 {"out", "format"}},
                {"fetch", "adult", "download the Adult files", {"data-dir", "url"}},
                {"generate", "census", "write synthetic rows", {"rows", "split-seed", "out"}},
                {"schema", "census|adult-public|adult-compact", "print a built-in schema", {"out"}}},
      .own = rows(defaults),
      .examples =
          "  parley data describe public-sample.csv --out schema.toml\n"
          "  parley data check mine.csv --schema schema.toml\n"
          "  parley data export runs/demo --out rows\n"
          "  parley data fetch adult\n"
          "  parley data generate census --rows 1000 --out census.csv\n"
          "  parley data schema census --out census.toml\n",
      .run = run_data};
}

}  // namespace parley::cli
