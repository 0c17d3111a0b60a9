// mpirun -n R mpi_same_bits FOLDER: every algorithm on every kind of graph, on R ranks and in one process, from the
// same seed. What is released, what is measured on the way and the model must be the same bytes.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "parley/algorithm/catalog.h"
#include "parley/base/text.h"
#include "parley/record/record.h"
#include "parley/run/simulate.h"

namespace parley {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// [round][node] of all ranks, side by side.
std::vector<std::vector<Vector>> released(const fs::path& folder, int ranks) {
  auto all = record::read(folder);
  for (int r = 1; r < ranks; ++r) {
    const auto more = record::read(record::folder_of_rank(folder, r));
    if (more.released.size() != all.released.size()) return {};
    for (std::size_t t = 0; t < all.released.size(); ++t)
      for (const Vector& value : more.released[t]) all.released[t].push_back(value);
  }
  return all.released;
}

std::string measured_and_model(const fs::path& folder) {
  return read_file(folder / "rounds.jsonl", "the record") + read_file(folder / "model.json", "the model");
}

int compare(const run::TrainOptions& options, const fs::path& base, network::Ranks& ranks) {
  run::TrainOptions o = options;
  const std::string name = o.algorithm.algorithm + "-" + o.graph.graph + "-" + o.algorithm.loss.text +
                           (o.algorithm.colluders ? "-colluders" : "");
  o.engine.out = base / (name + "-mpi");
  const run::Summary here = run::train(o, {}, ranks);
  if (ranks.rank() > 0) return 0;
  o.engine.out = base / (name + "-alone");
  const run::Summary there = run::train(o, {});
  const auto mpi = released(base / (name + "-mpi"), ranks.count()), alone = released(o.engine.out, 1);
  const bool same = !alone.empty() && mpi == alone;
  const bool measured = measured_and_model(base / (name + "-mpi")) == measured_and_model(o.engine.out);
  const bool yardstick =
      std::abs(here.simulation.train_loss_nonprivate / there.simulation.train_loss_nonprivate - 1) < 1e-6 &&
      here.simulation.test_error_nonprivate == there.simulation.test_error_nonprivate;
  if (same && measured && yardstick) return 0;
  std::printf("%s on %d ranks: another %s\n", name.c_str(), ranks.count(),
              !same       ? "released value"
              : !measured ? "metric or model"
                          : "yardstick");
  return 1;
}

int compare_all(const fs::path& base) {
  const auto ranks = network::make_ranks("mpi");
  int wrong = 0, runs = 0;
  for (const auto& a : algorithm::algorithms())
    for (const std::string graph : {"ring", "random", "star"}) {
      if (a.star != (graph == "star") && a.star) continue;
      run::TrainOptions o;
      o.data.rows = 400;
      o.data.nodes = 7;
      o.data.split = "power";
      o.graph.graph = graph;
      o.algorithm.algorithm = a.name;
      o.algorithm.rounds = 5;
      o.algorithm.loss_weight = 50;
      if (a.noisy || a.linear) o.algorithm.epsilon = {2};
      o.algorithm.delta = a.noisy || a.linear ? 1e-5 : 0;
      o.engine.seed = 5;
      o.engine.threads = 1;
      wrong += compare(o, base, *ranks);
      ++runs;
      if (a.linear || a.sums) {  // noise that cancels: every rank has the keys of rank 0
        run::TrainOptions shared = o;
        shared.algorithm.colluders = 2;
        shared.data.split = run::TrainOptions{}.data.split;  // equal sizes, so that scales are equal
        shared.data.nodes = 8;
        wrong += compare(shared, base, *ranks);
        ++runs;
      }
      if (!a.linear) continue;
      o.algorithm.loss = "hinge";  // the yardstick of several processes by other means
      o.algorithm.regularizer = "l1";
      wrong += compare(o, base, *ranks);
      ++runs;
    }
  if (ranks->rank() == 0)
    std::printf("%d ranks: %d runs, %d not the same as in one process\n", ranks->count(), runs, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return parley::compare_all(argv[1]);
}
