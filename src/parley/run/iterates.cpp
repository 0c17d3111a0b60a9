#include "parley/run/iterates.h"

#include <algorithm>

namespace parley::run {

Iterates::Iterates(const algorithm::Plan& plan)
    : plan_(plan),
      first_(plan.average ? plan.nodes.front().rounds / 2 + 1 : plan.nodes.front().rounds + 1),
      last_(plan.nodes.size() + (plan.star() ? 1 : 0)) {}

void Iterates::add(int round, std::span<const privacy::Paid> paid) {
  for (std::size_t i = 0; i < paid.size(); ++i)
    if (paid[i].value()->size() > 0) last_[i] = *paid[i].value();
  // In a star both sides have spoken at the end of an even round.
  const bool counts = plan_.star() ? round >= 2 && round % 2 == 0 : plan_.nodes.front().touches_data(round);
  if (round >= first_ && counts) {
    if (count_++ == 0) sum_.assign(last_.size(), Vector::Zero(last_.front().size()));
    for (std::size_t i = 0; i < last_.size(); ++i) sum_[i] += last_[i];
  }
  f_ = last_;
  if (count_ > 0)
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] = sum_[i] / count_;
  if (plan_.star()) {
    model_ = f_.back();
  } else {
    model_ = Vector::Zero(f_.front().size());
    for (const Vector& each : f_) model_ += each;
    model_ /= static_cast<double>(f_.size());
  }
}

double Iterates::distance(int party) const {
  return (f_[static_cast<std::size_t>(party)] - model_).norm();
}

double Iterates::disagreement() const {
  double most = 0;
  for (std::size_t i = 0; i < parties(); ++i) most = std::max(most, distance(static_cast<int>(i)));
  return most;
}

}  // namespace parley::run
