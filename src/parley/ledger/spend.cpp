#include "parley/ledger/spend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "parley/base/error.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/gaussian_round.h"
#include "parley/privacy/group.h"
#include "parley/privacy/pure.h"
#include "parley/privacy/shared_noise.h"
#include "parley/privacy/sums_round.h"

namespace parley::ledger {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double up(double x) {
  return std::nextafter(x, infinite);
}

double square_up(double x) {
  return x == 0 ? 0 : up(x * x);
}

// gdp_of_pure is computed in long double and stops at e^ε ≈ 10⁴⁹³². Beyond 1000: Φ(−√(2ε)) ≤ ½e^{−ε} ≤ 1/(1 + e^ε), so
// μ = 2√(2ε) is enough.
double mu_squared_of_pure(double epsilon) {
  if (!std::isfinite(epsilon)) return infinite;
  if (epsilon > 1000) return up(8 * epsilon);
  thread_local double last_epsilon = 0, last = 0;  // rounds and nodes often cost the same
  if (epsilon != last_epsilon) {
    last = square_up(privacy::gdp_of_pure(epsilon));
    last_epsilon = epsilon;
  }
  return last;
}

// The parameters of a charge by name; a missing one makes the charge uncovered.
class Parameters {
 public:
  explicit Parameters(const privacy::Charge& charge) : charge_(charge) {}
  double operator[](std::string_view name) {
    for (const auto& [n, value] : charge_.parameters)
      if (n == name) return value;
    complete_ = false;
    return 0;
  }
  double get(std::string_view name, double otherwise) const {
    for (const auto& [n, value] : charge_.parameters)
      if (n == name) return value;
    return otherwise;
  }
  bool complete() const { return complete_; }

 private:
  const privacy::Charge& charge_;
  bool complete_ = true;
};

Price price_of_sums(Parameters& p) {
  const privacy::SumsRound sums{.gradient_bound = p["gradient_bound"],
                                .gradient_scale = p["gradient_scale"],
                                .tolerance = p["tolerance"],
                                .curvature_scale = p["curvature_scale"],
                                .curvature_tolerance = p["curvature_tolerance"],
                                .hessian_bound = p.get("hessian_bound", 0),
                                .hessian_scale = p.get("hessian_scale", 0),
                                .spread_scale = p.get("spread_scale", 0),
                                .square_scale = p.get("square_scale", 0)};
  const bool final = sums.hessian_scale != 0 || sums.spread_scale != 0 || sums.square_scale != 0;
  const bool whole =
      !final || (sums.hessian_scale > 0 && sums.hessian_bound > 0 && sums.spread_scale >= 0 && sums.square_scale >= 0);
  const bool holds = whole && sums.gradient_bound > 0 && sums.gradient_scale > 0 && sums.tolerance >= 0 &&
                     sums.curvature_scale >= 0 && sums.curvature_tolerance >= 0 &&
                     (p.get("diameter_at_point", 0) == 0 || p.get("logistic", 0) == 1);
  return {.mu = holds ? privacy::sums_mu(sums) : infinite};
}

// The same charge with its noise times `factor`: what it costs against whoever knows the rest of it.
privacy::Charge with_noise_times(double factor, const privacy::Charge& charge) {
  privacy::Charge one = charge;
  for (auto& [name, value] : one.parameters)
    if (name.ends_with("_scale")) value *= factor * (1 - 1e-15);
  return one;
}

Price price_of_kind(const privacy::Charge& charge, Parameters& p) {
  if (charge.kind == "sums-gaussian") return price_of_sums(p);
  const privacy::RoundFacts round{.gradient_weight = p["gradient_weight"],
                                  .strong_convexity = p["strong_convexity"],
                                  .gradient_bound = p.get("gradient_bound", 1),
                                  .curvature_bound = p.get("curvature_bound", 0.25),
                                  .logistic = p.get("logistic", 0) == 1};
  const double tolerance = p["tolerance"], a0 = round.gradient_weight, kappa = round.strong_convexity;
  if (!(a0 > 0 && kappa > 0 && tolerance >= 0 && round.gradient_bound > 0 && round.curvature_bound >= 0))
    return {.epsilon = infinite};
  if (charge.kind == "objective-gamma") {
    const double rate = p["objective_rate"], output_rate = p["output_rate"];
    if (!(rate > 0) || (tolerance > 0 && !(output_rate > 0))) return {.epsilon = infinite};
    privacy::UpwardSum sum;
    sum.add(objective_epsilon(round, rate));
    if (tolerance > 0) sum.add(privacy::inexact_epsilon(kappa, tolerance, output_rate));
    return {.epsilon = sum.value()};
  }
  if (charge.kind == "output-gamma") {
    const double rate = p["output_rate"];
    return {.epsilon = rate > 0 ? output_epsilon(round, rate, tolerance) : infinite};
  }
  if (charge.kind == "objective-gaussian") {
    const double scale = p["objective_scale"], output_scale = p["output_scale"];
    if (!(scale > 0) || (tolerance > 0 && !(output_scale > 0))) return {.mu = infinite};
    const privacy::Mu mu =
        objective_mu(round, scale, p.get("verified_only", 0) == 1 ? privacy::Bound::verified : privacy::Bound::proved);
    if (!mu.value) return {.mu = infinite};
    return {.mu = tolerance > 0 ? privacy::compose_mu(*mu.value, privacy::inexact_mu(kappa, tolerance, output_scale))
                                : *mu.value};
  }
  if (charge.kind == "output-gaussian") {
    const double scale = p["output_scale"];
    return {.mu = scale > 0 ? output_mu(round, scale, tolerance) : infinite};
  }
  privacy::RoundFacts gradient = round;  // noise on the gradient itself: nothing divides its sensitivity
  gradient.strong_convexity = 1;
  if (charge.kind == "linear-gamma") {
    const double rate = p["gradient_rate"];
    return {.epsilon = rate > 0 ? output_epsilon(gradient, rate, tolerance) : infinite};
  }
  if (charge.kind == "linear-gaussian") {
    const double scale = p["gradient_scale"];
    return {.mu = scale > 0 ? output_mu(gradient, scale, tolerance) : infinite};
  }
  return {.epsilon = infinite};
}

}  // namespace

