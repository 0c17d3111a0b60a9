// What the user left open, filled in before data is touched: which algorithm, and from (ε, δ), sizes and graph to noise,
// place and penalties. The rule of thumb (docs/use/planner.md): Gaussian noise in the objective where that is proved,
// split evenly over the private rounds; penalties such that the noise moves the least curved direction by σ/κ = 0.75 at
// every node, one common dual step, damping 8κ; the model is the average of the released iterates over the later half of
// the rounds, which is free.
#pragma once
#include <string>

#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

inline constexpr double usual_regularization = 0.22;

// δ of Gaussian noise where none is given: 1/(10 max B_i), rounded down to one digit, and at most 1e-5. With δ = 1/B_i
// publishing a record outright would be allowed. Sizes are public.
double default_delta(const std::vector<double>& records);

// Every "auto" and empty list replaced by what it stands for. Throws Error for contradictions.
Options fill_in(const Options& given, const Setting& setting);

struct Selected {
  std::string algorithm;  // a name of catalog.h
  std::string because;    // one clause; "" where the user named the algorithm
  bool by_planner() const { return !because.empty(); }
};

// --algorithm auto: which algorithm runs. One function of the options and of who takes part, all public; no row and no
// noise is looked at. The first rule that fits decides (docs/use/planner.md, section 1):
//   the plain hinge, which has a kink                           linear-admm; around a trainer dp-admm
//   an option that some algorithms alone have (--penalty, …)    one of those
//   a trainer takes part                                        star-pvp
//   no budget, also --noise none                                mr-admm, with the noise that is given
//   δ = 0, which needs gamma noise                              mr-admm
//   --colluders                                                 newton, in whose sums noise cancels
//   several classes (softmax), where it loses less              mr-admm
//   more features than all second moments fit for, no schema    mr-admm: newton's diagonal would guess
//   otherwise                                                   newton, which loses least (docs/check/frontier.md)
// trainer: one of those who take part holds no rows.
Selected select_algorithm(const Options& o, bool trainer, const RowSize& size = {});

problem::Loss loss_of(const Options& o, int classes = 2);

// Noise that parties share (privacy/shared_noise.h): none without --colluders, or with all others.
privacy::Sharing sharing_of(const Options& o, int nodes);

// The share of --regularization that stands on ‖f‖₁.
double l1_share(const Options& o);

// C_i/B_i, by --weighting.
double record_weight(const Options& o, const Setting& setting, int node);

}  // namespace parley::algorithm
