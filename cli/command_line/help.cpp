#include "cli/command_line/help.h"

#include <algorithm>
#include <sstream>

#include "cli/terminal.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr std::size_t page_width = 110;

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// "  left    text", the text wrapped beside a left column of so many characters.
std::string entry(const std::string& left, const std::string& text, std::size_t column) {
  std::string out = "  " + left;
  std::size_t at = letters(left) + 2;
  const auto to_column = [&] {
    if (at >= column) {
      out += "\n";
      at = 0;
    }
    out += std::string(column - at, ' ');
    at = column;
  };
  to_column();
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && at + 1 + letters(word) > page_width) {
      out += "\n";
      at = 0;
      to_column();
      first = true;
    }
    out += (first ? "" : " ") + word;
    at += letters(word) + (first ? 0 : 1);
  }
  return out + "\n";
}

std::string default_text(const Option& option) {
  return std::visit(
      []<class T>(T* v) -> std::string {
        if constexpr (std::is_same_v<T, std::string>)
          return *v;
        else if constexpr (std::is_same_v<T, double>)
          return number(*v);
        else if constexpr (std::is_same_v<T, long>)
          return std::to_string(*v);
        else if constexpr (std::is_same_v<T, bool>)
          return *v ? "yes" : "";
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

std::string option_entry(const Option& row) {
  std::string text = row.help;
  const bool yes_no = std::holds_alternative<bool*>(row.target);
  if (!row.rule.text.empty() && !yes_no) text += " [" + row.rule.text + "]";
  if (const std::string usual = default_text(row); !usual.empty()) text += " (default: " + usual + ")";
  return entry("--" + row.name, text, 28);
}

std::string usage(const Command& command, const Task* task) {
  const std::string words = task != nullptr ? task->name + " " + task->words : command.words;
  return "  parley " + command.name + (words.empty() ? "" : " " + words) + " [--option value …]\n";
}

std::string options(const Command& command, const Task* task, bool all) {
  const auto shown = [&](const std::string& name) {
    if (task != nullptr) return among(task->options, name);
    return all || command.basic.empty() || among(command.basic, name);
  };
  std::string text, group;
  std::size_t hidden = 0;
  for (const Option& row : options_of(command)) {
    if (!shown(row.name)) {
      ++hidden;
      continue;
    }
    if (const std::string title = all && !row.group.empty() ? row.group : "Options"; title != group)
      text += "\n" + bold((group = title) + ":") + "\n";
    text += option_entry(row);
  }
  std::string flags;
  for (const std::string& flag : command.flags)
    if (task == nullptr || among(task->options, flag)) flags += entry("--" + flag, flag_help(flag), 28);
  if (!flags.empty()) text += (text.empty() || all ? "\n" + bold("Flags:") + "\n" : "") + flags;
  if (hidden > 0 && task == nullptr)
    text += "\n" + std::to_string(hidden) + " more options: parley " + command.name + " --help-all\n";
  return text;
}

}  // namespace

std::string overview(const std::vector<Command>& commands) {
  // One line per purpose, in the order in which people meet them.
  static const std::vector<std::pair<std::string, std::vector<std::string>>> purposes = {
      {"Learn", {"train", "compare", "predict", "evaluate", "export"}},
      {"Your data", {"data"}},
      {"Before a run, without data", {"plan", "account", "check", "graph"}},
      {"Between organisations", {"keys", "study", "doctor", "join", "verify"}},
      {"What was spent, and pages to share", {"ledger", "report"}},
  };
  std::string text =
      "parley: learning between parties that never pool their data, with a privacy guarantee for every record.\n\n";
  text += "  parley COMMAND [--option value …]\n  parley help COMMAND        what it does, its options, examples\n";
  std::vector<std::string> done;
  const auto line = [&](const Command& c) {
    done.push_back(c.name);
    return entry(c.name, c.summary, 14);
  };
  for (const auto& [purpose, names] : purposes) {
    std::string lines;
    for (const std::string& name : names)
      for (const Command& c : commands)
        if (c.name == name) lines += line(c);
    if (!lines.empty()) text += "\n" + bold(purpose + ":") + "\n" + lines;
  }
  std::string rest;
  for (const Command& c : commands)
    if (!among(done, c.name)) rest += line(c);
  if (!rest.empty()) text += "\n" + bold("More:") + "\n" + rest;
  return text +
         "\nBegin with 'parley train --epsilon 1' (built-in synthetic rows). Your own rows: draft a schema from a "
         "public\n"
         "sample with 'parley data describe SAMPLE.csv --out draft.toml'; docs/use/walk.md goes on from there.\n";
}

std::string help_page(const Command& command, const Task* task, bool all) {
  std::string text = "parley " + command.name + (task == nullptr ? "" : " " + task->name) + ": " +
                     (task == nullptr ? command.summary : task->summary) + "\n\n";
  if (task != nullptr || command.tasks.empty()) {
    text += usage(command, task);
  } else {
    for (const Task& t : command.tasks)
      text += entry("parley " + command.name + " " + t.name + (t.words.empty() ? "" : " " + t.words), t.summary, 44);
  }
  text += options(command, task, all);
  std::string examples;
  std::istringstream lines(command.examples);
  const std::string begin = task == nullptr ? "" : "parley " + command.name + " " + task->name;
  for (std::string line; std::getline(lines, line);)
    if (line.find(begin) != std::string::npos) examples += line + "\n";
  return text + (examples.empty() ? "" : "\n" + bold("Examples:") + "\n" + examples);
}

}  // namespace parley::cli
