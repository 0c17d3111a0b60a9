// What the nodes hold after each round of messages, from released values alone: their iterates, the model, and how far
// apart they are. Peers: the model is the mean of their iterates. A star: it is the trainer's.
#pragma once
#include <span>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/privacy/release.h"

namespace parley::run {

class Iterates {
 public:
  explicit Iterates(const algorithm::Plan& plan);

  // With averaging, from the later half of the rounds on: the mean of the iterates of rounds that touched data (a
  // recycled iterate repeats the noise of the round before). A function of released values, free.
  void add(int round, std::span<const privacy::Paid> paid);

  const Vector& model() const { return model_; }
  // The classifier that party i works with: its own iterate; in a star, the trainer's.
  const Vector& classifier(int party) const { return plan_.star() ? model_ : f_[static_cast<std::size_t>(party)]; }
  double distance(int party) const;  // ‖f_i − model‖
  double disagreement() const;       // the largest

 private:
  std::size_t parties() const { return plan_.nodes.size(); }

  const algorithm::Plan& plan_;
  long first_;                // round of messages from which iterates are averaged
  int count_ = 0;             // rounds in sum_
  std::vector<Vector> last_;  // what each node said last; a trainer's stands at the end
  std::vector<Vector> sum_;
  std::vector<Vector> f_;
  Vector model_;
};

}  // namespace parley::run
