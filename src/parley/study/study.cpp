#include "parley/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/algorithm/rules.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"
#include "parley/run/claim.h"
#include "parley/run/config.h"
#include "parley/run/intervals/coefficients.h"
#include "parley/run/setting.h"

namespace parley::study {
namespace {

using nlohmann::json;

int holders(const Study& s) {  // of records
  return static_cast<int>(std::ranges::count(s.parties, false, &Invited::trainer));
}

std::optional<Error::Fields> loss_problem(const Study& s) {
  if (s.schema_toml.empty()) return run::loss_mismatch(s.algorithm.loss, false, 0);
  const data::Label label = data::parse_schema(s.schema_toml, s.schema).label;
  return run::loss_mismatch(s.algorithm.loss, label.regression(), label.classes.size());
}

long trainers_of(const Study& s) {
  return static_cast<long>(std::ranges::count(s.parties, true, &Invited::trainer));
}

// Everything that keeps the study from starting, apart from the graph and the plan.
void check_startable(const Study& s, const algorithm::Algorithm& a, bool past) {
  std::vector<Error::Fields> wrong;
  const std::string file = s.file.string();
  const long trainers = trainers_of(s);
  if (!past && !algorithm::decides_privacy(s.algorithm))
    wrong.push_back({.what = "how much privacy? The study has no budget",
                     .where = file,
                     .fix = "give epsilon (for example epsilon = 1), or noise = \"none\" to run without privacy"});
  if (holders(s) < 2)
    wrong.push_back({.what = "a study needs two parties with records",
                     .value = std::to_string(holders(s)),
                     .where = file,
                     .fix = "'parley study invite' adds a party"});
  if (a.star && trainers != 1)
    wrong.push_back({.what = a.name + " runs around one trainer",
                     .value = std::to_string(trainers) + " trainers in the roster",
                     .where = file,
                     .fix =
                         "'parley study invite ... --trainer' adds it; or use algorithm = \"linear-admm\", \"pvp\" or "
                         "\"admm\" between peers"});
  if (!a.star && trainers != 0)
    wrong.push_back({.what = a.name + " runs between peers and has no trainer",
                     .value = std::to_string(trainers) + " in the roster",
                     .where = file,
                     .fix = "remove trainer = true and give records; or use algorithm = \"star-pvp\" or \"dp-admm\""});
  if (s.schema.empty() && s.features == 0)
    wrong.push_back({.what = "neither a schema nor a number of features is given",
                     .where = file,
                     .fix = "schema = \"schema.toml\" for CSV data, features = D for LIBSVM data"});
  if (!s.schema.empty() && s.schema_toml.empty())
    wrong.push_back({.what = "the schema " + (s.file.parent_path() / s.schema).string() + " does not exist",
                     .where = file,
                     .fix = "put it there; 'parley data describe SAMPLE.csv' drafts one from public rows"});
  if (s.schema.empty() == s.schema_toml.empty())
    if (const auto problem = loss_problem(s)) wrong.push_back(*problem);
  if (s.algorithm.intervals && s.on_loss == OnLoss::go_on)
    wrong.push_back({.what = "intervals need every party to the end: nobody goes on without a lost one",
                     .value = s.on_loss.text,
                     .allowed = "stop",
                     .where = file,
                     .fix = "set on-loss = \"stop\", or leave intervals out"});
  if (!wrong.empty()) throw Error(wrong);
  run::check_intervals(s.algorithm, s.schema_toml);
}

// The graph's file stands beside the study. Trap: a shape such as "ring" must not become a file of that name.
network::GraphOptions graph_options(const Study& s) {
  network::GraphOptions o = s.graph;
  if (o.graph == "full mesh") o.graph = "complete";
  if (o.graph.find_first_of("./") != std::string::npos)
    o.graph = file_beside(s.file, o.graph, "option --graph").string();
  return o;
}

// What the planner filled in may differ in the last digits between machines.
json six_digits(const json& value) {
  if (value.is_number_float()) return parse_number(fmt::format("{:.6g}", value.get<double>()), "a planned value", "");
  if (!value.is_array()) return value;
  json list = json::array();
  for (const json& one : value) list.push_back(six_digits(one));
  return list;
}

// The options as given, and what the planner made of those that were left open.
// "1.0, 4" and "1,4" are one decision: numbers in a text are written in one way before they are hashed.
void unify_numbers(std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& part : split_list(text)) parts.push_back(number(parse_number(part, "a number", "the study")));
  text = join(parts, ",");
}

json options_json(algorithm::Options o) {
  if (o.class_weight == algorithm::ClassWeight::numbers) unify_numbers(o.class_weight.text);
  if (o.dual_step == algorithm::DualStep::numbers) unify_numbers(o.dual_step.text);
  return run::to_json(algorithm::option_rows(o));
}

json planned_json(const Study& s, const StudyPlan& p) {
  json planned = options_json(p.plan.options), given = options_json(s.algorithm);
  for (const auto& item : given.items())
    if (planned[item.key()] == item.value())
      planned.erase(item.key());
    else
      planned[item.key()] = six_digits(planned[item.key()]);
  return planned;
}

}  // namespace

