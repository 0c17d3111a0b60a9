// What a local solve and a whole run cost on this machine:  bench_solve OUTDIR  writes OUTDIR/solve.json and prints a
// table. (a) the local minimum against LIBLINEAR: same rows, same objective, one thread, same process, repetitions
// interleaved.
//       parley     min_f  weight Σ_n ln(1 + exp(−y_n fᵀx_n)) + (ρ/2)‖f‖²       from f = 0, its certificate included
//       LIBLINEAR  the same divided by ρ: C = weight/ρ
//     Both must reach (F − F*)/F* ≤ 10⁻⁹. Each runs with the loosest stopping tolerance of its own that reaches it, so
//     neither pays for accuracy nobody asked for. F* is the smaller of what both reach at their tightest.
// (b) one mr-admm run of 5 nodes and 50 rounds, by phase.
#include "parley/problem/solve.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "liblinear.h"
#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/base/text.h"
#include "parley/data/adult.h"
#include "parley/data/census.h"
#include "parley/data/encode.h"
#include "parley/run/simulate.h"

namespace parley::bench {
namespace {

using nlohmann::json;
using problem::Problem;

constexpr double loss_weight = 1750, regularization = 0.22;  // C and ρ of the papers' experiments
constexpr int nodes = 5, rounds = 50, repetitions = 11, run_repetitions = 5;
constexpr double wanted_gap = 1e-9, scan_factor = 0.7;

// ---- the problems

data::Rows first_rows(const data::Rows& all, std::size_t count) {
  std::vector<std::size_t> which(count);
  std::iota(which.begin(), which.end(), std::size_t{0});
  return all.select(which);
}

data::Rows census(std::size_t count) {
  return data::encode(data::census_table(count, 1), data::parse_schema(data::census_schema(), "census"), "census").rows;
}

// Rows uniform in direction, labels drawn by a logistic model of norm 8.
data::Rows dense(std::size_t count, Index features) {
  PublicRandom draw(1, PublicRandom::Purpose::rows), coin(1, PublicRandom::Purpose::labels);
  Vector truth(features), x(features);
  for (double& t : truth) t = draw.normal();
  truth *= 8 / truth.norm();
  std::vector<std::int32_t> columns(static_cast<std::size_t>(features));
  std::iota(columns.begin(), columns.end(), 0);
  data::Rows rows;
  rows.features = features;
  for (std::size_t n = 0; n < count; ++n) {
    for (double& v : x) v = draw.normal();
    data::clip_to_unit_norm({x.data(), columns.size()});
    rows.append(columns, {x.data(), columns.size()}, coin.uniform() < 1 / (1 + std::exp(-truth.dot(x))) ? 1 : -1);
  }
  return rows;
}

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

std::vector<Case> make_cases(bool adult) {
  std::vector<Case> cases;
  if (adult)
    add_pooled_and_node(cases, "Adult (paper)", first_rows(data::load_adult(data::find_adult(), "paper").rows, 40000));
  add_pooled_and_node(cases, "census", census(40000));
  cases.push_back(
      {.name = "dense", .rows = dense(20000, 100), .weight = loss_weight / 20000, .regularization = regularization});
  return cases;
}

// ---- (a)

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

json compare(const Case& c) {
  const Problem p = c.problem();
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
  std::printf("%-24s %6zu x %-4ld %6.1f  %9.2f ms %9.2f ms %7.2f   %8.1e %8.1e  %4d   %9.2f ms\n", c.name.c_str(),
              c.rows.count(), static_cast<long>(c.rows.features),
              static_cast<double>(c.rows.value.size()) / static_cast<double>(c.rows.count()), 1e3 * seconds_other.cpu,
              1e3 * seconds_parley.cpu, seconds_other.cpu / seconds_parley.cpu, tuned_other.gap, tuned_parley.gap,
              iterations, 1e3 * seconds_tight.cpu);
  std::fflush(stdout);
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
          {"parley_default_tolerance",
           {{"seconds", seconds_tight.cpu},
            {"seconds_wall", seconds_tight.wall},
            {"tolerance", tight},
            {"iterations", iterations_tight}}}};
}

// ---- (b)

run::Result one_run(bool adult, int threads) {
  run::TrainOptions o;
  o.data.data = {adult ? "adult" : "census"};
  if (adult) o.data.preprocessing = "paper";
  o.data.nodes = nodes;
  o.algorithm.algorithm = "mr-admm";
  o.algorithm.rounds = rounds;
  o.algorithm.loss_weight = loss_weight;
  o.algorithm.regularization = regularization;
  o.engine.threads = threads;
  o.engine.seed = 1;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto folder = std::filesystem::temp_directory_path() / ("parley-bench-" + std::to_string(now));
  o.engine.out = folder.string();
  run::Result result = std::move(run::train(o, {}).runs[0]);
  std::filesystem::remove_all(folder);
  return result;
}

json whole_runs(bool adult) {
  constexpr std::array<int, 2> threads{1, 2};
  std::array<run::Result, 2> fastest;
  for (int r = 0; r < run_repetitions; ++r)
    for (std::size_t i = 0; i < threads.size(); ++i) {
      run::Result result = one_run(adult, threads[i]);
      if (r == 0 || result.seconds < fastest[i].seconds) fastest[i] = std::move(result);
    }
  const std::string name = adult ? "Adult (paper)" : "census";
  json all = json::array();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const run::Result& f = fastest[i];
    std::printf("%-24s %7d  %8.1f ms %8.1f ms %8.1f ms %8.1f ms %8.1f ms %8.1f ms\n", name.c_str(), threads[i],
                1e3 * f.seconds, 1e3 * f.phases.solve, 1e3 * f.phases.ledger, 1e3 * f.phases.record,
                1e3 * f.phases.exchange, 1e3 * f.seconds_metrics);
    all.push_back({{"data", name},
                   {"algorithm", "mr-admm"},
                   {"nodes", nodes},
                   {"rounds", rounds},
                   {"threads", threads[i]},
                   {"repetitions", run_repetitions},
                   {"seconds", f.seconds},
                   {"solve", f.phases.solve},
                   {"ledger", f.phases.ledger},
                   {"record", f.phases.record},
                   {"exchange", f.phases.exchange},
                   {"metrics", f.seconds_metrics}});
  }
  return all;
}

