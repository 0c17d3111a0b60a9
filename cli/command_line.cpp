#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/config.h"

namespace parley::cli {
namespace {

const std::map<std::string, std::string>& flag_help() {
  static const std::map<std::string, std::string> help = {
      {"json", "one JSON object on stdout; progress goes to stderr"},
      {"markdown", "as a Markdown page (docs/options.md)"},
      {"private", "also what only the owner of the rows may see: losses, errors, names of files"},
      {"quiet", "no progress"},
      {"quick", "reproduce: few runs and rounds, to see that it works; too short to judge a paper by"},
      {"fresh", "reproduce: run again what is finished"},
      {"trainer", "invite: the party is the trainer of a star study and holds no rows"},
  };
  return help;
}

std::string default_text(const Option& option) {
  return std::visit(
      []<class T>(T* v) -> std::string {
        if constexpr (std::is_same_v<T, bool>)
          return *v ? "yes" : "no";
        else if constexpr (std::is_same_v<T, std::string>)
          return *v;
        else if constexpr (std::is_same_v<T, double>)
          return number(*v);
        else if constexpr (std::is_same_v<T, long>)
          return std::to_string(*v);
        else if constexpr (std::is_same_v<T, std::vector<double>>) {
          std::vector<std::string> parts;
          for (const double x : *v) parts.push_back(number(x));
          return join(parts, ",");
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>)
          return join(*v, ",");
        else
          return "";
      },
      option.target);
}

void declare(CLI::App& sub, const Command& command, Arguments& arguments) {
  sub.allow_extras();
  sub.footer("\nExamples:\n" + command.examples);
  if (!command.words.empty())
    sub.add_option("words", arguments.words, command.words)->type_name("")->option_text(command.words);
  for (const auto* rows : {&command.own, &command.rows})
    for (const Option& row : *rows) {
      const std::string shown = default_text(row), range = row.rule.text.empty() ? "" : " [" + row.rule.text + "]";
      sub.add_option_function<std::string>(
             "--" + row.name, [&arguments, name = row.name](const std::string& v) { arguments.values[name] = v; },
             row.help + range)
          ->group(row.group.empty() ? "Options" : row.group)
          ->option_text(shown.empty() ? "" : "(" + shown + ")");
    }
  for (const std::string& flag : command.flags)
    sub.add_flag_function(
        "--" + flag, [&arguments, flag](std::int64_t) { arguments.flags[flag] = true; }, flag_help().at(flag));
}

[[noreturn]] void refuse_command(const std::vector<std::string>& typed, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& c : commands) names.push_back(c.name);
  if (typed.empty())
    throw Error(
        {.what = "no command given", .allowed = join(names, ", "), .fix = "try 'parley --help' or 'parley train'"});
  const std::string near = nearest(typed[0], names);
  throw Error({.what = "unknown command '" + typed[0] + "'",
               .allowed = join(names, ", "),
               .fix = near.empty() ? "try 'parley --help'" : "did you mean '" + near + "'?"});
}

[[noreturn]] void refuse_arguments(const CLI::ParseError& e) {
  std::string what = e.what();
  if (const auto at = what.find(": 1 required"); at != std::string::npos) what = what.substr(0, at) + " needs a value";
  if (const auto at = what.find(": At Most 1 required"); at != std::string::npos)
    what = what.substr(0, at) + " is given more than once";
  throw Error({.what = what,
               .where = "command line",
               .fix = what.starts_with("--data is given more than once")
                          ? "separate several files by commas: --data a.csv,b.csv"
                          : "'parley COMMAND --help' shows every option"});
}

// Options that CLI11 does not know, with the nearest name.
void refuse_unknown(const CLI::App& sub, const Command& command) {
  for (const std::string& extra : sub.remaining()) {
    if (!extra.starts_with("-"))
      throw Error({.what = "unexpected argument",
                   .value = "'" + extra + "'",
                   .where = "parley " + command.name,
                   .fix = extra.ends_with(".csv") || extra.ends_with(".libsvm") || extra.ends_with(".gz")
                              ? "separate several files by commas, without blanks: --data a.csv,b.csv"
                              : "options have the form --name value"});
    std::vector<Option> all = command.own;
    all.insert(all.end(), command.rows.begin(), command.rows.end());
    for (const std::string& flag : command.flags) all.push_back({.name = flag, .target = static_cast<bool*>(nullptr)});
    const std::string name = extra.substr(extra.find_first_not_of('-'), extra.find('=') - extra.find_first_not_of('-'));
    find_option(all, name, "parley " + command.name);
  }
}

// False: the user asked for help or the version, and has it.
bool parse(CLI::App& app, int argc, const char* const* argv, const std::vector<Command>& commands) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    const auto subs = app.get_subcommands();
    std::cout << (subs.empty() ? app.help() : subs.front()->help("parley"));
  } catch (const CLI::CallForAllHelp&) {
    std::cout << app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion&) {
    std::cout << "parley " PARLEY_VERSION "\n";
  } catch (const CLI::RequiredError&) {
    refuse_command(app.remaining(), commands);
  } catch (const CLI::ParseError& e) {
    refuse_arguments(e);
  }
  return false;
}

}  // namespace

std::string Arguments::value(const std::string& name, const std::string& otherwise) const {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}

void set_from(const Arguments& arguments, const std::vector<Option>& rows) {
  if (arguments.has("config")) run::read_config(arguments.value("config"), rows);
  for (const Option& row : rows)
    if (arguments.values.contains(row.name)) set_option(row, arguments.value(row.name), "option --" + row.name);
}

int run_command_line(int argc, const char* const* argv, const std::vector<Command>& commands) {
  CLI::App app(
      "parley: learning between parties that never pool their data, with a privacy guarantee for every record.",
      "parley");
  app.set_version_flag("--version", "parley " PARLEY_VERSION);
  app.require_subcommand(1);
  app.allow_extras();
  app.footer("\n'parley COMMAND --help' shows a command's options and examples.\n");
  Arguments arguments;
  for (const Command& command : commands)
    declare(*app.add_subcommand(command.name, command.summary), command, arguments);
  if (!parse(app, argc, argv, commands)) return 0;
  const CLI::App& chosen = *app.get_subcommands().at(0);
  const Command& command = *std::ranges::find(commands, chosen.get_name(), &Command::name);
  refuse_unknown(chosen, command);
  return command.run(arguments);
}

}  // namespace parley::cli