int Study::node_of(const std::string& name) const {
  const auto party = std::ranges::find(parties, name, &Invited::name);
  if (party != parties.end()) return static_cast<int>(party - parties.begin());
  std::vector<std::string> names;
  for (const Invited& p : parties) names.push_back(p.name);
  const std::string near = nearest(name, names);
  throw Error({.what = "'" + name + "' is not in the roster",
               .allowed = names.empty() ? "nobody is invited yet" : join(names, ", "),
               .where = file.string(),
               .fix = near.empty() ? "'parley study invite' adds a party" : "did you mean '" + near + "'?"});
}

std::string in_words_of(const Study& s, std::string text) {
  constexpr std::string_view option = "option --", letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (std::size_t at = 0; (at = text.find(option, at)) != std::string::npos;) {
    const std::size_t name = at + option.size(), end = std::min(text.find_first_not_of(letters, name), text.size());
    const auto line = s.lines.find(text.substr(name, end - name));
    const std::string place = s.file.string() + (line == s.lines.end() ? "" : ":" + std::to_string(line->second));
    text.replace(at, end - at, place);
    at += place.size();
  }
  Study keys;
  for (const Option& row : option_rows(keys))  // a key of the file has no dashes
    for (std::size_t at = 0; (at = text.find("--" + row.name, at)) != std::string::npos;) text.erase(at, 2);
  return text;
}

Error in_words_of(const Study& s, const Error& e) {
  std::vector<Error::Fields> parts = e.fields();
  for (Error::Fields& p : parts)
    for (std::string* field : {&p.what, &p.value, &p.allowed, &p.where, &p.fix}) *field = in_words_of(s, *field);
  return Error(parts);
}

