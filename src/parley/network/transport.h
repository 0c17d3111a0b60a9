// Moves paid releases between nodes, and nothing else: send() accepts no other type.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "parley/network/graph.h"
#include "parley/privacy/release.h"

namespace parley::network {

// The numbers that a node releases in a round, 0 where it is silent: public, so that nobody sends silence.
using ValueSize = std::function<Index(int node, int round)>;

class Transport {
 public:
  virtual ~Transport() = default;
  // Sends each local node's release to its neighbours, and fills the inboxes (one per local node, ordered by neighbour
  // id) of those that only hear nodes of this process. Returns the others, which may work again after receive(): what
  // is between the two overlaps with the messages.
  virtual std::vector<std::size_t> send(std::span<const privacy::Paid> mine, std::vector<privacy::Inbox>& inboxes) = 0;
  virtual void receive(std::vector<privacy::Inbox>& inboxes) = 0;
  virtual double bytes_sent() const { return 0; }  // to other processes, so far
};

// All nodes in one process: values are shared, not copied.
class InProcess : public Transport {
 public:
  explicit InProcess(Graph graph) : graph_(std::move(graph)) {}
  std::vector<std::size_t> send(std::span<const privacy::Paid> mine, std::vector<privacy::Inbox>& inboxes) override;
  void receive(std::vector<privacy::Inbox>& /*inboxes*/) override {}

 private:
  Graph graph_;
};

}  // namespace parley::network
