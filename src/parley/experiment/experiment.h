// A figure or table of a paper as data: the runs it needs, what is plotted, the paper's claim, and the rules that
// decide on it. Read from a TOML file (docs/results/reproduce.md has the format); nothing here has run yet.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/experiment/metric.h"

namespace parley::experiment {

struct Setting {  // an option of `parley train`
  std::string option;
  nlohmann::json value;
  std::string where;  // file and line
};

// Noise of a series that is not given but follows: the rate at which the whole run costs what another series' does.
struct Match {
  std::string series;
  Metric by = Metric::epsilon_paper;
};

struct Series {
  std::string name;
  std::vector<Setting> options;
  bool swept = true;  // false: run once, whatever the sweep
  std::optional<Match> match;
};

struct Sweep {
  std::string label;                 // of the axis
  std::vector<std::string> options;  // all set to the same value
  std::vector<double> values;
};

enum class Axis { round, sweep, epsilon, epsilon_paper };
constexpr Words<Axis, 4> words(Axis) {
  return {{{"round", Axis::round},
           {"sweep", Axis::sweep},
           {"epsilon", Axis::epsilon},
           {"epsilon-paper", Axis::epsilon_paper}}};
}

struct Panel {  // one chart
  std::string name, title;
  Metric y = Metric::train_loss;
  Axis x = Axis::round;             // epsilon and epsilon-paper: of the whole run
  std::vector<std::string> series;  // empty: all
  std::vector<double> values;       // of the sweep; empty: all
  long from = 0;                    // first round shown
  bool log_x = false, log_y = false;
  std::string where{};  // file and line
};

// judge.h says what each of them asks.
enum class JudgeRule { lower, close, falls, rises, lowest, gain, steadier, smoother, reaches, misses, ratio, below };
constexpr Words<JudgeRule, 12> words(JudgeRule) {
  return {{{"lower", JudgeRule::lower},
           {"close", JudgeRule::close},
           {"falls", JudgeRule::falls},
           {"rises", JudgeRule::rises},
           {"lowest", JudgeRule::lowest},
           {"gain", JudgeRule::gain},
           {"steadier", JudgeRule::steadier},
           {"smoother", JudgeRule::smoother},
           {"reaches", JudgeRule::reaches},
           {"misses", JudgeRule::misses},
           {"ratio", JudgeRule::ratio},
           {"below", JudgeRule::below}}};
}

struct Judge {
  std::string says;  // the part of the claim that it decides
  Choice<JudgeRule> rule = JudgeRule::lower;
  Metric y = Metric::train_loss;
  std::vector<std::string> of;  // series, or "series @ value" of a sweep
  Choice<Moment> at = Moment::end;
  double tolerance = 0, low = 0, high = 0;
  bool claim = true;  // false: beside the paper's claim; does not count for its verdict
};

struct Experiment {
  std::string name, title, paper, figure, claim;
  std::vector<std::string> notes;  // choices where the paper is silent, each with its reason
  long repeats = 1;
  bool over_splits = false;  // each repeat deals the rows anew; otherwise only the noise is fresh
  std::vector<Setting> options;
  std::vector<Setting> quick_options;  // prevail; empty unless quick
  std::vector<Series> series;
  std::optional<Sweep> sweep;
  std::vector<Panel> panels;
  std::vector<Judge> judges;
  bool quick = false;
  std::string text;  // the file
};

// Error with file and line for every mistake; unknown keys are mistakes.
Experiment parse(std::string_view text, const std::string& name, const std::string& file, bool quick);

struct Embedded {
  std::string name, text;
};
const std::vector<Embedded>& embedded();  // experiments/*.toml, in the order of names

}  // namespace parley::experiment
