// How the processor time grows:  bench_growth OUTDIR  writes OUTDIR/growth.json, which growth_chart.py draws.
// One local solve (cold start, a node's default tolerance) with rows and features; one mr-admm run of 50 rounds
// (planner, epsilon = 1) with nodes and threads. The exponent of each series is the least-squares slope of ln(time) by
// ln(size).
#include <cmath>

#include "network_run.h"
#include "parley/problem/solve.h"
#include "program.h"
#include "rows.h"

namespace parley::bench {
namespace {

struct Point {
  double size = 0;
  Seconds seconds;
};

double slope(const std::vector<Point>& points, double Seconds::* time) {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const Point& p : points) {
    mean_x += std::log(p.size) / static_cast<double>(points.size());
    mean_y += std::log(p.seconds.*time) / static_cast<double>(points.size());
  }
  for (const Point& p : points) {
    const double x = std::log(p.size) - mean_x;
    xx += x * x;
    xy += x * (std::log(p.seconds.*time) - mean_y);
  }
  return xy / xx;
}

json series(const std::string& panel, const std::string& name, const std::vector<double>& sizes,
            const std::function<Seconds(double)>& measure) {
  std::vector<Point> points;
  std::printf("%-9s %-44s", panel.c_str(), name.c_str());
  json all = json::array();
  for (const double size : sizes) {
    points.push_back({.size = size, .seconds = measure(size)});
    const Seconds& s = points.back().seconds;
    std::printf("  %g: %.3g", size, 1e3 * s.cpu);
    std::fflush(stdout);
    all.push_back({{"size", size}, {"seconds", s.cpu}, {"seconds_wall", s.wall}});
  }
  const double by_cpu = slope(points, &Seconds::cpu), by_wall = slope(points, &Seconds::wall);
  std::printf("   slope %.2f (wall %.2f)\n", by_cpu, by_wall);
  return {{"panel", panel}, {"name", name}, {"points", all}, {"slope", by_cpu}, {"slope_wall", by_wall}};
}

template <class Work>
Seconds smallest(const Work& work) {  // of at least three, and more while they are short
  Seconds best;
  const Stopwatch all;
  for (int r = 0; r < 3 || (r < 25 && all.read().wall < 0.5); ++r) best.keep_smaller(work());
  return best;
}

Seconds solve_seconds(const data::Rows& rows) {
  const problem::Problem p{.rows = &rows,
                           .loss = {},
                           .weight = loss_weight / static_cast<double>(rows.count()),
                           .regularization = regularization};
  const Vector zero = Vector::Zero(p.dimension());
  return smallest([&] {
    const Stopwatch watch;
    problem::argmin(p, {.linear = zero}, zero, {.tolerance = 1e-6 * p.weight});
    return watch.read();
  });
}

Seconds run_seconds(const data::Rows& rows, double count, int threads) {
  const Network network(deal(rows, static_cast<int>(count)), planned());
  return smallest([&] { return network.run(threads).seconds; });
}

std::size_t whole(double x) {
  return static_cast<std::size_t>(x);
}
Index wide(double x) {
  return static_cast<Index>(x);
}

json measure() {
  std::printf("milliseconds of processor time, smallest of repetitions\n");
  const std::vector<double> row_counts{1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6}, node_counts{2, 5, 10, 30, 100, 300, 1000};
  json all = json::array();
  all.push_back(
      series("rows", "dense, 20 features", row_counts, [](double n) { return solve_seconds(dense(whole(n), 20)); }));
  all.push_back(series("rows", "sparse, 10 of 100 features", row_counts,
                       [](double n) { return solve_seconds(sparse(whole(n), 100, 10)); }));
  all.push_back(series("features", "dense, 3,000 rows, Cholesky", {10, 20, 50, 100, 200, 400},
                       [](double d) { return solve_seconds(dense(3000, wide(d))); }));
  all.push_back(series("features", "dense, 3,000 rows, conjugate gradients", {410, 600, 800, 1000},
                       [](double d) { return solve_seconds(dense(3000, wide(d))); }));
  all.push_back(series("features", "sparse, 20,000 rows of 10 entries, Cholesky", {20, 50, 100, 200, 400},
                       [](double d) { return solve_seconds(sparse(20000, wide(d), 10)); }));
  all.push_back(series("features", "sparse, 20,000 rows of 10 entries, conj. gr.", {410, 600, 800, 1000},
                       [](double d) { return solve_seconds(sparse(20000, wide(d), 10)); }));
  const data::Rows fixed = sparse(100000, 100, 10);
  all.push_back(series("nodes", "100,000 rows in all, 10 of 100 features", node_counts,
                       [&](double n) { return run_seconds(fixed, n, 1); }));
  all.push_back(series("nodes", "200 rows per node, dense, 20 features", node_counts,
                       [](double n) { return run_seconds(dense(200 * whole(n), 20), n, 1); }));
  std::vector<double> thread_counts;
  for (int t = 1; t <= cores(); t *= 2) thread_counts.push_back(t);
  all.push_back(series("threads", "20 nodes, 100,000 rows, 10 of 100 features", thread_counts,
                       [&](double t) { return run_seconds(fixed, 20.0, static_cast<int>(t)); }));
  return {{"series", all}};
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "growth", parley::bench::measure);
}
