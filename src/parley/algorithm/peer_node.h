// One node of the peer-to-peer family: round 0 releases the start, then (P), (L) or (R) by the schedule (consensus.h).
#pragma once

#include "parley/algorithm/consensus.h"
#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/algorithm/start.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {

class PeerNode : public Node {
 public:
  PeerNode(problem::Problem problem, Schedule schedule, const Start& start = {});

  int id() const override { return schedule_.node; }
  bool has_next() const override { return state_.round < schedule_.rounds; }
  privacy::Release step(const Inbox& inbox, privacy::Random& random) const override;
  void commit(const Inbox& inbox, const Vector& released) override;
  Vector iterate() const override { return state_.f; }

  const State& state() const { return state_; }

 private:
  void check(const Inbox& inbox) const;
  State settled(const Inbox& inbox) const;  // (D), where the last round asks for it

  problem::Problem problem_;
  Schedule schedule_;
  double owed_;  // θ of the dual update that the values of round 0 stand for
  bool begun_;   // it starts where an earlier part of the run ended
  State state_;
  mutable problem::Anchor hessian_;  // a cache: follows from state_.anchor and the rows
};

}  // namespace parley::algorithm
