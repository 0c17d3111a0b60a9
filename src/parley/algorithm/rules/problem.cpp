#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {

using problem::LossKind;

// Which loss and regulariser may stand where (docs/check/algorithms.md, tables).
void check_problem(const Options& o, const Algorithm& a) {
  const bool objective_noise = o.noise != Noise::none && o.noise_on == Place::objective;
  const std::string other = "use --algorithm dp-admm or linear-admm";
  if (o.loss == LossKind::hinge && !a.linear)
    throw Error({.what = a.name + " minimises the loss, and the plain hinge has a kink",
                 .value = "hinge",
                 .allowed = "logistic, huber-hinge",
                 .where = "option --loss",
                 .fix = other + ", whose updates need a subgradient only, or --loss huber-hinge"});
  if (o.loss == LossKind::softmax && objective_noise)
    throw Error({.what = "noise in the objective is proved for losses of one score",
                 .value = "softmax",
                 .where = "option --loss",
                 .fix = "use --noise-on output, or --algorithm dp-admm or linear-admm"});
  if (o.class_weight != ClassWeight::none && objective_noise && o.noise == Noise::gaussian)
    throw Error({.what = "Gaussian noise in the objective is proved for records that weigh the same "
                         "(docs/proofs/gaussian.md)",
                 .value = "--class-weight " + o.class_weight.text,
                 .allowed = "--class-weight none",
                 .where = "option --noise-on",
                 .fix = a.on_penalty ? "use --algorithm newton, or --noise gamma"
                                     : "use --algorithm newton, --noise-on output, or --noise gamma"});
  if (o.regularizer != Regularizer::l2 && objective_noise)
    throw Error({.what =
                     "noise in the objective needs a regulariser without kinks: at a kink many noises give the same "
                     "minimum, so the proof's one-to-one map between them is gone",
                 .value = o.regularizer.text,
                 .allowed = "l2",
                 .where = "option --regularizer",
                 .fix = "use --noise-on output, or --algorithm dp-admm or linear-admm"});
  if (!a.linear && (o.step_size != StepSize::automatic || o.solution_bound))
    throw Error({.what = a.name + " minimises and has no proximal step",
                 .where = o.step_size != StepSize::automatic ? "option --step-size" : "option --solution-bound",
                 .fix = "leave it out, or " + other});
  if (o.step_size == StepSize::smooth && (o.loss == LossKind::hinge || o.regularizer != Regularizer::l2))
    throw Error({.what = "HHCG20 Theorem 4 asks for a loss and a regulariser that are twice differentiable",
                 .value = o.loss.text + ", " + o.regularizer.text,
                 .where = "option --step-size",
                 .fix = "use --step-size convex"});
  if (split_list(o.step_size.text).size() != 1)
    throw Error({.what = "one step size for all nodes", .where = "option --step-size", .fix = "give one number"});
  if (o.diameter == Diameter::at_point && !a.linear)
    throw Error({.what = a.name + " minimises, and releases no gradient",
                 .value = "at-point",
                 .where = "option --diameter",
                 .fix = "leave it out"});
  check_diameter(o);
  if (o.sensitivity == Sensitivity::paper && (!a.star || a.linear || !a.noisy))
    throw Error({.what = "the paper's sensitivity is star-pvp's",
                 .value = a.name,
                 .where = "option --sensitivity",
                 .fix = "leave it out, or use --algorithm star-pvp"});
}

}  // namespace parley::algorithm
