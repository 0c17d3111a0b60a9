#include "parley/network/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "parley/base/error.h"
#include "parley/network/mpi/mpi_ranks.h"

namespace parley::network {

int Ranks::cores() const {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void Ranks::in_turn(std::span<double> /*total*/, const std::function<void()>& add) {
  add();
}

void Ranks::largest(std::span<double> /*values*/) {}

std::vector<std::string> Ranks::texts(const std::string& mine) {
  return {mine};
}

std::unique_ptr<Transport> Ranks::transport(const Graph& graph, const Blocks& /*blocks*/, const ValueSize& /*size*/) {
  return std::make_unique<InProcess>(graph);
}

void Ranks::abandon(int /*exit_code*/) {}

void Ranks::sum(std::span<double> values) {
  const std::vector<double> mine(values.begin(), values.end());
  std::ranges::fill(values, 0);
  in_turn(values, [&] {
    for (std::size_t k = 0; k < mine.size(); ++k) values[k] += mine[k];
  });
}

void Ranks::meet() {
  double here = 1;
  largest({&here, 1});
}

std::unique_ptr<Ranks> make_ranks(const std::string& engine) {
  if (engine == "mpi") return make_mpi_ranks();
  const Launch launch = launched();
  if (launch.count > 1)
    throw Error({.what = "started as " + std::to_string(launch.count) +
                         " processes, and each of them would run the whole study",
                 .value = engine,
                 .allowed = "mpi",
                 .where = "option --engine",
                 .fix = "add --engine mpi, or start one process"});
  return std::make_unique<Ranks>();
}

Launch launched() {
  const auto read = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  // mpirun's, then what srun --mpi=pmix gives.
  return {.rank = read("OMPI_COMM_WORLD_RANK", read("PMIX_RANK", 0)),
          .count = std::max(1, read("OMPI_COMM_WORLD_SIZE", 1))};
}

}  // namespace parley::network
