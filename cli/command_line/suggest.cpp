#include "cli/command_line/suggest.h"

#include <algorithm>
#include <filesystem>

#include "cli/command_line/parse.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using Pair = std::pair<std::string, std::string>;

// What other programs call our options. Only names that no option of ours is near.
std::string usual_name(const std::string& typed) {
  static const std::vector<Pair> names = {{"o", "out"},
                                          {"output", "out"},
                                          {"output-dir", "out"},
                                          {"input", "data"},
                                          {"file", "data"},
                                          {"files", "data"},
                                          {"csv", "data"},
                                          {"train", "data"},
                                          {"test", "test-data"},
                                          {"budget", "epsilon"},
                                          {"privacy", "epsilon"},
                                          {"e", "epsilon"},
                                          {"iterations", "rounds"},
                                          {"epochs", "rounds"},
                                          {"steps", "rounds"},
                                          {"parties", "nodes"},
                                          {"clients", "nodes"},
                                          {"n", "nodes"},
                                          {"topology", "graph"},
                                          {"lambda", "regularization"},
                                          {"l2", "regularization"},
                                          {"random-seed", "seed"},
                                          {"random-state", "seed"},
                                          {"jobs", "threads"},
                                          {"workers", "threads"},
                                          {"method", "algorithm"},
                                          {"runs", "repeat"},
                                          {"repetitions", "repeat"},
                                          {"name", "as"},
                                          {"party", "as"},
                                          {"silent", "quiet"},
                                          {"q", "quiet"},
                                          {"separator", "delimiter"},
                                          {"sep", "delimiter"}};
  const auto found = std::ranges::find(names, typed, &Pair::first);
  return found == names.end() ? "" : found->second;
}

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names = command.flags;
  for (const Option& row : options_of(command)) names.push_back(row.name);
  return names;
}

// An option of this command that has the word among its choices: "newton" is a value of --algorithm.
std::string option_with_choice(const Command& command, const std::string& word) {
  for (const Option& row : options_of(command))
    if (among(row.rule.choices, word) || among(row.rule.known, word)) return row.name;
  return "";
}

std::string help_of(const Command& command) {
  return "'parley help " + command.name + "' shows its options" +
         (command.basic.empty() ? "" : ", --help-all every one");
}

}  // namespace

std::string called(const Command& command) {
  return "parley " + command.name;
}

void refuse_command(const std::string& typed, const std::vector<Command>& commands) {
  std::vector<std::string> names = {"help"};
  for (const Command& c : commands) names.push_back(c.name);
  std::string fix = "'parley help' says what each does";
  if (const std::string near = nearest(typed, names); !near.empty()) fix = "did you mean 'parley " + near + "'?";
  for (const Command& c : commands) {
    for (const Task& t : c.tasks)
      if (t.name == typed) fix = "did you mean 'parley " + c.name + " " + typed + "'?";
    if (c.name == "train" && !option_with_choice(c, typed).empty())
      fix = "did you mean 'parley train --" + option_with_choice(c, typed) + " " + typed + "'?";
  }
  std::error_code ignored;
  if (std::filesystem::exists(typed, ignored))
    fix = "the command comes first; '" + typed + "' is a file, e.g. parley train --data " + typed;
  if (typed.starts_with("-")) fix = "the command comes first: parley COMMAND " + typed;
  throw Error({.what = "unknown command '" + typed + "'", .allowed = join(names, ", "), .fix = fix});
}

void refuse_task(const Command& command, const std::string& typed) {
  std::vector<std::string> names, forms;
  for (const Task& t : command.tasks) {
    names.push_back(t.name);
    forms.push_back(t.name + (t.words.empty() ? "" : " " + t.words));
  }
  const std::string near = typed.empty() ? "" : nearest(typed, names),
                    all = "'parley help " + command.name + "' explains each";
  std::error_code ignored;
  const bool file = !typed.empty() && std::filesystem::exists(typed, ignored);
  throw Error({.what = typed.empty() ? called(command) + " needs a task" : called(command) + " does not know this task",
               .value = typed.empty() ? "" : "'" + typed + "'",
               .allowed = join(forms, ", "),
               .fix = !near.empty() ? "did you mean '" + called(command) + " " + near + "'?"
                      : file ? "say what to do with the file, e.g. " + called(command) + " " + names.front() + " " +
                                   typed + "; " + all
                             : all});
}

void refuse_option(const Command& command, const std::string& typed, const std::vector<Command>& commands) {
  const auto begin = typed.find_first_not_of('-');
  const std::string name = begin == std::string::npos ? "" : typed.substr(begin, typed.find('=') - begin);
  const std::vector<std::string> names = names_of(command);
  if (among(names, name))  // with one dash
    throw Error(
        {.what = "'" + typed + "' has one dash", .where = called(command), .fix = "did you mean '--" + name + "'?"});
  if (among(names, "schema") && (name == "label" || name == "target" || name == "y" || name == "outcome"))
    throw Error({.what = "unknown option '" + name + "'",
                 .where = called(command),
                 .fix = "the schema names the column to predict, under [label] (docs/use/schema.md)"});
  const std::string usual = usual_name(name);
  const std::string near = among(names, usual) ? usual : nearest(name, names);
  std::string elsewhere;
  for (const Command& other : commands)
    if (other.name != command.name && among(names_of(other), name))
      elsewhere += (elsewhere.empty() ? "" : ", ") + called(other);
  if (!elsewhere.empty() && !near.starts_with(name))
    throw Error({.what = "unknown option '" + name + "'",
                 .where = called(command),
                 .fix = "leave it out: it belongs to " + elsewhere + "; " + help_of(command)});
  throw Error({.what = "unknown option '" + name + "'",
               .where = called(command),
               .fix = near.empty() ? help_of(command) : "did you mean '" + near + "'?"});
}

void refuse_word(const Command& command, const std::string& word, const std::string& before) {
  const auto row_names = names_of(command);
  std::string fix = "options have the form --name value; " + help_of(command);
  std::error_code ignored;
  if (word.starts_with("–") || word.starts_with("—"))
    fix = "an option begins with two plain dashes: type --" + word.substr(std::string("–").size());
  else if (before == "data" || before == "algorithms" || before == "epsilon")
    fix = "several values are one word, with commas and without blanks: --" + before +
          (before == "data" ? " a.csv,b.csv" : " A,B");
  else if (const auto equals = word.find('='); among(row_names, word.substr(0, equals)))
    fix = "did you mean '--" + word + "'?";
  else if (const std::string option = option_with_choice(command, word); !option.empty())
    fix = "did you mean '--" + option + " " + word + "'?";
  else if (among(row_names, "model") && word.ends_with(".json"))
    fix = "did you mean '--model " + word + "'?";
  else if (among(row_names, "data") && std::filesystem::exists(word, ignored))
    fix = "did you mean '--data " + word + "'?";
  throw Error({.what = "unexpected argument", .value = "'" + word + "'", .where = called(command), .fix = fix});
}

}  // namespace parley::cli
