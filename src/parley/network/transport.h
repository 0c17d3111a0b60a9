// Moves paid releases between nodes, and nothing else: exchange() accepts no other type.
#pragma once
#include <span>
#include <vector>

#include "parley/network/graph.h"
#include "parley/privacy/release.h"

namespace parley::network {

class Transport {
 public:
  virtual ~Transport() = default;
  // Sends each local node's release to its neighbours and returns what each local node received, ordered by neighbour
  // id.
  virtual std::vector<privacy::Inbox> exchange(std::span<const privacy::Paid> mine) = 0;
};

// All nodes in one process: values are shared, not copied.
class InProcess : public Transport {
 public:
  explicit InProcess(Graph graph) : graph_(std::move(graph)) {}
  std::vector<privacy::Inbox> exchange(std::span<const privacy::Paid> mine) override;

 private:
  Graph graph_;
};

}  // namespace parley::network
