// What the audit and the sampler tests need of statistics. Every bound is conservative: a probability is never
// understated.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace parley::audit {

// Kolmogorov–Smirnov: sup |F_n − F|, and P(sup ≥ distance) for n independent draws from F (Stephens' correction of the
// limit law).
double ks_distance(std::vector<double> sample, const std::function<double(double)>& cdf);
double ks_p_value(double distance, std::size_t n);

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0;  // variance with 1/n; kurtosis is 3 for the normal law
};
Moments moments(std::span<const double> sample);

double two_sided_p(double z);                    // P(|N(0,1)| ≥ |z|)
double chi_squared_p(double x, double degrees);  // P(χ² ≥ x)
double gamma_cdf(double x, double shape);        // P(Gamma(shape, 1) ≤ x)
double normal_cdf(double x);
double normal_quantile(double p);  // −∞ at 0, ∞ at 1
// The law of one coordinate of a uniform direction in d ≥ 2 dimensions: u² ~ Beta(½, (d − 1)/2), the sign is fair.
double sphere_coordinate_cdf(double u, double dimension);

// Clopper–Pearson: p lies above (below) the bound with probability ≥ 1 − alpha, whatever p is.
double binomial_lower(std::size_t successes, std::size_t trials, double alpha);
double binomial_upper(std::size_t successes, std::size_t trials, double alpha);

// A test of "world D" against "world D'": says D when the statistic is at least the cut. Pure ε-DP allows ln(P_D /
// P_D') ≤ ε for every such event, so a lower bound of that ratio is a lower bound of ε, whatever the statistic.
struct Cut {
  double threshold = 0;
  double epsilon = 0;  // lower bound with confidence 1 − alpha on the sample it was counted on
};
// The cut with the largest bound on this sample. Choosing makes the bound optimistic: count it again on a fresh sample.
Cut choose_cut(const std::vector<double>& in_d, const std::vector<double>& in_other, double alpha);
double epsilon_lower_bound(double threshold, std::span<const double> in_d, std::span<const double> in_other,
                           double alpha);

// The same tests against μ-GDP, which allows Φ⁻¹(1 − FPR) − Φ⁻¹(FNR) ≤ μ for every event: with upper bounds of both
// errors, each at alpha/2, the left side is a lower bound of μ with confidence 1 − alpha, whatever the statistic.
struct MuCut {
  double threshold = 0;
  double mu = 0;
};
MuCut choose_mu_cut(const std::vector<double>& in_d, const std::vector<double>& in_other, double alpha);
double mu_lower_bound(double threshold, std::span<const double> in_d, std::span<const double> in_other, double alpha);

// P_D(A) − e^ε P_D'(A) from below, A = "the statistic is at least the cut": (ε, δ)-DP allows at most δ.
double delta_lower_bound(double threshold, double epsilon, std::span<const double> in_d,
                         std::span<const double> in_other, double alpha);

}  // namespace parley::audit
