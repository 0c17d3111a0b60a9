// The algorithms as a table. The peer-to-peer family shares (P), (D) and (R) (consensus.h), the star family the
// provider's and the trainer's step (star.h); within a family they differ only in these facts
// (docs/check/algorithms-equations.md).
#pragma once
#include <string>
#include <vector>

namespace parley::algorithm {

struct Algorithm {
  std::string name;
  std::string title;
  std::string source;            // where it is defined
  bool recycled = false;         // every even round is (R)
  bool growing = false;          // the penalty may grow
  bool noisy = false;            // has noise by definition
  bool on_output = false;        // the noise stands on the output by definition
  bool on_penalty = false;       // b = 2ηV·ε with ε of the given rate (pp)
  bool first_dual_step = false;  // common dual step: the smallest penalty of round 1, fixed (ZKL18), instead of each's
  bool star = false;             // data providers around a trainer, instead of peers on a graph
  bool sums = false;             // sums over rows at common points go to everybody (newton/), instead of iterates
  bool curved = false;           // with second moments in the first of these rounds; without: momentum
  bool linear = false;           // a closed form from one gradient, instead of a minimum; the noise stands on it
};

const std::vector<Algorithm>& algorithms();
const Algorithm& algorithm_named(const std::string& name);
std::vector<std::string> algorithm_names();

}  // namespace parley::algorithm
