// What a local solve costs on this machine:  bench_solve OUTDIR  writes OUTDIR/solve.json and prints a table. The local
// minimum against LIBLINEAR (same rows, same objective, one thread, same process, repetitions interleaved) and
// scikit-learn (a process of its own, one thread).
//       parley     min_f  weight Σ_n ln(1 + exp(−y_n fᵀx_n)) + (ρ/2)‖f‖²       from f = 0, its certificate included
//       others     the same divided by ρ: C = weight/ρ
// All must reach (F − F*)/F* ≤ 10⁻⁹. Each runs with the loosest stopping tolerance of its own that reaches it, so none
// pays for accuracy nobody asked for. F* is the smaller of what parley and LIBLINEAR reach at their tightest.
#include "parley/problem/solve.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "liblinear.h"
#include "program.h"
#include "rows.h"
#include "sklearn.h"

namespace parley::bench {
namespace {

using problem::Problem;

constexpr double wanted_gap = 1e-9, scan_factor = 0.7;

struct Case {
  std::string name;
  data::Rows rows;
  double weight = 0, regularization = 0;
  Problem problem() const { return {.rows = &rows, .loss = {}, .weight = weight, .regularization = regularization}; }
};

// Node i has B = rows/5 of the pooled rows: weight C/B, ρ/5 at one node, ρ for the pooled problem.
void add_pooled_and_node(std::vector<Case>& cases, const std::string& name, const data::Rows& all) {
  const std::size_t share = all.count() / nodes;
  const double weight = loss_weight / static_cast<double>(share);
  cases.push_back({.name = name + ", pooled", .rows = all, .weight = weight, .regularization = regularization});
  cases.push_back({.name = name + ", one node",
                   .rows = first_rows(all, share),
                   .weight = weight,
                   .regularization = regularization / nodes});
}

std::vector<Case> make_cases(bool with_adult) {
  std::vector<Case> cases;
  if (with_adult) add_pooled_and_node(cases, "Adult (paper)", bench::adult(40000));
  add_pooled_and_node(cases, "census", census(40000));
  for (const std::size_t count : {20000, 100000})
    cases.push_back({.name = "dense",
                     .rows = dense(count, 100),
                     .weight = loss_weight / static_cast<double>(count),
                     .regularization = regularization});
  return cases;
}

// F in long double: neither solver's own arithmetic judges it.
double objective(const Problem& p, const Vector& f) {
  long double sum = 0;
  for (std::size_t n = 0; n < p.rows->count(); ++n) {
    long double s = 0;
    for (std::size_t k = p.rows->start[n]; k < p.rows->start[n + 1]; ++k)
      s += static_cast<long double>(p.rows->value[k]) * f[p.rows->column[k]];
    const long double z = s * p.rows->label[n];
    sum += std::max(-z, 0.0L) + std::log1p(std::exp(-std::abs(z)));
  }
  return static_cast<double>(p.weight * sum + 0.5L * p.regularization * f.squaredNorm());
}

struct Attempt {
  Seconds seconds;
  Vector f;
  int iterations = 0;
};
using Solver = std::function<Attempt(double stop)>;  // stop: the solver's own tolerance

struct Tuned {
  double stop = 0, gap = 0;
};

Tuned loosest(const Solver& solve, const Problem& p, double stop, double best) {
  for (; stop > 1e-16; stop *= scan_factor)
    if (const double gap = (objective(p, solve(stop).f) - best) / best; gap <= wanted_gap)
      return {.stop = stop, .gap = gap};
  throw std::runtime_error("a solver does not reach the wanted gap");
}

// "newton-cholesky 95.1 ms (5.5), lbfgs: stops by itself …": its time, and how many times parley's that is.
std::string sklearn_text(const json& sk, double mine) {
  if (sk.contains("skipped")) return "skipped: " + sk["skipped"].get<std::string>();
  std::string text;
  for (const char* name : {"newton-cholesky", "lbfgs"}) {
    const json& of = sk.at(name);
    char buffer[200];
    if (of.contains("skipped"))
      std::snprintf(buffer, sizeof buffer, "%s: %s", name, of["skipped"].get<std::string>().c_str());
    else
      std::snprintf(buffer, sizeof buffer, "%s %.1f ms (%.1f)", name, 1e3 * of["seconds"].get<double>(),
                    of["seconds"].get<double>() / mine);
    text += (text.empty() ? "" : ", ") + std::string(buffer);
  }
  return text;
}

json compare(const Case& c) {
  const Problem p = c.problem();
  const int repetitions = c.rows.value.size() > 5'000'000 ? 5 : 11;
  const Liblinear other(c.rows);
  const Vector zero = Vector::Zero(p.features());
  const double scale = p.weight * static_cast<double>(c.rows.count());
  const Solver parley = [&](double stop) {
    const Stopwatch watch;
    problem::Solution s = problem::argmin(p, {.linear = zero}, zero, {.tolerance = stop});
    return Attempt{.seconds = watch.read(), .f = std::move(s.f), .iterations = s.iterations};
  };
  const Solver liblinear = [&](double stop) {
    Liblinear::Fit fit = other.fit(p.weight / p.regularization, stop);
    return Attempt{.seconds = fit.seconds, .f = std::move(fit.w)};
  };
  const double best = std::min(objective(p, parley(1e-12 * scale).f), objective(p, liblinear(1e-11).f));
  const Tuned tuned_parley = loosest(parley, p, scale, best), tuned_other = loosest(liblinear, p, 1, best);
  Seconds seconds_parley, seconds_other, seconds_tight;
  int iterations = 0, iterations_tight = 0;
  const double tight = 1e-6 * p.weight;  // what a node asks for by default (--tolerance 1e-6)
  for (int r = 0; r < repetitions; ++r) {
    const Attempt mine = parley(tuned_parley.stop);
    seconds_parley.keep_smaller(mine.seconds);
    iterations = mine.iterations;
    seconds_other.keep_smaller(liblinear(tuned_other.stop).seconds);
    const Attempt exact = parley(tight);
    seconds_tight.keep_smaller(exact.seconds);
    iterations_tight = exact.iterations;
  }
  const json sk = sklearn(p, best, wanted_gap, std::max(3, repetitions / 2));
  std::printf("%-24s %6zu x %-4ld %6.1f  %9.2f ms %9.2f ms %7.2f   %8.1e %8.1e  %4d   %9.2f ms  %s\n", c.name.c_str(),
              c.rows.count(), static_cast<long>(c.rows.features),
              static_cast<double>(c.rows.value.size()) / static_cast<double>(c.rows.count()), 1e3 * seconds_other.cpu,
              1e3 * seconds_parley.cpu, seconds_other.cpu / seconds_parley.cpu, tuned_other.gap, tuned_parley.gap,
              iterations, 1e3 * seconds_tight.cpu, sklearn_text(sk, seconds_parley.cpu).c_str());
  return {{"name", c.name},
          {"rows", c.rows.count()},
          {"features", c.rows.features},
          {"entries", c.rows.value.size()},
          {"weight", p.weight},
          {"regularization", p.regularization},
          {"optimum", best},
          {"repetitions", repetitions},
          {"ratio", seconds_other.cpu / seconds_parley.cpu},
          {"ratio_wall", seconds_other.wall / seconds_parley.wall},
          {"liblinear",
           {{"seconds", seconds_other.cpu},
            {"seconds_wall", seconds_other.wall},
            {"eps", tuned_other.stop},
            {"gap", tuned_other.gap}}},
          {"parley",
           {{"seconds", seconds_parley.cpu},
            {"seconds_wall", seconds_parley.wall},
            {"tolerance", tuned_parley.stop},
            {"gap", tuned_parley.gap},
            {"iterations", iterations}}},
          {"sklearn", sk},
          {"parley_default_tolerance",
           {{"seconds", seconds_tight.cpu},
            {"seconds_wall", seconds_tight.wall},
            {"tolerance", tight},
            {"iterations", iterations_tight}}}};
}

json measure_all() {
  const bool with_adult = has_adult();
  json out = {{"adult", with_adult}, {"wanted_gap", wanted_gap}, {"local_solve", json::array()}};
  std::printf("Local solve to a relative gap of %g, one thread, cold start; processor time, smallest of repetitions\n",
              wanted_gap);
  std::printf("%-24s %13s %7s  %12s %12s %7s   %8s %8s  %4s   %-13s %s\n", "", "rows x feat.", "entries", "LIBLINEAR",
              "parley", "ratio", "gap L", "gap p", "its", "at tol. 1e-6", "sklearn");
  for (const Case& c : make_cases(with_adult)) out["local_solve"].push_back(compare(c));
  return out;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "solve", parley::bench::measure_all);
}
