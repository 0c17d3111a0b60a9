// What a run does, in the product's words (docs/check/notation.md has the papers' letters). Everything here is public and
// fixed before data is touched. Members and rows are declared once, here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/base/word.h"
#include "parley/privacy/gaussian_round.h"
#include "parley/problem/loss.h"

namespace parley::algorithm {

// The words of the options, and what the code decides on. `automatic` is what the planner replaces.
enum class Regularizer { l2, l1, elastic_net };
constexpr Words<Regularizer, 3> words(Regularizer) {
  return {{{"l2", Regularizer::l2}, {"l1", Regularizer::l1}, {"elastic-net", Regularizer::elastic_net}}};
}
enum class Weighting { automatic, equal, rows };
constexpr Words<Weighting, 3> words(Weighting) {
  return {{{"auto", Weighting::automatic}, {"equal", Weighting::equal}, {"rows", Weighting::rows}}};
}
inline constexpr double least_class_weight = 1e-6, most_class_weight = 1e6;
enum class ClassWeight { none, balanced, numbers };
constexpr Words<ClassWeight, 3> words(ClassWeight) {
  return {{{"none", ClassWeight::none}, {"balanced", ClassWeight::balanced}, {"", ClassWeight::numbers}}};
}
enum class CurvatureShape { automatic, full, diagonal };
constexpr Words<CurvatureShape, 3> words(CurvatureShape) {
  return {
      {{"auto", CurvatureShape::automatic}, {"full", CurvatureShape::full}, {"diagonal", CurvatureShape::diagonal}}};
}
enum class DualStep { common, penalty, numbers };
constexpr Words<DualStep, 3> words(DualStep) {
  return {{{"common", DualStep::common}, {"penalty", DualStep::penalty}, {"", DualStep::numbers}}};
}
enum class StepSize { automatic, convex, smooth, number };
constexpr Words<StepSize, 4> words(StepSize) {
  return {{{"auto", StepSize::automatic},
           {"convex", StepSize::convex},
           {"smooth", StepSize::smooth},
           {"", StepSize::number}}};
}
enum class Noise { automatic, none, gamma, gaussian };
constexpr Words<Noise, 4> words(Noise) {
  return {{{"auto", Noise::automatic}, {"none", Noise::none}, {"gamma", Noise::gamma}, {"gaussian", Noise::gaussian}}};
}
enum class Place { automatic, objective, output, gradient };
constexpr Words<Place, 4> words(Place) {
  return {{{"auto", Place::automatic},
           {"objective", Place::objective},
           {"output", Place::output},
           {"gradient", Place::gradient}}};
}
enum class Sensitivity { proved, paper };
constexpr Words<Sensitivity, 2> words(Sensitivity) {
  return {{{"proved", Sensitivity::proved}, {"paper", Sensitivity::paper}}};
}
enum class Diameter { automatic, worst, at_point };
constexpr Words<Diameter, 3> words(Diameter) {
  return {{{"auto", Diameter::automatic}, {"worst", Diameter::worst}, {"at-point", Diameter::at_point}}};
}
enum class Average { automatic, yes, no };
constexpr Words<Average, 3> words(Average) {
  return {{{"auto", Average::automatic}, {"yes", Average::yes}, {"no", Average::no}}};
}
enum class FirstIterate { zero, random };
constexpr Words<FirstIterate, 2> words(FirstIterate) {
  return {{{"zero", FirstIterate::zero}, {"random", FirstIterate::random}}};
}

inline constexpr auto auto_algorithm = "auto";  // chosen by the planner (planner.h)

struct Options {
  std::string algorithm = auto_algorithm;
  long rounds = 0;  // 0: 50, or the planner's under a budget
  Choice<problem::LossKind> loss = problem::LossKind::logistic;
  double loss_width = 0.5;
  double loss_weight = 1750;
  std::optional<double> regularization;  // empty: 0.22, or the planner's (newton)
  Choice<Regularizer> regularizer = Regularizer::l2;
  double l1_share = 0.5;
  Choice<Weighting> weighting = Weighting::automatic;
  Choice<ClassWeight> class_weight = ClassWeight::none;
  std::vector<double> class_share;  // what is publicly known; for --class-weight balanced
  std::vector<double> penalty;      // empty: 1, or the planner's under a budget
  std::vector<double> penalty_growth{1};
  long penalty_growth_rounds = 0;
  Choice<DualStep> dual_step = DualStep::common;
  Choice<StepSize> step_size = StepSize::automatic;
  std::optional<double> solution_bound;  // D_w; empty: from records declared public, or 10
  std::optional<double> damping;         // empty: 0.5, or the planner's under a budget
  double damping_growth = 1;
  std::optional<double> clip;  // where slopes are cut; empty: the planner's
  Choice<CurvatureShape> curvature = CurvatureShape::automatic;
  std::optional<double> curvature_share;  // h, of μ²; empty: the planner's
  Choice<Noise> noise = Noise::automatic;
  Choice<Place> noise_on = Place::automatic;
  std::vector<double> noise_rate;  // empty: 0.5, or calibrated under a budget
  std::vector<double> noise_rate_growth{1};
  std::vector<double> noise_scale;  // empty: calibrated under a budget
  std::vector<double> epsilon;      // the budget of the whole run; empty: the noise is given instead
  std::optional<double> delta;
  std::optional<std::uint64_t> colluders;  // empty: all others
  std::optional<double> iteration_epsilon, iteration_delta;
  Choice<Sensitivity> sensitivity = Sensitivity::proved;
  Choice<Diameter> diameter = Diameter::automatic;
  Choice<privacy::Bound> bound = privacy::Bound::proved;
  Choice<Average> average = Average::automatic;
  Choice<FirstIterate> start = FirstIterate::zero;
  std::optional<double> tolerance;  // none: 1e-6, or what the sizes need (rules.h)
  double release_bound = 1000;
  bool intervals = false;
};

std::vector<Option> option_rows(Options& o);

// Of commands that have no schema, which says it everywhere else.
Option rows_per_person_row(long& rows);

}  // namespace parley::algorithm
