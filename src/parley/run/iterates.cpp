#include "parley/run/iterates.h"

#include <algorithm>

#include "parley/record/round.h"

namespace parley::run {

Iterates::Iterates(const algorithm::Plan& plan, std::size_t nodes, Index size, network::Ranks& ranks)
    : plan_(plan), ranks_(ranks), last_(nodes), model_(size) {}

void Iterates::add(int round, std::span<const std::unique_ptr<algorithm::Node>> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) last_[i] = nodes[i]->iterate();
  const algorithm::Schedule& first = plan_.nodes.front();
  const record::Turn turn{.round = round, .touches_data = first.touches_data(round), .star = plan_.star()};
  if (plan_.average && record::counts_in_mean(turn, round, first.rounds)) {
    if (count_++ == 0) sum_.assign(last_.size(), Vector::Zero(last_.front().size()));
    for (std::size_t i = 0; i < last_.size(); ++i) sum_[i] += last_[i];
  }
  f_ = last_;
  if (count_ > 0)
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] = sum_[i] / count_;
  const int parties = static_cast<int>(plan_.nodes.size());
  model_.setZero();
  ranks_.in_turn({model_.data(), static_cast<std::size_t>(model_.size())}, [&] {
    for (std::size_t i = 0; i < f_.size(); ++i)
      if (!plan_.star() || nodes[i]->id() == parties) model_ += f_[i];
  });
  if (!plan_.star()) model_ /= parties;
  disagreement_ = 0;
  for (std::size_t i = 0; i < f_.size(); ++i)
    if (nodes[i]->id() < parties) disagreement_ = std::max(disagreement_, distance(i));
  ranks_.largest({&disagreement_, 1});
}

}  // namespace parley::run
