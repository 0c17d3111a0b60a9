#include "parley/network/mpi/mpi_transport.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "parley/base/error.h"
#include "parley/network/mpi/checked.h"

namespace parley::network {
namespace {

int owner_of(int node, const Blocks& blocks) {
  return static_cast<int>(std::ranges::upper_bound(blocks, node) - blocks.begin()) - 1;
}

const privacy::Released& silence() {
  static const privacy::Released nothing = std::make_shared<const Vector>();
  return nothing;
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm world, const Graph& graph, const Blocks& blocks, ValueSize size)
    : graph_(graph), size_(std::move(size)), heard_(static_cast<std::size_t>(graph.nodes())) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  first_ = blocks[static_cast<std::size_t>(rank)];
  end_ = blocks[static_cast<std::size_t>(rank) + 1];
  std::map<int, std::pair<std::set<int>, std::set<int>>> across;  // rank → mine that it hears, its that I hear
  for (int i = first_; i < end_; ++i) {
    bool waits = false;
    for (const int j : graph_.neighbours(i)) {
      if (local(j)) continue;
      auto& [out, in] = across[owner_of(j, blocks)];
      out.insert(i);
      in.insert(j);
      waits = true;
    }
    if (waits) waiting_.push_back(static_cast<std::size_t>(i - first_));
  }
  std::vector<int> ranks;
  for (const auto& [other, nodes] : across) {
    const auto& [out, in] = nodes;
    links_.push_back({.out = {out.begin(), out.end()}, .in = {in.begin(), in.end()}});
    ranks.push_back(other);
  }
  const int degree = static_cast<int>(ranks.size());
  checked(MPI_Dist_graph_create_adjacent(world, degree, ranks.data(), MPI_UNWEIGHTED, degree, ranks.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &neighbours_),
          "MPI_Dist_graph_create_adjacent");
  MPI_Comm_set_errhandler(neighbours_, MPI_ERRORS_RETURN);
}

MpiTransport::~MpiTransport() {
  if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);  // of a run that stopped after it had sent
  MPI_Comm_free(&neighbours_);
}

MpiTransport::Layout MpiTransport::layout(std::vector<int> Link::* nodes) const {
  Layout l;
  for (const Link& link : links_) {
    Index numbers = 0;
    for (const int node : link.*nodes) numbers += size_(node, round_);
    l.starts.push_back(static_cast<int>(l.total));
    l.counts.push_back(static_cast<int>(numbers));
    l.total += static_cast<std::size_t>(numbers);
    expects(l.total <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "a round that MPI can count");
  }
  return l;
}

std::vector<std::size_t> MpiTransport::send(std::span<const privacy::Paid> mine, std::vector<privacy::Inbox>& inboxes) {
  expects(static_cast<int>(mine.size()) == end_ - first_, "one release from every node of this rank");
  ++round_;
  for (const privacy::Paid& p : mine) {
    expects(local(p.node()) && p.round() == round_, "a release of this rank and round");
    expects(p.value()->size() == size_(p.node(), round_), "nodes that speak when it is their turn");
    heard_[static_cast<std::size_t>(p.node())] = p.value();
  }
  sending_ = layout(&Link::out);
  receiving_ = layout(&Link::in);
  out_.resize(sending_.total);
  in_.resize(receiving_.total);
  double* to = out_.data();
  for (const Link& link : links_)
    for (const int node : link.out) {
      const Vector& value = *heard_[static_cast<std::size_t>(node)];
      to = std::copy_n(value.data(), value.size(), to);
    }
  checked(
      MPI_Ineighbor_alltoallv(out_.data(), sending_.counts.data(), sending_.starts.data(), MPI_DOUBLE, in_.data(),
                              receiving_.counts.data(), receiving_.starts.data(), MPI_DOUBLE, neighbours_, &request_),
      "MPI_Ineighbor_alltoallv");
  bytes_sent_ += static_cast<double>(sending_.total * sizeof(double));
  inboxes.assign(mine.size(), {});
  std::size_t next = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (next < waiting_.size() && waiting_[next] == i)
      ++next;
    else
      inboxes[i] = inbox_of(first_ + static_cast<int>(i));
  }
  return waiting_;
}

void MpiTransport::receive(std::vector<privacy::Inbox>& inboxes) {
  checked(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  const double* from = in_.data();
  for (const Link& link : links_)
    for (const int node : link.in) {
      privacy::Released& value = heard_[static_cast<std::size_t>(node)];
      const Index size = size_(node, round_);
      value = size == 0 ? silence() : std::make_shared<const Vector>(Eigen::Map<const Vector>(from, size));
      from += size;
    }
  for (const std::size_t i : waiting_) inboxes[i] = inbox_of(first_ + static_cast<int>(i));
}

privacy::Inbox MpiTransport::inbox_of(int node) const {
  privacy::Inbox inbox;
  for (const int j : graph_.neighbours(node)) inbox.push_back(heard_[static_cast<std::size_t>(j)]);
  return inbox;
}

}  // namespace parley::network