bool Cap::limited() const {
  return std::isfinite(epsilon) || (colluders_epsilon && std::isfinite(*colluders_epsilon));
}

double limit_of(const Cap& cap, privacy::Against whom) {
  const double most = whom == privacy::Against::colluders ? cap.colluders_epsilon.value_or(infinite) : cap.epsilon;
  if (!std::isfinite(most) || cap.delta == 0) return most;
  const double mu = privacy::gdp_mu(most, cap.delta);
  return std::nextafter(mu * mu, 0.0);
}

double left_under(const Cap& cap, const Spend& spent, privacy::Against whom) {
  const double room = limit_of(cap, whom) - spent.total();
  if (!(room > 0)) return 0;
  if (cap.delta == 0 || !std::isfinite(room)) return room;
  return privacy::gdp_epsilon(std::sqrt(room), cap.delta);
}

void Spend::add(const Price& price) {
  expects(price.epsilon >= 0 && price.mu >= 0, "a price of at least 0");
  if (delta_ == 0) {
    add_up(price.mu > 0 ? infinite : price.epsilon);
    return;
  }
  if (price.mu > 0) add_up(square_up(price.mu));
  if (price.epsilon > 0) add_up(mu_squared_of_pure(price.epsilon));
}

void Spend::add_up(long double term) {
  const long double next = sum_ + term;
  // TwoSum's error term says whether the sum was rounded down.
  const long double back = next - sum_, lost = (sum_ - (next - back)) + (term - back);
  sum_ = lost > 0 ? std::nextafter(next, std::numeric_limits<long double>::infinity()) : next;
}

double Spend::total() const {
  const auto nearest = static_cast<double>(sum_);
  return nearest < sum_ ? up(nearest) : nearest;
}

double Spend::epsilon() const {
  if (delta_ == 0) return total();
  const double mu = total() == 0 ? 0 : up(std::sqrt(total()));
  return mu > 100 ? infinite
                  : privacy::gdp_epsilon(mu, delta_);  // beyond, ε > 5000, and e^ε leaves the range of gdp_epsilon
}

namespace {

Price price_of_one_row(const privacy::Charge& charge, Parameters& parameters) {
  Price price = price_of_kind(charge, parameters);
  if (!parameters.complete()) return {.epsilon = infinite};
  if (parameters.get("own_share", 1) == 1 && !charge.mu_colluders) return price;
  // Scales are those against the colluders, whose noise has the variance v = 1 of its unit or more.
  const auto whole = [&](const char* name) {  // 0 where it is no number of parties
    const double value = parameters[name];
    return value >= 1 && value <= 1e6 && value == std::floor(value) ? static_cast<int>(value) : 0;
  };
  const privacy::Sharing sharing{.parties = whole("parties"),
                                 .colluders = whole("colluders"),
                                 .noise = {.own = parameters["own_share"], .pair = parameters["pair_share"]}};
  const bool shared = charge.kind == "sums-gaussian" || charge.kind == "linear-gaussian";
  const bool sizes = parameters.complete() && sharing.parties >= 2 && sharing.colluders >= 1 &&
                     sharing.colluders < sharing.parties && sharing.noise.own > 0 && sharing.noise.pair >= 0;
  if (!shared || !sizes || conditional_variance(sharing.parties, sharing.colluders, sharing.noise) < 1)
    return {.epsilon = infinite};
  price.mu_colluders = price.mu;
  const privacy::Charge alone = with_noise_times(sharing.noise.own, charge);
  Parameters of_alone(alone);
  price.mu = price_of_kind(alone, of_alone).mu;
  return price;
}

}  // namespace

Price recomputed(const privacy::Charge& charge) {
  if (charge.kind == "none") return charge.mu_colluders ? Price{.epsilon = infinite} : Price{};
  Parameters parameters(charge);
  Price price = price_of_one_row(charge, parameters);
  const double group = parameters.get("rows_per_person", 1);
  if (group == 1) return price;
  const bool whole = group > 1 && group <= privacy::most_rows_per_person && group == std::floor(group);
  if (!whole || parameters.get("verified_only", 0) == 1)
    return {.epsilon = infinite};  // only what is proved is multiplied
  for (double* part : {&price.epsilon, &price.mu}) *part = privacy::for_group(*part, static_cast<long>(group));
  if (price.mu_colluders) price.mu_colluders = privacy::for_group(*price.mu_colluders, static_cast<long>(group));
  return price;
}

}  // namespace parley::ledger
