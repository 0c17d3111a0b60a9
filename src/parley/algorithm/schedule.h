// The public plan of a run, worked out before data is touched: each node's penalties, dual steps, damping, noise and
// charges. `train` follows it and `account` prints it, so what is claimed is what is done.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/catalog.h"
#include "parley/algorithm/newton/newton.h"
#include "parley/algorithm/options.h"
#include "parley/privacy/gaussian_round.h"
#include "parley/privacy/release.h"
#include "parley/privacy/shared_noise.h"
#include "parley/problem/loss.h"
#include "parley/problem/objective.h"

namespace parley::algorithm {

// Second moments that an earlier part of a run has released (newton): the noise of an entry of their sum, of how many
// records it is.
struct EarlierMoments {
  double noise = 0, records = 0;
};

// What is public about the network before round 1.
struct Setting {
  std::vector<int> degree;      // V_i
  std::vector<double> records;  // B_i
  long features = 0;            // d; 0: unknown (accounting needs none; planning gamma noise and l1 step sizes do)
  int classes = 2;              // of a softmax loss
  long entries = 0;             // the most non-zeros of a row, by the schema; 0: d
  long earlier = 0;             // private rounds of earlier parts of the run: schedules go on where those ended
  long rows_per_person = 0;     // g: all charges are for a person with up to g rows; 0: for one row
  std::optional<EarlierMoments> moments{};  // newton: then this part releases none
  int nodes() const { return static_cast<int>(degree.size()); }
};

// What is public about the rows before an algorithm is chosen.
struct RowSize {
  long features = 0;  // d; 0: unknown
  long entries = 0;   // the most non-zeros of a row, by the schema; 0: unknown
  int parties = 2, classes = 2;
};

// One private round of one node.
struct PrivateRound {
  double penalty = 0;              // η_i(k)
  double dual_step = 0;            // θ(k)
  double damping = 0;              // γ(k)
  double step_size = 0;            // of a linearised update
  double objective_rate = 0;       // rate of gamma noise b in the objective; 0: none
  double output_rate = 0;          // rate of gamma noise on the minimum; 0: none
  double objective_scale = 0;      // standard deviation of Gaussian noise b in the objective; 0: none
  double output_scale = 0;         // standard deviation of Gaussian noise on the minimum; 0: none
  double gradient_rate = 0;        // rate of gamma noise on the gradient of a linearised update; 0: none
  double gradient_scale = 0;       // standard deviation of Gaussian noise on it; 0: none
  double curvature_scale = 0;      // standard deviation of Gaussian noise on second moments; 0: none
  double curvature_tolerance = 0;  // what adding up products rounds by
  double hessian_scale = 0;        // of the final phase (newton): on Σ L'' x xᵀ,
  double spread_scale = 0;         // on Σ (L')² x xᵀ,
  double square_scale = 0;         // and on Σ y²; 0: none is released
  double strong_convexity = 0;     // κ
  double divisor = 0;              // of a linearised update: ρ + 1/s or 2ηV + 1/s
  double grid = 0x1p-40;           // what touched data is released in multiples of this power of two
  bool proved = true;              // false: charge.mu rests on a numerically verified bound
  privacy::Charge charge;

  double largest_objective_noise(double dimension) const;  // ‖b‖ that the sampler can give at most
};

struct Schedule {
  Algorithm algorithm;
  int node = 0;
  int degree = 0;   // V_i; a data provider has one neighbour, the trainer
  long rounds = 0;  // of messages; in a star the providers speak in odd ones and the trainer in even ones
  Noise noise = Noise::none;
  Place place = Place::objective;
  privacy::Bound bound = privacy::Bound::proved;
  double delta = 0;
  problem::Loss loss;
  double weight = 0;          // C_i/B_i; in the objective times a record's class weight
  double regularization = 0;  // ρ/N on ½‖f‖²
  double l1 = 0;              // ρ/N on ‖f‖₁
  double tolerance = 0;       // on ‖∇J‖, or on the rounding of a linearised update's gradient, absolute; 0: exact
  bool diameter_at_point =
      false;              // a linearised update's noise follows Diam(‖f‖) at the released f, at the same charge
  bool anchored = false;  // iterates move so little that a Hessian may serve several rounds (problem::Anchor)
  bool random_start = false;
  double release_bound = 1000;
  long rows_per_person = 0;                  // of Setting
  privacy::Sharing sharing;                  // scales of rounds are √v: the noise given everybody else's
  std::optional<newton::Terms> sums{};       // of the algorithms that exchange sums
  std::vector<PrivateRound> private_rounds;  // k = 1, 2, … of this run, or of this part of it
  double epsilon = 0;                        // at delta, whole run, against the colluders that are allowed for
  double epsilon_all_others = 0;        // the same against all other parties together: larger where noise is shared
  bool verified_only = false;           // epsilon rests on a numerically verified bound, not on a proof
  std::optional<double> epsilon_paper;  // as printed, whole run
  std::string epsilon_paper_absent;     // why not
  std::string theorem;                  // what epsilon rests on
  std::string paper_equation;           // what epsilon_paper is

