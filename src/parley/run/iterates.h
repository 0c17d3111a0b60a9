// What the nodes hold after each round of messages, from released values alone: their iterates, the model, and how far
// apart they are. Peers: the model is the mean of their iterates. A star: it is the trainer's. Each process keeps those
// of its own nodes; the model is the same everywhere.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/network/ranks.h"

namespace parley::run {

class Iterates {
 public:
  Iterates(const algorithm::Plan& plan, std::size_t nodes, Index size,
           network::Ranks& ranks);  // nodes: of this process

  // With averaging, the mean of the iterates that count (record/round.h). A function of released values, free.
  void add(int round, std::span<const std::unique_ptr<algorithm::Node>> nodes);

  const Vector& model() const { return model_; }
  // The classifier that this process's party i works with: its own iterate; in a star, the trainer's.
  const Vector& classifier(std::size_t party) const { return plan_.star() ? model_ : f_[party]; }
  double distance(std::size_t party) const { return (f_[party] - model_).norm(); }
  double disagreement() const { return disagreement_; }  // the largest distance, over all processes

 private:
  const algorithm::Plan& plan_;
  network::Ranks& ranks_;
  int count_ = 0;             // rounds in sum_
  std::vector<Vector> last_;  // what each node holds; a trainer's stands at the very end
  std::vector<Vector> sum_;
  std::vector<Vector> f_;
  Vector model_;
  double disagreement_ = 0;
};

}  // namespace parley::run
