// Ranks over Open MPI (docs/operate/cluster.md). The only folder that names MPI; without it, absent.cpp stands in.
#pragma once
#include <memory>

#include "parley/network/ranks.h"

namespace parley::network {

std::unique_ptr<Ranks> make_mpi_ranks();

}  // namespace parley::network
