// The golden numbers of accounting_golden.json (accounting.md of the specification): every key of that file, with its
// 13 digits. They come from a reference program in Python; its GDP values agree with 40-digit arithmetic to 1.4e-14.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "parley/privacy/gaussian.h"
#include "parley/privacy/gaussian_round.h"
#include "parley/privacy/jacobian_hull_test.h"
#include "parley/privacy/linear_round.h"
#include "parley/privacy/literature_test.h"
#include "parley/privacy/moments.h"
#include "parley/privacy/pure.h"

namespace parley::privacy {
namespace {

// C = 1750, ρ = 0.22, logistic loss: κ = ρ/N + 2ηV.
RoundFacts adult(double rows, double nodes, double penalty, double degree) {
  return {.gradient_weight = 1750 / rows, .strong_convexity = 0.22 / nodes + 2 * penalty * degree, .logistic = true};
}
const RoundFacts A = adult(8000, 5, 1, 2), M = adult(8000, 5, 0.5, 2), A20 = adult(2000, 20, 1, 3),
                 W{.gradient_weight = 1, .strong_convexity = 0.5, .logistic = true};

double sum(const std::vector<double>& rounds) {
  UpwardSum total;
  for (const double epsilon : rounds) total.add(epsilon);
  return total.value();
}
// 25 private rounds at A with η = 1.04^k.
std::vector<double> growing(double (*epsilon)(const RoundFacts&, double), double rate) {
  std::vector<double> rounds;
  for (int k = 1; k <= 25; ++k) rounds.push_back(epsilon(adult(8000, 5, std::pow(1.04, k), 2), rate));
  return rounds;
}
double mu(const RoundFacts& f, double scale) {
  return *objective_mu(f, scale, Bound::verified).value;
}
double factor(double ratio) {  // c(r) of gaussian_round.h
  return mu({.gradient_weight = 1, .strong_convexity = 1, .logistic = true}, ratio) * ratio / 2;
}
double scale_for(const RoundFacts& f, double epsilon) {  // 25 rounds, δ = 1e-5
  return *objective_scale_for(f, gdp_mu(epsilon, 1e-5) / 5, Bound::verified).value;
}
double zkl20_rate(const RoundFacts& f, double epsilon) {  // eq. (32) is affine in the rate
  return (epsilon - zkl20_epsilon(f, 0)) / (zkl20_epsilon(f, 1) - zkl20_epsilon(f, 0));
}

constexpr double closed = 1e-12, solved = 1e-11;  // relative: closed formulas, and what needs a root or a grid
enum class Safe { up, down, any };                // the side to which the function promises to round
struct Golden {
  std::string key;
  double golden, value, tolerance;
  Safe safe;
};

std::vector<Golden> golden_numbers() {
  return {
      {"gdp_delta(mu=1,eps=1)", 0.1269367375066, gdp_delta(1, 1), closed, Safe::up},
      {"gdp_delta(mu=1,eps=0)", 0.382924922548, gdp_delta(1, 0), closed, Safe::up},
      {"gdp_delta(mu=0.5,eps=1)", 0.006829594983115, gdp_delta(0.5, 1), closed, Safe::up},
      {"gdp_delta(mu=0.1,eps=0.2)", 0.0009374459593286, gdp_delta(0.1, 0.2), closed, Safe::up},
      {"gdp_delta(mu=2,eps=4)", 0.08495331867107, gdp_delta(2, 4), closed, Safe::up},
      {"gdp_delta(mu=0.3125,eps=1)", 9.442806103854e-05, gdp_delta(0.3125, 1), closed, Safe::up},
      {"gdp_eps(mu=1,delta=1e-05)", 4.377178095681, gdp_epsilon(1, 1e-05), solved, Safe::up},
      {"gdp_eps(mu=0.3125,delta=1e-05)", 1.183803481735, gdp_epsilon(0.3125, 1e-05), solved, Safe::up},
      {"gdp_eps(mu=0.5,delta=1e-06)", 2.25408465022, gdp_epsilon(0.5, 1e-06), solved, Safe::up},
      {"gdp_eps(mu=0.1,delta=1e-05)", 0.3406693646843, gdp_epsilon(0.1, 1e-05), solved, Safe::up},
      {"gdp_eps(mu=3,delta=1e-05)", 16.67549440283, gdp_epsilon(3, 1e-05), solved, Safe::up},
      {"gdp_mu(eps=0.1,delta=1e-05)", 0.0325207840562, gdp_mu(0.1, 1e-05), solved, Safe::down},
      {"gdp_mu(eps=0.5,delta=1e-05)", 0.1422105586693, gdp_mu(0.5, 1e-05), solved, Safe::down},
      {"gdp_mu(eps=1,delta=1e-05)", 0.2680511232113, gdp_mu(1, 1e-05), solved, Safe::down},
      {"gdp_mu(eps=1,delta=1e-06)", 0.2367043806634, gdp_mu(1, 1e-06), solved, Safe::down},
      {"gdp_mu(eps=2,delta=1e-05)", 0.5015516891697, gdp_mu(2, 1e-05), solved, Safe::down},
      {"gdp_mu(eps=4,delta=1e-05)", 0.9249308976669, gdp_mu(4, 1e-05), solved, Safe::down},
      {"gdp_mu(eps=8,delta=1e-05)", 1.666030597846, gdp_mu(8, 1e-05), solved, Safe::down},
      {"rdp_to_eps(gaussian mu=0.3125,delta=1e-5)", 1.291266045725, renyi_epsilon(0.3125, 1e-5), closed, Safe::up},
      {"A.kappa", 4.044, A.strong_convexity, closed, Safe::any},
      {"A.b", 0.05409248269041, A.jacobian(), closed, Safe::any},
      {"A.eps_paper_radmm(alpha=1.0)", 0.4753647378833, zkl20_epsilon(A, 1), closed, Safe::up},
      {"A.eps_glm(alpha=1.0)", 0.4509324993508, objective_epsilon_any_loss(A, 1), closed, Safe::up},
      {"A.eps_logistic(alpha=1.0)", 0.4375, objective_epsilon(A, 1), closed, Safe::up},
      {"A.eps_paper_radmm(alpha=0.1)", 0.08161473788328, zkl20_epsilon(A, 0.1), closed, Safe::up},
      {"A.eps_glm(alpha=0.1)", 0.05718249935085, objective_epsilon_any_loss(A, 0.1), closed, Safe::up},
      {"A.eps_logistic(alpha=0.1)", 0.04848396446046, objective_epsilon(A, 0.1), closed, Safe::up},
      {"A.total_paper(alpha=1,K=25)", 11.88411844708, sum(std::vector<double>(25, zkl20_epsilon(A, 1))), closed,
       Safe::up},
      {"A.total_logistic(alpha=1,K=25)", 10.9375, sum(std::vector<double>(25, objective_epsilon(A, 1))), closed,
       Safe::up},
      {"W.eps_paper_radmm(alpha=0.5)", 2.4, zkl20_epsilon(W, 0.5), closed, Safe::up},
      {"W.eps_glm(alpha=0.5)", 1.405465108108, objective_epsilon_any_loss(W, 0.5), closed, Safe::up},
      {"W.eps_logistic(alpha=0.5)", 1.201304672569, objective_epsilon(W, 0.5), closed, Safe::up},
      {"M.eps_paper_madmm(alpha=3)", 0.7328125, zkl18_epsilon(M, 3, 0.5, 2), closed, Safe::up},
      {"M.eps_logistic(penalty,alpha=3)", 0.65625, objective_epsilon(M, 3 / (2 * 0.5 * 2)), closed, Safe::up},
      {"A.eps_output_pure(zeta=1)", 0.1081849653808, output_epsilon(A, 1, 0), closed, Safe::up},
      {"A.alpha_for_pure(eps=1/25)", 0.07692771220286, *objective_rate_for(A, 1.0 / 25).value, solved, Safe::down},
      {"A.alpha_for_pure(eps=8/25)", 0.7314285714286, *objective_rate_for(A, 8.0 / 25).value, solved, Safe::down},
      {"A.alpha_for_pure(eps=0.05)", 0.1040562030305, *objective_rate_for(A, 0.05).value, solved, Safe::down},
      {"A.alpha_paper(eps=8/25)", 0.6448805991239, zkl20_rate(A, 8.0 / 25), closed, Safe::any},
      {"kov_delta(eps0=0.1,K=25,eps=1)", 0.006659010194326, pure_delta(std::vector<double>(25, 0.1), 1), closed,
       Safe::up},
      {"kov_eps(eps0=0.1,K=25,delta=1e-5)", 1.875356881275, pure_epsilon(std::vector<double>(25, 0.1), 1e-5), solved,
       Safe::up},
      {"kov_eps(eps0=0.4375,K=25,delta=1e-5)", 9.935284338275, pure_epsilon(std::vector<double>(25, 0.4375), 1e-5),
       solved, Safe::up},
      {"kov+gdp_eps(eps0=0.1,K=10,mu=0.3,delta=1e-5)", 1.649661060831,
       pure_epsilon(std::vector<double>(10, 0.1), 1e-5, 0.3), solved, Safe::up},
      {"A.mu_objective(sigma=7)", 0.0625, mu(A, 7), closed, Safe::up},
      {"A.mu_total(sigma=7,K=25)", 0.3125, gdp_compose(std::vector<double>(25, mu(A, 7))), closed, Safe::up},
      {"A.eps(sigma=7,K=25,delta=1e-5)", 1.183803481735,
       gdp_epsilon(gdp_compose(std::vector<double>(25, mu(A, 7))), 1e-5), solved, Safe::up},
      {"A.redberg_eps(add/remove,sigma=7,K=25,delta=1e-5)", 1.367979746728,
       renyi_epsilon([](double order) { return 25 * redberg_renyi(A, 7, order); }, 1e-5), closed, Safe::any},
      {"A.gdp_eps(add/remove,sigma=7,K=25,delta=1e-5)", 0.5540699784721, gdp_epsilon(5 * A.gradient_weight / 7, 1e-5),
       solved, Safe::up},
      {"redberg_delta(eps=0.5,L=.21875,sigma=1,beta=L/4,lam=4.044)", 0.002537677739166, redberg_delta(A, 1, 0.5),
       closed, Safe::any},
      {"redberg_rdp(order=10,L=.21875,sigma=7,beta=L/4,lam=4.044)", 0.04072757420928, redberg_renyi(A, 7, 10), closed,
       Safe::any},
      {"jac_factor(1.75)", 1.0, factor(1.75), closed, Safe::up},
      {"jac_factor(1.85)", 1.057142857143, factor(1.85), closed, Safe::up},
      {"jac_factor(2)", 1.124, factor(2), closed, Safe::up},
      {"jac_factor(4)", 1.358, factor(4), closed, Safe::up},
      {"jac_factor(16)", 2.762, factor(16), closed, Safe::up},
      {"jac_hull(2)", 1.115670223645, jacobian_hull(2), solved, Safe::any},
      {"jac_hull(2.5)", 1.168064870913, jacobian_hull(2.5), solved, Safe::any},
      {"jac_hull(3)", 1.223970727204, jacobian_hull(3), solved, Safe::any},
      {"jac_hull(4)", 1.340359859102, jacobian_hull(4), solved, Safe::any},
      {"jac_hull(8)", 1.806834214595, jacobian_hull(8), solved, Safe::any},
      {"jac_hull(16)", 2.682968454181, jacobian_hull(16), solved, Safe::any},
      {"A.mu_objective(sigma=12)", 0.04510555761622, mu(A, 12), closed, Safe::up},
      {"A.mu_output(sigma_f=1)", 0.1081849653808, output_mu(A, 1, 0), closed, Safe::up},
      {"A.mu_output(sigma_f=1,tau=1e-3)", 0.1086795252226, output_mu(A, 1, 1e-3), closed, Safe::up},
      {"A.mu_amp(tau=1e-6,sigma_out=1e-3)", 0.0004945598417409, inexact_mu(A.strong_convexity, 1e-6, 1e-3), closed,
       Safe::up},
      {"A.sigma(eps=2,delta=1e-5,K=25)", 4.361464724845, scale_for(A, 2), solved, Safe::up},
      {"A.sigma(eps=1,delta=1e-5,K=25)", 9.507947115663, scale_for(A, 1), solved, Safe::up},
      {"A.eps(sigma=sqrt(106),K=25,delta=1e-5)", 0.9360414484349,
       gdp_epsilon(gdp_compose(std::vector<double>(25, mu(A, std::sqrt(106.0)))), 1e-5), solved, Safe::up},
      {"A20.sigma(eps=4,delta=1e-5,K=25)", 9.460166183302, scale_for(A20, 4), solved, Safe::up},
      {"MR.total_paper(alpha=1,q=1.04,K=25)", 11.53113327444, sum(growing(zkl20_epsilon, 1)), closed, Safe::up},
      {"MR.total_logistic(alpha=0.15,q=1.04,K=25)", 1.648378639086, sum(growing(objective_epsilon, 0.15)), closed,
       Safe::up},
      {"MR.pure->eps(delta=1e-5,alpha=0.15)", 1.200425923096, pure_epsilon(growing(objective_epsilon, 0.15), 1e-5),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.01,delta=0.001)", 0.09877386766841,
       moments_epsilon(10 * dp_admm_mu(0.01, 0.001), 0.001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.01,delta=0.001)", 0.03693844828598,
       gdp_epsilon(10 * dp_admm_mu(0.01, 0.001), 0.001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.02,delta=0.001)", 0.1982489092167,
       moments_epsilon(10 * dp_admm_mu(0.02, 0.001), 0.001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.02,delta=0.001)", 0.09031094630732,
       gdp_epsilon(10 * dp_admm_mu(0.02, 0.001), 0.001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.05,delta=0.001)", 0.500881077141,
       moments_epsilon(10 * dp_admm_mu(0.05, 0.001), 0.001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.05,delta=0.001)", 0.2771640467395,
       gdp_epsilon(10 * dp_admm_mu(0.05, 0.001), 0.001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.07,delta=0.001)", 0.7061417251567,
       moments_epsilon(10 * dp_admm_mu(0.07, 0.001), 0.001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.07,delta=0.001)", 0.4145869665228,
       gdp_epsilon(10 * dp_admm_mu(0.07, 0.001), 0.001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.1,delta=0.001)", 1.019291501279, moments_epsilon(10 * dp_admm_mu(0.1, 0.001), 0.001),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.1,delta=0.001)", 0.6339064723447, gdp_epsilon(10 * dp_admm_mu(0.1, 0.001), 0.001),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.2,delta=0.001)", 2.108700390549, moments_epsilon(10 * dp_admm_mu(0.2, 0.001), 0.001),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.2,delta=0.001)", 1.448820471991, gdp_epsilon(10 * dp_admm_mu(0.2, 0.001), 0.001),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.01,delta=0.0001)", 0.09907547175975,
       moments_epsilon(10 * dp_admm_mu(0.01, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.01,delta=0.0001)", 0.05180361541939,
       gdp_epsilon(10 * dp_admm_mu(0.01, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.02,delta=0.0001)", 0.1986809703941,
       moments_epsilon(10 * dp_admm_mu(0.02, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.02,delta=0.0001)", 0.1147666992881,
       gdp_epsilon(10 * dp_admm_mu(0.02, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.05,delta=0.0001)", 0.5006908835738,
       moments_epsilon(10 * dp_admm_mu(0.05, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.05,delta=0.0001)", 0.3232694783795,
       gdp_epsilon(10 * dp_admm_mu(0.05, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.07,delta=0.0001)", 0.7047221534234,
       moments_epsilon(10 * dp_admm_mu(0.07, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.07,delta=0.0001)", 0.4718871202986,
       gdp_epsilon(10 * dp_admm_mu(0.07, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.1,delta=0.0001)", 1.014781630972,
       moments_epsilon(10 * dp_admm_mu(0.1, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.1,delta=0.0001)", 0.704808091374,
       gdp_epsilon(10 * dp_admm_mu(0.1, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.2,delta=0.0001)", 2.083424901546,
       moments_epsilon(10 * dp_admm_mu(0.2, 0.0001), 0.0001), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.2,delta=0.0001)", 1.545341373527,
       gdp_epsilon(10 * dp_admm_mu(0.2, 0.0001), 0.0001), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.01,delta=1e-05)", 0.09925799284668,
       moments_epsilon(10 * dp_admm_mu(0.01, 1e-05), 1e-05), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.01,delta=1e-05)", 0.06070378161968,
       gdp_epsilon(10 * dp_admm_mu(0.01, 1e-05), 1e-05), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.02,delta=1e-05)", 0.1989420227244,
       moments_epsilon(10 * dp_admm_mu(0.02, 1e-05), 1e-05), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.02,delta=1e-05)", 0.1298202078905,
       gdp_epsilon(10 * dp_admm_mu(0.02, 1e-05), 1e-05), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.05,delta=1e-05)", 0.500577744116,
       moments_epsilon(10 * dp_admm_mu(0.05, 1e-05), 1e-05), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.05,delta=1e-05)", 0.3525724918666,
       gdp_epsilon(10 * dp_admm_mu(0.05, 1e-05), 1e-05), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.07,delta=1e-05)", 0.7037653761136,
       moments_epsilon(10 * dp_admm_mu(0.07, 1e-05), 1e-05), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.07,delta=1e-05)", 0.508724488988, gdp_epsilon(10 * dp_admm_mu(0.07, 1e-05), 1e-05),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.1,delta=1e-05)", 1.011806414008, moments_epsilon(10 * dp_admm_mu(0.1, 1e-05), 1e-05),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.1,delta=1e-05)", 0.7509769568672, gdp_epsilon(10 * dp_admm_mu(0.1, 1e-05), 1e-05),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.2,delta=1e-05)", 2.067106736167, moments_epsilon(10 * dp_admm_mu(0.2, 1e-05), 1e-05),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.2,delta=1e-05)", 1.610316066704, gdp_epsilon(10 * dp_admm_mu(0.2, 1e-05), 1e-05),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.01,delta=1e-06)", 0.09938028870756,
       moments_epsilon(10 * dp_admm_mu(0.01, 1e-06), 1e-06), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.01,delta=1e-06)", 0.06667625541314,
       gdp_epsilon(10 * dp_admm_mu(0.01, 1e-06), 1e-06), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.02,delta=1e-06)", 0.1991168217244,
       moments_epsilon(10 * dp_admm_mu(0.02, 1e-06), 1e-06), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.02,delta=1e-06)", 0.1400895554617,
       gdp_epsilon(10 * dp_admm_mu(0.02, 1e-06), 1e-06), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.05,delta=1e-06)", 0.500469187995,
       moments_epsilon(10 * dp_admm_mu(0.05, 1e-06), 1e-06), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.05,delta=1e-06)", 0.3729790059695,
       gdp_epsilon(10 * dp_admm_mu(0.05, 1e-06), 1e-06), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.07,delta=1e-06)", 0.7031499796789,
       moments_epsilon(10 * dp_admm_mu(0.07, 1e-06), 1e-06), closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.07,delta=1e-06)", 0.5345786907143,
       gdp_epsilon(10 * dp_admm_mu(0.07, 1e-06), 1e-06), solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.1,delta=1e-06)", 1.00984236344, moments_epsilon(10 * dp_admm_mu(0.1, 1e-06), 1e-06),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.1,delta=1e-06)", 0.783671664527, gdp_epsilon(10 * dp_admm_mu(0.1, 1e-06), 1e-06),
       solved, Safe::up},
      {"dpadmm_ma_eps(T=100,eps=0.2,delta=1e-06)", 2.055300676678, moments_epsilon(10 * dp_admm_mu(0.2, 1e-06), 1e-06),
       closed, Safe::up},
      {"dpadmm_exact_eps(T=100,eps=0.2,delta=1e-06)", 1.65743017144, gdp_epsilon(10 * dp_admm_mu(0.2, 1e-06), 1e-06),
       solved, Safe::up},
      {"dpadmm_mu(eps=0.05,delta=1e-3)", 0.01323984403135, dp_admm_mu(0.05, 1e-3), closed, Safe::up},
      {"dpadmm_sigma(m=210,rho=1,eta=0.5,eps=0.1,delta=1e-3)", 0.119888239132,
       2.0 / 210 / (1 + 1 / 0.5) / dp_admm_mu(0.1, 1e-3), closed, Safe::up},
      {"logistic_grad_diameter(0)", 1.0, logistic_gradient_diameter(0), closed, Safe::up},
      {"logistic_grad_diameter(0.5)", 1.029109170418, logistic_gradient_diameter(0.5), closed, Safe::up},
      {"logistic_grad_diameter(1)", 1.099095477064, logistic_gradient_diameter(1), closed, Safe::up},
      {"logistic_grad_diameter(2)", 1.269841089858, logistic_gradient_diameter(2), closed, Safe::up},
      {"logistic_grad_diameter(5)", 1.617278089061, logistic_gradient_diameter(5), closed, Safe::up},
      {"logistic_grad_diameter(10)", 1.8208448689, logistic_gradient_diameter(10), closed, Safe::up},
      {"logistic_grad_diameter(100)", 1.9933216673, logistic_gradient_diameter(100), closed, Safe::up},
      {"subsample_wor(1,1e-5,q=0.1).eps", 0.1585650787404, subsampled({1, 1e-5}, 1, 10).epsilon, closed, Safe::up},
      {"subsample_wor(1,1e-5,q=0.1).delta", 1e-06, subsampled({1, 1e-5}, 1, 10).delta, closed, Safe::up},
  };
}

