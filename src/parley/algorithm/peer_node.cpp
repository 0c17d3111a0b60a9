#include "parley/algorithm/peer_node.h"

#include <cmath>

#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm {

PeerNode::PeerNode(problem::Problem problem, Schedule schedule, const Start& start)
    : problem_(problem), schedule_(std::move(schedule)), owed_(start.owed), begun_(start.value.size() > 0) {
  state_.f = state_.dual = state_.gradient = Vector::Zero(problem_.dimension());
  if (begun_) state_.f = start.value;
  for (const Vector& dual : start.duals) state_.dual += dual;  // λ_i = Σ_j λ_ij
}

// Privacy: what neighbours sent is added after the noise; a vector of another size would be read past its end.
void PeerNode::check(const Inbox& inbox) const {
  expects(static_cast<int>(inbox.size()) == schedule_.degree, "a released value from every neighbour");
  for (const auto& f : inbox) expects(f->size() == state_.f.size(), "received values of the model's size");
}

// After a round that touched data the dual moves by the values released in it; after a recycled one it stays (ZKL20
// (11), (17)).
State PeerNode::settled(const Inbox& inbox) const {
  State s = state_;
  if (schedule_.touches_data(s.round))
    s.dual = dual_update(s, inbox, schedule_.private_round(s.round).dual_step);  // (D)
  else if (s.round == 0 && owed_ > 0)
    s.dual = dual_update(s, inbox, owed_);
  if (schedule_.touches_data(s.round + 1)) s.anchor = anchor_for(s.anchor, s.f, schedule_);
  return s;
}

privacy::Release PeerNode::step(const Inbox& inbox, privacy::Random& random) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = schedule_.node, .round = round, .value = {}, .charge = {}};
  const auto on_grid = [&](const Vector& value) {
    return snap(value, schedule_.release_bound, schedule_.finest_grid());
  };
  if (round == 0) {  // the start: no data in it
    const Index d = state_.f.size();
    release.value = schedule_.random_start && !begun_
                        ? on_grid(privacy::gaussian_vector(d, 1 / std::sqrt(static_cast<double>(d)), random))
                        : state_.f;
    return release;
  }
  check(inbox);
  const State s = settled(inbox);
  const PrivateRound& now = schedule_.private_round(round);
  if (!schedule_.touches_data(round)) {
    release.value = on_grid(recycled_step(s, inbox, now.penalty, now.damping));  // (R): free
    return release;
  }
  hessian_.move_to(s.anchor);
  release.value =
      schedule_.algorithm.linear
          ? noisy_linear_step(problem_, s.f, linear_pull(s, inbox, now.penalty), schedule_, now, random)          // (L)
          : noisy_minimum(problem_, primal_terms(s, inbox, now.penalty), s.f, schedule_, now, hessian_, random);  // (P)
  release.charge = now.charge;
  return release;
}

void PeerNode::commit(const Inbox& inbox, const Vector& released) {
  const int round = state_.round + 1;
  if (round > 0) check(inbox);
  expects(released.size() == state_.f.size(), "a released value of the model's size");
  State s = settled(inbox);
  if (schedule_.touches_data(round))
    s.gradient = recycled_gradient(s, inbox, schedule_.private_round(round).penalty, released);
  s.f = released;
  s.round = round;
  state_ = std::move(s);
}

}  // namespace parley::algorithm
