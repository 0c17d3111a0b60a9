// Options are declared once: a member with its default, and one row beside it. The rows give the command line, the TOML
// file, the record, validation and docs/use/options.md.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace parley {

// What an option may hold: the text is what people read, the check is the same inequality.
struct Rule {
  std::string text;
  std::function<bool(double)> holds{};
  std::vector<std::string> choices{};  // for words
  bool words_too = false;              // a list of numbers that may also be one of the choices
  std::vector<std::string> known{};    // of a text that may also name a file: the words that name none
};

Rule above(double low);
Rule at_least(double low);
Rule between(double low, double high);  // low ≤ x ≤ high
Rule strictly_between(double low, double high);
Rule one_of(std::vector<std::string> choices);
Rule any_text(std::string meaning, std::vector<std::string> known = {});

using OptionTarget = std::variant<bool*, long*, double*, std::string*, std::vector<double>*, std::vector<std::string>*,
                                  std::optional<double>*, std::optional<std::uint64_t>*>;

// Who may see an option's value in a record. Public by docs/approve/guarantee.md is what fixes the algorithm, the noise,
// the graph and the sizes; a name of a file, a folder, a column or a dataset is its owner's. A row that does not say is its
// owner's.
enum class Shown { to_owner, to_anyone };

struct Option {
  std::string name;    // the same word on the command line (--name), in TOML and in the record
  std::string symbol;  // the letter it has in the papers, for docs
  std::string help;    // what it controls, in one line
  Rule rule;
  OptionTarget target;
  std::string group{};
  Shown shown = Shown::to_owner;
};

// Reads a value given as text (command line) or JSON (TOML file, record). Throws Error naming `where`.
void set_option(const Option& option, std::string_view text, const std::string& where);
void set_option_json(const Option& option, const nlohmann::json& value, const std::string& where);

// Whether a shareable report may show this value: its row says so, and every word in it is one of the row's own. A name
// that no row has, and a word that may be a file's name, stay hidden.
bool may_be_shown(const std::vector<Option>& options, const std::string& name, const nlohmann::json& value);

nlohmann::json option_value(const Option& option);
std::string option_type(const Option& option);  // "number", "numbers, one per node or one for all", …

// Checks every row and throws one Error that lists all violations.
void validate_options(const std::vector<Option>& options);

// The row called name, or an Error that offers the nearest name.
const Option& find_option(const std::vector<Option>& options, const std::string& name, const std::string& where);

}  // namespace parley
