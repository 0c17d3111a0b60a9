// Where an audit takes place: two worlds D and D' that differ in one row of the audited node, its public plan, and an
// attacker who sends what it likes. The mechanism is the product itself, or a broken twin of it.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/data/dataset.h"
#include "parley/problem/objective.h"

namespace parley::audit {

// What left node 0 in one round, and what the node had received before.
struct Message {
  int round = 0;
  Vector received;               // of the round before: f_1, or the trainer's w̄
  Vector value;                  // f_0(round), or w̃_0
  double epsilon = 0;            // charged for it
  double mu = 0;                 // charged for it, where the noise is Gaussian
  std::optional<Vector> dual{};  // broken twins only: λ or γ as it stood in this round's update, sent along
};
using Transcript = std::vector<Message>;  // without the rounds in which a data provider is silent

struct Scene {
  algorithm::Schedule schedule;    // node 0's public plan
  std::array<data::Rows, 2> rows;  // of node 0 in D and in D'
  Vector start;                    // f_0(0); a data provider always starts at zero
  std::vector<Vector> neighbour;   // f_1(t), the attacker's choice; the last one stays
  std::vector<Vector> points{};    // where an attacker who answers what it hears wants the node; the last one stays
  // Its answer, in place of `neighbour`.
  Vector (*answer)(const Scene& scene, const Transcript& heard) = nullptr;

  const Vector& neighbour_at(int round) const;
  Vector received(const Transcript& heard) const;
  problem::Problem problem(int world) const;
};

// Node 0's rows in D and D': the first, or all of a person, are v = (±c, tilt) with c² + tilt² = 1, the others are the
// same in both.
std::array<data::Rows, 2> opposed_rows(long records, double tilt, double row_norm = 1, long of_person = 1);

// Plays node 0 from the committed start to its last round.
Transcript play(const Scene& scene, algorithm::Node& node, privacy::Random& random);

using Mechanism = std::function<Transcript(int world, privacy::Random& random)>;
Mechanism product(const Scene& scene);  // the product itself: step() of its node
// The same under a plan that was tampered with after it was priced: broken twins.
Mechanism product(const Scene& scene, const algorithm::Schedule& followed);

}  // namespace parley::audit
