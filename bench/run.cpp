// What a whole mr-admm run of 5 nodes and 50 rounds costs. (a) its local solves against streaming the rows: the bytes
// of all passes over rows that it made, at the bandwidth that plain summing of a large array reaches in the same run
// (one thread, and all threads). (b) the run with metrics and record, by phase.
#include <algorithm>
#include <filesystem>

#include "bandwidth.h"
#include "network_run.h"
#include "parley/run/simulate.h"
#include "program.h"
#include "rows.h"

namespace parley::bench {
namespace {

constexpr int repetitions = 5;

std::vector<int> thread_counts() {
  return cores() > 1 ? std::vector{1, cores()} : std::vector{1};
}

// ---- (a)

json against_streaming(const data::Rows& rows, const std::string& name) {
  const std::vector<int> counts = thread_counts();
  std::vector<double> bandwidths;
  for (const int threads : counts) bandwidths.push_back(Bandwidth().measure(threads));
  json all = json::array();
  std::printf("%-34s %7s  %9s %8s %9s  %9s %11s %11s %6s\n", (name + ", mr-admm").c_str(), "threads", "GB/s", "passes",
              "MB read", "streaming", "solve, cpu", "solve, wall", "ratio");
  const struct {
    const char* name;
    algorithm::Options options;
  } settings[] = {{"papers' setting", paper_setting()}, {"planner, epsilon 1, delta 1e-5", planned()}};
  for (const auto& setting : settings) {
    const Network network(deal(rows, nodes), setting.options);
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const int threads = counts[t];
      const double bandwidth = bandwidths[t];
      Network::Cost best = network.run(threads);
      for (int r = 1; r < repetitions; ++r) {
        const Network::Cost again = network.run(threads);
        best.seconds.keep_smaller(again.seconds);
        best.phases.solve = std::min(best.phases.solve, again.phases.solve);
      }
      const double streaming = static_cast<double>(best.passes.bytes) / bandwidth;
      const double ratio = (threads == 1 ? best.seconds.cpu : best.phases.solve) / streaming;
      std::printf("%-34s %7d  %9.1f %8llu %9.0f  %6.1f ms %8.1f ms %8.1f ms %6.2f\n", setting.name, threads,
                  1e-9 * bandwidth, static_cast<unsigned long long>(best.passes.count),
                  1e-6 * static_cast<double>(best.passes.bytes), 1e3 * streaming, 1e3 * best.seconds.cpu,
                  1e3 * best.phases.solve, ratio);
      all.push_back({{"setting", setting.name},
                     {"data", name},
                     {"threads", threads},
                     {"bandwidth", bandwidth},
                     {"passes", best.passes.count},
                     {"bytes", best.passes.bytes},
                     {"seconds_streaming", streaming},
                     {"seconds", best.seconds.cpu},
                     {"solve_wall", best.phases.solve},
                     {"ratio", ratio}});
    }
  }
  return all;
}

// ---- (b)

run::Result one_run(bool with_adult, int threads) {
  run::TrainOptions o;
  o.data.data = {with_adult ? "adult" : "census"};
  if (with_adult) o.data.preprocessing = "paper";
  o.data.nodes = nodes;
  o.algorithm = paper_setting();
  o.engine.threads = threads;
  o.engine.seed = 1;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto folder = std::filesystem::temp_directory_path() / ("parley-bench-" + std::to_string(now));
  o.engine.out = folder.string();
  run::Result result = std::move(run::train(o, {}).runs[0]);
  std::filesystem::remove_all(folder);
  return result;
}

json by_phase(bool with_adult, const std::string& name) {
  std::printf("\nThe run with metrics and record, papers' setting; wall time, the fastest of %d\n", repetitions);
  std::printf("%-24s %7s  %11s %11s %11s %11s %11s %11s\n", "", "threads", "all", "solve", "ledger", "record",
              "exchange", "metrics");
  json all = json::array();
  for (const int threads : thread_counts()) {
    run::Result f = one_run(with_adult, threads);
    for (int r = 1; r < repetitions; ++r)
      if (run::Result again = one_run(with_adult, threads); again.seconds < f.seconds) f = std::move(again);
    std::printf("%-24s %7d  %8.1f ms %8.1f ms %8.1f ms %8.1f ms %8.1f ms %8.1f ms\n", name.c_str(), threads,
                1e3 * f.seconds, 1e3 * f.phases.solve, 1e3 * f.phases.ledger, 1e3 * f.phases.record,
                1e3 * f.phases.exchange, 1e3 * f.seconds_metrics);
    all.push_back({{"data", name},
                   {"threads", threads},
                   {"seconds", f.seconds},
                   {"solve", f.phases.solve},
                   {"ledger", f.phases.ledger},
                   {"record", f.phases.record},
                   {"exchange", f.phases.exchange},
                   {"metrics", f.seconds_metrics}});
  }
  return all;
}

json measure() {
  const bool with_adult = has_adult();
  const std::string name = with_adult ? "Adult (paper)" : "census";
  json out = {{"nodes", nodes}, {"rounds", rounds}, {"repetitions", repetitions}};
  out["streaming"] = against_streaming(with_adult ? adult(40000) : census(40000), name);
  out["phases"] = by_phase(with_adult, name);
  return out;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "run", parley::bench::measure);
}
