// What a shell offers after TAB, and manual pages: made from the same rows as help and docs/use/options.md.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/manual.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using Commands = std::vector<Command>;

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names{"help"};
  for (const Command& c : commands) names.push_back(c.name);
  return names;
}

std::vector<std::string> tasks_of(const Command& command) {
  std::vector<std::string> names;
  for (const Task& t : command.tasks) names.push_back(t.name);
  return names;
}

std::vector<std::string> values_of(const Option& row) {
  if (std::holds_alternative<bool*>(row.target)) return {"yes", "no"};
  std::vector<std::string> values = row.rule.choices;
  values.insert(values.end(), row.rule.known.begin(), row.rule.known.end());
  std::erase(values, "");
  return values;
}

std::string replaced(std::string text, const std::vector<std::pair<char, std::string>>& with) {
  std::string out;
  for (const char c : text) {
    const auto found = std::ranges::find(with, c, &std::pair<char, std::string>::first);
    if (found == with.end())
      out += c;
    else
      out += found->second;
  }
  return out;
}

std::string for_bash(const Commands& commands) {
  std::string values, options, tasks;
  for (const Command& c : commands) {
    std::vector<std::string> all{"--help", "--help-all"};
    for (const Option& row : options_of(c)) {
      all.push_back("--" + row.name);
      if (const auto words = values_of(row); !words.empty())
        values += fmt::format("    '{} --{}') words='{}';;\n", c.name, row.name, join(words, " "));
    }
    for (const std::string& flag : c.flags) all.push_back("--" + flag);
    options += fmt::format("    {}) words='{}';;\n", c.name, join(all, " "));
    if (!c.tasks.empty()) tasks += fmt::format("    {}) words='{}';;\n", c.name, join(tasks_of(c), " "));
  }
  return "# parley completion bash > /usr/share/bash-completion/completions/parley\n"
         "_parley() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} "
         "words=\n"
         "  COMPREPLY=()\n"
         "  case \"$command $before\" in\n" +
         values + "  esac\n  if [ -z \"$words\" ] && [ \"$COMP_CWORD\" -eq 1 ]; then words='" +
         join(names_of(commands), " ") +
         "'; fi\n"
         "  if [ -z \"$words\" ] && [ \"$COMP_CWORD\" -eq 2 ] && [[ $current != -* ]]; then case $command in\n" +
         tasks + "  esac; fi\n  if [ -z \"$words\" ] && [[ $current == -* ]]; then case $command in\n" + options +
         "  esac; fi\n"
         "  [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _parley parley\n";
}

std::string for_zsh(const Commands& commands) {
  const auto quoted = [](const std::string& text) {
    return replaced(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}});
  };
  std::string list, cases;
  for (const Command& c : commands) {
    list += fmt::format("    '{}:{}'\n", c.name, quoted(c.summary));
    cases += fmt::format("    {})\n      _arguments", c.name);
    for (const Option& row : options_of(c)) {
      const auto words = values_of(row);
      cases += fmt::format(" \\\n        '--{}[{}]:value:{}'", row.name, quoted(row.help),
                           words.empty() ? "_files" : "(" + quoted(join(words, " ")) + ")");
    }
    for (const std::string& flag : c.flags)
      cases += fmt::format(" \\\n        '--{}[{}]'", flag, quoted(flag_help(flag)));
    if (!c.tasks.empty()) cases += fmt::format(" \\\n        '2:task:({})'", join(tasks_of(c), " "));
    cases += " \\\n        '*:file:_files';;\n";
  }
  return "#compdef parley\n# parley completion zsh > /usr/share/zsh/vendor-completions/_parley\n"
         "_parley() {\n  local -a commands\n  commands=(\n" +
         list +
         "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  shift words; (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         cases + "  esac\n}\n_parley \"$@\"\n";
}