namespace {

// A loss is survived, and one party connects the others: what it can do to them, or what its own loss does
// (docs/check/protocol-loss.md). The trainer of a star can do neither: its model is the one of all, and without it nobody goes on.
std::vector<std::string> warnings_of_losses(const Study& s, const network::Graph& graph) {
  std::vector<std::string> splits, ends, warnings;
  for (int node = 0; s.on_loss == OnLoss::go_on && trainers_of(s) == 0 && node < graph.nodes(); ++node) {
    const std::vector<int> groups = network::groups_without(graph, node);
    if (groups.size() < 2) continue;
    const bool goes_on = 2 * groups.front() > graph.nodes();
    (goes_on ? splits : ends).push_back(s.parties[static_cast<std::size_t>(node)].name);
  }
  const std::string mend = ". Add edges to the graph, so that the others reach each other without it";
  if (!splits.empty())
    warnings.push_back("on-loss is \"continue\", and other parties reach each other only through " +
                       join(splits, ", or only through ") +
                       ". Such a party can let one side complete the run while the other side goes on without it: then "
                       "there are two models, each marked as completed" +
                       mend + ", or set on-loss = \"stop\"");
  if (!ends.empty())
    warnings.push_back("on-loss is \"continue\", and other parties reach each other only through " +
                       join(ends, ", or only through ") +
                       ". If such a party is lost, no more than half are left together and nobody goes on" + mend);
  return warnings;
}

StudyPlan plan(const Study& s, bool past) {
  try {
    const int nodes = holders(s);
    algorithm::RowSize size{.features = s.features, .parties = nodes};
    data::Unit unit;
    if (!s.schema_toml.empty()) {
      const data::Schema schema = data::parse_schema(s.schema_toml, s.schema);
      size.features = static_cast<long>(data::feature_names(schema).size());
      size.classes = std::max(2, static_cast<int>(schema.label.classes.size()));
      size.entries = data::most_entries(schema);
      unit = schema.unit;
    }
    algorithm::Selected selected = algorithm::select_algorithm(s.algorithm, trainers_of(s) > 0, size);
    const algorithm::Algorithm& a = algorithm::algorithm_named(selected.algorithm);
    check_startable(s, a, past);
    network::Graph graph = run::graph_for(graph_options(s), a.name, nodes);
    std::vector<double> records;
    for (const Invited& p : s.parties)
      if (!p.trainer) records.push_back(static_cast<double>(p.records));
    algorithm::Setting setting = run::setting_on(graph, records, nodes);
    setting.features = size.features;
    setting.classes = size.classes;
    setting.entries = size.entries;
    setting.rows_per_person = unit.rows_per_person;
    algorithm::Options options = s.algorithm;
    options.algorithm = selected.algorithm;
    algorithm::Plan whole = algorithm::make_plan(options, setting);
    for (std::string& text : warnings_of_losses(s, graph)) whole.warnings.push_back(std::move(text));
    return {.selected = std::move(selected),
            .graph = std::move(graph),
            .setting = std::move(setting),
            .plan = std::move(whole),
            .unit = std::move(unit)};
  } catch (const Error& e) {
    throw in_words_of(s, e);
  }
}

}  // namespace

StudyPlan plan_of(const Study& s) {
  return plan(s, false);
}

StudyPlan plan_of_past(const Study& s) {
  return plan(s, true);
}

std::vector<int> StudyPlan::heard_by(int node) const {
  return network::heard_by(graph, plan.passed_on(), node);
}

std::vector<std::string> not_private(const Study& s, const StudyPlan& p) {
  return run::noise_stamps(p.plan, s.seed);
}

json canonical_json(const Study& s, const StudyPlan& p) {
  json parties = json::array(), edges = json::array();
  for (const Invited& one : s.parties)
    parties.push_back(
        {{"name", one.name}, {"fingerprint", one.fingerprint}, {"records", one.records}, {"trainer", one.trainer}});
  const auto name = [&](int node) { return s.parties[static_cast<std::size_t>(node)].name; };
  for (const auto& [i, j] : p.graph.edges()) edges.push_back({name(i), name(j)});
  return {{"format", "parley-study-1"},
          {"title", s.title},
          {"nonce", s.nonce},
          {"deadline-seconds", s.deadline_seconds},
          {"wait-seconds", s.wait_seconds},
          {"on-loss", s.on_loss.text},
          {"seed", s.seed ? json(*s.seed) : json()},
          {"features", p.setting.features},
          {"schema", s.schema_toml},
          {"options", options_json(s.algorithm)},
          {"planned", planned_json(s, p)},
          {"parties", parties},
          {"edges", edges}};
}

std::string study_hash(const json& canonical) {
  return hex(sha256(canonical.dump(-1, ' ', true)));
}

std::string run_id(const std::string& study_hash) {
  return study_hash.substr(0, 32);
}

}  // namespace parley::study
