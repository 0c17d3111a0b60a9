// A call of MPI that fails is an Error. MPI's own handler would print and end the process.
#pragma once
#include <mpi.h>

#include <string>

#include "parley/base/error.h"

namespace parley::network {

inline void checked(int code, const char* call) {  // on a communicator with MPI_ERRORS_RETURN
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int size = 0;
  MPI_Error_string(code, text.data(), &size);
  text.resize(static_cast<std::size_t>(size));
  throw Error({.what = std::string(call) + " failed",
               .value = text,
               .where = "the connection between ranks",
               .fix = "look at what mpirun says of the other ranks, then repeat the command with --resume"});
}

}  // namespace parley::network
