#include <fmt/core.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/data_check.h"
#include "cli/terminal.h"
#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/describe.h"
#include "parley/data/fetch.h"
#include "parley/data/named/adult_schema.h"
#include "parley/data/named/census.h"
#include "parley/data/read/delimiter.h"

namespace parley::cli {
namespace {

struct DataOptions {
  std::string data_dir, url = data::adult_url, out;
  long rows = 50000, split_seed = 1;
  bool header = true;
  std::string delimiter = "auto", schema, label;
};

std::vector<Option> rows(DataOptions& o) {
  return {{"data-dir", "", "fetch: where the files go; default: the user's cache", any_text("a folder"), &o.data_dir,
           "Options"},
          {"url", "", "fetch: another server with the same files", any_text("an address"), &o.url, "Options"},
          {"out", "", "describe, generate, schema: where the text goes; default: stdout", any_text("a file"), &o.out,
           "Options"},
          {"rows", "", "generate: number of rows", between(1, 100000000), &o.rows, "Options"},
          {"split-seed", "", "generate: public seed of the rows", at_least(0), &o.split_seed, "Options"},
          {"header", "", "describe, check: whether the first line names the columns", any_text("yes, no"), &o.header,
           "Options"},
          {"label", "", "describe: the column to predict; default: guessed", any_text("a column"), &o.label, "Options"},
          {"schema", "", "check: the schema of the files", any_text("a file"), &o.schema, "Options"},
          {"delimiter", "", "describe, check: what separates the fields; auto: found from the header line",
           any_text("auto, comma, semicolon, tab, pipe, or one character"), &o.delimiter, "Options"}};
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

int run_data(const Arguments& arguments) {
  DataOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const std::string what = arguments.words.empty() ? "" : arguments.words[0],
                    name = arguments.words.size() > 1 ? arguments.words[1] : "";
  if (what == "describe" && !name.empty()) {
    fmt::print(
        stderr,
        "{}\n  Bounds and categories are read off the rows of {}. If these rows are private, the schema is a leak:\n"
        "  use a public or synthetic sample, or replace every bound and category by what is publicly known.\n",
        alarm("WARNING: for public or synthetic samples only.", stderr), name);
    put(o, data::draft_schema(data::read_csv(name, {.header = o.header, .delimiter = data::delimiter_of(o.delimiter)}),
                              o.label));
    return 0;
  }
  if (what == "check" && !name.empty())
    return check_data({arguments.words.begin() + 1, arguments.words.end()}, o.schema,
                      {.header = o.header, .delimiter = data::delimiter_of(o.delimiter)});
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
  throw Error({.what = arguments.words.empty() ? "no task given" : "parley data does not know this task",
               .value = "'" + join(arguments.words, " ") + "'",
               .allowed = "check FILE... --schema S, describe FILE, fetch adult, generate census, schema "
                          "census|adult-public|adult-compact",
               .where = "parley data",
               .fix = "parley data --help"});
}

}  // namespace

Command data_command() {
  static DataOptions defaults;
  return {.name = "data",
          .summary = "check files against a schema, draft one, fetch Adult, generate synthetic rows",
          .tasks =
              {{"check", "FILE…", "say everything that is wrong with files of rows", {"schema", "header", "delimiter"}},
               {"describe",
                "FILE",
                "draft a schema from a public or synthetic sample",
                {"label", "out", "header", "delimiter"}},
               {"fetch", "adult", "download the Adult files", {"data-dir", "url"}},
               {"generate", "census", "write synthetic rows", {"rows", "split-seed", "out"}},
               {"schema", "census|adult-public|adult-compact", "print a built-in schema", {"out"}}},
          .own = rows(defaults),
          .examples =
              "  parley data describe public-sample.csv --out schema.toml\n"
              "  parley data check mine.csv --schema schema.toml\n"
              "  parley data fetch adult\n"
              "  parley data generate census --rows 1000 --out census.csv\n"
              "  parley data schema census --out census.toml\n",
          .run = run_data};
}

}  // namespace parley::cli
