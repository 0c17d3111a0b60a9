// One party of newton or dp-gd: round 0 releases the start, rounds 1 … T the sums (C) and (G), round T + 1 the model. Its
// inbox has the releases of all other parties.
#pragma once
#include "parley/algorithm/newton/newton.h"
#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/algorithm/start.h"
#include "parley/problem/objective.h"

namespace parley::algorithm::newton {

class NewtonNode : public Node {
 public:
  NewtonNode(const problem::Problem& problem, Schedule schedule, const Start& start = {});

  int id() const override { return schedule_.node; }
  bool has_next() const override { return state_.round < schedule_.rounds; }
  privacy::Release step(const privacy::Inbox& inbox, privacy::Random& random) const override;
  void commit(const privacy::Inbox& inbox, const Vector& released) override;
  Vector iterate() const override { return has_next() ? state_.model() : own_; }  // in the end as it was released
  const Estimate* estimate() const override { return state_.estimate.get(); }

 private:
  State settled(const privacy::Inbox& inbox) const;  // (Q), (N) once everybody's release of the last round is here

  problem::Problem problem_;
  Schedule schedule_;
  State state_;
  Vector own_;  // what it released last
};

}  // namespace parley::algorithm::newton
