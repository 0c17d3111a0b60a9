#include "parley/algorithm/options.h"

#include "parley/algorithm/catalog.h"
#include "parley/privacy/group.h"

namespace parley::algorithm {
namespace {

std::vector<std::string> algorithm_choices() {
  std::vector<std::string> names = algorithm_names();
  names.insert(names.begin(), auto_algorithm);
  return names;
}

}  // namespace

std::vector<Option> option_rows(Options& o) {
  return {
      {"algorithm", "",
       "which algorithm runs; auto: the planner chooses: newton under --epsilon, else the one whose options are given",
       one_of(algorithm_choices()), &o.algorithm, "algorithm", Shown::to_anyone},
      {"rounds", "T",
       "all rounds, recycled ones included. 0 = automatic: 50. With --epsilon: 32 for newton, 25 for other algorithms "
       "whose every round uses data, 1000 for dp-admm and linear-admm",
       between(0, 1000000), &o.rounds, "algorithm", Shown::to_anyone},
      {"loss", "L", "loss of a record", one_of(o.loss), &o.loss.text, "problem", Shown::to_anyone},
      {"loss-width", "h, c", "half width of the hinge's bend; where the residual is clipped", above(0), &o.loss_width,
       "problem", Shown::to_anyone},
      {"loss-weight", "C", "weight of a node's mean loss", above(0), &o.loss_weight, "problem", Shown::to_anyone},
      {"regularization", "rho",
       "total regularisation; each node carries 1/N of it; default 0.22, or 1e-5 of the mean loss' weight for newton",
       above(0), &o.regularization, "problem", Shown::to_anyone},
      {"regularizer", "R",
       "l2: half the squared norm; l1: sum of absolute values; elastic-net: both (not with noise in the objective)",
       one_of(o.regularizer), &o.regularizer.text, "problem", Shown::to_anyone},
      {"l1-share", "", "elastic-net: the share of --regularization that is l1", strictly_between(0, 1), &o.l1_share,
       "problem", Shown::to_anyone},
      {"weighting", "C_i",
       "equal: every node counts the same; rows: every record does (C_i = C N B_i / sum B); auto: equal, newton and "
       "dp-gd: rows",
       one_of(o.weighting), &o.weighting.text, "problem", Shown::to_anyone},
      {"class-weight", "w",
       "weight of a record by its class: of the negative and the positive class (softmax: of every class, in the "
       "schema's order); public numbers, never counts of classes; noise follows the largest. balanced: from "
       "--class-share",
       one_of_or(o.class_weight, "numbers", between(least_class_weight, most_class_weight)), &o.class_weight.text,
       "problem", Shown::to_anyone},
      {"class-share", "p",
       "for --class-weight balanced: the share of records of the positive class (softmax: of every class) that is "
       "publicly known, from a census or a registry; each class then weighs 1/(K p)",
       strictly_between(0, 1), &o.class_share, "problem", Shown::to_anyone},
      {"penalty", "eta_i(1)",
       "ADMM penalty in the first private round, one for all nodes or one per node; auto: 1, or the planner's under "
       "--epsilon",
       above(0), &o.penalty, "algorithm", Shown::to_anyone},
      {"penalty-growth", "q_i", "factor on the penalty from one private round to the next (m-admm, pp, mr-admm)",
       at_least(1), &o.penalty_growth, "algorithm", Shown::to_anyone},
      {"penalty-growth-rounds", "", "private rounds after which the penalty stops growing; 0: it never stops",
       at_least(0), &o.penalty_growth_rounds, "algorithm", Shown::to_anyone},
      {"dual-step", "theta",
       "common: the smallest penalty, one number for all nodes (m-admm, pp: that of round 1); penalty: each node its "
       "own, "
       "as in the papers (biased); or numbers",
       one_of_or(o.dual_step, "numbers", above(0)), &o.dual_step.text, "algorithm", Shown::to_anyone},
      {"step-size", "eta_i^k, s",
       "proximal step of a linearised update (dp-admm, linear-admm): convex: HHCG20 Theorem 3; smooth: Theorem 4; "
       "auto: smooth where loss and regularizer are; or a number",
       one_of_or(o.step_size, "a number", above(0)), &o.step_size.text, "algorithm", Shown::to_anyone},
      {"solution-bound", "D_w",
       "public bound on the norm of the optimum, for the step sizes of dp-admm and linear-admm; default: the norm that "
       "records declared public give (--public-data, --public-rows), else 10",
       above(0), &o.solution_bound, "algorithm", Shown::to_anyone},
      {"damping", "gamma",
       "extra quadratic term of a recycled step (r-admm, mr-admm); default 0.5, or the planner's under --epsilon",
       at_least(0), &o.damping, "algorithm", Shown::to_anyone},
      {"damping-growth", "", "factor on the damping from one private round to the next", at_least(1), &o.damping_growth,
       "algorithm", Shown::to_anyone},
      {"clip", "G",
       "newton, dp-gd: a record's slope is cut at +- this, which is a public number; default: the planner's (0.5, or "
       "0.35 where noise is strong and features are fewer than 150; huber-hinge and softmax are not cut)",
       strictly_between(0, 100), &o.clip, "algorithm", Shown::to_anyone},
      {"curvature", "S",
       "newton: full: all second moments of the features; diagonal: their squares alone; auto: full up to 3000 "
       "features where a record holds them, else diagonal, for which a schema must say how many a row has",
       one_of(o.curvature), &o.curvature.text, "algorithm", Shown::to_anyone},
      {"curvature-share", "h",
       "newton: the share of the budget (of mu squared) that the curvature has; default 0.1, "
       "for the squared loss 0.2",
       strictly_between(0, 1), &o.curvature_share, "algorithm", Shown::to_anyone},
      {"noise", "",
       "auto: Gaussian under --epsilon (gamma with --delta 0), else what the algorithm has by definition (admm, "
       "m-admm: none; others: gamma)",
       one_of(o.noise), &o.noise.text, "privacy", Shown::to_anyone},
      {"noise-on", "",
       "where the noise stands: in the objective that is minimised, or on the minimum; auto: in the objective where "
       "that is proved; dp-admm and linear-admm: on the gradient",
       one_of(o.noise_on), &o.noise_on.text, "privacy", Shown::to_anyone},
      {"epsilon", "epsilon",
       "privacy budget of the whole run, one for all nodes or one per node: the noise follows, and what else is left "
       "open is planned",
       above(0), &o.epsilon, "privacy", Shown::to_anyone},
      {"delta", "delta",
       "the (epsilon, delta) guarantee's delta; default for Gaussian noise: a tenth of 1/records of the "
       "largest party, at most 1e-5; 0 for gamma noise",
       between(0, 0.1), &o.delta, "privacy", Shown::to_anyone},
      {"colluders", "c",
       "how many parties may pool what they know against one: fewer than all others let noise cancel between parties "
       "(newton, dp-gd, dp-admm, linear-admm); --epsilon then holds against that many, and a larger one against all "
       "others, printed beside it. Default: all others",
       at_least(1), &o.colluders, "privacy", Shown::to_anyone},
      {"iteration-epsilon", "epsilon",
       "as HHCG20 gives its noise: each round alone is (epsilon, delta) by the classical Gaussian mechanism (star-pvp, "
       "dp-admm, linear-admm)",
       between(1e-9, 1), &o.iteration_epsilon, "privacy", Shown::to_anyone},
      {"iteration-delta", "delta", "goes with --iteration-epsilon; default 1e-3", strictly_between(0, 1),
       &o.iteration_delta, "privacy", Shown::to_anyone},
      {"sensitivity", "",
       "star-pvp: proved: 2G C/(B (lambda/N + rho)); paper: HHCG20's 2G C N/(B lambda), which ignores rho and adds "
       "that "
       "much more noise",
       one_of(o.sensitivity), &o.sensitivity.text, "privacy", Shown::to_anyone},
      {"diameter", "Diam",
       "noise of dp-admm and linear-admm: worst: for gradients 2G apart; at-point: for how far apart logistic "
       "gradients "
       "can be at the released point, up to half as much at the same epsilon; auto: at-point for the logistic loss "
       "under "
       "--epsilon",
       one_of(o.diameter), &o.diameter.text, "privacy", Shown::to_anyone},
      {"bound", "",
       "proved: claim only proved bounds; verified: also the bound for sigma/kappa > 1.75 that was checked numerically",
       one_of(o.bound), &o.bound.text, "privacy", Shown::to_anyone},
      {"average", "",
       "model: the last iterates, or the released iterates averaged over the later half of the rounds (free); auto: "
       "yes under --epsilon",
       one_of(o.average), &o.average.text, "algorithm", Shown::to_anyone},
      {"noise-scale", "sigma_i",
       "standard deviation of Gaussian noise, one for all nodes or one per node; of a linearised update: on its "
       "gradient",
       above(0), &o.noise_scale, "privacy", Shown::to_anyone},
      {"noise-rate", "alpha_i(1)",
       "rate of the noise density exp(-rate |b|) in the first private round, one for all or one per node; smaller is "
       "more private",
       above(0), &o.noise_rate, "privacy", Shown::to_anyone},
      {"noise-rate-growth", "",
       "factor on the noise rate from one private round to the next, one for all or one per node", above(0),
       &o.noise_rate_growth, "privacy", Shown::to_anyone},
      {"start", "f_i(0)", "first iterate, drawn without data", one_of(o.start), &o.start.text, "algorithm",
       Shown::to_anyone},
      {"tolerance", "tau",
       "the local minimum is certified to |gradient| <= tolerance * C/B; charged output noise covers what remains. "
       "Default: 1e-6, or more where many records, features or a large release-bound need it",
       strictly_between(0, 1), &o.tolerance, "privacy", Shown::to_anyone},
      {"release-bound", "", "released coordinates are clamped to +- this public bound", between(1, 1e9),
       &o.release_bound, "privacy", Shown::to_anyone},
      {"intervals",
       "",
       "newton: a table of coefficients with 95 % intervals that count sampling and privacy noise; logistic, or linear "
       "regression with --loss squared; the schema needs scale = \"bound\"",
       {},
       &o.intervals,
       "algorithm",
       Shown::to_anyone},
  };
}

Option rows_per_person_row(long& rows) {
  return {"rows-per-person",
          "g",
          "epsilon is for a person with up to so many rows, as rows_per_person of a schema says; 0: for one row",
          between(0, static_cast<double>(privacy::most_rows_per_person)),
          &rows,
          "network"};
}

}  // namespace parley::algorithm
