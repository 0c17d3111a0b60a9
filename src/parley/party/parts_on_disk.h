// The parts of a run on one party's disks: each has a run of its own in the owner's ledger, a record and a transcript;
// the first in the party's folder, the n-th in part-n beside them. After a restart the earlier parts are found as they
// ended, and nothing in them is charged or released again.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parley/base/append_file.h"
#include "parley/base/durable.h"
#include "parley/ledger/ledger.h"
#include "parley/party/party.h"
#include "parley/record/record.h"
#include "parley/study/continuation.h"
#include "parley/study/part_history.h"

namespace parley::party {

class PartsOnDisk {
 public:
  struct Setup {
    study::Part first;
    int node = 0;  // of this party, in the study
    std::filesystem::path folder;
    std::shared_ptr<ledger::LedgerFile> book;
    // Of the first part: dataset, stamps and what it would charge; later ones take what does not depend on the part.
    ledger::PlannedRun run;
    std::function<nlohmann::json(const PartsOnDisk& parts, const std::string& outcome)> header;  // of a record
  };
  explicit PartsOnDisk(Setup setup);  // opens the first part; Error: it does not fit under the cap

  struct Beginning {  // of the part that is under way; released values and nothing else
    algorithm::Start start{};
    std::optional<protocol::FinalIterate> earlier{};
    privacy::Inbox expected{};
  };
  const Beginning& next(Party& before);  // the part that the survivors have agreed on
  // Privacy: agrees only where the whole next part fits into what the study planned and under the owner's cap.
  protocol::Consent consent(const protocol::Succession& next) const;

  std::unique_ptr<AppendFile> open_transcript();  // of the part that is under way; from now on its files are watched
  bool in_place() const;                          // nobody has removed or replaced what is watched
  void check_in_place() const;                    // Error: somebody has

  const study::Part& part() const { return parts_.back(); }
  int self() const { return self_of(part()); }
  std::filesystem::path folder() const { return folder_of(part()); }
  ledger::Ledger& ledger() { return *ledger_; }
  const ledger::Ledger& ledger() const { return *ledger_; }
  const ledger::LedgerFile& book() const { return *setup_.book; }
  record::Writer& record() { return *record_; }
  bool was_complete() const { return was_complete_; }  // an earlier process had the model
  // What voided claims when an earlier process ended; "" once this one ends and knows better (record/void_claims.h).
  const std::string& voided_before() const { return voided_before_; }
  const std::set<std::string>& contradicted_before() const { return contradicted_before_; }  // whom one has named
  record::Kept kept() const { return kept_.value_or(record::Kept{}); }                       // by earlier processes

  // Charges and stores it (ledger/ledger.h), or the mark of a round that cannot be released.
  std::optional<privacy::Paid> pay(privacy::Release release);
  void fail(privacy::Release unreleased, const std::string& reason);
  bool failed() const { return ledger_ && ledger_->failed(); }  // a round of it, which its ledger has

  bool holds_rows() const { return self() < part().holders(); }
  algorithm::Cost spent() const;                         // so far, for a progress line
  nlohmann::json line_of(int round, bool silent) const;  // in rounds.jsonl; ε as of that round
  study::PartHistory history() const;
  // The whole record, and that of the last part; on the disk when it returns.
  void finish(const nlohmann::json& head, const nlohmann::json& model);

 private:
  int self_of(const study::Part& part) const { return part.node_of(setup_.node); }
  std::filesystem::path folder_of(const study::Part& part) const;
  ledger::PlannedRun planned_run(const study::Part& part, bool closed) const;
  void open();
  void withdraw_statement();

  Setup setup_;
  std::set<std::string> contradicted_before_;
  std::string voided_before_;
  std::vector<study::Part> parts_;
  std::vector<protocol::Succession> agreements_;
  std::vector<int> released_;  // of the parts before: this party's last round
  Beginning beginning_;
  std::optional<ledger::Ledger> ledger_;
  bool was_complete_ = false, statement_withdrawn_ = false;
  std::optional<record::Kept> kept_;
  std::optional<record::Writer> record_;
  std::vector<InUse> in_use_;
};

}  // namespace parley::party