bool has_adult() {
  try {
    data::find_adult();
    return true;
  } catch (const Error&) {
    std::printf("skipped: Adult not found\n");
    return false;
  }
}

int measure_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const unsigned cores = std::thread::hardware_concurrency();
  std::printf("%u cores, GCC %s, Eigen %d.%d.%d\n\n", cores, __VERSION__, EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
              EIGEN_MINOR_VERSION);
  const bool adult = has_adult();
  json out = {{"cores", cores},           {"compiler", __VERSION__},      {"adult", adult},
              {"wanted_gap", wanted_gap}, {"local_solve", json::array()}, {"run", json::array()}};
  std::printf(
      "Local solve to a relative gap of %g, one thread, cold start; processor time, the smallest of %d repetitions\n",
      wanted_gap, repetitions);
  std::printf("%-24s %13s %7s  %12s %12s %7s   %8s %8s  %4s   %s\n", "", "rows x feat.", "entries", "LIBLINEAR",
              "parley", "ratio", "gap L", "gap p", "its", "parley at --tolerance 1e-6");
  for (const Case& c : make_cases(adult)) out["local_solve"].push_back(compare(c));
  std::printf("\nmr-admm, %d nodes, %d rounds; wall time, the fastest of %d runs\n", nodes, rounds, run_repetitions);
  std::printf("%-24s %7s  %11s %11s %11s %11s %11s %11s\n", "", "threads", "all", "solve", "ledger", "record",
              "exchange", "metrics");
  out["run"] = whole_runs(adult);
  write_file(folder / "solve.json", out.dump(2) + "\n");
  std::printf("\n%s\n", (folder / "solve.json").c_str());
  return 0;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_solve OUTDIR\n");
    return 2;
  }
  try {
    return parley::bench::measure_all(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
