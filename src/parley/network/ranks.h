// The processes that share one simulation: one, or the ranks of an MPI job. They belong to one operator, so unlike a
// Transport they may tell each other what was measured on rows; parties that do not trust each other never have Ranks.
// Every rank calls every function, in the same order; every rank gets the same bits back.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parley/network/transport.h"

namespace parley::network {

// Who hosts what: rank r has the nodes first[r] … first[r+1]−1.
using Blocks = std::vector<int>;

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const { return 0; }
  virtual int count() const { return 1; }
  virtual int cores() const;  // that this rank may keep busy

  // add(), called by one rank after the other, adds this rank's terms to `total`, which then is the same everywhere:
  // terms that are added one by one in the order of nodes give the same bits for any number of ranks.
  virtual void in_turn(std::span<double> total, const std::function<void()>& add);
  virtual void largest(std::span<double> values);                   // of each, over ranks
  virtual std::vector<std::string> texts(const std::string& mine);  // of all ranks
  void meet();                                                      // nobody goes on before all are here

  virtual std::unique_ptr<Transport> transport(const Graph& graph, const Blocks& blocks, const ValueSize& size);

  // Ends all ranks through their launcher, this one too: it cannot go on and the others would wait for it. Only the
  // edge calls it, after it has told why; the library throws. One rank has nobody who waits: it returns.
  virtual void abandon(int exit_code);

  void sum(std::span<double> values);  // of each, over ranks in their order
};

// engine: "in-process", or "mpi" (Error where this program was built without it). A rank that dies is the launcher's to
// notice: mpirun ends the others and names it.
std::unique_ptr<Ranks> make_ranks(const std::string& engine);

// What a launcher (mpirun, srun) told this process before anything was set up.
struct Launch {
  int rank = 0, count = 1;
};
Launch launched();

}  // namespace parley::network
