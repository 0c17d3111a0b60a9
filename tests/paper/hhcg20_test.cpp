// [HHCG20], sections II and III: Algorithms 1, 2 and 3, every released value again from the printed equations, by the
// oracle and with the noise's bits known. Letters as there: w~_i^k leaves provider i, w^k the trainer, gamma_i^k stays.
#include <gtest/gtest.h>

#include <cmath>

#include "paper/fixture.h"

namespace parley::paper {
namespace {

struct Case {
  std::string algorithm, loss, regularizer;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.algorithm + "_" + info.param.loss + "_" + info.param.regularizer;
  std::erase(name, '-');
  return name;
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.algorithm << ", " << c.loss << ", " << c.regularizer;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* algorithm : {"star-admm", "star-pvp", "dp-admm"})
    for (const char* loss : {"logistic", "hinge", "huber-hinge", "huber", "softmax"})
      for (const char* regularizer : {"l2", "l1", "elastic-net"})
        if (algorithm::algorithm_named(algorithm).linear || std::string(loss) != "hinge")
          all.push_back({algorithm, loss, regularizer});
  return all;
}

std::vector<data::Rows> rows_for(const std::string& loss) {
  const auto rows = unlike_rows(4, 20, 5);
  return loss == "softmax" ? relabelled(rows, 3) : loss == "huber" ? relabelled(rows, 0) : rows;
}

constexpr int providers = 4, rounds = 6;
constexpr double rho = 0.4;

algorithm::Options star(const Case& c) {
  auto o = plain(c.algorithm, rounds);
  o.loss = c.loss;
  o.regularizer = c.regularizer;
  o.l1_share = 0.3;
  o.penalty = {rho};
  if (c.algorithm != "star-admm") {
    o.noise = "gaussian";
    o.noise_scale = {0.05};
  }
  return o;
}

class Star : public testing::TestWithParam<Case> {
 protected:
  Star() : simulation_(rows_for(GetParam().loss), network::trainer_star(providers), star(GetParam())) {
    simulation_.fine_grid();
    run_ = drive(simulation_, 11);
  }
  const Vector& w(int k, int i) const { return run_.f(k == 0 ? 0 : 2 * k - 1, i); }  // w~_i^k
  const Vector& w_bar(int k) const { return run_.f(2 * k, providers); }              // w^k
  // gamma_i^k by line 8 of Algorithm 1, 9 of 2 and 10 of 3, from what was released.
  std::vector<Vector> gamma(int k) const {
    std::vector<Vector> g(providers, Vector::Zero(simulation_.dimension()));
    for (int j = 1; j <= k; ++j)
      for (int i = 0; i < providers; ++i) g[at(i)] -= rho * (w(j, i) - w_bar(j));
    return g;
  }
  Simulation simulation_;
  Transcript run_;
};

// (1a), line 4 of Algorithms 1 and 2: w_i^{k+1} = argmin L_rho(w_i, w^k, gamma_i^k); line 5: plus N(0, sigma_i^2).
// (3a), (3b), lines 4 to 6 of Algorithm 3: the closed form of section IV plus xi. The product's noise n stands on the
// gradient: xi = -n/(rho + 1/eta), the same law.
TEST_P(Star, TheProvidersReleaseThePrintedUpdate) {
  ASSERT_EQ(run_.outcome, run::Outcome::completed);
  ASSERT_EQ(run_.last(), 2 * rounds);
  for (int k = 0; k < rounds; ++k) {
    const std::vector<Vector> dual = gamma(k);
    const bool noisy = simulation_.plan.noisy();
    const auto noise = noisy ? replay(simulation_, 2 * k + 1, 11) : std::vector<Vector>{};
    for (int i = 0; i < providers; ++i) {
      const Dense& f_i = simulation_.dense[at(i)];
      Vector released;
      if (simulation_.schedule(i).algorithm.linear) {
        const double eta = simulation_.schedule(i).private_round(2 * k + 1).step_size, divisor = rho + 1 / eta;
        released = -(f_i.loss_gradient(w(k, i)) + f_i.regularizer_gradient(w(k, i)) - dual[at(i)] - rho * w_bar(k) -
                     w(k, i) / eta) /
                   divisor;
        released -= noise[at(i)] / divisor;
      } else {
        released = minimise(f_i, -dual[at(i)] - rho * w_bar(k), rho);
        if (noisy) released += noise[at(i)];
      }
      EXPECT_LT((w(k + 1, i) - released).norm(), 1e-10) << "round " << k + 1 << " provider " << i;
      if (noisy) {
        EXPECT_GT(noise[at(i)].norm(), 0.01);
      }
    }
  }
}

// (3c), line 6 of Algorithm 1, 7 of 2, 8 of 3: w^{k+1} = mean_i w~_i^{k+1} - mean_i gamma_i^k / rho.
// (3d): what the providers hold is gamma_i^{k+1} = gamma_i^k - rho(w~_i^{k+1} - w^{k+1}).
TEST_P(Star, TheTrainerAndTheDualsFollowThePrintedUpdates) {
  for (int k = 0; k < rounds; ++k) {
    const std::vector<Vector> dual = gamma(k);
    Vector mean = Vector::Zero(simulation_.dimension());
    for (int i = 0; i < providers; ++i) {
      mean += (w(k + 1, i) - dual[at(i)] / rho) / providers;
      EXPECT_LT((run_.dual(2 * k, i) - dual[at(i)]).norm(), 1e-13);
    }
    EXPECT_LT((w_bar(k + 1) - mean).norm(), 2e-12) << "round " << k + 1;
  }
}

// Line 1: "Initialize w^0, w_i^0, gamma_i^0": zero here. Then mean_i gamma_i^k = 0 for every k, and w^k is the mean of
// the w~_i^k, whatever the noise (up to the grid 2^-40 of released values).
TEST_P(Star, FromAZeroStartTheMeanOfTheDualsStaysZero) {
  for (int i = 0; i <= providers; ++i) EXPECT_TRUE(run_.f(0, i).isZero(0));
  for (int k = 1; k < rounds; ++k) {
    Vector sum = Vector::Zero(simulation_.dimension()), mean = sum;
    for (int i = 0; i < providers; ++i) {
      EXPECT_GT(run_.dual(2 * k, i).norm(), 0.01);
      sum += run_.dual(2 * k, i);
      mean += w(k, i) / providers;
    }
    EXPECT_LT(sum.norm(), 1e-11);
    EXPECT_LT((w_bar(k) - mean).norm(), 1e-11);
  }
}

// The paper's trainer "receives the noisy local primal variables and the local dual variables". It need not: gamma is a
// function of released values. Here anyone who saw them rebuilds all states, bit for bit, without a single row.
TEST_P(Star, TheTrainerCanFormTheDualsItself) {
  data::Rows none;
  none.features = simulation_.features();
  std::vector<algorithm::ProviderNode> blind;
  for (int i = 0; i < providers; ++i) {
    problem::Problem p = simulation_.problems[at(i)];
    p.rows = &none;
    blind.emplace_back(p, simulation_.schedule(i));
  }
  algorithm::TrainerNode trainer(simulation_.plan, simulation_.dimension());
  auto unused = privacy::Random::seeded(1, 1, 1, "none");
  privacy::Inbox from_trainer, from_providers;
  for (int t = 0; t <= run_.last(); ++t) {
    const Vector& said = run_.f(t, providers);
    const bool speaks = t % 2 == 0;  // and the providers in odd rounds; all at the start
    EXPECT_EQ(said.size() > 0, speaks);
    EXPECT_TRUE(same_bits(trainer.step(from_providers, unused).value, said)) << "message round " << t;
    trainer.commit(from_providers, said);
    for (int i = 0; i < providers; ++i) {
      EXPECT_EQ(run_.f(t, i).size() > 0, t == 0 || !speaks);
      blind[at(i)].commit(from_trainer, run_.f(t, i));
      EXPECT_TRUE(same_bits(blind[at(i)].state().dual, run_.rounds[at(t)].dual[at(i)]));
    }
    from_trainer = {std::make_shared<const Vector>(said)};
    from_providers.clear();
    for (int i = 0; i < providers; ++i) from_providers.push_back(std::make_shared<const Vector>(run_.f(t, i)));
  }
  for (int i = 0; i < providers; ++i) EXPECT_EQ(blind[at(i)].state().w, w(rounds, i));
}

INSTANTIATE_TEST_SUITE_P(HHCG20, Star, testing::ValuesIn(cases()), name_of);

// (3c) with duals that do not cancel, as after any other start: an absurd w^1 leaves mean_i gamma_i^1 = -rho(mean_i
// w~_i^1
// - w^1), and w^2 corrects for it.
TEST(HHCG20, Eq3c_TheTrainerCorrectsByTheMeanOfTheDuals) {
  auto o = plain("dp-admm", 2);
  o.penalty = {rho};
  const Simulation simulation(unlike_rows(2, 20, 3), network::trainer_star(2), o);
  algorithm::TrainerNode trainer(simulation.plan, 3);
  auto unused = privacy::Random::seeded(1, 1, 1, "none");
  const auto from = [](const Vector& a, const Vector& b) {
    return privacy::Inbox{std::make_shared<const Vector>(a), std::make_shared<const Vector>(b)};
  };
  const Vector zero = Vector::Zero(3), a{{1, 2, 3}}, b{{0, -1, 5}}, c{{4, 4, -4}}, d{{2, 0, 1}}, absurd{{9, -7, 5}};
  trainer.commit({}, zero);
  trainer.commit(from(zero, zero), {});
  trainer.commit(from(a, b), absurd);
  trainer.commit({}, {});
  const Vector mean_gamma = -rho * ((a + b) / 2 - absurd);
  EXPECT_LT((trainer.step(from(c, d), unused).value - ((c + d) / 2 - mean_gamma / rho)).norm(), 1e-11);
}

// Section III-A: what Algorithm 2 adds to Algorithm 1 is the noise alone.
TEST(HHCG20, Algorithm2WithoutNoiseIsAlgorithm1) {
  auto one = plain("star-admm", 8), two = plain("star-pvp", 8);
  const auto graph = network::trainer_star(providers);
  EXPECT_TRUE(same_bits(drive(Simulation(unlike_rows(providers, 20, 5), graph, one)),
                        drive(Simulation(unlike_rows(providers, 20, 5), graph, two))));
}

// Section II-A: "our work can be extended to any connected case": linear-admm, on five peers with the updates of
// docs/check/algorithms.md, L1 and all losses; the noise n stands on the gradient.
TEST(HHCG20, SecIIA_TheUpdateOnAnyConnectedGraph) {
  for (const char* loss : {"logistic", "hinge", "huber-hinge", "huber", "softmax"}) {
    auto o = star({"linear-admm", loss, "elastic-net"});
    o.weighting = "rows";
    const auto all = unlike_rows(5, 20, 5);
    const auto rows = std::string(loss) == "softmax" ? relabelled(all, 3)
                      : std::string(loss) == "huber" ? relabelled(all, 0)
                                                     : all;
    Simulation simulation(rows, five(), o);
    simulation.fine_grid();
    const Transcript run = drive(simulation, 12);
    std::vector<Vector> lambda(5, Vector::Zero(simulation.dimension()));
    for (int t = 1; t <= run.last(); ++t) {
      const auto noise = replay(simulation, t, 12);
      for (int i = 0; i < 5; ++i) {
        Vector apart = Vector::Zero(simulation.dimension());  // sum_j (f_i - f_j)
        for (const int j : simulation.graph.neighbours(i)) apart += run.f(t - 1, i) - run.f(t - 1, j);
        if (t > 1) lambda[at(i)] += rho / 2 * apart;  // (D)
        const auto& now = simulation.schedule(i).private_round(t);
        const double divisor = 2 * rho * simulation.graph.degree(i) + 1 / now.step_size;
        const Vector step = simulation.dense[at(i)].gradient(run.f(t - 1, i)) + 2 * lambda[at(i)] + rho * apart;
        EXPECT_LT((run.f(t, i) - (run.f(t - 1, i) - (step + noise[at(i)]) / divisor)).norm(), 1e-10) << loss << t;
      }
    }
  }
}

}  // namespace
}  // namespace parley::paper
