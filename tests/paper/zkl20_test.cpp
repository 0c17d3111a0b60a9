// [ZKL20], sections II to IV: the recycled algorithms, equation by equation, and their convergence.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "paper/fixture.h"

namespace parley::paper {
namespace {

// Fig. 1(b): penalties of their own, growing at their own pace; the papers' dual step (15) has the node's penalty in
// it.
algorithm::Options own(const std::string& algorithm, long rounds) {
  auto o = plain(algorithm, rounds);
  o.penalty = figure_1b(5, 0.05);
  if (algorithm == "mr-admm") o.penalty_growth = {1.05, 1.025, 1.015, 1.075, 1.05};
  o.dual_step = "penalty";
  o.start = "random";
  return o;
}

// Every equation of a transcript again, from data: the oracle's minimum, the true gradient, sums over neighbours.
void check_updates(const Simulation& simulation, const Transcript& run, const std::vector<std::vector<Vector>>& noise,
                   double tolerance) {
  const Index d = simulation.features();
  for (int t = 1; t < run.last(); ++t)
    for (int i = 0; i < simulation.nodes(); ++i) {
      const double eta = simulation.eta(i, t), degree = simulation.graph.degree(i);
      Vector twice_centres = Vector::Zero(d), now = Vector::Zero(d), before = Vector::Zero(d);
      for (const int j : simulation.graph.neighbours(i)) {
        twice_centres += run.f(t - 1, i) + run.f(t - 1, j);
        now += run.f(t, i) - run.f(t, j);
        before += run.f(t - 1, i) - run.f(t - 1, j);
      }
      const Dense& o = simulation.dense[at(i)];
      if (t % 2 == 1) {
        const Vector b = noise.empty() ? Vector::Zero(d) : noise[at(t)][at(i)];
        const Vector exact = minimise(o, 2 * run.dual(t - 1, i) + b - eta * twice_centres, 2 * eta * degree);
        EXPECT_LT((run.f(t, i) - exact).norm(), tolerance) << "(12), (14), (18): round " << t << " node " << i;
        EXPECT_LT((run.dual(t, i) - run.dual(t - 1, i) - simulation.theta(i, t) / 2 * now).norm(), 1e-13)
            << "(13), (15)";
        const Vector kkt =
            b + o.gradient(run.f(t, i)) + 2 * run.dual(t - 1, i) + eta * (2 * degree * run.f(t, i) - twice_centres);
        EXPECT_LT(kkt.norm(), tolerance) << "(29): round " << t << " node " << i;
        EXPECT_LT((run.gradient(t, i) - b - o.gradient(run.f(t, i))).norm(), tolerance)
            << "recycled: round " << t << " node " << i;
      } else {
        const Vector b = noise.empty() ? Vector::Zero(d) : noise[at(t - 1)][at(i)];
        const Vector g = b + o.gradient(run.f(t - 1, i));  // from data, which the product no longer touches
        const Vector step = (g + 2 * run.dual(t - 1, i) + eta * before) / (2 * eta * degree + simulation.gamma(i, t));
        EXPECT_LT((run.f(t, i) - (run.f(t - 1, i) - step)).norm(), tolerance)
            << "(10), (16), (19): round " << t << " node " << i;
        EXPECT_TRUE(same_bits(run.dual(t, i), run.dual(t - 1, i))) << "(11), (17): round " << t << " node " << i;
      }
    }
}

// (10)-(13): R-ADMM, one penalty for all. (12) is read as ZKL18 (8) has it; see the departures.
TEST(ZKL20, Eq10to13_RecycledAdmm) {
  auto o = plain("r-admm", 7);
  o.start = "random";
  o.damping = 0.7;
  const Simulation simulation(unlike_rows(5, 25, 6), five(), o);
  check_updates(simulation, drive(simulation), {}, 1e-10);
}

// (14)-(17): MR-ADMM; the even round uses the penalty eta_i(2k-1) of the odd round before it.
TEST(ZKL20, Eq14to17_ModifiedRecycledAdmm) {
  const Simulation simulation(unlike_rows(5, 25, 6), five(), own("mr-admm", 9));
  for (int k = 1; k <= 4; ++k)
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(simulation.eta(i, 2 * k), simulation.eta(i, 2 * k - 1));
      EXPECT_EQ(simulation.theta(i, 2 * k - 1), simulation.eta(i, 2 * k - 1));
      if (k > 1) {
        EXPECT_GT(simulation.eta(i, 2 * k - 1), simulation.eta(i, 2 * k - 3));
      }
    }
  check_updates(simulation, drive(simulation), {}, 1e-10);
}

// (18), (19) and the KKT condition of (18): "eps + grad O(f(2k-1)) = -2 lambda(2k-2) - eta sum_j (2 f_i(2k-1) -
// f_i(2k-2) - f_j(2k-2))": with noise whose bits the test knows, the recycled gradient is b + grad O at the minimum.
TEST(ZKL20, Eq18and19_PrivateUpdatesRecycleTheNoisyGradient) {
  auto o = own("mr-admm", 9);
  o.noise = "gamma";
  o.noise_rate = {20};
  Simulation simulation(unlike_rows(5, 25, 6), five(), o);
  simulation.without_solver_noise();
  const Transcript run = drive(simulation, 5);
  std::vector<std::vector<Vector>> noise;
  for (int t = 0; t <= 9; ++t) noise.push_back(t % 2 == 1 ? replay(simulation, t, 5) : std::vector<Vector>{});
  EXPECT_GT(noise[1][0].norm(), 0.05);
  check_updates(simulation, run, noise, 1e-10);
}

// (20)-(25): the matrix forms; (24), (25) connect one odd round with the odd round before it.
TEST(ZKL20, Eq20to25_MatrixForms) {
  const Simulation simulation(unlike_rows(5, 25, 6), five(), own("mr-admm", 12));
  const Transcript run = drive(simulation);
  const Matrix minus = simulation.graph.laplacian(-1), plus = simulation.graph.laplacian(1),
               degree = (minus + plus) / 2;
  const auto w = [&](int t) {
    Vector v(5);
    for (int i = 0; i < 5; ++i) v[i] = simulation.eta(i, t);
    return Matrix(v.asDiagonal());
  };
  const auto inverse = [&](int t) {  // of D~ = 2 eta V + gamma
    Vector v(5);
    for (int i = 0; i < 5; ++i)
      v[i] = 1 / (2 * simulation.eta(i, t) * simulation.graph.degree(i) + simulation.gamma(i, t));
    return Matrix(v.asDiagonal());
  };
  const auto f = [&](int t) { return stacked(run.f(t)); };
  const auto dual = [&](int t) { return Matrix(2 * stacked(run.dual(t))); };
  const auto gradient = [&](int t) {
    std::vector<Vector> g;
    for (int i = 0; i < 5; ++i) g.push_back(simulation.dense[at(i)].gradient(run.f(t, i)));
    return stacked(g);
  };
  for (int odd = 1; odd + 1 < run.last(); odd += 2) {
    EXPECT_LT((f(odd + 1) - f(odd) + inverse(odd) * (gradient(odd) + dual(odd) + w(odd) * minus * f(odd))).norm(),
              1e-10);  // (20)
    EXPECT_LT((gradient(odd) + dual(odd - 1) + w(odd) * (2 * degree * f(odd) - plus * f(odd - 1))).norm(),
              1e-10);                                                                // (22)
    EXPECT_LT((dual(odd) - dual(odd - 1) - w(odd) * minus * f(odd)).norm(), 1e-13);  // (23)
    if (odd == 1) continue;
    const int last = odd - 2;
    const Matrix link = w(odd) * plus * inverse(last);
    EXPECT_LT((gradient(odd) + link * gradient(last) + w(odd) * plus * (f(odd) - f(last)) +
               link * w(last) * minus * f(last) + dual(odd) + link * dual(last))
                  .norm(),
              1e-10);                                                             // (24)
    EXPECT_LT((dual(odd) - dual(last) - w(odd) * minus * f(odd)).norm(), 1e-13);  // (25)
  }
}

// III-B.2: "If fix eta_i(2k-1) = eta, then MR-ADMM will be reduced to R-ADMM": bit for bit, with and without noise.
TEST(ZKL20, SecIIIB2_FixedPenaltiesReduceModifiedToRecycledAdmm) {
  for (const char* noise : {"none", "gamma"}) {
    auto mr = plain("mr-admm", 20), r = plain("r-admm", 20);
    mr.noise = r.noise = noise;
    mr.tolerance = r.tolerance = 1e-8;
    const Simulation a(unlike_rows(5, 25, 6), five(), mr), b(unlike_rows(5, 25, 6), five(), r);
    const Transcript first = drive(a, 9), second = drive(b, 9);
    EXPECT_TRUE(same_bits(first, second)) << noise;
    EXPECT_EQ(first.spent, second.spent);
  }
}

// Lemma 1: the limit is consensual and there is a Lambda* with 2 Lambda* = (D - A) X, (30) grad O(f*) + 2 Lambda* = 0
// and (31) (D - A) f* = 0.
TEST(ZKL20, Lemma1_FirstOrderOptimalityAtTheLimit) {
  const Simulation simulation(unlike_rows(5, 25, 6), five(), plain("mr-admm", 301));
  const Transcript run = drive(simulation);
  const int t = 300;
  std::vector<Vector> g;
  for (int i = 0; i < 5; ++i) g.push_back(simulation.dense[at(i)].gradient(run.f(t, i)));
  EXPECT_LT((stacked(g) + 2 * stacked(run.dual(t))).norm(), 1e-9);               // (30)
  EXPECT_LT((simulation.graph.laplacian(-1) * stacked(run.f(t))).norm(), 1e-9);  // (31)
  EXPECT_LT(stacked(run.dual(t)).colwise().sum().norm(), 1e-14);                 // in the column space of D - A
  EXPECT_GT(stacked(run.dual(t)).norm(), 0.01);
}

// Theorem 1 for R-ADMM: (iii) I + eta(D+A)D~^-1 > 2/(eta s)(D-A)^+ D_M and (iv) eta(D+A) > 2 eta(D+A)D~^-1 eta D + 2/s
// D_M, "for a sufficiently large gamma (iii)(iv) can be easily satisfied"; then R-ADMM converges. Read as symmetric
// parts; no bipartite graph.
TEST(ZKL20, Theorem1_ADampingThatSatisfiesTheConditionsConverges) {
  const auto graph = five();
  const Matrix minus = graph.laplacian(-1), plus = graph.laplacian(1), degree = (minus + plus) / 2;
  const double eta = 0.05, lipschitz = 0.25 + 0.2 / 5;
  const auto positive = [](const Matrix& m) {
    return Eigen::SelfAdjointEigenSolver<Matrix>((m + m.transpose()) / 2).eigenvalues().minCoeff() > 0;
  };
  const auto satisfied = [&](double gamma) {
    const Vector tilde = 2 * eta * degree.diagonal() + Vector::Constant(5, gamma);
    const Matrix inverse = tilde.cwiseInverse().asDiagonal(), squares = lipschitz * lipschitz * Matrix::Identity(5, 5);
    const double s = tilde.minCoeff();
    const Matrix pseudo = minus.completeOrthogonalDecomposition().pseudoInverse();
    return positive(Matrix::Identity(5, 5) + eta * plus * inverse - 2 / (eta * s) * pseudo * squares) &&  // (iii)
           positive(eta * plus - 2 * eta * eta * plus * inverse * degree - 2 / s * squares);              // (iv)
  };
  double gamma = 0.01;
  while (!satisfied(gamma)) gamma *= 2;
  EXPECT_LT(gamma, 1e3);
  auto o = plain("r-admm", 600);
  o.damping = gamma;
  const Simulation simulation(unlike_rows(5, 25, 6), graph, o);
  EXPECT_LT(drive(simulation).distance(simulation.optimum()), 1e-8);
}

// Algorithms 1-3: "generate f_i(0) randomly, lambda_i(0) = 0". The start is drawn without data, differs between nodes,
// and does not change where the run ends.
TEST(ZKL20, Algorithm1_AnyStartDrawnWithoutDataEndsAtTheOptimum) {
  auto random = plain("r-admm", 300), zero = random;
  random.start = "random";
  const Simulation a(unlike_rows(5, 25, 6), five(), random), b(unlike_rows(5, 25, 6), five(), zero),
      c(unlike_rows(5, 30, 6, 2), five(), random);
  const Transcript from_random = drive(a), from_zero = drive(b);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(same_bits(from_random.f(0, i), drive(c).f(0, i)));  // other data, same start
    EXPECT_GT(from_random.f(0, i).norm(), 0.1);
    EXPECT_TRUE(from_zero.f(0, i).isZero(0));
    EXPECT_TRUE(from_random.dual(0, i).isZero(0));
    EXPECT_EQ(from_random.rounds[0].charge[at(i)].epsilon, 0);
  }
  EXPECT_GT((from_random.f(0, 0) - from_random.f(0, 1)).norm(), 0.1);
  EXPECT_LT(from_random.distance(a.optimum()), 1e-8);
  EXPECT_LT(from_zero.distance(a.optimum()), 1e-8);
}

