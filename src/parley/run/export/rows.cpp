#include "parley/run/export/rows.h"

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/files.h"
#include "parley/run/model.h"

namespace parley::run {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const fs::path& folder, const std::string& fix) {
  throw Error({.what = what, .where = folder.string(), .fix = fix});
}

data::Options options_of_run(const json& run, const fs::path& folder) {
  const std::string format = record::text_in(run, "format");
  if (format == "parley-party-1")
    refuse("this is one party's record: its rows are in that party's own file", folder,
           "give the folder of 'parley train'");
  if (format != "parley-run-1" || !record::member(run, "options").is_object())
    refuse("this folder holds no record of a run", folder,
           "give the --out of 'parley train', or of one setting of 'parley compare'");
  data::Options o;
  const json given = record::member(run, "options");
  for (const Option& row : data::option_rows(o))
    if (const json value = given.value(row.name, json()); !value.is_null())
      set_option_json(row, value, (folder / "run.json").string());
  for (const std::string& source : o.data)
    if (source == "-")
      refuse("the rows of this run came from standard input, which is gone", folder, "train from a file");
  return o;
}

// As far as a record tells: it has no digest of the rows, which would be a statement about them.
void check_same(const data::Holdings& h, const json& run, const fs::path& folder) {
  const auto changed = [&](const std::string& what) {
    refuse("the rows are not those of the run any more: " + what, folder, "put the files back as they were");
  };
  const json facts = record::member(run, "node_facts");
  if (!facts.is_array() || facts.size() != h.records.size()) changed("another number of nodes");
  for (std::size_t i = 0; i < h.records.size(); ++i)
    if (record::number_in(facts[i], "records") != h.records[i])
      changed("node " + std::to_string(i) + " has more or fewer");
  if (record::number_in(run, "features") != static_cast<double>(h.test.features)) changed("another number of features");
  if (!fs::exists(folder / "model.json")) return;
  const Model model = read_model(folder / "model.json");
  if (model.schema_toml != h.schema_toml || model.feature_names != h.feature_names) changed("the schema differs");
}

std::string meaning_of_label(const data::Holdings& h) {
  if (h.regression) return "2 (y - low) / (high - low) - 1, by the bounds of the schema's label";
  return h.classes.empty() ? "-1 or 1: negative or positive" : "number of the class in 'classes', from 0";
}

}  // namespace

RowsOfRun rows_of_run(const fs::path& folder) {
  const json run = record::read_run(folder);
  const data::Options o = options_of_run(run, folder);
  RowsOfRun all{.holdings = data::load(o), .about = {}};
  const data::Holdings& h = all.holdings;
  check_same(h, run, folder);
  json records = json::array();
  for (const double n : h.records) records.push_back(static_cast<long>(n));
  all.about = {{"format", "parley-rows-1"},
               {"private", "rows of records: keep these files with their owner"},
               {"data", h.name},
               {"records", records},
               {"test_rows", h.test.count()},
               {"split", o.split.text},
               {"split_seed", o.split_seed},
               {"features", h.feature_names},
               {"label", meaning_of_label(h)},
               {"classes", h.classes},
               {"epsilon", record::member(record::member(run, "privacy"), "epsilon")},
               {"delta", record::member(record::member(run, "privacy"), "delta")},
               {"schema", h.schema_toml}};
  return all;
}

std::string rows_head(const std::vector<std::string>& features, RowsFormat format) {
  if (format == RowsFormat::libsvm) return "";
  std::string head = "party,label";
  for (const auto& name : features) head += "," + csv_cell(name);
  return head + "\n";
}

std::string rows_text(const data::Rows& rows, std::size_t first, std::size_t count, const std::string& party,
                      RowsFormat format) {
  std::string text;
  for (std::size_t n = first; n < first + count; ++n) {
    const std::size_t end = rows.start[n + 1];
    if (format == RowsFormat::libsvm) {
      text += number(rows.label[n]);
      for (std::size_t i = rows.start[n]; i < end; ++i)
        text += " " + std::to_string(rows.column[i] + 1) + ":" + number(rows.value[i]);
      text += " # party " + party + "\n";
      continue;
    }
    text += party + "," + number(rows.label[n]);
    std::size_t i = rows.start[n];
    for (std::int32_t column = 0; column < rows.features; ++column)
      text += "," + (i < end && rows.column[i] == column ? number(rows.value[i++]) : "0");
    text += "\n";
  }
  return text;
}

}  // namespace parley::run
