#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/config.h"

namespace parley::cli {
namespace {

std::string shown(const Option& row) {
  const nlohmann::json value = option_value(row);
  if (value.is_null() || (value.is_array() && value.empty()) ||
      (value.is_string() && value.get_ref<const std::string&>().empty()))
    return "";
  return value.is_string()    ? value.get<std::string>()
         : value.is_boolean() ? (value.get<bool>() ? "yes" : "no")
                              : value.dump();
}

std::string cell(std::string text) {  // a bar would end a Markdown cell
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

// Rows of train in the order of docs/use/options.md; of others as they stand.
std::vector<Option> sorted_rows(const Command& command) {
  std::vector<Option> rows = options_of(command);
  static const std::vector<std::string> order = {"Options",   "data",    "network", "problem",
                                                 "algorithm", "privacy", "engine"};
  std::ranges::stable_sort(rows, {},
                           [&](const Option& row) { return std::ranges::find(order, row.group) - order.begin(); });
  return rows;
}

// Train's options have their own page; elsewhere what is the same there is named, not told again.
bool same_as_in(const std::vector<Option>& rows, const Option& row) {
  return std::ranges::any_of(rows,
                             [&](const Option& other) { return other.name == row.name && other.help == row.help; });
}

nlohmann::json as_json(const Command& command) {
  nlohmann::json list = nlohmann::json::array();
  for (const Option& row : sorted_rows(command))
    list.push_back({{"name", row.name},
                    {"symbol", row.symbol},
                    {"type", option_type(row)},
                    {"default", option_value(row)},
                    {"allowed", row.rule.text},
                    {"help", row.help},
                    {"group", row.group}});
  nlohmann::json tasks = nlohmann::json::array(), flags = nlohmann::json::array();
  for (const Task& t : command.tasks)
    tasks.push_back({{"name", t.name}, {"words", t.words}, {"summary", t.summary}, {"options", t.options}});
  for (const std::string& flag : command.flags) flags.push_back({{"name", flag}, {"help", flag_help(flag)}});
  return {{"command", command.name}, {"summary", command.summary},
          {"words", command.words},  {"tasks", tasks},
          {"options", list},         {"flags", flags}};
}

void print_plain(const Command& command) {
  fmt::print("\n{}  {}\n", bold("parley " + command.name), command.summary);
  std::string group = "Options";
  for (const Option& row : sorted_rows(command)) {
    if (row.group != group) fmt::print(" {}\n", group = row.group);
    fmt::print("  --{:<22} {:<12} {}{}\n", row.name, shown(row), row.help,
               row.rule.text.empty() ? "" : " [" + row.rule.text + "]");
  }
  for (const std::string& flag : command.flags) fmt::print("  --{:<22} {:<12} {}\n", flag, "", flag_help(flag));
}

void print_markdown(const Command& command, const std::vector<Option>& known) {
  fmt::print("\n## parley {}{}\n\n{}.\n", command.name, command.words.empty() ? "" : " " + command.words,
             command.summary);
  if (!command.tasks.empty()) fmt::print("\n| task | what it does | options |\n|---|---|---|\n");
  for (const Task& t : command.tasks)
    fmt::print("| `parley {} {}{}` | {} | {} |\n", command.name, t.name, t.words.empty() ? "" : " " + cell(t.words),
               t.summary, t.options.empty() ? "" : "`--" + join(t.options, "`, `--") + "`");
  std::string group = "none yet";
  std::vector<std::string> shared;
  for (const Option& row : sorted_rows(command)) {
    if (same_as_in(known, row)) {
      shared.push_back(row.name);
      continue;
    }
    if (known.empty() && row.group != group)
      fmt::print("\n### {}\n", row.group == "Options" ? "where options may stand" : row.group);
    if (group == "none yet" || (known.empty() && row.group != group))
      fmt::print("\n| option | symbol | default | allowed | what it controls |\n|---|---|---|---|---|\n");
    group = row.group;
    fmt::print("| `--{}` | {} | {} | {} | {} |\n", row.name, cell(row.symbol),
               shown(row).empty() ? "" : "`" + shown(row) + "`", cell(row.rule.text), cell(row.help));
  }
  if (!command.flags.empty()) {
    std::vector<std::string> flags;
    for (const std::string& flag : command.flags) flags.push_back("`--" + flag + "` (" + flag_help(flag) + ")");
    fmt::print("\nWithout a value: {}.\n", join(flags, ", "));
  }
  if (!shared.empty()) fmt::print("\nAs in `parley train`: `--{}`.\n", join(shared, "`, `--"));
}

int run_options(const Arguments& arguments) {
  std::vector<Command> commands = all_commands();
  const std::vector<Option> of_train = options_of(commands.front());
  if (!arguments.words.empty()) {
    const std::string& name = arguments.words[0];
    std::vector<std::string> names;
    for (const Command& c : commands) names.push_back(c.name);
    if (!among(names, name)) {
      const std::string near = nearest(name, names);
      throw Error({.what = "unknown command '" + name + "'",
                   .allowed = join(names, ", "),
                   .where = "parley options",
                   .fix = near.empty() ? "name a command, or none: then every command is listed"
                                       : "did you mean '" + near + "'?"});
    }
    std::erase_if(commands, [&](const Command& c) { return c.name != name; });
  }
  if (arguments.has("json")) {
    nlohmann::json out = nlohmann::json::array();
    for (const Command& c : commands) out.push_back(as_json(c));
    fmt::print("{}\n", nlohmann::json{{"commands", out}}.dump(1));
    return 0;
  }
  if (arguments.has("man")) {
    fmt::print("{}", arguments.words.empty() ? manual_page(commands) : manual_page(commands.front()));
    return 0;
  }
  if (!arguments.has("markdown")) {
    for (const Command& c : commands) print_plain(c);
    return 0;
  }
  fmt::print(
      "# Options of every command\n\nGenerated by `parley options --markdown` (`make docs`); a test fails when this "
      "page is stale.\n"
      "The same names are keys of a `--config` TOML file and of the record. Lists are written `1,1.03,0.8`: one value "
      "for all nodes, or one per node.\n"
      "An option whose default is `yes` or `no` needs no value: `--resume`, `--header=no`.\n");
  for (const Command& c : commands) print_markdown(c, c.name == "train" ? std::vector<Option>{} : of_train);
  return 0;
}

}  // namespace

Command options_command() {
  return {.name = "options",
          .summary = "list the options of every command, or of one, with symbol, default and range",
          .words = "[COMMAND]",
          .flags = {"json", "markdown", "man"},
          .examples =
              "  parley options\n  parley options plan\n  parley options train --man | man -l -\n  parley options "
              "--markdown > docs/use/options.md\n",
          .run = run_options};
}

}  // namespace parley::cli
