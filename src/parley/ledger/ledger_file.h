// A data owner's ledger: datasets with their caps, runs and every charge, cumulative over runs
// (docs/approve/ledger.md). This is the book; Ledger (ledger.h) writes one run into it and hands out what may leave.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/ledger/database.h"
#include "parley/ledger/spend.h"

namespace parley::ledger {

// Whom the prices of a run are for: one row, or whoever has the same text in this column, with up to so many rows.
struct Unit {
  std::string person{};  // the column; empty and 0: one row
  long rows = 0;
  bool operator==(const Unit&) const = default;
  std::string in_words() const;  // "one row", "one person by 'patient_id', with up to 4 rows"
};

// What a run is going to spend, before it starts.
struct PlannedRun {
  struct Dataset {
    std::string name;           // as its owner calls it: the key under which spend adds up
    std::string fingerprint{};  // LedgerFile::fingerprint(); only warns
    double records = 0;         // the smallest B_i of the nodes that hold it; δ ≥ 1/B_i warns
  };
  struct Account {
    int node = 0;
    std::string dataset;                     // nodes with one name hold disjoint parts of it
    std::vector<privacy::Charge> planned{};  // of all its rounds
  };
  std::string id = random_hex(16);         // of the run, the same for all its parties
  std::string configuration{};             // hash of the shared configuration
  std::string started{};                   // for people; the caller's clock
  std::vector<std::string> not_private{};  // why the claim is not one (seeded noise, or none)
  Unit unit{};                             // of all its prices
  std::vector<Dataset> datasets;
  std::vector<Account> accounts;   // the local nodes
  std::filesystem::path folder{};  // of its record, which has recorded_head()
};

class LedgerFile {
 public:
  enum class Open {
    existing,
    create_if_missing,
    to_read,    // also one whose memory is in doubt: doubt() says so, and nothing can be appended
    to_accept,  // whatever may be wrong with its memory, or newer in a record
  };
  // Locks; Error. One that is older than what it once was is refused, for reading too. So is, where something may be
  // appended, one without its memory, or with a damaged one or that of another ledger (R17).
  explicit LedgerFile(const std::filesystem::path& file, Open how = Open::existing);

  // The owner's decision to go on with a ledger that may be an old copy, or is one: a chained entry, and the memory
  // anew. records: every folder with a newer head, by name. Error when one is left out, or has none.
  void accept(const std::string& reason, const std::string& when, const std::vector<std::filesystem::path>& records);

  struct RecordedHead {  // in the record of a run with this ledger
    std::filesystem::path folder;
    std::string head;  // hexadecimal
  };
  struct Acceptance {
    std::int64_t entry = 0;
    std::string when, reason;
    std::string memory;  // as it was found: missing, damaged, another, newer, fits
    std::vector<RecordedHead> records;
    std::vector<std::int64_t> proofs;  // entries of Accusations that nobody had accepted before
    std::string sentence() const;
  };
  const std::vector<Acceptance>& acceptances() const { return acceptances_; }

  // Somebody has shown a party its own signature on what this ledger does not know of: more was released than stands
  // here. Until its owner accepts the ledger as it is, nothing is charged to it and no other run begins.
  struct Accusation {
    std::int64_t entry = 0;
    std::string run, when, what;
    std::string evidence;  // SHA-256 of the signed message, hexadecimal
    bool accepted = false;
    std::string sentence() const;
  };
  const std::vector<Accusation>& accusations() const { return accusations_; }
  const Accusation* open_accusation() const;  // the newest one that is not accepted; null: none
  // On disk when it returns, and whatever is left of it by a kill or a full disk counts as the whole. Once for each
  // message of a run. Error: it cannot be written, and then nothing more can be.
  void accuse(const std::string& run, const std::string& what, const Digest& evidence);
  std::optional<std::string> proved_old_in(const std::string& run) const;  // what was shown there, unless accepted
  // What was in doubt about the memory when it was opened to be read; nothing: it is there and fits.
  const std::optional<Error::Fields>& doubt() const { return doubt_; }
  // For the record of a run, at its begin and its end: which ledger, and its head, as hashes that tell nothing else.
  // Privacy: the number of entries is left out, since a party's record may be given to others as a whole.
  nlohmann::json recorded_head() const;

  // Makes the dataset known, or changes its cap from now on; the old cap stays in the chain.
  void set_cap(const std::string& dataset, const Cap& cap);

  // The incarnation of a party's process in a run of this ledger: 1, 2, … On disk before it is known, so no two
  // processes have the same number, however they end. Costs nothing. Error: it cannot be written, or a round of the run
  // has failed.
  int begin_process(const std::string& run);