// VIII-A: "Larger gamma can result in smaller oscillation between even and odd iterations but will also lower the
// convergence rate".
TEST(ZKL20, SecVIIIA_LargerDampingMeansSmallerOscillationAndSlowerConvergence) {
  double step_before = 1e9, distance_before = 0;
  for (const double gamma : {0.0, 0.3, 1.0, 4.0}) {
    auto o = plain("r-admm", 60);
    o.penalty = {0.1};
    o.damping = gamma;
    const Simulation simulation(unlike_rows(5, 25, 6), five(), o);
    const Transcript run = drive(simulation);
    double step = 0;
    for (int i = 0; i < 5; ++i) step += (run.f(2, i) - run.f(1, i)).norm();  // round 1 is the same for every gamma
    EXPECT_LT(step, step_before);
    EXPECT_GT(run.distance(simulation.optimum()), distance_before);
    step_before = step;
    distance_before = run.distance(simulation.optimum());
  }
}

// III-B.3: "larger eta_i(2k-1) results in smaller update of the primal variable"; "increasing eta_i(2k-1) decreases the
// step size in both even and odd iterations", which "stabilizes the algorithm" under noise.
TEST(ZKL20, SecIIIB3_IncreasingPenaltiesDecreaseBothStepSizes) {
  double odd_before = 1e9, even_before = 1e9;
  for (const double growth : {1.0, 1.1, 1.2}) {
    auto o = plain("mr-admm", 40);
    o.noise = "gamma";
    o.noise_rate = {20};
    o.tolerance = 1e-8;
    o.penalty_growth = {growth};
    const Simulation simulation(unlike_rows(5, 25, 6), five(), o);
    const Transcript run = drive(simulation, 21);
    double odd = 0, even = 0;
    for (int t = 21; t <= 40; ++t)
      for (int i = 0; i < 5; ++i) (t % 2 == 1 ? odd : even) += (run.f(t, i) - run.f(t - 1, i)).norm();
    EXPECT_LT(odd, 0.7 * odd_before);
    EXPECT_LT(even, 0.7 * even_before);
    odd_before = odd;
    even_before = even;
  }
}

// Slides, "Numerical Results": "Decrease the step-size (increase eta and gamma) over iterations to stabilize the
// algorithm".
TEST(ZKL20, Slides_TheDampingMayGrowToo) {
  auto o = plain("r-admm", 9);
  o.damping = 0.3;
  o.damping_growth = 1.5;
  const Simulation simulation(unlike_rows(5, 25, 6), five(), o);
  for (int k = 1; k <= 4; ++k) EXPECT_DOUBLE_EQ(simulation.gamma(0, 2 * k), 0.3 * std::pow(1.5, k - 1));
  check_updates(simulation, drive(simulation), {}, 1e-10);
}

}  // namespace
}  // namespace parley::paper
