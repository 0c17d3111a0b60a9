// Row subsampling. [Literature: Balle, Barthe, Gaboardi 2018, Theorem 9; not proved in docs/, so not claimed by any
// algorithm here.]
#pragma once

namespace parley::privacy {

struct Approximate {
  double epsilon = 0, delta = 0;
};

// One round that is (ε, δ)-DP under replace-one, run on a fresh, secret, uniform sample without replacement of m
// of the B rows, is (ln(1 + q(e^ε − 1)), qδ)-DP under replace-one, q = m/B. m and B are public. Rounded up.
Approximate subsampled(Approximate round, long sample, long rows);

}  // namespace parley::privacy
