// The command line, made from the option rows: `parley COMMAND [TASK] [WORDS] --name value …`. parse.cpp reads it, suggest.cpp
// answers what it does not know, help.cpp prints it.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parley/base/options.h"

namespace parley::cli {

struct Arguments {
  std::vector<std::string> words;             // positional; the first is the task, where the command has tasks
  std::map<std::string, std::string> values;  // --name value, as written
  std::map<std::string, bool> flags;          // --name
  bool has(const std::string& name) const { return values.contains(name) || (flags.contains(name) && flags.at(name)); }
  std::string value(const std::string& name, const std::string& otherwise = "") const;
};

// One of the things that a command does: `parley data describe FILE`.
struct Task {
  std::string name;                  // "describe"
  std::string words;                 // "FILE", "FILE [RECORD…]"; what is in brackets may be left out, … repeats
  std::string summary;               // one line
  std::vector<std::string> options;  // rows and flags of its command that it reads; any other is an error
};

struct Command {
  std::string name;
  std::string summary;
  std::string words;               // "STUDY", "[NAME…]"; empty when it takes none
  std::vector<Task> tasks;         // instead of words
  std::vector<Option> rows;        // options declared elsewhere; bound to a default instance, for help and names
  std::vector<Option> own;         // options of this command alone
  std::vector<std::string> flags;  // "json", with help in flag_help
  std::vector<std::string> basic;  // the options that --help shows; empty: all. --help-all shows all
  std::string examples;
  std::function<int(const Arguments&)> run;
};

// Every option of a command: its own first, then the shared ones.
std::vector<Option> options_of(const Command& command);
bool among(const std::vector<std::string>& list, const std::string& name);
const std::string& flag_help(const std::string& flag);

// Parses and runs; returns the exit code. Throws Error for what the user got wrong.
int run_command_line(int argc, const char* const* argv, const std::vector<Command>& commands);

// Sets rows from --config first and then from the command line, which wins.
void set_from(const Arguments& arguments, const std::vector<Option>& rows);

}  // namespace parley::cli
