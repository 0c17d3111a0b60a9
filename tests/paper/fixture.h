// A study of N nodes with unlike data, driven in process by the product's own loop, beside the oracle (oracle.h), which
// shares no code with the product.
//   [ZKL18] Zhang, Khalili, Liu: M-ADMM with penalty perturbation, ICML 2018
//   [ZKL20] Zhang, Khalili, Liu: Recycled ADMM, IEEE TIFS 2020 (and its slides)
//   [HHCG20] Huang, Hu, Chan-Tin, Gong: DP-ADMM, IEEE TIFS 2020
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paper/oracle.h"
#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/star_node.h"
#include "parley/data/dataset.h"
#include "parley/network/graph.h"
#include "parley/run/driver.h"

namespace parley::paper {

inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// PARLEY_TEST_SHORT: the sanitizer build is some thirty times slower; sizes and rounds shrink, no clause is skipped.
bool short_run();
inline long shorter(long full, long less) {
  return short_run() ? less : full;
}

// ---- the study ------------------------------------------------------------------------------------------------------

struct Simulation {
  std::vector<data::Rows> rows;
  network::Graph graph;
  algorithm::Plan plan;
  std::vector<problem::Problem> problems;  // point into rows
  std::vector<Dense> dense;

  Simulation(std::vector<data::Rows> held, network::Graph who, const algorithm::Options& options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  int nodes() const { return graph.nodes(); }                    // who speaks; in a star the trainer is the last
  int parties() const { return static_cast<int>(rows.size()); }  // who holds rows
  Index features() const { return rows.front().features; }
  Index dimension() const { return problems.front().dimension(); }  // of f
  Vector optimum() const;                                           // of sum_i O_i, by the oracle
  Vector optimum_weighted(const std::vector<double>& share) const;  // of sum_i share_i O_i
  algorithm::PeerNode node(int i) const;
  // The papers release the exact minimum; the product adds a little charged noise on the output that covers the
  // solver's inexactness, and a grid that goes with it. Without them a released value is the minimum up to
  // tolerance/kappa and 2^-41.
  void without_solver_noise();
  void fine_grid();  // every released value on the grid 2^-40, as when there is no noise
  const algorithm::Schedule& schedule(int i) const { return plan.nodes[static_cast<std::size_t>(i)]; }
  double eta(int i, int round) const { return schedule(i).private_round(round).penalty; }
  double theta(int i, int round) const { return schedule(i).private_round(round).dual_step; }
  double gamma(int i, int round) const { return schedule(i).private_round(round).damping; }
  double rounding(int i, int round) const;  // the most that the public grid of released values moves a vector
  privacy::Inbox inbox(int i, const std::vector<Vector>& f) const;  // of node i when the nodes released f
};

// Synthetic records: node i draws them around its own centre and labels them by its own separator. B_i differ too.
std::vector<data::Rows> unlike_rows(int nodes, int records, int features, std::uint64_t seed = 1);
// Synthetic people, dealt by education: what a node sees of the others' population is nothing like its own.
std::vector<data::Rows> census_rows(int nodes, std::size_t records);
std::vector<data::Rows> alike_rows(int nodes, int records, int features);  // every node holds the same records

// The same records with other labels: a class number, 0 to classes - 1, or for classes = 0 a target in [-1, 1].
std::vector<data::Rows> relabelled(std::vector<data::Rows> all, int classes);

network::Graph five();    // five nodes, six edges, degrees 2 and 3, a triangle in it
network::Graph twenty();  // random, public seed

// Noiseless, C = 1, a regularisation that makes the problem converge in a few hundred rounds, a solver as exact as
// doubles.
algorithm::Options plain(const std::string& algorithm, long rounds);
// [ZKL20] Fig. 1(b): eta_i = 1, 1.03, 1.02, 0.8, 1.01, repeated over the nodes and scaled.
std::vector<double> figure_1b(int nodes, double scale);

// ---- a run ----------------------------------------------------------------------------------------------------------

struct Round {
  std::vector<Vector> f;     // f_i(t), as released; empty: silent, in a star
  std::vector<Vector> dual;  // lambda_i(t-1): a node settles lambda(t) when it has the neighbours' f(t); no trainer's
  std::vector<Vector> gradient;  // g_i in force after round t; peers only
  std::vector<privacy::Charge> charge;
};

struct Transcript {
  run::Outcome outcome = run::Outcome::completed;
  std::vector<Round> rounds;  // 0, 1, ...
  std::vector<double> spent;  // per node

  int last() const { return static_cast<int>(rounds.size()) - 1; }
  const std::vector<Vector>& f(int t) const { return rounds.at(static_cast<std::size_t>(t)).f; }
  const Vector& f(int t, int i) const { return f(t).at(static_cast<std::size_t>(i)); }
  const std::vector<Vector>& dual(int t) const { return rounds.at(static_cast<std::size_t>(t) + 1).dual; }  // lambda(t)
  const Vector& dual(int t, int i) const { return dual(t).at(static_cast<std::size_t>(i)); }
  const Vector& gradient(int t, int i) const {
    return rounds.at(static_cast<std::size_t>(t)).gradient.at(static_cast<std::size_t>(i));
  }
  double distance(int t, const Vector& target) const;  // max_i |f_i(t) - target|
  double distance(const Vector& target) const { return distance(last(), target); }
};

// run::drive with an in-memory ledger and the in-process transport.
Transcript drive(const Simulation& simulation, std::uint64_t seed = 1);

// The noise that every node drew in a round of drive(study, seed), where it draws one vector (in the objective, on the
// output or on the gradient): b_i, or n_i.
std::vector<Vector> replay(const Simulation& simulation, int round, std::uint64_t seed);

bool same_bits(const Vector& a, const Vector& b);
bool same_bits(const Transcript& a, const Transcript& b);  // every released value of every round

std::string scientific(double x);  // for RecordProperty

Matrix stacked(const std::vector<Vector>& f);  // N x d, a row per node, as the papers stack them

}  // namespace parley::paper
