#include "parley/algorithm/start.h"

#include "parley/algorithm/star.h"
#include "parley/base/error.h"

namespace parley::algorithm {
namespace {

const Vector& at(const std::vector<Vector>& values, int round) {
  return values[static_cast<std::size_t>(round)];
}

const Vector& at(const std::vector<privacy::Inbox>& inbox, int round, std::size_t neighbour) {
  return *inbox[static_cast<std::size_t>(round)][neighbour];
}

// What a node said last, through round k.
Vector last_value(const Past& past) {
  Vector last = past.start.value;
  for (int t = 0; t <= past.through && t < static_cast<int>(past.own.size()); ++t)
    if (at(past.own, t).size() > 0) last = at(past.own, t);
  return last;
}

// Of each neighbour that stays, in order; dual(j) begins with what the part before left.
template <class Dual>
std::vector<Vector> of_those_who_stay(const Past& past, const Dual& dual) {
  std::vector<Vector> duals;
  for (std::size_t j = 0; j < past.stays.size(); ++j)
    if (past.stays[j])
      duals.push_back(
          dual(j, past.start.duals.empty() ? Vector(Vector::Zero(last_value(past).size())) : past.start.duals[j]));
  return duals;
}

Start next_peer_start(const Schedule& s, const Past& past) {
  const auto step = [&](int t) {  // θ(t) where the dual moves after round t
    return t == 0 ? past.start.owed : s.touches_data(t) ? s.private_round(t).dual_step : 0;
  };
  return {.value = last_value(past),
          .duals = of_those_who_stay(past,
                                     [&](std::size_t j, Vector dual) {
                                       for (int t = 0; t < past.through; ++t)
                                         if (step(t) > 0)
                                           dual += step(t) / 2 * (at(past.own, t) - at(past.inbox, t, j));  // (D)
                                       return dual;
                                     }),
          .owed = step(past.through)};
}

Start next_provider_start(const Schedule& s, const Past& past) {
  const auto rho = [&](int t) { return t == 0 ? past.start.owed : t % 2 == 0 ? s.private_round(t).penalty : 0; };
  return {.value = last_value(past),
          .duals = of_those_who_stay(past,
                                     [&](std::size_t j, Vector dual) {
                                       for (int t = 0; t < past.through; t += 2)
                                         if (rho(t) > 0)
                                           dual = dual_after(dual, at(past.own, t == 0 ? 0 : t - 1),
                                                             at(past.inbox, t, j), rho(t));  // (3c)
                                       return dual;
                                     }),
          .owed = rho(past.through)};
}

// (Q) and (N) by the rounds of which everybody who goes on has everybody's sums: those before k. Those of round k are
// paid, and not used: a lost party's may have reached some.
Start next_sums_start(const Schedule& s, const Past& past) {
  newton::State state = past.start.common ? *past.start.common : newton::start(*s.sums);
  for (int t = 1; t < past.through; ++t) {
    state.round = t;
    state = newton::after(state, *s.sums,
                          newton::total_of(past.inbox[static_cast<std::size_t>(t)], at(past.own, t), s.node));
  }
  state.round = -1;
  return {.value = state.f, .common = std::move(state)};
}

}  // namespace

Start next_start(const Schedule& s, const Past& past) {
  expects(!s.alternates() || past.through % 2 == 0 || past.through == s.rounds, "a part that ends with a whole turn");
  if (s.sums) return next_sums_start(s, past);
  if (last_value(past).size() == 0) return {};  // it has released nothing yet
  return s.algorithm.star ? next_provider_start(s, past) : next_peer_start(s, past);
}

Start next_trainer_start(const Plan& plan, const Past& past) {
  if (last_value(past).size() == 0) return {};
  const double rho = plan.nodes.front().private_rounds.front().penalty;
  return {.value = last_value(past), .duals = of_those_who_stay(past, [&](std::size_t j, Vector dual) {
                                       for (int t = 2; t <= past.through; t += 2)
                                         dual =
                                             dual_after(dual, at(past.inbox, t - 1, j), at(past.own, t), rho);  // (3c)
                                       return dual;
                                     })};
}

}  // namespace parley::algorithm
