// Neighbour exchange between ranks: a distributed-graph communicator over the ranks that share an edge of the graph,
// and one message per pair of ranks and round, by a non-blocking neighbourhood collective. A released value crosses to
// a rank once, however many nodes there hear it.
#pragma once
#include <mpi.h>

#include <functional>
#include <vector>

#include "parley/network/ranks.h"

namespace parley::network {

class MpiTransport : public Transport {
 public:
  MpiTransport(MPI_Comm world, const Graph& graph, const Blocks& blocks, ValueSize size);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  std::vector<std::size_t> send(std::span<const privacy::Paid> mine, std::vector<privacy::Inbox>& inboxes) override;
  void receive(std::vector<privacy::Inbox>& inboxes) override;
  double bytes_sent() const override { return bytes_sent_; }

 private:
  struct Link {            // to a rank: nodes in ascending order, the same lists on both sides
    std::vector<int> out;  // mine that a node there hears
    std::vector<int> in;   // its nodes that one of mine hears
  };
  struct Layout {  // of a buffer, in doubles per link
    std::vector<int> counts, starts;
    std::size_t total = 0;
  };
  Layout layout(std::vector<int> Link::* nodes) const;  // in this round
  bool local(int node) const { return node >= first_ && node < end_; }
  privacy::Inbox inbox_of(int node) const;

  const Graph graph_;
  const ValueSize size_;
  int first_ = 0, end_ = 0;  // my nodes
  std::vector<Link> links_;
  std::vector<std::size_t> waiting_;      // my nodes that hear another rank
  std::vector<privacy::Released> heard_;  // by node: mine, and those of other ranks that one of mine hears
  std::vector<double> out_, in_;
  Layout sending_, receiving_;
  int round_ = -1;
  double bytes_sent_ = 0;
  MPI_Comm neighbours_ = MPI_COMM_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace parley::network
