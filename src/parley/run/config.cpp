#include "parley/run/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/base/toml.h"

namespace parley::run {
namespace {

using nlohmann::json;

void set_all(const toml::table& table, const std::vector<Option>& rows, const std::string& file) {
  for (const auto& [key, node] : table) {
    if (const auto* group = node.as_table()) {
      std::vector<std::string> groups;
      for (const Option& row : rows) groups.push_back(row.group);
      if (std::ranges::find(groups, std::string(key.str())) == groups.end())
        throw Error({.what = "unknown table [" + std::string(key.str()) + "]",
                     .allowed = "data, network, algorithm, problem, privacy, engine",
                     .where = file + ":" + std::to_string(node.source().begin.line),
                     .fix = "tables only group options; any option may also stand outside"});
      set_all(*group, rows, file);
      continue;
    }
    const std::string where = file + ":" + std::to_string(node.source().begin.line);
    const Option& option = find_option(rows, std::string(key.str()), where);
    set_option_json(option, toml_value(node, where), where);
  }
}

}  // namespace

std::vector<Option> option_rows(EngineOptions& o) {
  return {
      {"engine", "",
       "where the nodes run: all in this process, or on the ranks of an MPI job (mpirun; docs/operate/cluster.md)",
       one_of({"in-process", "mpi"}), &o.engine, "engine", Shown::to_anyone},
      {"out", "", "folder of the record; default runs/TIME-ALGORITHM. The link runs/latest leads to the newest run",
       any_text("a folder"), &o.out, "engine"},
      {"seed", "", "noise from this number instead of the operating system: repeatable, and NOT PRIVATE", at_least(0),
       &o.seed, "engine", Shown::to_anyone},
      {"threads", "", "threads; 0: all cores. The result does not depend on it", between(0, 4096), &o.threads,
       "engine"},
      {"repeat", "", "runs with fresh noise on the same split; mean and range are reported", between(1, 100000),
       &o.repeat, "engine", Shown::to_anyone},
      {"ledger", "",
       "charge this ledger file before anything leaves a node ('parley ledger cap' makes one); {rank} in its name "
       "stands "
       "for the MPI rank, each of which needs its own",
       any_text("a file"), &o.ledger, "engine"},
      {"dataset", "", "the owner's name of the rows in the ledger: spend adds up under it", any_text("a name"),
       &o.dataset, "engine"},
      {"resume", "", "continue the run in --out after a crash or Ctrl-C: nothing is released or charged twice",
       any_text("true or false"), &o.resume, "engine"},
      {"metrics", "", "when loss and error are measured (simulation only, on private rows)", one_of({"every", "last"}),
       &o.metrics, "engine", Shown::to_anyone},
  };
}

std::vector<Option> option_rows(TrainOptions& o) {
  std::vector<Option> rows;
  for (auto part : {option_rows(o.data), option_rows(o.graph), option_rows(o.algorithm), option_rows(o.engine)})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

void read_config(const std::filesystem::path& file, const std::vector<Option>& rows) {
  const toml::table table = parse_toml(read_file(file, "the configuration", mebibyte), file.string());
  const bool study = table.contains("party") || table.contains("wait-seconds"), schema = table.contains("columns");
  if (study || schema)
    throw Error(
        {.what = study ? "this is a study file, not a file of options" : "this is a schema, not a file of options",
         .where = file.string(),
         .fix = study ? "'parley study check', 'doctor' and 'join' take it" : "give it with --schema"});
  set_all(table, rows, file.string());
}

json to_json(const std::vector<Option>& rows) {
  json object = json::object();
  for (const Option& row : rows) object[row.name] = option_value(row);
  return object;
}

}  // namespace parley::run
