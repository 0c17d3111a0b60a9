// A data provider and the trainer of the star family (star.h). They speak in turn: message round 0 is the start,
// providers release w̃_i in odd rounds, the trainer w̄ in even ones; who is silent releases an empty value.
#pragma once
#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/algorithm/star.h"
#include "parley/algorithm/start.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {

class ProviderNode : public Node {
 public:
  ProviderNode(problem::Problem problem, Schedule schedule, const Start& start = {});

  int id() const override { return schedule_.node; }
  bool has_next() const override { return state_.round < schedule_.rounds; }
  privacy::Release step(const privacy::Inbox& inbox, privacy::Random& random) const override;
  void commit(const privacy::Inbox& inbox, const Vector& released) override;
  Vector iterate() const override { return state_.w; }

  const ProviderState& state() const { return state_; }

 private:
  const Vector& trainer_value(const privacy::Inbox& inbox) const;
  ProviderState settled(const Vector& w_bar) const;  // (3c), once the trainer has answered

  problem::Problem problem_;
  Schedule schedule_;
  double owed_;  // ρ of the dual update that the trainer's value of round 0 stands for
  ProviderState state_;
  mutable problem::Anchor hessian_;  // a cache: follows from state_.anchor and the rows
};

// Privacy: has no rows; everything it releases is a function of what it received.
class TrainerNode : public Node {
 public:
  TrainerNode(const Plan& plan, Index dimension, const Start& start = {});

  int id() const override { return id_; }
  bool has_next() const override { return state_.round < rounds_; }
  privacy::Release step(const privacy::Inbox& inbox, privacy::Random& random) const override;
  void commit(const privacy::Inbox& inbox, const Vector& released) override;
  Vector iterate() const override { return state_.w; }

 private:
  int id_;
  long rounds_;
  double penalty_, release_bound_, grid_;
  TrainerState state_;
};

}  // namespace parley::algorithm
