// What a transcript says about the world it comes from. Whoever knows the plan, what the node received and what it
// released knows the noise of either world; the attackers in one_round.cpp (minima between peers) and linear.cpp
// (linearised updates, and minima around a trainer) work it out from the papers' equations.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "parley/audit/scene.h"

namespace parley::audit {

// What speaks for D, larger is stronger.
struct Evidence {
  double log_ratio = 0;
  std::array<double, 2> log_density{};  // of the transcript in D and D', up to one constant
  double quiet = 0;  // −min_t rate·‖b_D(t)‖, or of ‖b_D(t)‖/scale: a noise that is missing, or too often small
  double echo = 0;   // −min ‖b_D(t) − b_D(t')‖: the same noise twice
  double bare = 0;  // −‖f̂ − f_D‖, f̂ the value without noise as a recycled step or a dual would betray it, f_D that of D
  double free_residual =
      0;  // check C: the largest departure of a recycled round from its formula, beyond the rounding to the public grid
};
Evidence weigh(const Scene& scene, const Transcript& transcript);

// The statistics that are tried.
struct Statistic {
  const char* name;
  double Evidence::* member;
};
const std::array<Statistic, 4>& statistics();

// Transcripts of both worlds, weighed: what is tried on the first half of them is tested on the second.
struct Observed {
  double claim = 0;  // that of every transcript
  double free_residual = 0;
  std::array<std::vector<Evidence>, 2> seen;  // by world
  std::vector<double> values(const Statistic& statistic, int world, bool first_half, double sign = 1) const;
};
// `runs` in each world. stream: so that two kinds of audit draw different noise. The noise is seeded.
Observed observe(const Scene& scene, const Mechanism& mechanism, double (*claimed)(const Transcript&), long runs,
                 std::uint64_t seed, int stream);

// The noises b_D of a transcript.
class Noises {
 public:
  void add(const Vector& noise, double size);  // size: in units of its scale
  bool several() const { return all_.size() > 1; }
  double quiet() const { return -quietest_; }
  double echo() const;

 private:
  std::vector<Vector> all_;
  double quietest_ = std::numeric_limits<double>::max();
};

}  // namespace parley::audit
