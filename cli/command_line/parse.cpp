#include "cli/command_line/parse.h"

#include <algorithm>
#include <sstream>

#include "cli/command_line/suggest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

bool is_yes_no(const Option& row) {
  return std::holds_alternative<bool*>(row.target);
}

bool yes_or_no(const std::string& text, const std::string& name) {
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  throw Error({.what = "--" + name + " takes no value, or yes or no",
               .value = "'" + text + "'",
               .where = "command line",
               .fix = "write --" + name + " alone, or --" + name + "=no"});
}

// Options begin with two dashes. One dash and a digit is a negative number.
bool is_option(const std::string& typed) {
  return typed.size() > 1 && typed[0] == '-' && (typed[1] < '0' || typed[1] > '9') && typed[1] != '.';
}

class Parser {
 public:
  Parser(const Command& command, const std::vector<std::string>& typed, const std::vector<Command>& commands)
      : command_(command), typed_(typed), commands_(commands), rows_(options_of(command)) {}

  Arguments read() {
    while (at_ < typed_.size()) {
      const std::string& next = typed_[at_++];
      if (is_option(next))
        option(next);
      else
        word(next);
    }
    if (!command_.tasks.empty()) check_task();
    return std::move(read_);
  }

 private:
  void option(const std::string& typed) {
    const auto equals = typed.find('=');
    const std::string name =
        typed.starts_with("--") ? typed.substr(2, equals == std::string::npos ? equals : equals - 2) : "";
    std::optional<std::string> value;
    if (equals != std::string::npos) value = typed.substr(equals + 1);
    const auto row = std::ranges::find(rows_, name, &Option::name);
    const bool flag = std::ranges::find(command_.flags, name) != command_.flags.end();
    if (row == rows_.end() && !flag) refuse_option(command_, typed, commands_);
    if (read_.values.contains(name) || read_.flags.contains(name)) twice(name, row == rows_.end() ? nullptr : &*row);
    last_ = name;
    if (flag || is_yes_no(*row)) {
      if (!value && at_ < typed_.size() &&
          (typed_[at_] == "true" || typed_[at_] == "false" || typed_[at_] == "yes" || typed_[at_] == "no"))
        value = typed_[at_++];
      const bool yes = !value || yes_or_no(*value, name);
      if (flag)
        read_.flags[name] = yes;
      else
        read_.values[name] = yes ? "true" : "false";
      return;
    }
    if (!value && (at_ == typed_.size() || typed_[at_].starts_with("--")))
      throw Error({.what = "--" + name + " needs a value",
                   .allowed = row->rule.text,
                   .where = "command line",
                   .fix = "write --" + name + " VALUE: " + row->help});
    read_.values[name] = value ? *value : typed_[at_++];
  }

  [[noreturn]] static void twice(const std::string& name, const Option* row) {
    const bool list = row != nullptr && (std::holds_alternative<std::vector<double>*>(row->target) ||
                                         std::holds_alternative<std::vector<std::string>*>(row->target));
    throw Error({.what = "--" + name + " is given more than once",
                 .where = "command line",
                 .fix = list ? "give several values at once, with commas: --" + name +
                                   (name == "data" ? " a.csv,b.csv" : " A,B")
                             : "give it once"});
  }

  void word(const std::string& text) {
    const std::size_t most = command_.tasks.empty() ? count_of(command_.words).most : std::string::npos;
    if (read_.words.size() == most) refuse_word(command_, text, last_);
    read_.words.push_back(text);
    last_.clear();
  }

  void check_task() const {
    const std::string name = read_.words.empty() ? "" : read_.words[0];
    const auto task = std::ranges::find(command_.tasks, name, &Task::name);
    if (task == command_.tasks.end()) refuse_task(command_, name);
    const std::string whole = called(command_) + " " + name;
    const WordCount count = count_of(task->words);
    if (const std::size_t given = read_.words.size() - 1; given < count.least || given > count.most)
      throw Error(
          {.what =
               whole + (given < count.least ? " needs " : " takes ") + (task->words.empty() ? "no words" : task->words),
           .value = given == 0 ? "nothing" : "'" + join({read_.words.begin() + 1, read_.words.end()}, " ") + "'",
           .fix = "'parley help " + command_.name + " " + name + "' shows it"});
    check_choice(whole, task->words);
    const auto check_taken = [&](const std::string& option) {
      if (std::ranges::find(task->options, option) != task->options.end()) return;
      std::vector<std::string> others;
      for (const Task& other : command_.tasks)
        if (std::ranges::find(other.options, option) != other.options.end())
          others.push_back(called(command_) + " " + other.name);
      throw Error({.what = "'" + whole + "' does not take --" + option,
                   .where = "command line",
                   .fix = "leave it out" + (others.empty() ? "" : "; it belongs to '" + join(others, "', '") + "'")});
    };
    for (const auto& [option, value] : read_.values) check_taken(option);
    for (const auto& [option, value] : read_.flags) check_taken(option);
  }

  // `fetch adult`, `schema census|adult-public`: words in small letters are all there is to choose from.
  void check_choice(const std::string& whole, const std::string& words) const {
    if (words.empty() || words[0] < 'a' || words[0] > 'z' || among(split_list(words, '|'), read_.words[1])) return;
    const std::vector<std::string> choices = split_list(words, '|');
    const std::string near = nearest(read_.words[1], choices);
    throw Error({.what = whole + " does not know this",
                 .value = "'" + read_.words[1] + "'",
                 .allowed = join(choices, ", "),
                 .fix = near.empty() ? "choose one of these" : "did you mean '" + whole + " " + near + "'?"});
  }

  const Command& command_;
  const std::vector<std::string>& typed_;
  const std::vector<Command>& commands_;
  std::vector<Option> rows_;
  Arguments read_;
  std::size_t at_ = 0;
  std::string last_;  // the option that was read last, while no word has followed it
};

}  // namespace

WordCount count_of(const std::string& words) {
  WordCount count;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (word == "|") {  // another form of the word before
      in >> word;
      continue;
    }
    if (!word.starts_with('[')) ++count.least;
    count.most = word.find("…") != std::string::npos || word.find("...") != std::string::npos ? std::string::npos
                                                                                              : count.most + 1;
    if (count.most == std::string::npos) break;
  }
  return count;
}

Arguments parse(const Command& command, const std::vector<std::string>& typed, const std::vector<Command>& commands) {
  return Parser(command, typed, commands).read();
}

void check_values(const Command& command, const Arguments& arguments) {
  if (command.tasks.empty() && arguments.words.size() < count_of(command.words).least)
    throw Error({.what = called(command) + " needs " + command.words, .fix = "'parley help " + command.name + "'"});
  const auto rows = options_of(command);
  for (const Option& row : rows)
    if (arguments.values.contains(row.name)) set_option(row, arguments.value(row.name), "option --" + row.name);
  validate_options(rows);
}

}  // namespace parley::cli
