// Every field of a record's files, and who may see it. The marks are the rule that a shareable report follows: it is
// handed what visible() leaves and nothing else. A field that is not listed is its owner's.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::record {

enum class File {
  simulation,
  party,
  rounds,
  statement
};  // run.json of either kind, a line of rounds.jsonl, statement.json

enum class Mark {
  shareable,  // public parameters, functions of the plan and of released values
  by_option,  // an option, or an object of them: each as its own row says (base/options.h)
  owner,      // measured on rows, or the name of a file, a folder or a dataset
};

struct Field {
  std::string_view path;  // "privacy.epsilon", "node_facts.degree": items of a list have the path of the list
  Mark mark;
};
std::span<const Field> fields(File file);

enum class Audience {
  anyone,  // public parameters, and what follows from released values of a run with a guarantee
  owner,   // everything in the record: `report --private`
};

// May a shareable report show this value of this option? By the rows of the program, which a record does not know.
using OptionRule = std::function<bool(const std::string& name, const nlohmann::json& value)>;

// What the audience may see of it, as a value of its own.
nlohmann::json visible(File file, const nlohmann::json& value, Audience audience, const OptionRule& option);

// The options of a run that say where and how it is carried out, not what it is.
std::span<const std::string_view> options_of_execution();

// The fields that the schema does not list: a writer has none.
std::vector<std::string> unknown_fields(File file, const nlohmann::json& value);

}  // namespace parley::record
