#include "parley/algorithm/newton/newton_node.h"

#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm::newton {

// The sums are of the loss alone, each record counting once or with its class weight, slopes cut where the plan says.
NewtonNode::NewtonNode(const problem::Problem& problem, Schedule schedule, const Start& start)
    : problem_({.rows = problem.rows, .loss = schedule.summed_loss(), .weight = 1}),
      schedule_(std::move(schedule)),
      state_(start.common ? *start.common : newton::start(*schedule_.sums, start.value)) {}

State NewtonNode::settled(const privacy::Inbox& inbox) const {
  if (!schedule_.touches_data(state_.round)) return state_;
  expects(static_cast<int>(inbox.size()) == schedule_.degree, "a released value from every other party");
  return after(state_, *schedule_.sums, total_of(inbox, own_, id()));
}

privacy::Release NewtonNode::step(const privacy::Inbox& inbox, privacy::Random& random) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = id(), .round = round, .value = {}, .charge = {}};
  const State s = settled(inbox);
  if (!schedule_.touches_data(round)) {  // the start, or the model: free
    release.value = free_value(s, *schedule_.sums, round == schedule_.rounds);
    return release;
  }
  const PrivateRound& now = schedule_.private_round(round);
  release.value = noisy_sums(problem_, s.f, schedule_.sums->layout(round), schedule_, now, random);
  release.charge = now.charge;
  return release;
}

void NewtonNode::commit(const privacy::Inbox& inbox, const Vector& released) {
  state_ = settled(inbox);
  ++state_.round;
  own_ = released;
}

}  // namespace parley::algorithm::newton