std::string for_fish(const Commands& commands) {
  const auto quoted = [](const std::string& text) {
    return "'" + replaced(text, {{'\'', "\\'"}, {'\\', "\\\\"}}) + "'";
  };
  std::string text = "# parley completion fish > /usr/share/fish/vendor_completions.d/parley.fish\n";
  for (const Command& c : commands) {
    const std::string here = "complete -c parley -n '__fish_seen_subcommand_from " + c.name + "'";
    text += fmt::format("complete -c parley -n __fish_use_subcommand -f -a {} -d {}\n", c.name, quoted(c.summary));
    for (const Task& t : c.tasks) text += fmt::format("{} -a {} -d {}\n", here, t.name, quoted(t.summary));
    for (const Option& row : options_of(c)) {
      const auto words = values_of(row);
      text += fmt::format("{} -l {} -r{} -d {}\n", here, row.name,
                          words.empty() ? "" : " -f -a " + quoted(join(words, " ")), quoted(row.help));
    }
    for (const std::string& flag : c.flags)
      text += fmt::format("{} -l {} -d {}\n", here, flag, quoted(flag_help(flag)));
  }
  return text;
}

int run_completion(const Arguments& arguments) {
  const std::string shell = arguments.words.empty() ? "" : arguments.words[0];
  const Commands commands = all_commands();
  if (shell == "bash")
    fmt::print("{}", for_bash(commands));
  else if (shell == "zsh")
    fmt::print("{}", for_zsh(commands));
  else if (shell == "fish")
    fmt::print("{}", for_fish(commands));
  else
    throw Error({.what = shell.empty() ? "which shell?" : "no completion for this shell",
                 .value = shell,
                 .allowed = "bash, zsh, fish",
                 .where = "parley completion",
                 .fix = "for example: parley completion bash > ~/.local/share/bash-completion/completions/parley"});
  return 0;
}

// ---- manual pages

std::string roff(const std::string& text) {
  std::string out = replaced(text, {{'\\', "\\e"}, {'-', "\\-"}});
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string heading(const std::string& name) {
  return ".SH " + name + "\n";
}

std::string top(const std::string& page, const std::string& summary) {
  return ".TH " + replaced(page, {{'-', "\\-"}}) + " 1 \"\" \"parley " PARLEY_VERSION "\"\n" + heading("NAME") +
         roff(page) + " \\- " + roff(summary) + "\n";
}

}  // namespace

std::string manual_page(const Command& c) {
  std::string text = top("parley-" + c.name, c.summary) + heading("SYNOPSIS");
  if (c.tasks.empty())
    text += ".B parley " + c.name + "\n" + roff(c.words) + (c.words.empty() ? "" : " ") + "[\\-\\-option value ...]\n";
  for (const Task& t : c.tasks)
    text += ".B parley " + c.name + " " + t.name + "\n" + roff(t.words.empty() ? "[\\-\\-option value ...]" : t.words) +
            "\n.br\n" + roff(t.summary) + "\n.PP\n";
  std::string options;
  for (const Option& row : options_of(c))
    options += ".TP\n.B \\-\\-" + roff(row.name) + "\n" +
               roff(row.help + (row.rule.text.empty() ? "" : " [" + row.rule.text + "]")) + "\n";
  for (const std::string& flag : c.flags)
    options += ".TP\n.B \\-\\-" + roff(flag) + "\n" + roff(flag_help(flag)) + "\n";
  if (!options.empty()) text += heading("OPTIONS") + options;
  if (!c.examples.empty()) {
    text += heading("EXAMPLES") + ".nf\n";
    for (const std::string& line : split_list(c.examples, '\n')) text += roff(line) + "\n";
    text += ".fi\n";
  }
  return text + heading("SEE ALSO") + ".BR parley (1)\n";
}

std::string manual_page(const std::vector<Command>& commands) {
  std::string text =
      top("parley", "learning between parties that never pool their data, with a privacy guarantee for every record") +
      heading("SYNOPSIS") + ".B parley\nCOMMAND [TASK] [WORDS] [\\-\\-option value ...]\n" + heading("COMMANDS");
  for (const Command& c : commands) text += ".TP\n.BR parley\\-" + c.name + " (1)\n" + roff(c.summary) + "\n";
  return text + heading("EXIT STATUS") +
         "0 done, 1 a mistake in input or options, 2 a bug, 3 the run ended without a usable model, 130 "
         "interrupted.\n.B "
         "parley join\nhas its own: parley\\-join(1).\n";
}

Command completion_command() {
  return {.name = "completion",
          .summary = "what a shell offers after TAB",
          .words = "bash|zsh|fish",
          .examples =
              "  parley completion bash > ~/.local/share/bash-completion/completions/parley\n"
              "  parley completion fish > ~/.config/fish/completions/parley.fish\n",
          .run = run_completion};
}

}  // namespace parley::cli
