// mpirun -n R bench_mpi_round NODES ROWS FEATURES GRAPH ROUNDS THREADS [ENTRIES]: mr-admm at epsilon = 1 on rows that every
// rank makes for its own nodes, without metrics and record; with ENTRIES newton, on rows of so many entries each. Rank 0
// prints one line of JSON; mpi.py runs the series.
#include <sys/resource.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "network_run.h"
#include "parley/algorithm/nodes.h"
#include "parley/data/source.h"
#include "parley/network/ranks.h"
#include "program.h"
#include "rows.h"

namespace parley::bench {
namespace {

double peak_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return 1024.0 * static_cast<double>(use.ru_maxrss);
}

network::Graph graph_of(const std::string& name, int nodes) {  // "ring", or "near-K": K neighbours each, K even
  if (!name.starts_with("near-")) return network::make_graph({.graph = name}, nodes);
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < nodes; ++i)
    for (int k = 1; k <= std::atoi(name.c_str() + 5) / 2; ++k)
      edges.emplace_back(std::min(i, (i + k) % nodes), std::max(i, (i + k) % nodes));
  return {nodes, edges};
}

// Vectors that would cross if each went once over every cut edge.
double over_cut_edges(const network::Graph& graph, const network::Blocks& blocks) {
  double vectors = 0;
  const auto owner = [&](int node) { return std::ranges::upper_bound(blocks, node) - blocks.begin(); };
  for (const auto& [i, j] : graph.edges()) vectors += owner(i) != owner(j) ? 2 : 0;
  return vectors;
}

int measure(int argc, char** argv) {
  const auto ranks = network::make_ranks("mpi");
  const int nodes = std::atoi(argv[1]), threads = std::atoi(argv[6]);
  const auto count = static_cast<std::size_t>(std::atol(argv[2]));
  const Index features = std::atol(argv[3]);
  const bool newton = argc == 8;
  const auto entries = static_cast<std::size_t>(newton ? std::atol(argv[7]) : features);
  const network::Graph graph = graph_of(argv[4], nodes);
  const auto blocks = data::balanced(std::vector<double>(static_cast<std::size_t>(nodes), 1), ranks->count());
  const int first = blocks[static_cast<std::size_t>(ranks->rank())];
  const int end = blocks[static_cast<std::size_t>(ranks->rank()) + 1];

  std::vector<data::Rows> rows;
  double held = 0;
  for (int i = first; i < end; ++i) {
    rows.push_back(sparse(count, features, entries, static_cast<std::uint64_t>(i) + 1));
    held += static_cast<double>(bytes(rows.back()));
  }
  algorithm::Options options = newton ? planned_newton() : planned();
  options.rounds = std::atol(argv[5]);
  algorithm::Setting setting{.degree = graph.degrees(), .features = static_cast<long>(features)};
  setting.records.assign(static_cast<std::size_t>(nodes), static_cast<double>(count));
  const algorithm::Plan plan = algorithm::make_plan(options, setting);
  std::vector<std::unique_ptr<algorithm::Node>> machines;
  for (int i = first; i < end; ++i) {
    const algorithm::Schedule& s = plan.nodes[static_cast<std::size_t>(i)];
    machines.push_back(algorithm::make_node({.rows = &rows[static_cast<std::size_t>(i - first)],
                                             .loss = s.loss,
                                             .weight = s.weight,
                                             .regularization = s.regularization,
                                             .l1 = s.l1},
                                            s));
  }
  const privacy::NoiseSource noise(1);
  ledger::Ledger ledger(nodes, noise.is_private());
  const auto transport =
      ranks->transport(graph, blocks, [&](int node, int round) { return plan.size(node, round, features); });
  run::Phases phases;
  const Stopwatch watch(Stopwatch::Of::process);
  const run::Outcome outcome = run::drive({.nodes = machines,
                                           .noise = &noise,
                                           .ledger = &ledger,
                                           .transport = transport.get(),
                                           .threads = threads,
                                           .release_bound = plan.options.release_bound,
                                           .watch = [](int, std::span<const privacy::Paid>) { return true; },
                                           .largest =
                                               [&](double mine) {
                                                 ranks->largest({&mine, 1});
                                                 return mine;
                                               }},
                                          phases);
  const Seconds used = watch.read();
  if (outcome != run::Outcome::completed) throw std::runtime_error("a run ended as " + run::name_of(outcome));
  const double rounds_done = static_cast<double>(options.rounds) + 1;
  std::vector<double> most = {used.wall, used.cpu, phases.solve, phases.exchange, phases.ledger, peak_bytes() / held};
  std::vector<double> sums = {transport->bytes_sent(), held, peak_bytes()};
  ranks->largest(most);
  ranks->sum(sums);
  if (ranks->rank() > 0) return 0;
  const double sends = rounds_done - 1;  // nothing is sent after the last round
  const double cut = over_cut_edges(graph, blocks) * static_cast<double>(features) * 8;
  std::printf("%s\n", json{{"ranks", ranks->count()},
                           {"threads", threads},
                           {"nodes", nodes},
                           {"rows", static_cast<double>(count) * nodes},
                           {"features", features},
                           {"entries", entries},
                           {"nonzeros", static_cast<double>(count * entries) * nodes},
                           {"graph", argv[4]},
                           {"edges", graph.edges().size()},
                           {"rounds", options.rounds},
                           {"cpu_seconds", most[1]},
                           {"seconds_per_round", most[0] / rounds_done},
                           {"compute_per_round", most[2] / rounds_done},
                           {"exchange_per_round", most[3] / rounds_done},
                           {"ledger_per_round", most[4] / rounds_done},
                           {"bytes_per_round", sums[0] / sends},
                           {"bytes_over_cut_edges", cut},
                           {"rows_bytes", sums[1]},
                           {"peak_bytes", sums[2]},
                           {"worst_memory_ratio", most[5]}}
                          .dump()
                          .c_str());
  return 0;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) {
    std::fprintf(stderr, "usage: mpirun -n R bench_mpi_round NODES ROWS FEATURES GRAPH ROUNDS THREADS [ENTRIES]\n");
    return 2;
  }
  try {
    return parley::bench::measure(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
