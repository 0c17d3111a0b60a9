#include "parley/algorithm/selection.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/algorithm/catalog.h"

namespace parley::algorithm {
namespace {

using problem::LossKind;

// One of the papers' algorithms: between peers, and around a trainer.
struct Pair {
  const char *peers, *trainer;
  std::string of(bool around_trainer) const { return around_trainer ? trainer : peers; }
};
constexpr Pair newton{"newton", "newton"}, linear{"linear-admm", "dp-admm"}, on_output{"star-pvp", "star-pvp"},
    recycled{"mr-admm", "star-pvp"};

// Options that belong to some algorithms only, and the one to take. In this order: the rarer decide.
struct Owned {
  const char* option;
  Pair owner;
};
constexpr std::array owned = {Owned{"clip", newton},
                              Owned{"curvature", newton},
                              Owned{"curvature-share", newton},
                              Owned{"sensitivity", on_output},
                              Owned{"step-size", linear},
                              Owned{"solution-bound", linear},
                              Owned{"iteration-epsilon", linear},
                              Owned{"penalty", recycled},
                              Owned{"penalty-growth", recycled},
                              Owned{"penalty-growth-rounds", recycled},
                              Owned{"dual-step", recycled},
                              Owned{"damping", recycled},
                              Owned{"damping-growth", recycled},
                              Owned{"noise-rate", recycled},
                              Owned{"noise-rate-growth", recycled},
                              Owned{"tolerance", recycled},
                              Owned{"bound", recycled},
                              Owned{"start", recycled}};

// Words of other options that newton does not have.
std::string word_of_papers(const Options& o) {
  if (o.noise == Noise::gamma) return "--noise gamma";
  if (o.noise_on == Place::objective || o.noise_on == Place::output) return "--noise-on " + o.noise_on.text;
  if (o.weighting == Weighting::equal) return "--weighting equal";
  return "";
}

std::optional<Selected> by_option(const Options& o, bool trainer) {
  Options given = o, defaults;
  const auto now = option_rows(given), before = option_rows(defaults);
  for (const auto& [option, owner] : owned)
    if (option_value(find_option(now, option, "")) != option_value(find_option(before, option, "")))
      return Selected{owner.of(trainer), "--" + std::string(option) + " belongs to it"};
  if (const std::string words = word_of_papers(o); !words.empty())
    return Selected{recycled.of(trainer), words + " belongs to it"};
  return std::nullopt;
}

}  // namespace

Selected select_algorithm(const Options& o, const Participants& who) {
  if (o.algorithm != auto_algorithm) return {.algorithm = algorithm_named(o.algorithm).name, .because = ""};
  if (o.loss == LossKind::hinge)
    return {linear.of(who.trainer), "the plain hinge has a kink, and it needs a subgradient only"};
  if (const auto owner = by_option(o, who.trainer)) return *owner;
  if (who.trainer) return {on_output.of(true), "a trainer takes part"};
  if (o.epsilon.empty()) return {recycled.of(false), "there is no --epsilon to plan for"};
  if (o.delta && *o.delta == 0) return {recycled.of(false), "delta = 0 needs noise that newton does not have"};
  if (who.organisations && !sums_between_organisations)
    return {recycled.of(false), "newton does not run between organisations yet"};
  return {newton.of(false), "it loses least at a given budget"};
}

}  // namespace parley::algorithm
