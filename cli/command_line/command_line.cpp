#include "cli/command_line/command_line.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/command_line/help.h"
#include "cli/command_line/parse.h"
#include "cli/command_line/suggest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/config.h"

namespace parley::cli {
namespace {

using Typed = std::vector<std::string>;

const Command& command_named(const std::string& name, const std::vector<Command>& commands) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found == commands.end()) refuse_command(name, commands);
  return *found;
}

const Task* task_named(const Command& command, const Typed& typed) {
  for (const std::string& word : typed)
    for (const Task& task : command.tasks)
      if (task.name == word) return &task;
  return nullptr;
}

bool takes(Typed& typed, std::initializer_list<std::string_view> options) {
  return std::erase_if(typed,
                       [&](const std::string& word) { return std::ranges::find(options, word) != options.end(); }) > 0;
}

// `parley help data describe`, `parley data describe --help`.
int help(const std::string& name, const Typed& rest, bool all, const std::vector<Command>& commands) {
  const Command& command = command_named(name, commands);
  const Task* task = task_named(command, rest);
  if (task == nullptr && !rest.empty() && !command.tasks.empty() && !rest[0].starts_with("-"))
    refuse_task(command, rest[0]);
  fmt::print("{}", help_page(command, task, all));
  return 0;
}

}  // namespace

std::string Arguments::value(const std::string& name, const std::string& otherwise) const {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}

const std::string& flag_help(const std::string& flag) {
  static const std::map<std::string, std::string> help = {
      {"json", "one JSON object on stdout; progress goes to stderr"},
      {"markdown", "as a Markdown page (docs/use/options.md)"},
      {"man", "as a manual page"},
      {"private", "also what only the owner of the rows may see: losses, errors, names of files"},
      {"quiet", "no progress"},
      {"quick", "few runs and rounds, to see that it works; too short to judge a paper by"},
      {"fresh", "run again what is finished"},
      {"trainer", "invite: the party is the trainer of a star study and holds no rows"},
  };
  return help.at(flag);
}

bool among(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> all = command.own;
  all.insert(all.end(), command.rows.begin(), command.rows.end());
  return all;
}

void set_from(const Arguments& arguments, const std::vector<Option>& rows) {
  if (arguments.has("config")) run::read_config(arguments.value("config"), rows);
  for (const Option& row : rows)
    if (arguments.values.contains(row.name)) set_option(row, arguments.value(row.name), "option --" + row.name);
}

int run_command_line(int argc, const char* const* argv, const std::vector<Command>& commands) {
  Typed typed(argv + std::min(argc, 1), argv + argc);
  if (!typed.empty() && (typed[0] == "--version" || typed[0] == "version" || typed[0] == "-V")) {
    fmt::print("parley " PARLEY_VERSION "\n");
    return 0;
  }
  const bool all = takes(typed, {"--help-all"}), asked = takes(typed, {"--help", "-h"}) || all;
  if (!typed.empty() && typed[0] == "help")
    typed.erase(typed.begin());
  else if (!typed.empty() && !asked) {
    const Command& command = command_named(typed[0], commands);
    typed.erase(typed.begin());
    const bool only_parse = takes(typed, {"--parse-only"});  // a test parses every command line of the docs
    const Arguments arguments = parse(command, typed, commands);
    if (!only_parse) return command.run(arguments);
    check_values(command, arguments);
    return 0;
  }
  if (!typed.empty()) return help(typed[0], {typed.begin() + 1, typed.end()}, all, commands);
  fmt::print("{}", overview(commands));
  return 0;
}

}  // namespace parley::cli
