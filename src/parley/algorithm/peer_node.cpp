#include "parley/algorithm/peer_node.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {

Vector snap(const Vector& value, double bound, double grid) {
  return value.unaryExpr([=](double x) { return std::nearbyint(std::clamp(x, -bound, bound) / grid) * grid; });
}

PeerNode::PeerNode(problem::Problem problem, Schedule schedule) : problem_(problem), schedule_(std::move(schedule)) {
  state_.f = state_.dual = state_.gradient = Vector::Zero(problem_.features());
}

std::unique_ptr<Node> make_node(const problem::Problem& problem, const Schedule& schedule) {
  problem::check_rows(*problem.rows, problem.loss);
  return std::make_unique<PeerNode>(problem, schedule);
}

// After a round that touched data the dual moves by the values released in it; after a recycled one it stays (ZKL20
// (11), (17)).
State PeerNode::settled(const Inbox& inbox) const {
  State s = state_;
  if (schedule_.touches_data(s.round))
    s.dual = dual_update(s, inbox, schedule_.private_round(s.round).dual_step);  // (D)
  return s;
}

privacy::Release PeerNode::step(const Inbox& inbox, privacy::Random& random) const {
  const int round = state_.round + 1;
  privacy::Release release{.node = schedule_.node, .round = round, .value = state_.f, .charge = {}};
  if (round == 0) {  // the start: no data in it
    if (schedule_.random_start)
      release.value =
          privacy::gaussian_vector(state_.f.size(), 1 / std::sqrt(static_cast<double>(state_.f.size())), random);
  } else {
    expects(static_cast<int>(inbox.size()) == schedule_.degree, "a released value from every neighbour");
    const State s = settled(inbox);
    const PrivateRound& now = schedule_.private_round(round);
    if (!schedule_.touches_data(round)) {
      release.value = recycled_step(s, inbox, now.penalty, now.damping);  // (R): free
    } else {
      // Privacy: the minimum is certified to ‖∇J‖ ≤ tolerance; it leaves with noise in the objective and/or on the
      // output, and its charge.
      Vector b = Vector::Zero(s.f.size());
      if (now.objective_rate > 0) b = privacy::gamma_norm_vector(b.size(), now.objective_rate, random);
      if (now.objective_scale > 0) b = privacy::gaussian_vector(b.size(), now.objective_scale, random);
      const auto solution = problem::argmin(problem_, primal_terms(s, inbox, now.penalty, b), s.f,
                                            {.tolerance = schedule_.tolerance});  // (P)
      expects(solution.certificate.bound() <= schedule_.tolerance, "a certified minimum");
      release.value = solution.f;
      if (now.output_rate > 0) release.value += privacy::gamma_norm_vector(b.size(), now.output_rate, random);
      if (now.output_scale > 0) release.value += privacy::gaussian_vector(b.size(), now.output_scale, random);
      expects(schedule_.noise == Noise::none ||
                  now.objective_rate + now.objective_scale + now.output_rate + now.output_scale > 0,
              "noise in what touched data");
      release.charge = now.charge;
    }
  }
  release.value = snap(release.value, schedule_.release_bound, schedule_.grid(round));
  return release;
}

void PeerNode::commit(const Inbox& inbox, const Vector& released) {
  const int round = state_.round + 1;
  State s = settled(inbox);
  if (schedule_.touches_data(round))
    s.gradient = recycled_gradient(s, inbox, schedule_.private_round(round).penalty, released);
  s.f = released;
  s.round = round;
  state_ = std::move(s);
}

}  // namespace parley::algorithm
