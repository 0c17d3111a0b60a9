// How often the best guesser is right: two worlds that differ in one record, each with probability ½, and everything
// that the run released. From the trade-off curve of the mechanism, rounded up (the text to 1e-12).
//   μ-GDP           ½ + TV/2 with TV = δ_μ(0) = 2Φ(μ/2) − 1, so Φ(μ/2)         Dong, Roth, Su 2022, Proposition 2.11
//   any (ε, δ)      (e^ε + δ)/(e^ε + 1): e^ε and δ alone bound TV by (e^ε − 1 + 2δ)/(e^ε + 1)
#pragma once
#include <string>
#include <vector>

namespace parley::report {

// What (ε, δ) stands for: Gaussian noise with the largest μ that has δ_μ(ε) ≤ δ, or nothing more than itself.
enum class TradeOff { gaussian, any };

struct Claim {
  double epsilon = 0, delta = 0;
  TradeOff curve = TradeOff::any;
};
double best_guess(double epsilon, double delta, TradeOff curve);
// Of somebody who sees all of these runs, on the same rows: √Σμ² where all are Gaussian, otherwise Σε and Σδ.
double best_guess(const std::vector<Claim>& runs);
std::string guess_text(double probability);  // "55.4 %", rounded up

}  // namespace parley::report
