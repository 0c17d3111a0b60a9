#include "parley/privacy/ledger.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::privacy {

Ledger::Ledger(int nodes, bool is_private, std::optional<double> cap_epsilon)
    : accounts_(static_cast<std::size_t>(nodes)), is_private_(is_private), cap_epsilon_(cap_epsilon) {}

std::optional<Paid> Ledger::pay(Release release) {
  Account& account = accounts_.at(static_cast<std::size_t>(release.node));
  expects(release.round == account.last_round + 1, "one release per node and round, in order");
  expects(release.value.allFinite(), "a finite released value");
  expects(release.charge.epsilon >= 0, "a charge of at least 0");
  expects(std::isfinite(release.charge.epsilon) || !is_private_, "noise in whatever touched data");
  UpwardSum after = account.epsilon;
  after.add(release.charge.epsilon);
  if (cap_epsilon_ && after.value() > *cap_epsilon_) return std::nullopt;
  account.epsilon = after;
  account.charges.push_back(std::move(release.charge));
  account.last_round = release.round;
  return Paid(release.node, release.round, std::make_shared<const Vector>(std::move(release.value)));
}

double Ledger::spent_most() const {
  double most = 0;
  for (const Account& account : accounts_) most = std::max(most, account.epsilon.value());
  return most;
}

}  // namespace parley::privacy
