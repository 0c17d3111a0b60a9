#include "parley/record/schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace parley::record {
namespace {

using nlohmann::json;
using enum Mark;

constexpr Field simulation_fields[] = {{"format", shareable},
                                       {"record_is_private", shareable},
                                       {"record_is_private_because", shareable},
                                       {"outcome", shareable},
                                       {"nodes", shareable},
                                       {"trainer", shareable},
                                       {"features", shareable},
                                       {"rows_per_person", shareable},
                                       {"schema_digest", shareable},  // of public bounds and categories
                                       {"rounds_done", shareable},
                                       {"edges", shareable},
                                       {"node_facts.node", shareable},
                                       {"node_facts.degree", shareable},
                                       {"node_facts.records", shareable},
                                       {"node_facts.epsilon_planned", shareable},
                                       {"node_facts.epsilon_all_others_planned", shareable},
                                       {"noise_levels", shareable},
                                       {"noise_used", shareable},
                                       {"selection", shareable},  // follow from the plan, which is public
                                       {"forecast", shareable},
                                       {"coefficients", owner},  // columns of somebody's table
                                       {"released", shareable},
                                       {"privacy", shareable},
                                       {"options", by_option},
                                       {"in_force", by_option},  // what "auto" and 0 stood for
                                       {"data", by_option},      // of a file: its name
                                       {"warnings", owner},  // those of a ledger name the dataset and compare its rows
                                       {"run_id", owner},    // in the owner's ledger
                                       {"job_id", owner},
                                       {"ledger_head", owner},  // which ledger, and how it stood
                                       {"private", owner}};

// Every party has the study: its names, sizes, edges and options are public between them.
constexpr Field party_fields[] = {{"format", shareable},
                                  {"outcome", shareable},
                                  {"outcome_in_words", shareable},
                                  {"contradicted_parties", shareable},  // or a page would claim something for them
                                  {"void_before", shareable},           // the same
                                  {"party", shareable},
                                  {"node", shareable},
                                  {"nodes", shareable},
                                  {"run_id", shareable},
                                  {"study_hash", shareable},
                                  {"rounds_done", shareable},
                                  {"released", shareable},
                                  {"selection", shareable},  // follow from the study
                                  {"forecast", shareable},
                                  {"privacy", shareable},
                                  {"part", shareable},
                                  {"parts", shareable},
                                  {"node_facts.node", shareable},
                                  {"node_facts.epsilon_planned", shareable},
                                  {"node_facts.epsilon_all_others_planned", shareable},
                                  {"noise_levels", shareable},
                                  {"noise_used", shareable},
                                  {"approvals", shareable},  // made to be shown
                                  {"approvals_refused", shareable},
                                  {"coefficients", owner},  // columns of somebody's table
                                  {"study.title", shareable},
                                  {"study.parties", shareable},
                                  {"study.edges", shareable},
                                  {"study.features", shareable},
                                  {"study.seed", shareable},
                                  {"study.options", by_option},
                                  {"study.planned", by_option},
                                  {"ledger_head", owner},
                                  {"study.format", owner},
                                  {"study.nonce", owner},
                                  {"study.schema", owner},  // columns of somebody's table
                                  {"study.deadline-seconds", owner},
                                  {"study.wait-seconds", owner},
                                  {"study.on-loss", owner}};

constexpr Field rounds_fields[] = {
    {"round", shareable},        {"kind", shareable},  {"epsilon", shareable},   {"epsilon_all_others", shareable},
    {"disagreement", shareable}, {"stamp", shareable}, {"adjacency", shareable}, {"private", owner}};

// Made to be shown; its signature and certificate are for verify.
constexpr Field statement_fields[] = {{"statement", shareable}, {"signature", shareable}, {"certificate", shareable}};

enum class Place { inside, field, unlisted };  // of a path: above some fields, one of them, none of them

std::pair<Place, Mark> place_of(std::span<const Field> all, const std::string& path) {
  for (const Field& f : all) {
    if (f.path == path) return {Place::field, f.mark};
    if (f.path.starts_with(path + ".")) return {Place::inside, owner};
  }
  return {Place::unlisted, owner};
}

// Of an object each option; a value alone is that of the option that its key names.
json options_shown(const std::string& key, const json& options, const OptionRule& rule) {
  if (!options.is_object()) return rule && rule(key, options) ? options : json();
  json shown = json::object();
  if (!rule) return shown;
  for (const auto& [name, value] : options.items())
    if (rule(name, value)) shown[name] = value;
  return shown;
}

json shown_part(std::span<const Field> all, const json& value, const std::string& path, const OptionRule& rule) {
  if (value.is_array()) {
    json list = json::array();
    for (const json& item : value)
      if (item.is_object()) list.push_back(shown_part(all, item, path, rule));
    return list;
  }
  json kept = json::object();
  if (!value.is_object()) return kept;
  for (const auto& [key, inner] : value.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    const auto [place, mark] = place_of(all, here);
    if (place == Place::inside)
      kept[key] = shown_part(all, inner, here, rule);
    else if (place == Place::field && mark == shareable)
      kept[key] = inner;
    else if (place == Place::field && mark == by_option)
      kept[key] = options_shown(key, inner, rule);
  }
  return kept;
}

void add_unknown(std::span<const Field> all, const json& value, const std::string& path,
                 std::vector<std::string>& unknown) {
  if (value.is_array())
    for (const json& item : value) add_unknown(all, item, path, unknown);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    const Place place = place_of(all, here).first;
    if (place == Place::unlisted) unknown.push_back(here);
    if (place == Place::inside) add_unknown(all, inner, here, unknown);
  }
}

}  // namespace

std::span<const Field> fields(File file) {
  switch (file) {
    case File::simulation:
      return simulation_fields;
    case File::party:
      return party_fields;
    case File::rounds:
      return rounds_fields;
    case File::statement:
      return statement_fields;
  }
  return {};
}

json visible(File file, const json& value, Audience audience, const OptionRule& option) {
  if (audience == Audience::owner || value.is_null()) return value;
  return value.is_object() ? shown_part(fields(file), value, "", option) : json::object();
}

std::vector<std::string> unknown_fields(File file, const json& value) {
  std::vector<std::string> unknown;
  add_unknown(fields(file), value, "", unknown);
  return unknown;
}

std::span<const std::string_view> options_of_execution() {
  static constexpr std::array<std::string_view, 8> names = {"out",     "threads", "metrics", "ledger",
                                                            "dataset", "resume",  "repeat",  "engine"};
  return names;
}

}  // namespace parley::record
