#include "parley/experiment/experiment.h"

#include <algorithm>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/toml_section.h"
#include "parley/experiment/cell.h"
#include "parley/experiment/judge.h"
#include "parley/run/config.h"

namespace parley::experiment {
namespace {

using data::Section;

// Set by the experiment itself, or by `parley reproduce`.
const std::set<std::string> not_here = {"out",     "seed",   "threads", "repeat",  "ledger",
                                        "dataset", "resume", "engine",  "metrics", "data-dir"};

class Reader {
 public:
  Reader(const toml::table& root, std::string file) : root_(root), file_(std::move(file)) {}

  Experiment read(const std::string& name, bool quick) {
    const Section top(root_, file_, "");
    top.only({"title", "paper", "figure", "claim", "notes", "repeats", "repeats-over", "options", "quick", "series",
              "sweep", "panel", "judge"});
    Experiment e{.name = name,
                 .title = top.text("title"),
                 .paper = top.text("paper"),
                 .figure = top.text("figure"),
                 .claim = top.text("claim")};
    e.notes = top.has("notes") ? top.texts("notes") : std::vector<std::string>{};
    e.repeats = whole(top, "repeats", 1);
    e.over_splits = top.choice("repeats-over", splits_, false);
    e.options = settings(top, "options");
    for (const toml::table* table : tables(top, "series")) e.series.push_back(series(*table));
    if (const toml::table* table = child(top, "sweep")) e.sweep = sweep(*table);
    for (const toml::table* table : tables(top, "panel")) e.panels.push_back(panel(*table));
    for (const toml::table* table : tables(top, "judge")) e.judges.push_back(judge(*table));
    if (const toml::table* table = child(top, "quick")) read_quick(*table, quick, e);
    e.quick = quick;
    check(e);
    return e;
  }

 private:
  static constexpr Word<bool> splits_[] = {{"noise", false}, {"split", true}};
  static constexpr Word<bool> truths_[] = {{"claim", true}, {"ours", false}};

  static long whole(const Section& s, const std::string& key, long fallback) {
    if (!s.has(key)) return fallback;
    const auto value = s.find(key)->value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > 100000)
      s.fail(key, {.what = key + " must be a whole number", .allowed = "from 1 to 100000", .fix = "correct it"});
    return static_cast<long>(*value);
  }

  static double real(const Section& s, const std::string& key, double fallback) {
    if (!s.has(key)) return fallback;
    const auto value = s.find(key)->value<double>();
    if (!value) s.fail(key, {.what = key + " must be a number", .fix = "correct it"});
    return *value;
  }

  static const toml::table* child(const Section& s, const std::string& key) {
    if (!s.has(key)) return nullptr;
    const toml::table* table = s.find(key)->as_table();
    if (table == nullptr) s.fail(key, {.what = key + " must be a table", .fix = "write it as [" + key + "]"});
    return table;
  }

  static std::vector<const toml::table*> tables(const Section& s, const std::string& key) {
    const toml::array* list = s.has(key) ? s.find(key)->as_array() : nullptr;
    std::vector<const toml::table*> found;
    if (list != nullptr)
      for (const auto& element : *list) found.push_back(element.as_table());
    if (found.empty() || std::ranges::find(found, nullptr) != found.end())
      s.fail(key, {.what = "there must be at least one [[" + key + "]]", .fix = "add it"});
    return found;
  }

  // Names and values are checked here, by the rows of `train`; what they mean together, when the plan is made.
  std::vector<Setting> settings(const Section& s, const std::string& key) const {
    std::vector<Setting> found;
    const toml::table* table = child(s, key);
    if (table == nullptr) return found;
    for (const auto& [name, node] : *table) {
      const std::string where = file_ + ":" + std::to_string(node.source().begin.line);
      Setting one{.option = std::string(name.str()), .value = toml_value(node, where), .where = where};
      check_option(one.option, one.where);
      run::TrainOptions scratch;
      const auto rows = run::option_rows(scratch);
      const Option& row = find_option(rows, one.option, one.where);
      set_option_json(row, one.value, one.where);
      try {
        validate_options({row});
      } catch (const Error& mistake) {
        throw Error({.what = mistake.what(), .where = one.where});
      }
      found.push_back(std::move(one));
    }
    return found;
  }

