// The account of one run: charges first, then hands back what may leave. One released value per (node, round).
// In memory for a simulation, or on the owner's ledger file, where a release is on disk before it is handed out; the
// rules are the same code.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "parley/ledger/ledger_file.h"
#include "parley/ledger/spend.h"
#include "parley/privacy/release.h"

namespace parley::ledger {

class Ledger {
 public:
  // In memory, for one run. cap: the most that any node may spend; a release that would exceed it is not paid. A δ in
  // it, even with an infinite epsilon, makes spent(node, δ) cheap.
  Ledger(int nodes, bool is_private, std::optional<Cap> cap = std::nullopt);

  // On file. Starts the run, or resumes it when file has a run of this id: then what was released stays released.
  // Error before anything is written when the whole planned run would exceed a cap (LedgerFile::check_room).
  Ledger(std::shared_ptr<LedgerFile> file, const PlannedRun& run);

  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  // Privacy: charges the node's account by release.charge and stores the value; only then is there a Paid to send.
  // nullopt: a cap would be exceeded, nothing was charged. Error: it could not be stored; nothing may leave. A second
  // release for the same (node, round) is a bug, and so is data without noise in a private run. Only for a round that
  // was stored before this run was resumed, the stored value comes back in place of the new one, without charge.
  std::optional<privacy::Paid> pay(privacy::Release release);
  // One round of several nodes, in one commit: all or none.
  std::optional<std::vector<privacy::Paid>> pay_all(std::vector<privacy::Release> releases);

  // Privacy: the round after the last one could not be solved; of each node of this run, with an empty value and what
  // it would have cost. Whether a round fails may be a function of its noise, so it is charged as if it had been released,
  // over the cap too, and the run does not go on: here any further charge is a bug, and on file no process may resume
  // it (LedgerFile::check_room). On disk when it returns, so that nobody hears of the failure before. Error: it could
  // not be stored, and then that is what the caller may tell, not the failure. Nothing is marked where no node of this
  // run touches data in this round: there is no noise to choose.
  void fail(const std::vector<privacy::Release>& unreleased, const std::string& reason);
  bool failed() const { return failed_; }  // and the mark is stored

  // What was released as (node, round) of this run: the same bytes again, at no charge. Only on file.
  std::optional<privacy::Paid> stored(int node, int round) const;
  int last_round(int node) const { return account(node).last_round; }  // −1: nothing released yet

  // Of this run. spent(node): Σε, infinite as soon as a Gaussian round was charged; spent(node, δ): ε of the GDP
  // filter.
  double spent(int node) const { return account(node).spent.epsilon.total(); }
  double spent(int node, double delta, privacy::Against whom = privacy::Against::anybody) const;
  const std::vector<privacy::Charge>& charges(int node) const { return account(node).charges; }

  bool is_private() const { return is_private_; }  // false: stamped NOT PRIVATE (seeded noise, or none)
  const std::shared_ptr<LedgerFile>& file() const { return file_; }  // null: in memory
  const std::string& run_id() const { return run_; }

 private:
  struct Limit {
    double limit = 0;
    double past = 0;  // other runs
    double most = 0;  // this run, the node that spent most
    bool kept() const;
  };
  struct Budget {  // of one dataset; the accounts are never mixed
    Limit anybody, colluders;
  };
  struct Spent {  // by a node in this run
    explicit Spent(double delta) : counted(delta), colluders(delta) {}
    Spend epsilon;    // Σε
    Spend counted;    // by the rule of the cap, against anybody
    Spend colluders;  // the same, against the colluders of the plan
    void add(const privacy::Charge& charge, const Price& price);
  };
  struct Account {
    explicit Account(double delta, std::size_t its_budget) : spent(delta), budget(its_budget) {}
    Spent spent;
    std::size_t budget;
    std::vector<privacy::Charge> charges;
    int last_round = -1;
    int resumed_through = -1;  // stored by an earlier process
  };
  static void note(Budget& budget, const Spent& spent);
  std::size_t index(int node) const;
  const Account& account(int node) const { return accounts_[index(node)]; }
  Price price(const privacy::Charge& charge) const;

  std::vector<Account> accounts_;
  std::vector<int> account_of_;  // node → account, −1: not local
  std::vector<Budget> budgets_;
  bool is_private_;
  std::shared_ptr<LedgerFile> file_;
  std::string run_;
  bool failed_ = false;
  std::shared_ptr<int> active_;
};

}  // namespace parley::ledger
