// One node of the peer-to-peer family: round 0 releases the start, then (P) or (R) by the schedule (consensus.h).
#pragma once
#include <memory>

#include "parley/algorithm/consensus.h"
#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

class PeerNode : public Node {
 public:
  PeerNode(problem::Problem problem, Schedule schedule);

  int id() const override { return schedule_.node; }
  bool has_next() const override { return state_.round < schedule_.rounds; }
  privacy::Release step(const Inbox& inbox, privacy::Random& random) const override;
  void commit(const Inbox& inbox, const Vector& released) override;

  const State& state() const { return state_; }

 private:
  State settled(const Inbox& inbox) const;  // (D), where the last round asks for it

  problem::Problem problem_;
  Schedule schedule_;
  State state_;
};

// What an engine runs. Privacy: rows that break the proofs' assumptions (‖x‖ ≤ 1, labels) never get into a node.
std::unique_ptr<Node> make_node(const problem::Problem& problem, const Schedule& schedule);

// Released coordinates are clamped to the public bound and rounded to the public grid: a function of the noisy value,
// hence free. |value| ≤ 2000 and grid ≥ 2⁻⁴⁰ leave them exact in a double.
Vector snap(const Vector& value, double bound, double grid);

}  // namespace parley::algorithm
