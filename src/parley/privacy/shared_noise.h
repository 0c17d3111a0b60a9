// Noise that cancels between parties. Party i's noise in one release is
//   b_i = s n_i + p Σ_{j≠i} ±z_ij,   n_i its own, z_ij = z_ji known to i and j alone, + for i < j, − for i > j,
// all N(0, I). Over all N parties the z cancel: the sum carries s√N only. Against c parties that pool what they know the
// others' noise has the covariance s²I + p²L, L the Laplacian of the pairs among these h = N − c, so that b_i is
// N(m, v I) given everybody else's, with
//   v = 1/((s²I + p²L)⁻¹)_ii = 1/( (1/h)/s² + ((h − 1)/h)/(s² + h p²) )
// The proof is in docs/proofs/shared-noise.md. c = N − 1, everybody else together: v = s².
#pragma once

namespace parley::privacy {

struct SharedNoise {
  double own = 1;   // s
  double pair = 0;  // p; 0: nothing is shared
};

// Who shares noise with whom in a run: the same for all its parties.
struct Sharing {
  int parties = 0;
  int colluders = 0;  // how many of them may pool what they know
  SharedNoise noise{};
  bool on() const { return noise.pair > 0; }
  double of_one() const;  // standard deviation of one party's noise against √v: √(s² + (N − 1)p²)
  double own_of(double scale) const { return on() ? scale * noise.own * (1 - 1e-15) : scale; }  // never above s
};

// Never above v. parties ≥ 2, 1 ≤ colluders < parties.
double conditional_variance(int parties, int colluders, const SharedNoise& noise);

// s and p for v = 1 with s² + h p² = m: m = 100 is within 1 % of the least s, 1/√h. Fewer than two honest parties share
// nothing. conditional_variance of the result is at least 1.
SharedNoise shared_noise_for(int parties, int colluders, double m = 100);

}  // namespace parley::privacy
