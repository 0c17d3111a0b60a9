#include "parley/algorithm/newton/newton_node.h"

#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm::newton {

// The sums are of the loss alone, each record counting once, slopes cut where the plan says.
NewtonNode::NewtonNode(problem::Problem problem, Schedule schedule, const Start& start)
    : problem_({.rows = problem.rows, .loss = schedule.summed_loss(), .weight = 1}),
      schedule_(std::move(schedule)),
      state_(newton::start(*schedule_.sums, start.value)) {}

State NewtonNode::settled(const privacy::Inbox& inbox) const {
  if (!schedule_.touches_data(state_.round)) return state_;
  expects(static_cast<int>(inbox.size()) == schedule_.degree, "a released value from every other party");
  Vector total = Vector::Zero(own_.size());
  for (std::size_t j = 0; j <= inbox.size(); ++j) {  // in the order of nodes: the same bits everywhere
    const Vector& sums = static_cast<int>(j) == id() ? own_ : *inbox[j - (static_cast<int>(j) > id() ? 1 : 0)];
    expects(sums.size() == total.size(), "received sums of this round's size");
    total += sums;
  }
  return after(state_, *schedule_.sums, total);
}

privacy::Release NewtonNode::step(const privacy::Inbox& inbox, privacy::Random& random) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = id(), .round = round, .value = {}, .charge = {}};
  const State s = settled(inbox);
  if (!schedule_.touches_data(round)) {  // the start, or the model: free
    release.value = snap(s.model(), schedule_.release_bound, schedule_.finest_grid());
    return release;
  }
  const PrivateRound& now = schedule_.private_round(round);
  release.value = noisy_sums(problem_, s.f, round == 1 && schedule_.sums->curvature_size() > 0, schedule_, now, random);
  release.charge = now.charge;
  return release;
}

void NewtonNode::commit(const privacy::Inbox& inbox, const Vector& released) {
  state_ = settled(inbox);
  ++state_.round;
  own_ = released;
}

}  // namespace parley::algorithm::newton
