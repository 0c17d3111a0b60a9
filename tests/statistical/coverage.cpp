#include "coverage.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <random>

#include "parley/algorithm/newton/newton.h"
#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/parallel.h"
#include "parley/problem/objective.h"

namespace parley::statistical {
namespace {

namespace newton = algorithm::newton;
using Engine = std::mt19937_64;

double uniform(Engine& e) {
  return static_cast<double>(e() >> 11) * 0x1p-53;
}

double normal(Engine& e) {
  return std::sqrt(-2 * std::log1p(-uniform(e))) * std::cos(6.283185307179586 * uniform(e));
}

Index features_of(const StudySetting& s) {
  return s.numbers + s.flags + 1;
}

// In the column's own units: per unit of a number, for a flag, and the intercept.
Vector true_coefficients(const StudySetting& s) {
  Vector c(features_of(s));
  for (Index j = 0; j < c.size(); ++j)
    c[j] = s.effect * (j % 2 == 0 ? 0.7 : -0.5) / (1 + 0.3 * static_cast<double>(j % 4));
  if (c.size() > 2) c[1] = 0;
  c[c.size() - 1] = -0.4 * s.effect;
  return s.linear ? Vector(c * 0.35 / s.effect * std::min(1.0, 3.0 / static_cast<double>(c.size()))) : c;
}

// One record: u in the columns' own units.
double draw(const StudySetting& s, const Vector& truth, Engine& e, Vector& u) {
  for (int j = 0; j < s.numbers; ++j) {
    const double v = uniform(e);
    u[j] = 2 * (j % 3 == 0 ? v * v : v) - 1;
  }
  if (s.numbers > 3) u[3] = std::clamp(0.5 * u[2] + 0.5 * u[3], -1.0, 1.0);  // columns that go together
  for (int j = 0; j < s.flags; ++j) u[s.numbers + j] = uniform(e) < (j % 2 == 0 ? 0.5 : 0.2) ? 1 : 0;
  u[u.size() - 1] = 1;
  double score = truth.dot(u);
  if (s.linear) return std::clamp(score + 0.12 * normal(e), -1.0, 1.0);
  if (s.truth == Truth::curved) score += 0.8 * (u[0] * u[0] - 0.4) + 0.6 * u[1] * u[2];
  double p = 1 / (1 + std::exp(-score));
  if (s.truth == Truth::unequal) p = 0.04 + 0.86 * 0.5 * std::erfc(-score / 1.6);
  return uniform(e) < p ? 1 : -1;
}

data::Rows rows_of(const StudySetting& s, const Vector& truth, long count, Engine& e) {
  const Index d = features_of(s);
  const double divisor = std::nextafter(std::sqrt(static_cast<double>(d)), 10.0);
  data::Rows rows;
  rows.features = d;
  Vector u(d);
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (long n = 0; n < count; ++n) {
    const double y = draw(s, truth, e, u);
    columns.clear();
    values.clear();
    for (Index j = 0; j < d; ++j)
      if (u[j] != 0) columns.push_back(static_cast<std::int32_t>(j)), values.push_back(u[j] / divisor);
    data::clip_to_unit_norm(values);
    rows.append(columns, values, y);
  }
  return rows;
}

// What a fit of endless records would give: by Newton's method on many.
Vector target(const StudySetting& s) {
  const Vector truth = true_coefficients(s);
  if (s.truth == Truth::model) return truth;
  Engine e(20240817);
  const Index d = features_of(s);
  const data::Rows rows = rows_of(s, truth, 4'000'000, e);
  Vector f = Vector::Zero(d);
  for (int step = 0; step < 12; ++step) {
    Matrix h = Matrix::Zero(d, d);
    Vector g = Vector::Zero(d), x(d);
    for (std::size_t n = 0; n < rows.count(); ++n) {
      x.setZero();
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = rows.value[k];
      const double p = 1 / (1 + std::exp(-f.dot(x)));
      g += (p - (rows.label[n] > 0 ? 1 : 0)) * x;
      h += p * (1 - p) * x * x.transpose();
    }
    f -= h.ldlt().solve(g);
  }
  return f / std::sqrt(static_cast<double>(d));
}

algorithm::Plan plan_of(const StudySetting& s) {
  algorithm::Options o;
  o.algorithm = "newton";
  o.intervals = true;
  o.loss = s.linear ? "squared" : "logistic";
  o.epsilon = {s.epsilon};
  o.delta = 1e-6;
  if (s.clip > 0) o.clip = s.clip;
  if (s.ridge > 0) o.regularization = s.ridge * o.loss_weight * s.parties;
  if (s.colluders > 0) o.colluders = static_cast<std::uint64_t>(s.colluders);
  const auto whole = s.records / s.parties;
  const auto share = static_cast<double>(whole);
  return algorithm::make_plan(o, {.degree = std::vector<int>(static_cast<std::size_t>(s.parties), s.parties - 1),
                                  .records = std::vector<double>(static_cast<std::size_t>(s.parties), share),
                                  .features = static_cast<long>(features_of(s))});
}

newton::Estimate one_study(const StudySetting& s, const algorithm::Plan& plan, const Vector& truth,
                           unsigned long long seed) {
  Engine e(seed);
  const newton::Terms& terms = *plan.nodes.front().sums;
  std::vector<data::Rows> rows;
  for (int i = 0; i < s.parties; ++i) rows.push_back(rows_of(s, truth, s.records / s.parties, e));
  newton::State state = newton::start(terms);
  for (int round = 1; round <= terms.rounds; ++round) {
    Vector total = Vector::Zero(terms.layout(round).size());
    for (int i = 0; i < s.parties; ++i) {
      algorithm::Schedule schedule = plan.nodes[static_cast<std::size_t>(i)];
      schedule.sharing.noise.pair = 0;
      const problem::Problem p{.rows = &rows[static_cast<std::size_t>(i)], .loss = schedule.summed_loss(), .weight = 1};
      privacy::Random random = privacy::Random::seeded(seed, i, round, "coverage");
      total += newton::noisy_sums(p, state.f, terms.layout(round), schedule, schedule.private_round(round), random);
    }
    state.round = round;
    state = newton::after(std::move(state), terms, total);
  }
  return *state.estimate;
}

}  // namespace

Coverage coverage(const StudySetting& s, int studies, unsigned long long seed) {
  const Vector truth = true_coefficients(s), aim = target(s);
  const algorithm::Plan plan = plan_of(s);
  const double divisor = std::nextafter(std::sqrt(static_cast<double>(features_of(s))), 10.0);
  std::vector<Coverage> each(static_cast<std::size_t>(studies));
  parallel_for(studies, 2, [&](int i) {
    newton::Estimate e = one_study(s, plan, truth, seed * 1'000'003 + static_cast<unsigned long long>(i));
    if (s.forget_noise) e.variance = e.sampling;
    Coverage& c = each[static_cast<std::size_t>(i)];
    for (Index j = 0; j < aim.size(); ++j) {
      Vector k = Vector::Zero(aim.size());
      k[j] = 1 / divisor;
      const newton::Combination one = newton::combination(e, k);
      ++c.all;
      if (!one.identified) continue;
      ++c.printed;
      c.held += std::abs(one.value - aim[j]) <= 1.959963984540054 * one.standard_error ? 1 : 0;
      c.wider += one.standard_error / one.sampling_error;
    }
  });
  Coverage sum;
  for (const Coverage& c : each) sum.held += c.held, sum.printed += c.printed, sum.all += c.all, sum.wider += c.wider;
  sum.wider /= sum.printed;
  return sum;
}

}  // namespace parley::statistical
