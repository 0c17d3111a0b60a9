// Ranks over Open MPI (docs/cluster.md). The only folder that names MPI; without it, absent.cpp stands in.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "parley/network/ranks.h"

namespace parley::network {

std::unique_ptr<Ranks> make_mpi_ranks(std::function<void(int rank, const std::string& hosting)> lost);

}  // namespace parley::network