  long group() const { return std::max(1L, rows_per_person); }  // rows that one price covers
  double largest_record_weight() const;                         // C_i/B_i times the largest class weight, rounded up
  problem::Loss summed_loss() const;                            // of sums over rows: with its slopes cut
  bool alternates() const { return algorithm.recycled || algorithm.star; }
  bool touches_data(int round) const {
    if (sums) return round >= 1 && round <= sums->rounds;  // the last one is the model
    return round >= 1 && (!alternates() || round % 2 == 1);
  }
  double grid(int round) const {
    return touches_data(round) ? private_round(round).grid : finest_grid();
  }  // of released coordinates
  double curvature_of(double penalty) const { return algorithm.star ? penalty : 2 * penalty * degree; }  // ρ, or 2ηV
  double finest_grid() const;  // 2⁻⁴⁰, or what leaves multiples up to the release bound exact in a double
  const PrivateRound& private_round(
      int round) const;  // the one in force in `round`; recycled rounds use that of the round before
};

// In the first private round: the standard deviation of Gaussian noise, the rate of gamma noise.
double first_noise_level(const Schedule& schedule);

// f(·) of this node on its rows: the loss and the regulariser with the weights of the plan.
problem::Problem problem_of(const data::Rows& rows, const Schedule& schedule);

// What a run costs, at δ: against the colluders that its plan allows for, and against all other parties together.
struct Cost {
  double epsilon = 0, all_others = 0;
};

struct Plan {
  std::vector<Schedule> nodes;
  Options options;                          // with everything that was left open filled in
  std::optional<double> tolerance_given{};  // as the options had it: a later part of a run may need another
  bool average = false;
  long features = 0;  // of a row, as the setting had them; 0: not known
  std::vector<std::string> warnings;
  bool noisy() const { return nodes.front().noise != Noise::none; }
  bool star() const { return nodes.front().algorithm.star; }  // there is a trainer, node number nodes.size()
  bool speaks(int node, int round) const {  // in a star: providers in odd rounds, the trainer in even ones
    return !star() || round == 0 || (node == static_cast<int>(nodes.size())) == (round % 2 == 0);
  }
  Index size(int node, int round, Index dimension) const;            // of a released value; 0: it is silent
  Index largest_size(Index dimension) const;                         // of all of them
  bool passed_on() const { return nodes.front().sums.has_value(); }  // releases reach everybody, not neighbours alone
  bool verified_only() const;
  double epsilon() const;             // largest of the nodes
  double epsilon_all_others() const;  // the same against all other parties together
  Cost cost() const { return {.epsilon = epsilon(), .all_others = epsilon_all_others()}; }
  const privacy::Sharing& sharing() const { return nodes.front().sharing; }
  std::optional<double> epsilon_paper() const;  // absent when any node's is
  std::string epsilon_paper_absent() const;
};

long private_rounds(const Algorithm& algorithm, long rounds);  // ⌊(T+1)/2⌋ when recycled

// What all families have of node i's schedule. Every option is filled in.
Schedule begun(const Options& filled, const Algorithm& algorithm, const Setting& setting, int i);

inline constexpr auto shared_noise_theorem =
    "; noise that cancels between parties (docs/proofs/shared-noise.md, theorem S1)";

// What a claim rests on, with the theorems of shared noise and of several rows of a person where they are needed.
std::string whole_theorem(const std::string& theorem, const Schedule& schedule);

// exact: account for the exact minimum instead of a certified approximate one.
Plan make_plan(const Options& options, const Setting& setting, bool exact = false);

}  // namespace parley::algorithm
