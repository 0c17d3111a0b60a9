// The ledger of one run in one process: charges first, then hands back what may leave. One released value per (node,
// round).
#pragma once
#include <optional>
#include <vector>

#include "parley/privacy/pure.h"
#include "parley/privacy/release.h"

namespace parley::privacy {

class Ledger {
 public:
  // cap: the most that any node may spend; a release that would exceed it is not paid.
  Ledger(int nodes, bool is_private, std::optional<double> cap_epsilon = std::nullopt);

  // Privacy: charges node's account by release.charge and stores the value; only then is there a Paid to send.
  // nullopt: the cap would be exceeded, nothing was charged. A second release for the same (node, round) is a bug, and
  // so is data without noise in a private run.
  std::optional<Paid> pay(Release release);

  double spent(int node) const { return accounts_[static_cast<std::size_t>(node)].epsilon.value(); }
  double spent_most() const;
  bool is_private() const { return is_private_; }  // false: stamped NOT PRIVATE (seeded noise, or none)
  const std::vector<Charge>& charges(int node) const { return accounts_[static_cast<std::size_t>(node)].charges; }

 private:
  struct Account {
    UpwardSum epsilon;
    std::vector<Charge> charges;
    int last_round = -1;
  };
  std::vector<Account> accounts_;
  bool is_private_;
  std::optional<double> cap_epsilon_;
};

}  // namespace parley::privacy
