// 1,000 nodes with 1,000 full rows of 100 features each on a ring, 50 rounds of mr-admm at epsilon = 1 in one process:
// how much more memory than the rows it takes, whether all cores are busy, and the time of a round. A program of its
// own, because the peak of a process never falls again.
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "network_run.h"
#include "parley/base/parallel.h"
#include "program.h"
#include "rows.h"

namespace parley::bench {
namespace {

constexpr int many = 1000;
constexpr std::size_t rows_each = 1000;
constexpr Index features = 100;

double peak_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return 1024.0 * static_cast<double>(use.ru_maxrss);
}

// Cores that this program gets right now when it never waits: as many threads that only add, for half a second each.
double cores_to_be_had() {
  const Stopwatch watch(Stopwatch::Of::process);
  parallel_for(cores(), cores(), [](int) {
    volatile double sum = 0;
    for (const Stopwatch mine; mine.read().cpu < 0.5;)
      for (int n = 0; n < 1000; ++n) sum = sum + n;
  });
  const Seconds used = watch.read();
  return used.cpu / used.wall;
}

struct Waits {
  double running = 0, no_core = 0;  // seconds; what is left of the wall time: waiting for other threads
};
Waits this_thread() {  // of its life; Linux tells both in nanoseconds
  std::ifstream file("/proc/thread-self/schedstat");
  Waits w;
  file >> w.running >> w.no_core;
  return {.running = 1e-9 * w.running, .no_core = 1e-9 * w.no_core};
}

json measure() {
  const double at_start = peak_bytes();
  std::vector<data::Rows> held(many);
  parallel_for(many, cores(), [&](int i) {
    held[static_cast<std::size_t>(i)] = dense(rows_each, features, static_cast<std::uint64_t>(i) + 1);
  });
  double data = 0;
  for (const data::Rows& r : held) data += static_cast<double>(bytes(r));
  const double with_rows = peak_bytes();
  const Network network(std::move(held), planned());
  const double with_plan = peak_bytes();
  double to_be_had = cores_to_be_had();
  const Waits before = this_thread();
  const Network::Cost cost = network.run(cores());
  const Waits after = this_thread();
  to_be_had = (to_be_had + cores_to_be_had()) / 2;
  const double no_core = (after.no_core - before.no_core) / cost.seconds.wall;
  const double idle = std::max(0.0, 1 - (after.running - before.running) / cost.seconds.wall - no_core);
  const double busy = cost.seconds.cpu / cost.seconds.wall;
  const double peak = peak_bytes(), round = cost.seconds.wall / (rounds + 1);  // and the start
  constexpr double mib = 1 << 20;
  std::printf("%d nodes x %zu rows x %ld features, %d rounds of mr-admm, epsilon 1, %d threads\n", many, rows_each,
              static_cast<long>(features), rounds, cores());
  std::printf("memory:  rows %.0f MiB; peak: start %.0f, rows made %.0f, planned %.0f, run %.0f MiB; %.3f x rows\n",
              data / mib, at_start / mib, with_rows / mib, with_plan / mib, peak / mib, peak / data);
  std::printf("cores:   %.2f of %d busy (processor time %.1f s / wall time %.1f s); threads that only add got %.2f\n",
              busy, cores(), cost.seconds.cpu, cost.seconds.wall, to_be_had);
  std::printf("         first thread: %.1f %% without a core (others had it), %.2f %% waiting for other threads\n",
              100 * no_core, 100 * idle);
  std::printf("         outside the parallel part: %.2f %% of the wall time\n",
              100 * (1 - cost.phases.solve / cost.seconds.wall));
  std::printf("a round: %.0f ms by the wall, %.0f ms of processor time; plan %.2f s; %.1f passes per local solve\n",
              1e3 * round, 1e3 * cost.seconds.cpu / (rounds + 1), network.seconds_plan(),
              static_cast<double>(cost.passes.count) / (many * rounds / 2.0));
  return {{"nodes", many},
          {"rows_per_node", rows_each},
          {"features", features},
          {"rounds", rounds},
          {"threads", cores()},
          {"bytes_rows", data},
          {"bytes_peak", peak},
          {"bytes_peak_with_rows", with_rows},
          {"bytes_peak_with_plan", with_plan},
          {"memory_ratio", peak / data},
          {"cores_busy", busy},
          {"share_without_core", no_core},
          {"share_waiting", idle},
          {"cores_to_be_had", to_be_had},
          {"seconds", cost.seconds.cpu},
          {"seconds_wall", cost.seconds.wall},
          {"seconds_plan", network.seconds_plan()},
          {"solve", cost.phases.solve},
          {"ledger", cost.phases.ledger},
          {"exchange", cost.phases.exchange},
          {"passes", cost.passes.count}};
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "many_nodes", parley::bench::measure);
}
