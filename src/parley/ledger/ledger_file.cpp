#include "parley/ledger/ledger_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/base/utf8.h"
#include "parley/ledger/error_codes.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/pure.h"

namespace parley::ledger {
namespace {

using nlohmann::json;
using privacy::Against;
constexpr double infinite = std::numeric_limits<double>::infinity();

std::string shown(const Cap& cap, Against whom) {
  const double most = whom == Against::anybody ? cap.epsilon : cap.colluders_epsilon.value_or(infinite);
  if (!std::isfinite(most)) return "unlimited";
  return "epsilon " + number(most) + (cap.delta > 0 ? " at delta " + number(cap.delta) : "");
}

Spend planned_spend(const PlannedRun::Account& account, double delta, bool is_private, Against whom) {
  Spend sum(delta);
  for (const privacy::Charge& charge : account.planned) sum.add(price_of(charge, is_private).against(whom));
  return sum;
}

Spend spent_in(const LedgerFile::Run& run, const std::string& dataset, double delta, Against whom) {
  Spend most(delta);
  for (const auto& [node, account] : run.accounts)
    if (account.dataset == dataset) most = larger(most, Spend(delta, account.prices, whom));
  return most;
}

}  // namespace

Price price_of(const privacy::Charge& charge, bool is_private) {
  if (charge.kind == "none" && charge.epsilon == 0 && charge.mu == 0) return {};
  if (!is_private) return {.epsilon = infinite};  // whoever knows the seed takes the noise away
  return {.epsilon = charge.epsilon, .mu = charge.mu, .mu_colluders = charge.mu_colluders};
}

LedgerFile::LedgerFile(const std::filesystem::path& file, Open how) : name_(file.string()) {
  leave_no_core_dump();  // its key makes fingerprints of rows
  if (how == Open::create_if_missing && !std::filesystem::exists(file)) {
    LedgerDatabase::check_vacant(file);
    const std::filesystem::path key_file = file.string() + ".key";
    create_key(key_file);
    const json body = {
        {"format", "parley ledger 1"}, {"id", random_hex(16)}, {"key", key_id(read_key(key_file).value_or(Key{}))}};
    LedgerDatabase::create(file, {.kind = "ledger", .body = body.dump()});
  }
  database_ = std::make_unique<LedgerDatabase>(LedgerDatabase::open(file, [this](const Entry& e) { load(e); }));
  const std::filesystem::path key_file = database_->file().string() + ".key";
  key_ = read_key(key_file);
  if (!key_) warnings_.push_back(key_file.string() + " is missing: rows cannot be compared with those of earlier runs");
  if (how == Open::to_accept) return;
  if (const auto older = rolled_back()) throw Error(*older);
  doubt_ = memory_in_doubt();
  if (doubt_ && how != Open::to_read) throw Error(*doubt_);
  if (doubt_) return;
  if (database_->memory_is_in_lock())
    warnings_.push_back("the memory of this ledger against rollback has moved from " + database_->file().string() +
                        ".lock to " + database_->memory_file().string() + ": keep it, and copy it with the ledger");
  database_->remember();
}

void check_cap(const std::string& dataset, const Cap& cap) {
  const bool printable = std::ranges::all_of(dataset, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  if (dataset.empty() || dataset.size() > 200 || !printable || trim(dataset) != dataset)
    throw Error({.what = "this is no name for a dataset",
                 .value = "'" + dataset + "'",
                 .allowed = "1 to 200 bytes, no control characters, no blank at either end"});
  const bool finite = cap.epsilon > 0 && cap.epsilon <= 1000, unlimited = cap.epsilon == infinite;
  if (cap.colluders_epsilon && !(*cap.colluders_epsilon > 0 && *cap.colluders_epsilon <= std::min(cap.epsilon, 1000.0)))
    throw Error({.what = "this is no cap against colluders: against anybody no less is spent",
                 .value = "colluders-epsilon " + number(*cap.colluders_epsilon),
                 .allowed = "above 0, at most 1000 and at most --epsilon " + number(cap.epsilon),
                 .where = "dataset '" + dataset + "'",
                 .fix = "give --colluders-epsilon in this range, or leave it out; no file was changed"});
  if (!(finite || unlimited) || !(cap.delta >= 0 && cap.delta < 1))
    throw Error({.what = "this is no cap",
                 .value = "epsilon " + number(cap.epsilon) + ", delta " + number(cap.delta),
                 .allowed = "0 < epsilon <= 1000 or unlimited, 0 <= delta < 1",
                 .where = "dataset '" + dataset + "'",
                 .fix = "give --epsilon and --delta in this range; no file was changed"});
  if (!is_utf8(dataset))
    throw Error({.what = "this is no name for a dataset: not UTF-8", .value = hex(dataset), .allowed = "UTF-8"});
}

const LedgerFile::Run* LedgerFile::find_run(const std::string& id) const {
  const auto at = run_at_.find(id);
  return at == run_at_.end() ? nullptr : &runs_[at->second];
}

Spend LedgerFile::spent(const std::string& dataset, double delta, const std::string& except, Against whom) const {
  Spend sum(delta);
  for (const Run& run : runs_)
    if (run.id != except) sum.add(spent_in(run, dataset, delta, whom));
  return sum;
}

void LedgerFile::check_not_failed(const std::string& id) const {
  const Run* const run = find_run(id);
  if (run == nullptr || !run->failed) return;
  const bool uncertified = run->failed->reason == "uncertified";
  throw Error(
      {.what = "run " + id + " ended in round " + std::to_string(run->failed->round) + ": " +
               (uncertified ? "a local minimum could not be certified" : "it could not be solved") +
               ". Trying again with other noise until it can be would choose the noise, and no bound covers that",
       .where = file().string(),
       .fix = std::string("the ledger keeps this run closed, whatever --out says. Start a new run, or agree on a "
                          "new study") +
              (uncertified ? ", with a larger --tolerance" : "") +
              "; what this one spent stays spent, the failed round included",
       .code = run_closed});
}

const LedgerFile::Dataset& LedgerFile::find_dataset(const std::string& name) const {
  if (const auto found = datasets_.find(name); found != datasets_.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(datasets_.size());
  for (const auto& [known, dataset] : datasets_) names.push_back(known);
  const std::string near = nearest(name, names);
  throw Error({.what = "the ledger knows no dataset '" + name + "'",
               .allowed = names.empty() ? "none yet" : join(names, ", "),
               .where = file().string(),
               .fix = (near.empty() ? "" : "did you mean '" + near + "'? ") +
                      (names.empty() ? ""
                                     : "if the ledger has these rows under another name, give that one with "
                                       "--dataset: two names for the same rows are two budgets. Rows that are new "
                                       "to it: ") +
                      "parley ledger cap " + file().string() + " --dataset '" + name + "' --epsilon E [--delta D]"});
}

void LedgerFile::check_room(const PlannedRun& run, int times) const {
  check_not_failed(run.id);
  check_not_proved_old(run.id);
  for (const PlannedRun::Account& account : run.accounts)
    expects(std::ranges::any_of(run.datasets, [&](const auto& d) { return d.name == account.dataset; }),
            "every node's dataset among the run's");
  for (const PlannedRun::Dataset& used : run.datasets) {
    const Cap& cap = find_dataset(used.name).cap;
    if (!run.not_private.empty() && cap.limited())
      throw Error(
          {.what = "a run that is not private cannot be paid from dataset '" + used.name +
                   "': " + join(run.not_private, "; "),
           .allowed = "private runs only, up to " + shown(cap, Against::anybody),
           .where = file().string(),
           .fix = "take the seed away and keep the noise (in a study: agree on a new study without a seed); public or "
                  "synthetic rows may have a dataset of their own with --epsilon unlimited"});
    check_unit(run, used.name);
    for (const Against whom : {Against::anybody, Against::colluders}) check_cap_of(run, used.name, times, whom);
  }
}

std::string Unit::in_words() const {
  if (rows == 0) return "one row";
  return "one person by '" + person + "', with up to " + std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

std::optional<Unit> LedgerFile::unit_of(const std::string& dataset, const std::string& except) const {
  std::optional<Unit> found;
  for (const Run& run : runs_) {
    const bool spent = std::ranges::any_of(
        run.accounts, [&](const auto& a) { return a.second.dataset == dataset && !a.second.prices.empty(); });
    if (!spent || run.id == except || !run.not_private.empty()) continue;
    if (!found || run.unit.rows > found->rows) found = run.unit;
  }
  return found;
}

// Each run's price covers all that a person gave to that run, so prices of several rows_per_person add up. The price of
// one row covers no person, and the same people under another column are other persons (docs/proofs/person.md).
void LedgerFile::check_unit(const PlannedRun& run, const std::string& dataset) const {
  const std::optional<Unit> before = unit_of(dataset, run.id);
  if (!before || !run.not_private.empty() || before->person == run.unit.person) return;
  throw Error({.what = "earlier runs on dataset '" + dataset +
                       "' were for another unit, and what they cost does not add "
                       "up with what this one costs",
               .value = run.unit.in_words(),
               .allowed = before->in_words(),
               .where = file().string(),
               .fix =
                   "use a schema with the same 'person'; or let the data owner give a new budget under another name of "
                   "the dataset (parley ledger cap), on top of which the earlier runs still count for the people in it",
               .code = other_unit});
}

void LedgerFile::check_cap_of(const PlannedRun& run, const std::string& dataset, int times, Against whom) const {
  const Cap& cap = datasets_.at(dataset).cap;
  Spend most(cap.delta);
  bool shared = false;
  for (const PlannedRun::Account& account : run.accounts) {
    if (account.dataset != dataset) continue;
    most = larger(most, planned_spend(account, cap.delta, run.not_private.empty(), whom));
    shared = shared || std::ranges::any_of(account.planned, [](const auto& c) { return c.mu_colluders.has_value(); });
  }
  const Spend before = spent(dataset, cap.delta, run.id, whom);
  Spend all = before;
  for (int i = 0; i < times; ++i) all.add(most);
  if (all.total() <= limit_of(cap, whom)) return;
  const bool gaussian = cap.delta == 0 && std::isinf(most.epsilon());
  const std::string against = whom == Against::colluders ? " against its colluders" : shared ? " against anybody" : "";
  throw Error({.what = "the planned run would exceed the cap of dataset '" + dataset + "'" + against +
                       (times > 1 ? " (" + std::to_string(times) + " runs)" : ""),
               .value = "epsilon " + printed_epsilon(before.epsilon()) + " spent, " + printed_epsilon(most.epsilon()) +
                        " planned, together " + printed_epsilon(all.epsilon()) +
                        (cap.delta > 0 ? " by the GDP filter (squares of mu add up, not epsilons)" : ""),
               .allowed = shown(cap, whom) +
                          (gaussian ? ""
                                    : ", of which " + number(std::floor(left_under(cap, before, whom) * 1e4) / 1e4) +
                                          " is left for a run"),
               .where = file().string(),
               .fix = gaussian ? "Gaussian noise needs a cap with --delta"
                      : shared && whom == Against::anybody
                          ? "noise that cancels holds against the plan's colluders, and against anybody by what is "
                            "not shared alone: plan without --colluders, or let the data owner set both caps, parley "
                            "ledger cap --epsilon E --colluders-epsilon F"
                          : "plan a smaller run; a higher cap is the data owner's decision: parley ledger cap",
               .code = over_cap});
}

std::vector<std::string> LedgerFile::warnings_about(const PlannedRun& run) const {
  std::vector<std::string> warnings;
  const Run* there = find_run(run.id);  // resumed: its own rows are what counts, not a later run's
  for (const PlannedRun::Dataset& used : run.datasets) {
    const Dataset& known = find_dataset(used.name);
    const auto warn = [&](const std::string& text) { warnings.push_back("dataset '" + used.name + "': " + text); };
    if (used.records > 0 && known.cap.delta >= 1 / used.records)
      warn("delta " + number(known.cap.delta) + " is not below 1/B_i = " + number(1 / used.records) +
           ": a release of a whole record could hide in it");
    if (!known.cap.limited()) warn("its cap is unlimited");
    if (std::isinf(spent(used.name, 0.5).total())) warn("its spend is infinite: nothing is promised for its rows");
    std::string before = known.fingerprint;
    if (there != nullptr) before = there->fingerprints.contains(used.name) ? there->fingerprints.at(used.name) : "";
    const auto key = [](const std::string& text) { return text.substr(0, text.find(':')); };
    if (used.fingerprint.empty() || before.empty()) continue;
    if (key(used.fingerprint) != key(before))
      warn("fingerprinted under another key: rows cannot be compared with those of earlier runs");
    else if (used.fingerprint != before)
      warn(there != nullptr ? "other rows than this run was started with: the spend is kept"
                            : "same name, other rows: the spend is kept");
  }
  return warnings;
}

}  // namespace parley::ledger