  static void check_option(const std::string& option, const std::string& where) {
    if (not_here.contains(option))
      throw Error({.what = "option '" + option + "' is not an experiment's: 'parley reproduce' sets it",
                   .where = where,
                   .fix = option == "repeat" ? "write repeats = N at the top" : "leave it out"});
    run::TrainOptions scratch;
    find_option(run::option_rows(scratch), option, where);
  }

  static Metric metric(const Section& s, const std::string& key, Metric fallback) {
    static const auto words = [] {
      std::vector<Word<Metric>> all;
      for (const auto& m : metrics()) all.push_back({m.name, m.metric});
      return all;
    }();
    return s.choice(key, words, fallback);
  }

  Series series(const toml::table& table) const {
    const Section s(table, file_, "[[series]]: ");
    s.only({"name", "options", "swept", "match"});
    Series one{.name = s.text("name"), .options = settings(s, "options"), .swept = s.truth("swept", true)};
    if (one.name.find('@') != std::string::npos)
      s.fail("name", {.what = "a series' name holds no @", .value = one.name, .fix = "'series @ value' names a point"});
    if (const toml::table* match = child(s, "match")) {
      const Section m(*match, file_, "match: ");
      m.only({"series", "by"});
      one.match = Match{.series = m.text("series"), .by = metric(m, "by", Metric::epsilon_paper)};
      if (one.match->by != Metric::epsilon_paper && one.match->by != Metric::epsilon)
        m.fail("by",
               {.what = "noise is matched by a privacy loss", .allowed = "epsilon-paper, epsilon", .fix = "choose"});
    }
    return one;
  }

  Sweep sweep(const toml::table& table) const {
    const Section s(table, file_, "[sweep]: ");
    s.only({"label", "options", "values"});
    Sweep one{.label = s.text("label"), .options = s.distinct_texts("options"), .values = s.numbers("values")};
    for (const std::string& option : one.options)
      check_option(option, file_ + ":" + std::to_string(table.source().begin.line));
    return one;
  }

  Panel panel(const toml::table& table) const {
    const Section s(table, file_, "[[panel]]: ");
    s.only({"name", "title", "y", "x", "series", "values", "from", "log-x", "log-y"});
    Panel one{.name = s.has("name") ? s.text("name") : "",
              .title = s.text("title"),
              .y = metric(s, "y", Metric::train_loss),
              .x = s.choice("x", words(Axis{}), Axis::round),
              .log_x = s.truth("log-x", false),
              .log_y = s.truth("log-y", false),
              .where = file_ + ":" + std::to_string(table.source().begin.line)};
    if (s.has("series")) one.series = s.distinct_texts("series");
    if (s.has("values")) one.values = s.numbers("values");
    one.from = s.has("from") ? whole(s, "from", 0) : 0;
    return one;
  }

  Judge judge(const toml::table& table) const {
    const Section s(table, file_, "[[judge]]: ");
    s.only({"says", "rule", "y", "of", "at", "tolerance", "between", "counts-for"});
    Judge one{.says = s.text("says"), .rule = s.text("rule"), .y = metric(s, "y", Metric::train_loss)};
    const std::vector<std::string> rules = words_of<JudgeRule>();
    if (std::ranges::find(rules, one.rule.text) == rules.end()) {
      const std::string near = nearest(one.rule.text, rules);
      s.fail("rule", {.what = "unknown rule",
                      .value = "'" + one.rule.text + "'",
                      .allowed = join(rules, ", "),
                      .fix = near.empty() ? "choose one" : "did you mean '" + near + "'?"});
    }
    one.of = s.texts("of");
    one.tolerance = real(s, "tolerance", 0);
    one.claim = s.choice("counts-for", truths_, true);
    if (s.has("at")) {
      if (const auto round = s.find("at")->value_exact<std::int64_t>())
        one.at = std::to_string(*round);
      else
        one.at = s.text("at");
      if (one.at == Moment::round && (one.at.text.empty() || !std::ranges::all_of(one.at.text, ::isdigit)))
        s.fail("at", {.what = "at", .value = one.at.text, .allowed = "end, mean, or a round", .fix = "choose"});
    }
    if (s.has("between")) {
      const auto range = s.numbers("between");
      if (range.size() != 2 || range[0] > range[1])
        s.fail("between", {.what = "between takes two numbers", .fix = "write between = [low, high]"});
      one.low = range[0];
      one.high = range[1];
    }
    if (const std::string why = misuse(one, s.has("between")); !why.empty())
      s.fail("rule", {.what = why, .value = one.rule.text, .fix = "docs/results/reproduce.md lists the rules"});
    return one;
  }

