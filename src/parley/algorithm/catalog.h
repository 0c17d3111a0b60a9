// The peer-to-peer family as a table: the algorithms share (P), (D) and (R) and differ only in these facts
// (docs/algorithms.md).
#pragma once
#include <string>
#include <vector>

namespace parley::algorithm {

struct Algorithm {
  std::string name;
  std::string title;
  std::string source;    // where it is defined
  bool recycled;         // every even round is (R)
  bool growing;          // the penalty may grow
  bool noisy;            // has noise by definition
  bool on_output;        // the noise stands on the output by definition (pvp)
  bool on_penalty;       // b = 2ηV·ε with ε of the given rate (pp)
  bool first_dual_step;  // common dual step: the smallest penalty of round 1, fixed (ZKL18), instead of each round's
};

const std::vector<Algorithm>& algorithms();
const Algorithm& algorithm_named(const std::string& name);
std::vector<std::string> algorithm_names();

}  // namespace parley::algorithm
