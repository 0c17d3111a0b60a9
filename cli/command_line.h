// The command line, made from the option rows: `parley COMMAND [WORDS] --name value …`. CLI11 stays behind this border.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parley/base/options.h"

namespace parley::cli {

struct Arguments {
  std::vector<std::string> words;             // positional
  std::map<std::string, std::string> values;  // --name value, as written
  std::map<std::string, bool> flags;          // --name
  bool has(const std::string& name) const { return values.contains(name) || (flags.contains(name) && flags.at(name)); }
  std::string value(const std::string& name, const std::string& otherwise = "") const;
};

struct Command {
  std::string name;
  std::string summary;
  std::string words;               // "ALGORITHM", "describe FILE | fetch adult | …"; empty when it takes none
  std::vector<Option> rows;        // options declared elsewhere; bound to a default instance, for help and names
  std::vector<Option> own;         // options of this command alone
  std::vector<std::string> flags;  // "json", with help in flag_help
  std::string examples;
  std::function<int(const Arguments&)> run;
};

// Parses and runs; returns the exit code. Throws Error for what the user got wrong.
int run_command_line(int argc, const char* const* argv, const std::vector<Command>& commands);

// Sets rows from --config first and then from the command line, which wins.
void set_from(const Arguments& arguments, const std::vector<Option>& rows);

}  // namespace parley::cli
