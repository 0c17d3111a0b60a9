#include "parley/ledger/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "parley/base/error.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/pure.h"

namespace parley::ledger {

Ledger::Ledger(int nodes, bool is_private, std::optional<Cap> cap) : is_private_(is_private) {
  const Cap limit = cap.value_or(Cap(std::numeric_limits<double>::infinity()));
  budgets_.push_back({.limit = limit_of(limit)});
  for (int node = 0; node < nodes; ++node) {
    accounts_.emplace_back(limit.delta, 0);
    account_of_.push_back(node);
  }
}

Ledger::Ledger(std::shared_ptr<LedgerFile> file, const PlannedRun& run)
    : is_private_(run.not_private.empty()), file_(std::move(file)), run_(run.id) {
  expects(file_->active_.expired(), "one run at a time on a ledger");
  file_->start(run);
  active_ = std::make_shared<int>(0);
  file_->active_ = active_;
  for (const auto& used : run.datasets) {
    const Cap& cap = file_->datasets().at(used.name).cap;
    budgets_.push_back({.limit = limit_of(cap), .past = file_->spent(used.name, cap.delta, run.id).total()});
  }
  for (const auto& planned : run.accounts) {
    const auto used = std::ranges::find(run.datasets, planned.dataset, &PlannedRun::Dataset::name);
    const auto at = static_cast<std::size_t>(planned.node);
    expects(planned.node >= 0, "a node number of at least 0");
    if (account_of_.size() <= at) account_of_.resize(at + 1, -1);
    expects(account_of_[at] < 0, "one account per node");
    account_of_[at] = static_cast<int>(accounts_.size());
    accounts_.emplace_back(file_->datasets().at(planned.dataset).cap.delta,
                           static_cast<std::size_t>(used - run.datasets.begin()));
  }
  for (const Entry& e : file_->database().charges(run_)) {
    Account& account = accounts_[index(e.node)];
    privacy::Charge charge =
        charge_from_text(e.body, "entry " + std::to_string(e.sequence) + " of " + file_->file().string());
    account.epsilon.add(Price{charge.epsilon, charge.mu});
    account.counted.add(price(charge));
    account.charges.push_back(std::move(charge));
    account.last_round = account.resumed_through = e.round;
    budgets_[account.budget].most = std::max(budgets_[account.budget].most, account.counted.total());
  }
}

std::size_t Ledger::index(int node) const {
  const auto at = static_cast<std::size_t>(node);
  expects(node >= 0 && at < account_of_.size() && account_of_[at] >= 0, "a node of this ledger");
  return static_cast<std::size_t>(account_of_[at]);
}

Price Ledger::price(const privacy::Charge& charge) const {
  return file_ ? price_of(charge, is_private_) : Price{charge.epsilon, charge.mu};
}

std::optional<privacy::Paid> Ledger::pay(privacy::Release release) {
  std::vector<privacy::Release> one;
  one.push_back(std::move(release));
  auto paid = pay_all(std::move(one));
  if (!paid) return std::nullopt;
  return std::move(paid->front());
}

std::optional<std::vector<privacy::Paid>> Ledger::pay_all(std::vector<privacy::Release> releases) {
  expects(!failed_, "no charge after a round failed");
  std::vector<privacy::Paid> paid;
  struct After {
    Account* account;
    Spend epsilon, counted;
  };
  std::vector<After> after;
  std::vector<const privacy::Release*> fresh;
  std::vector<Budget> budgets = budgets_;
  std::vector<char> seen(accounts_.size(), 0);
  for (const privacy::Release& r : releases) {
    Account& account = accounts_[index(r.node)];
    expects(seen[index(r.node)]++ == 0, "one round of a node at a time");
    if (r.round <= account.resumed_through && r.round >= 0) continue;
    expects(r.round == account.last_round + 1, "one release per node and round, in order");
    expects(r.value.allFinite(), "a finite released value");
    expects(r.charge.epsilon >= 0 && r.charge.mu >= 0, "a charge of at least 0");
    expects((std::isfinite(r.charge.epsilon) && std::isfinite(r.charge.mu)) || !is_private_,
            "noise in whatever touched data");
    After next{&account, account.epsilon, account.counted};
    next.epsilon.add(Price{r.charge.epsilon, r.charge.mu});
    next.counted.add(price(r.charge));
    Budget& budget = budgets[account.budget];
    budget.most = std::max(budget.most, next.counted.total());
    privacy::UpwardSum total;
    total.add(budget.past);
    total.add(budget.most);
    if (total.value() > budget.limit) return std::nullopt;
    after.push_back(next);
    fresh.push_back(&r);
  }
  if (file_ && !fresh.empty()) file_->charge(run_, fresh);  // on disk, or Error
  for (std::size_t i = 0; i < after.size(); ++i) {
    Account& account = *after[i].account;
    account.epsilon = after[i].epsilon;
    account.counted = after[i].counted;
    account.last_round = fresh[i]->round;
  }
  budgets_ = std::move(budgets);
  for (privacy::Release& r : releases) {
    Account& account = accounts_[index(r.node)];
    if (r.round <= account.resumed_through) {
      auto again = stored(r.node, r.round);
      expects(again.has_value(), "a stored value for a stored round");
      if (again) paid.push_back(std::move(*again));
      continue;
    }
    account.charges.push_back(std::move(r.charge));
    paid.push_back(privacy::Paid(r.node, r.round, std::make_shared<const Vector>(std::move(r.value))));
  }
  return paid;
}

void Ledger::fail(const std::vector<privacy::Release>& unreleased, const std::string& reason) {
  // In memory there may be accounts of nodes that live in other processes.
  expects(!failed_ && (!file_ || unreleased.size() == accounts_.size()), "one failure of all nodes of a run");
  if (std::ranges::all_of(unreleased, [](const privacy::Release& r) { return r.charge.kind == "none"; })) return;
  for (const privacy::Release& r : unreleased)
    expects(r.round == account(r.node).last_round + 1 && r.value.size() == 0,
            "nothing released in the round that failed");
  if (file_) file_->fail(run_, unreleased, reason);  // on disk, or Error
  failed_ = true;
  for (const privacy::Release& r : unreleased) {
    Account& account = accounts_[index(r.node)];
    account.epsilon.add(Price{r.charge.epsilon, r.charge.mu});
    account.counted.add(price(r.charge));
    account.charges.push_back(r.charge);
    Budget& budget = budgets_[account.budget];
    budget.most = std::max(budget.most, account.counted.total());
  }
}

std::optional<privacy::Paid> Ledger::stored(int node, int round) const {
  if (!file_ || round < 0 || round > account(node).last_round) return std::nullopt;
  const std::string bytes = file_->database().released(run_, node, round).value_or("?");
  expects(bytes.size() % sizeof(double) == 0, "the stored value of a charge");
  Vector value(static_cast<Index>(bytes.size() / sizeof(double)));
  if (!bytes.empty()) std::memcpy(value.data(), bytes.data(), bytes.size());
  return privacy::Paid(node, round, std::make_shared<const Vector>(std::move(value)));
}

double Ledger::spent(int node, double delta) const {
  if (is_private_ && account(node).counted.delta() == delta) return account(node).counted.epsilon();
  Spend sum(delta);
  for (const privacy::Charge& c : account(node).charges) sum.add(Price{c.epsilon, c.mu});
  return sum.epsilon();
}

}  // namespace parley::ledger
