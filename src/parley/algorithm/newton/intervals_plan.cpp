#include "parley/algorithm/newton/intervals_plan.h"

#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/sums_round.h"

namespace parley::algorithm::newton {
namespace {

using problem::LossKind;

constexpr FinalShares last_step{.gradient = 0.42, .hessian = 0.2, .spread = 0.08},
    one_exchange{.gradient = 0.45, .hessian = 0.45, .square = 0.1};

[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& allowed,
                         const std::string& option, const std::string& fix) {
  throw Error({.what = what, .value = value, .allowed = allowed, .where = "option --" + option, .fix = fix});
}

// One exchange at 0, where slopes are bounded, has no rounds before it and no slopes to cut. With intervals there is
// nothing to share the budget with, and no penalty.
void check_one_exchange(Options& o, const Algorithm& a) {
  const std::string once = "the squared loss exchanges second moments and label sums once, and has none";
  if (!a.curved)
    refuse("slopes of the squared loss have a bound at 0 alone, and " + a.name + " goes on from there", "squared",
           "logistic, huber-hinge, huber", "loss", "use --loss huber, or --algorithm newton");
  if (o.curvature == CurvatureShape::diagonal)
    refuse("one exchange solves for the minimum, which needs all second moments", "diagonal", "auto, full", "curvature",
           "leave it out");
  o.curvature = CurvatureShape::full;
  if (o.rounds > 1)
    refuse("the squared loss takes one exchange", std::to_string(o.rounds), "1", "rounds", "leave it out");
  if (o.clip) refuse(once, number(*o.clip), "none", "clip", "leave it out");
  o.rounds = 1;
  if (!o.intervals) return;
  const std::string shares = "with --intervals the squared loss has none";
  if (o.curvature_share) refuse(shares, number(*o.curvature_share), "none", "curvature-share", "leave it out");
  if (o.regularization) refuse(shares, number(*o.regularization), "none", "regularization", "leave it out");
}

}  // namespace

FinalShares final_shares(const Options& o) {
  if (!o.intervals) return {};
  return o.loss == LossKind::squared ? one_exchange : last_step;
}

double main_share(const Options& o) {
  return o.intervals && o.loss == LossKind::squared ? 0 : 1 - final_shares(o).sum();
}

void fill_in_intervals(Options& o, const Algorithm& a) {
  if (!o.intervals) {
    if (o.loss == LossKind::squared) check_one_exchange(o, a);
    return;
  }
  if (!a.curved)
    refuse("intervals come from the Hessian and the gradient that newton releases", a.name, "newton", "algorithm",
           "use --algorithm newton, or leave --intervals out");
  if (o.loss != LossKind::logistic && o.loss != LossKind::squared)
    refuse("intervals are made for logistic and linear regression", o.loss.text, "logistic, squared", "loss",
           "use one of these, or leave --intervals out");
  if (o.class_weight != ClassWeight::none)
    refuse("intervals are for the log-odds that records have, and class weights shift these", o.class_weight.text,
           "none", "class-weight", "leave it out, or leave --intervals out");
  if (o.regularizer != Regularizer::l2)
    refuse("intervals are for coefficients without a penalty, which an l1 term would set to zero", o.regularizer.text,
           "l2", "regularizer", "leave it out, or leave --intervals out");
  if (o.curvature == CurvatureShape::diagonal)
    refuse("intervals need all second moments", "diagonal", "auto, full", "curvature",
           "leave it out, or leave --intervals out");
  o.curvature = CurvatureShape::full;
  if (o.loss == LossKind::squared) check_one_exchange(o, a);
}

void set_final_noise(Schedule& s, const Options& o, double mu) {
  if (!o.intervals) return;
  const FinalShares shares = final_shares(o);
  PrivateRound& r = s.private_rounds.back();
  const auto part = [mu](double share) { return mu * std::sqrt(share) * (1 - 1e-13); };  // composing rounds up
  r.gradient_scale = privacy::gradient_scale_for(s.loss.gradient_bound(), part(shares.gradient), s.tolerance);
  r.hessian_scale = privacy::hessian_scale_for(s.loss.curvature_bound(), part(shares.hessian), r.curvature_tolerance);
  if (shares.spread > 0) r.spread_scale = privacy::curvature_scale_for(part(shares.spread), r.curvature_tolerance);
  if (shares.square > 0) r.square_scale = privacy::square_scale_for(part(shares.square), r.curvature_tolerance);
}

}  // namespace parley::algorithm::newton
