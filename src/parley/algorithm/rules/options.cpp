#include <algorithm>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {

using problem::LossKind;

double of_node(const std::vector<double>& values, int node) {
  return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(node)];
}

void check_list(const std::vector<double>& values, const std::string& name, int nodes) {
  if (values.size() == 1 || static_cast<int>(values.size()) == nodes) return;
  throw Error(
      {.what = name + " has " + std::to_string(values.size()) + " values for " + std::to_string(nodes) + " nodes",
       .allowed = "one value, or one per node",
       .where = "option --" + name,
       .fix = "give one value for all nodes, or one per node"});
}

void check_rules(const Options& o, const Algorithm& a, int nodes) {
  check_list(o.penalty, "penalty", nodes);
  check_list(o.penalty_growth, "penalty-growth", nodes);
  if (!o.noise_rate.empty()) check_list(o.noise_rate, "noise-rate", nodes);
  if (!o.noise_scale.empty()) check_list(o.noise_scale, "noise-scale", nodes);
  check_list(o.noise_rate_growth, "noise-rate-growth", nodes);
  const bool grows = std::ranges::any_of(o.penalty_growth, [](double q) { return q != 1; });
  if (grows && !a.growing)
    throw Error({.what = a.name + " has a fixed penalty (" + a.source + ")",
                 .value = "penalty-growth " + number(o.penalty_growth[0]),
                 .allowed = "1",
                 .where = "option --penalty-growth",
                 .fix = a.recycled ? "use --algorithm mr-admm" : "use --algorithm m-admm or pp"});
  if (a.on_penalty && o.noise_on == Place::output)
    throw Error({.what = a.name + " puts its noise into the penalty term (" + a.source + ")",
                 .value = "output",
                 .allowed = "objective",
                 .where = "option --noise-on",
                 .fix = "use --algorithm m-admm --noise gamma --noise-on output"});
  if (a.star && (o.penalty.size() != 1 || o.dual_step != DualStep::common))
    throw Error({.what = "a star has one penalty, which is its dual step too (" + a.source + ")",
                 .where = o.penalty.size() != 1 ? "option --penalty" : "option --dual-step",
                 .fix = "give one --penalty, and leave --dual-step out"});
  if (a.star && o.start != FirstIterate::zero)
    throw Error({.what = a.name + " starts at zero (" + a.source + ")",
                 .value = o.start.text,
                 .allowed = "zero",
                 .where = "option --start",
                 .fix = "leave it out"});
  check_loss_width(o);
}

void check_loss_width(const Options& o) {
  if (o.loss == LossKind::huber && o.loss_width > 2)
    throw Error({.what = "residuals of targets in [-1, 1] are clipped at loss-width",
                 .value = number(o.loss_width),
                 .allowed = "> 0 and <= 2",
                 .where = "option --loss-width",
                 .fix = "give --loss-width a value in that range"});
}

void check_colluders(const Options& o, const Algorithm& a, int nodes) {
  if (!o.colluders) return;
  const std::string count = std::to_string(*o.colluders);
  const auto refuse = [&](const std::string& what, const std::string& allowed, const std::string& fix) {
    throw Error({.what = what, .value = count, .allowed = allowed, .where = "option --colluders", .fix = fix});
  };
  if (*o.colluders > static_cast<std::uint64_t>(nodes) - 1)
    refuse("there are not so many other parties: " + std::to_string(nodes) + " take part",
           nodes == 1 ? "none" : "1 to " + std::to_string(nodes - 1),
           "leave it out: then the guarantee holds against all others together");
  if (!a.sums && !a.linear)
    refuse(a.name +
               " minimises: a party's noise goes through its own curvature before it is added to others', and does "
               "not cancel",
           "newton, dp-gd, dp-admm, linear-admm", "use --algorithm newton, or leave it out");
  const bool gaussian = o.noise == Noise::gaussian || (a.sums && o.noise == Noise::automatic);
  if (!gaussian || o.epsilon.empty())
    refuse("noise that cancels is Gaussian and planned for a budget", "with --epsilon and a --delta above 0",
           "give --epsilon, or leave it out");
}

void check_diameter(const Options& o) {
  if (o.diameter == Diameter::at_point && o.loss != LossKind::logistic)
    throw Error({.what = "the gradient diameter at a point is proved for the logistic loss",
                 .value = o.loss.text,
                 .allowed = "--diameter worst",
                 .where = "option --diameter",
                 .fix = "leave it out"});
}

bool decides_privacy(const Options& o) {
  return !o.epsilon.empty() || o.iteration_epsilon || !o.noise_rate.empty() || !o.noise_scale.empty() ||
         o.noise == Noise::none || o.noise == Noise::gaussian;
}

}  // namespace parley::algorithm
