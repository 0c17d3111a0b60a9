#include "cli/data_check.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/distinct.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/check_csv.h"
#include "parley/data/read/persons/persons.h"

namespace parley::cli {
namespace {

constexpr std::size_t most_lines = 50;

std::string number_of(std::size_t count, const std::string& thing) {
  return grouped(static_cast<long>(count)) + " " + thing + (count == 1 ? "" : "s");
}

void print_problems(const data::CheckedFile& file) {
  std::size_t shown = 0, hidden = 0;
  for (const auto& problem : file.listed) {
    if (shown++ < most_lines) {
      fmt::print("  {}{}\n", problem.fields.sentence(),
                 problem.times == 1 ? "" : fmt::format(" (and {} more like it)", problem.times - 1));
      if (!problem.fields.fix.empty()) fmt::print("    what to do: {}\n", problem.fields.fix);
    } else {
      hidden += problem.times;
    }
  }
  if (hidden > 0) fmt::print("  ... and {}\n", number_of(hidden, "problem"));
  if (!file.whole) fmt::print("  Reading stopped there: what follows was not checked.\n");
}

void print_persons(const data::CheckedFile& file, const data::Schema& schema) {
  fmt::print("  {} by '{}', at most {} each in the claim", number_of(file.persons, "person"), schema.unit.person,
             number_of(static_cast<std::size_t>(schema.unit.rows_per_person), "row"));
  if (file.extra_rows == 0) return fmt::print("; nobody has more\n");
  std::vector<std::string> lines;
  for (const std::size_t line : file.extra_lines) lines.push_back(std::to_string(line));
  fmt::print("; {} {} more: {} too many, {} at line{} {}{}\n", number_of(file.persons_with_extra_rows, "person"),
             file.persons_with_extra_rows == 1 ? "has" : "have", number_of(file.extra_rows, "row"),
             schema.extra_rows == data::ExtraRows::drop ? "left out" : "refused", lines.size() == 1 ? "" : "s",
             join(lines, ", "), file.extra_rows > lines.size() ? ", ..." : "");
}

void print_columns(const data::CheckedFile& file) {
  std::vector<std::vector<std::string>> rows{{"column", "kind", "missing", "out of bounds", "unlisted", "problems"}};
  const auto count = [](std::size_t n) { return n == 0 ? std::string("-") : grouped(static_cast<long>(n)); };
  for (const auto& c : file.columns)
    rows.push_back({c.name, c.kind, count(c.missing), count(c.outside), count(c.unlisted), count(c.problems)});
  if (rows.size() > 1) fmt::print("{}", table(rows));
}

// "a.csv,b.csv", as --data of train has it, is two files, unless there is one of that name.
std::vector<std::string> one_by_one(const std::vector<std::string>& sources) {
  std::vector<std::string> files;
  for (const auto& source : sources) {
    std::error_code ignored;
    if (data::is_database(source) || std::filesystem::exists(source, ignored))
      files.push_back(source);
    else
      for (const auto& name : split_list(source)) files.push_back(name);
  }
  return files;
}

void check_file(const std::string& name) {
  data::check_there(name, "parley data check");
  if (name.ends_with(".libsvm") || name.ends_with(".svm") || name.ends_with(".svmlight"))
    throw Error({.what = "LIBSVM rows have no columns that a schema could speak of",
                 .value = "'" + name + "'",
                 .allowed = "CSV: a file, - for standard input, postgresql://...",
                 .where = "parley data check",
                 .fix = "leave it out: 'parley train' checks such a file when it reads it"});
}

// What train asks of several files, one for each node: no row and no person at two nodes.
class Together {
 public:
  explicit Together(const std::vector<std::string>& files)
      : rows_(files), persons_(files), several_(files.size() > 1) {}

  void add(std::size_t number, const data::CheckedFile& file) {
    if (!several_) return;
    attempt([&] {
      if (file.sum.rows() > 0) rows_.add(number, file.sum);
    });
    attempt([&] { persons_.add(number, file.person_texts); });
  }

  std::size_t print(const std::string& person) const {
    if (!several_) return 0;
    if (!wrong_.empty()) fmt::print("{}\n", bold("As files of one run, a node each"));
    for (const auto& fields : wrong_) fmt::print("  {}\n    what to do: {}\n", fields.sentence(), fields.fix);
    if (persons_.spelt_alike() > 0)
      fmt::print("all files: {} {}\n", alarm("Look at this:"),
                 data::Spellings::in_words(persons_.spelt_alike(), person));
    return wrong_.size();
  }

 private:
  template <class Check>
  void attempt(const Check& check) {
    try {
      check();
    } catch (const Error& e) {
      wrong_.push_back(e.fields().front());
    }
  }

  data::RowsDistinct rows_;
  data::PersonsDistinct persons_;
  bool several_;
  std::vector<Error::Fields> wrong_{};
};

}  // namespace

int check_data(const std::vector<std::string>& sources, const std::string& schema_file, const data::CsvOptions& csv) {
  if (schema_file.empty())
    throw Error({.what = "there is nothing to check the files against",
                 .where = "option --schema",
                 .fix = "parley data check FILE... --schema schema.toml"});
  const data::Schema schema = data::parse_schema(read_file(schema_file, "the schema", 16 * mebibyte), schema_file);
  const std::vector<std::string> files = one_by_one(sources);
  data::check_query_used(csv, files);
  for (const auto& name : files) check_file(name);
  std::size_t problems = 0;
  Together together(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i];
    const data::CheckedFile file = data::check_csv(data::open_bytes(name, csv.query), schema, csv.layout());
    problems += file.problems;
    if (!file.note.empty()) fmt::print(stderr, "note: {}\n", file.note);
    fmt::print("{}: {}, {}\n", bold(file.name), number_of(file.rows, "row"),
               file.problems == 0 ? "no problem" : number_of(file.problems, "problem"));
    print_problems(file);
    if (!schema.unit.person.empty()) print_persons(file, schema);
    if (file.persons_spelt_alike > 0)
      fmt::print("  {} {}\n", alarm("Look at this:"),
                 data::Spellings::in_words(file.persons_spelt_alike, schema.unit.person));
    print_columns(file);
    together.add(i, file);
  }
  problems += together.print(schema.unit.person);
  fmt::print("This output quotes cells and counts rows: it is for the owner of the rows alone.\n");
  return problems == 0 ? 0 : exit_mistake;
}

}  // namespace parley::cli
