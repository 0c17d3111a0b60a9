#include "parley/algorithm/star_node.h"

#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm {
namespace {

Vector mean_of(const privacy::Inbox& inbox, Index size) {
  Vector sum = Vector::Zero(size);
  for (const auto& w : inbox) {  // in node order
    expects(w->size() == size, "received values of the model's size");
    sum += *w;
  }
  return sum / static_cast<double>(inbox.size());
}

}  // namespace

ProviderNode::ProviderNode(problem::Problem problem, Schedule schedule, const Start& start)
    : problem_(problem), schedule_(std::move(schedule)), owed_(start.owed) {
  state_.w = state_.dual = Vector::Zero(problem_.dimension());
  if (start.value.size() > 0) state_.w = start.value;
  if (!start.duals.empty()) state_.dual = start.duals.front();
}

// In odd rounds after the first, the inbox holds the trainer's answer to the w̃ released last.
ProviderState ProviderNode::settled(const Vector& w_bar) const {
  ProviderState s = state_;
  s.anchor = anchor_for(s.anchor, w_bar, schedule_);
  if (s.round >= 2) s.dual = dual_after(s.dual, s.w, w_bar, schedule_.private_round(s.round).penalty);  // (3c)
  if (s.round == 0 && owed_ > 0) s.dual = dual_after(s.dual, s.w, w_bar, owed_);
  return s;
}

// Privacy: it is added after the noise; a vector of another size would be read past its end.
const Vector& ProviderNode::trainer_value(const privacy::Inbox& inbox) const {
  expects(inbox.size() == 1 && inbox.front()->size() == state_.w.size(),
          "one value of the model's size, the trainer's");
  return *inbox.front();
}

privacy::Release ProviderNode::step(const privacy::Inbox& inbox, privacy::Random& random) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = schedule_.node, .round = round, .value = {}, .charge = {}};
  if (round == 0) release.value = state_.w;
  if (!schedule_.touches_data(round)) return release;
  const Vector& w_bar = trainer_value(inbox);
  const ProviderState s = settled(w_bar);
  const PrivateRound& now = schedule_.private_round(round);
  hessian_.move_to(s.anchor);
  release.value =
      schedule_.algorithm.linear
          ? noisy_linear_step(problem_, s.w, provider_pull(s, w_bar, now.penalty), schedule_, now, random)
          : noisy_minimum(problem_, provider_terms(s, w_bar, now.penalty), w_bar, schedule_, now, hessian_, random);
  release.charge = now.charge;
  return release;
}

void ProviderNode::commit(const privacy::Inbox& inbox, const Vector& released) {
  const int round = state_.round + 1;
  if (schedule_.touches_data(round)) {
    expects(released.size() == state_.w.size(), "a released value of the model's size");
    state_ = settled(trainer_value(inbox));
    state_.w = released;
  }
  state_.round = round;
}

TrainerNode::TrainerNode(const Plan& plan, Index dimension, const Start& start)
    : id_(static_cast<int>(plan.nodes.size())),
      rounds_(plan.nodes.front().rounds),
      penalty_(plan.nodes.front().private_rounds.front().penalty),
      release_bound_(plan.nodes.front().release_bound),
      grid_(plan.nodes.front().finest_grid()) {
  state_.w = state_.mean_dual = Vector::Zero(dimension);
  if (start.value.size() > 0) state_.w = start.value;
  for (const Vector& dual : start.duals) state_.mean_dual += dual;
  if (!start.duals.empty()) state_.mean_dual /= static_cast<double>(start.duals.size());
}

privacy::Release TrainerNode::step(const privacy::Inbox& inbox, privacy::Random&) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = id_, .round = round, .value = {}, .charge = {}};
  if (round == 0) release.value = state_.w;
  if (round >= 2 && round % 2 == 0)
    release.value = snap(trainer_update(state_, mean_of(inbox, state_.w.size()), penalty_), release_bound_, grid_);
  return release;
}

void TrainerNode::commit(const privacy::Inbox& inbox, const Vector& released) {
  const int round = state_.round + 1;
  if (round >= 2 && round % 2 == 0) {
    state_.mean_dual = dual_after(state_.mean_dual, mean_of(inbox, state_.w.size()), released, penalty_);
    state_.w = released;
  }
  state_.round = round;
}

}  // namespace parley::algorithm
