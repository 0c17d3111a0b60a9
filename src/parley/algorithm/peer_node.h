// One node of the peer-to-peer family: round 0 releases the start, then (P) or (R) by the schedule (consensus.h).
#pragma once
#include "parley/algorithm/consensus.h"
#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

class PeerNode : public Node {
 public:
  PeerNode(problem::Problem problem, Schedule schedule);

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

// Released coordinates are clamped to the public bound and rounded to multiples of 2⁻⁴⁰: |value| ≤ 2000 leaves them exact in a double,
// and the low bits, where floating-point noise has gaps, are gone. A function of the noisy value alone, hence free.
Vector snap(const Vector& value, double bound);

}  // namespace parley::algorithm
