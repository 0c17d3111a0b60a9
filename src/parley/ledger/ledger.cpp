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
  budgets_.push_back(
      {.anybody = {.limit = limit_of(limit)}, .colluders = {.limit = limit_of(limit, privacy::Against::colluders)}});
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
    const auto limit = [&](privacy::Against whom) -> Limit {
      return {.limit = limit_of(cap, whom), .past = file_->spent(used.name, cap.delta, run.id, whom).total()};
    };
    budgets_.push_back({.anybody = limit(privacy::Against::anybody), .colluders = limit(privacy::Against::colluders)});
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
    account.spent.add(charge, price(charge));
    account.charges.push_back(std::move(charge));
    account.last_round = account.resumed_through = e.round;
    note(budgets_[account.budget], account.spent);
  }
}

std::size_t Ledger::index(int node) const {
  const auto at = static_cast<std::size_t>(node);
  expects(node >= 0 && at < account_of_.size() && account_of_[at] >= 0, "a node of this ledger");
  return static_cast<std::size_t>(account_of_[at]);
}

Price Ledger::price(const privacy::Charge& charge) const {
  return file_ ? price_of(charge, is_private_) : Price{charge.epsilon, charge.mu, charge.mu_colluders};
}

void Ledger::Spent::add(const privacy::Charge& charge, const Price& price) {
  epsilon.add(Price{charge.epsilon, charge.mu});
  counted.add(price);
  colluders.add(price.against(privacy::Against::colluders));
}

// The node that has spent most.
void Ledger::note(Budget& budget, const Spent& spent) {
  budget.anybody.most = std::max(budget.anybody.most, spent.counted.total());
  budget.colluders.most = std::max(budget.colluders.most, spent.colluders.total());
}

bool Ledger::Limit::kept() const {
  privacy::UpwardSum total;
  total.add(past);
  total.add(most);
  return !(total.value() > limit);
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
    Spent spent;
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
    expects(r.charge.mu_colluders.value_or(0) <= r.charge.mu, "no more against some than against all");
    After next{&account, account.spent};
    next.spent.add(r.charge, price(r.charge));
    Budget& budget = budgets[account.budget];
    note(budget, next.spent);
    if (!budget.anybody.kept() || !budget.colluders.kept()) return std::nullopt;
    after.push_back(next);
    fresh.push_back(&r);
  }
  if (file_ && !fresh.empty()) file_->charge(run_, fresh);  // on disk, or Error
  for (std::size_t i = 0; i < after.size(); ++i) {
    Account& account = *after[i].account;
    account.spent = after[i].spent;
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
    account.spent.add(r.charge, price(r.charge));
    account.charges.push_back(r.charge);
    note(budgets_[account.budget], account.spent);
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

double Ledger::spent(int node, double delta, privacy::Against whom) const {
  const Spent& spent = account(node).spent;
  if (is_private_ && spent.counted.delta() == delta)
    return (whom == privacy::Against::anybody ? spent.counted : spent.colluders).epsilon();
  Spend sum(delta);
  for (const privacy::Charge& c : account(node).charges) sum.add(Price{c.epsilon, c.mu_against(whom)});
  return sum.epsilon();
}

}  // namespace parley::ledger
