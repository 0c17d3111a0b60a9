#include "parley/base/error.h"
#include "parley/network/mpi/mpi_ranks.h"

namespace parley::network {

std::unique_ptr<Ranks> make_mpi_ranks() {
  throw Error({.what = "this program was built without MPI",
               .value = "mpi",
               .allowed = "in-process",
               .where = "option --engine",
               .fix = "install libopenmpi-dev and openmpi-bin, and build again (cmake then finds MPI)"});
}

}  // namespace parley::network