  struct Dataset {
    Cap cap;
    std::string fingerprint;   // of the last run that had one
    std::vector<Cap> history;  // all caps, the last one in force
  };
  struct Account {
    std::string dataset;
    std::vector<Price> prices;  // of what touched data, a failed round's too
    int last_round = -1;
    double planned_epsilon = 0, planned_mu = 0;
    std::optional<double> planned_mu_colluders{};  // where noise cancels between parties
    std::optional<privacy::Charge> failed{};       // of the round after the last, which released nothing
  };
  struct Failure {
    int round = 0;
    std::string reason;  // uncertified: a minimum that could not be certified; failed: anything else
  };
  struct Run {
    std::string id, configuration, started;
    std::vector<std::string> not_private;
    Unit unit;
    std::map<int, Account> accounts;                  // by node
    std::map<std::string, std::string> fingerprints;  // of its datasets, by name
    std::map<std::string, double> records;            // how many rows these have
    std::optional<Failure> failed{};                  // it does not go on
    std::string folder;                               // of its record; empty: not known
    int processes = 0;                                // that begin_process() numbered
  };
  const std::map<std::string, Dataset>& datasets() const { return datasets_; }
  const std::vector<Run>& runs() const { return runs_; }
  const Run* find_run(const std::string& id) const;

  // Spent on any one row of the dataset over all runs but `except`: Σ_runs max_nodes, since a row sits at one node of a
  // run.
  Spend spent(const std::string& dataset, double delta, const std::string& except = "",
              privacy::Against whom = privacy::Against::anybody) const;
  Spend spent(const std::string& dataset, privacy::Against whom = privacy::Against::anybody) const {
    return spent(dataset, datasets_.at(dataset).cap.delta, "", whom);
  }

  // What all private runs that spent on the dataset were for; nothing: none did.
  std::optional<Unit> unit_of(const std::string& dataset, const std::string& except = "") const;

  // Error when `times` runs like this one would exceed a cap, a dataset is not known, a run that is not private meets a
  // dataset with a cap, earlier runs on the dataset were for another unit, or a round of this run has failed: wherever its record is, it is not tried again.
  void check_room(const PlannedRun& run, int times = 1) const;
  void check_not_failed(const std::string& run) const;  // the last of these
  // Error: this ledger was proved to be old. A run in which that was shown may still say so to its peers.
  void check_not_proved_old(const std::string& but_for_run = "") const;

  Fingerprint fingerprint() const { return Fingerprint(key_); }           // feed it the rows of a dataset
  const std::vector<std::string>& warnings() const { return warnings_; }  // so far
  // What its owner should know before this run starts, or goes on: other rows than before, a δ that hides a record, …
  std::vector<std::string> warnings_about(const PlannedRun& run) const;
  const Head& head() const { return database_->head(); }
  const std::filesystem::path& file() const { return database_->file(); }

  // Every entry with its released bytes; what they say again (ledger/verify.h).
  const LedgerDatabase& database() const { return *database_; }

 private:
  friend class Ledger;
  void load(const Entry& entry);
  void check_unit(const PlannedRun& run, const std::string& dataset) const;
  const Dataset& find_dataset(const std::string& name) const;  // Error: it is not known
  void check_cap_of(const PlannedRun& run, const std::string& dataset, int times, privacy::Against whom) const;
  void start(const PlannedRun& run);  // after check_room; resumes when the run is there and is the same
  void charge(const std::string& run, const std::vector<const privacy::Release*>& releases);
  void fail(const std::string& run, const std::vector<privacy::Release>& unreleased, const std::string& reason);
  void append(const std::vector<Entry>& entries, LedgerDatabase::First first = LedgerDatabase::First::entries);
  void load_charge(const Entry& entry, const std::string& where);
  void load_failure(const Entry& entry, const std::string& where);
  void load_run(const Entry& entry);
  void load_process(const Entry& entry);
  void load_acceptance(const Entry& entry);
  void load_accusation(const Entry& entry);
  nlohmann::json signed_head(const std::string& hash) const;
  std::vector<RecordedHead> newer_records() const;
  std::optional<Error::Fields> rolled_back() const;  // it is older than what was released
  std::optional<Error::Fields> memory_in_doubt() const;

  std::string name_;  // of the file as it was given, for messages
  std::unique_ptr<LedgerDatabase> database_;
  std::optional<Key> key_;
  std::map<std::string, Dataset> datasets_;
  std::vector<Run> runs_;
  std::map<std::string, std::size_t> run_at_;
  std::vector<Acceptance> acceptances_;
  std::vector<Accusation> accusations_;
  std::optional<Error::Fields> doubt_;
  std::vector<std::string> warnings_;
  std::weak_ptr<int> active_;  // one run at a time
};

// Error when this is no cap or no name for a dataset.
void check_cap(const std::string& dataset, const Cap& cap);

// How a charge stands in an entry's body, and back. Error naming `where` when the text is none.
std::string charge_text(const privacy::Charge& charge);
privacy::Charge charge_from_text(const std::string& text, const std::string& where);

// The price of a charge in a ledger on disk: infinite for whatever touched data in a run that is not private.
Price price_of(const privacy::Charge& charge, bool is_private);

}  // namespace parley::ledger