  void read_quick(const toml::table& table, bool quick, Experiment& e) const {
    const Section s(table, file_, "[quick]: ");
    s.only({"repeats", "sweep", "options"});
    const long repeats = whole(s, "repeats", e.repeats);
    auto options = settings(s, "options");
    std::vector<double> values;
    if (s.has("sweep")) {
      values = s.numbers("sweep");
      if (!e.sweep) s.fail("sweep", {.what = "there is no [sweep] to shorten", .fix = "leave it out"});
    }
    if (!quick) return;
    e.repeats = repeats;
    e.quick_options = std::move(options);
    if (!values.empty()) e.sweep->values = values;
  }

  // What the parts must have in common.
  void check(const Experiment& e) const {
    const auto mistake = [&](const std::string& what, const std::string& value, const std::string& fix) {
      throw Error({.what = what, .value = "'" + value + "'", .where = file_, .fix = fix});
    };
    std::vector<std::string> names;
    for (const Series& s : e.series) {
      if (std::ranges::find(names, s.name) != names.end())
        mistake("two series have the same name", s.name, "rename one");
      names.push_back(s.name);
    }
    const auto known = [&](const std::string& series, const std::string& where) {
      if (std::ranges::find(names, series) != names.end()) return;
      const std::string near = nearest(series, names);
      mistake(where + " names an unknown series", series,
              near.empty() ? "the series are: " + join(names, ", ") : "did you mean '" + near + "'?");
    };
    for (const Series& s : e.series)
      if (s.match) known(s.match->series, "match");
    for (const Panel& p : e.panels) {
      for (const std::string& s : p.series) known(s, "a panel");
      for (const double v : p.values)
        if (!e.sweep || std::ranges::find(e.sweep->values, v) == e.sweep->values.end()) {
          std::vector<std::string> values;
          for (const double known_one : e.sweep ? e.sweep->values : std::vector<double>{})
            values.push_back(number(known_one));
          throw Error({.what = "a panel shows a value that is not in the sweep",
                       .value = number(v),
                       .allowed = values.empty() ? "none: there is no [sweep]" : join(values, ", "),
                       .where = p.where,
                       .fix = e.quick ? "with --quick the sweep is that of [quick]: give it the panel's values too"
                                      : "choose one of the sweep's values"});
        }
      if (p.x == Axis::sweep && !e.sweep) mistake("a panel has x = sweep", p.title, "there is no [sweep]");
      if (e.panels.size() > 1 && p.name.empty()) mistake("a panel needs a name", p.title, "name = \"a\"");
    }
    const auto points = cell_names(e);
    for (const Judge& j : e.judges)
      for (const std::string& of : j.of)
        if (std::ranges::find(points, of) == points.end()) {
          known(std::string(trim(of.substr(0, of.find('@')))), "a judge");
          if (of.find('@') != std::string::npos || !swept(e, of))
            mistake("a judge names no run", of, "the runs are: " + join(points, ", "));
        }
  }

  const toml::table& root_;
  std::string file_;
};

}  // namespace

Experiment parse(std::string_view text, const std::string& name, const std::string& file, bool quick) {
  const toml::table root = parse_toml(text, file);
  Experiment e = Reader(root, file).read(name, quick);
  e.text = std::string(text);
  return e;
}

}  // namespace parley::experiment