TEST(Golden, EveryNumberOfTheSpecificationIsReproducedAndNeverOnTheUnsafeSide) {
  const std::vector<Golden> rows = golden_numbers();
  std::set<std::string> keys;
  for (const Golden& row : rows) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_NEAR(row.value, row.golden, row.tolerance * row.golden) << row.key;
    const double half_a_digit = 5e-13 * row.golden;  // of the 13 that are printed
    EXPECT_TRUE(row.safe != Safe::up || row.value >= row.golden - half_a_digit) << row.key;
    EXPECT_TRUE(row.safe != Safe::down || row.value <= row.golden + half_a_digit) << row.key;
  }
  EXPECT_EQ(keys.size(), 131U);
}

// C/(Bκ) = 3.6 > 3.5: noise splitting does not apply, and Bound::verified stands on 0.89 + 0.117 r alone.
TEST(Golden, TheVerifiedFactorIsNeverBelowTheHullItStandsFor) {
  const RoundFacts heavy{.gradient_weight = 3.6, .strong_convexity = 1, .logistic = true};
  for (const double r : {1.8, 1.9, 2.1, 2.3, 2.7, 3.5, 5.0, 6.5, 10.0, 13.0, 16.0, 20.0, 40.0, 100.0, 300.0}) {
    const Mu claim = objective_mu(heavy, r, Bound::verified);
    EXPECT_FALSE(claim.proved);
    const double c = *claim.value * r / (2 * heavy.gradient_weight), hull = jacobian_hull(r);
    EXPECT_GE(c, hull) << r;
    EXPECT_LE(c, hull * 1.4) << r;
  }
}

}  // namespace
}  // namespace parley::privacy
