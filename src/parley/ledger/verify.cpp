#include "parley/ledger/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "parley/base/text.h"

namespace parley::ledger {
namespace {

// What was spent, against the cap that was in force then. A cap that is lowered afterwards ends the dataset, and makes
// nothing wrong that was paid before.
class CapsInForce {
 public:
  CapsInForce(const LedgerFile& ledger, std::vector<std::string>& wrong) : ledger_(ledger), wrong_(wrong) {}

  void read(const Entry& e) {
    if (e.kind == "cap") {
      const std::string name = nlohmann::json::parse(e.body).at("dataset");
      settle(name);
      ++caps_[name];
    } else if (e.kind == "charge") {
      const LedgerFile::Run& run = *ledger_.find_run(e.run);
      const std::string& dataset = run.accounts.at(e.node).dataset;
      prices_[dataset][e.run][e.node].push_back(
          price_of(charge_from_text(e.body, ledger_.file().string()), run.not_private.empty()));
      unsettled_.insert(dataset);
    }
  }
  void end() {
    for (const std::string& name : std::set<std::string>(unsettled_)) settle(name);
  }

 private:
  void settle(const std::string& name) {
    if (unsettled_.erase(name) == 0) return;
    const Cap& cap = ledger_.datasets().at(name).history.at(static_cast<std::size_t>(caps_[name]) - 1);
    for (const privacy::Against whom : {privacy::Against::anybody, privacy::Against::colluders}) {
      Spend sum(cap.delta);
      for (const auto& [run, nodes] : prices_[name]) {
        Spend most(cap.delta);
        for (const auto& [node, prices] : nodes) most = larger(most, Spend(cap.delta, prices, whom));
        sum.add(most);
      }
      if (sum.total() > limit_of(cap, whom))
        wrong_.push_back("dataset '" + name + "': more was spent than its cap of epsilon " +
                         number(whom == privacy::Against::anybody ? cap.epsilon : *cap.colluders_epsilon) +
                         (whom == privacy::Against::anybody ? "" : " against colluders") +
                         " allowed at that time: the chain was written anew");
    }
  }

  const LedgerFile& ledger_;
  std::vector<std::string>& wrong_;
  std::map<std::string, int> caps_;                                                         // so far
  std::map<std::string, std::map<std::string, std::map<int, std::vector<Price>>>> prices_;  // dataset, run, node
  std::set<std::string> unsettled_;  // datasets that were charged since their last cap
};

// What a run was charged, against what was registered before its first round: the room under a cap was looked for once,
// for that much.
class PlansKept {
 public:
  void add(const Entry& e, const privacy::Charge& charge) {
    Sums& sums = sums_[e.run][e.node];
    sums.epsilon += charge.epsilon;
    sums.mu_squared += charge.mu * charge.mu;
    const double less = charge.mu_against(privacy::Against::colluders);
    sums.mu_squared_colluders += less * less;
  }
  void compare(const LedgerFile::Run& run, std::vector<std::string>& wrong) const {
    const auto charged = sums_.find(run.id);
    if (charged == sums_.end()) return;
    for (const auto& [node, sums] : charged->second) {
      const LedgerFile::Account& account = run.accounts.at(node);
      const std::string who = "run " + run.id + ", node " + std::to_string(node);
      const auto hold = [&](const std::string& what, long double sum, double planned) {
        if (static_cast<double>(sum) > planned * (1 + 1e-9))
          wrong.push_back(who + ": its charges have " + what + " " + number(static_cast<double>(sum)) +
                          " together, and " + number(planned) + " was registered before round 0");
      };
      hold("epsilon", sums.epsilon, account.planned_epsilon);
      hold("mu", std::sqrt(sums.mu_squared), account.planned_mu);
      hold("mu against colluders", std::sqrt(sums.mu_squared_colluders),
           account.planned_mu_colluders.value_or(account.planned_mu));
    }
  }

 private:
  struct Sums {
    long double epsilon = 0, mu_squared = 0, mu_squared_colluders = 0;
  };
  std::map<std::string, std::map<int, Sums>> sums_;  // run, node
};

double rows_per_person(const privacy::Charge& charge) {
  for (const auto& [name, value] : charge.parameters)
    if (name == "rows_per_person") return value;
  return 0;
}

// Under one key alone: fingerprints under different keys say nothing of each other.
std::string rows_that_changed(const LedgerFile& ledger, const std::string& dataset) {
  std::string before;
  std::vector<std::string> changed;
  int runs = 0;
  for (const LedgerFile::Run& run : ledger.runs()) {
    const auto found = run.fingerprints.find(dataset);
    if (found == run.fingerprints.end()) continue;
    const auto key = [](const std::string& text) { return text.substr(0, text.find(':')); };
    if (runs++ > 0 && key(before) == key(found->second) && before != found->second)
      changed.push_back(run.id.substr(0, 16));
    before = found->second;
  }
  if (changed.empty()) return "";
  return "dataset '" + dataset + "': " + std::to_string(changed.size()) + " of " + std::to_string(runs) +
         " runs have other rows than the run before, by their fingerprints: " + join(changed, ", ");
}

// A charge of another machine may differ by the last bits of its logarithm.
bool covers(double charged, double proved) {
  return charged >= proved * (1 - 1e-12);
}

}  // namespace

Checked verify(const LedgerFile& ledger) {
  Checked result;
  if (ledger.doubt()) result.wrong.push_back(Error(*ledger.doubt()).in_one_line());
  for (const LedgerFile::Accusation& proof : ledger.accusations())
    if (!proof.accepted) result.wrong.push_back("this ledger is older than what was released: " + proof.sentence());
  for (const LedgerFile::Acceptance& accepted : ledger.acceptances()) result.accepted.push_back(accepted.sentence());
  if (const std::string damage = ledger.database().damage(); !damage.empty())
    result.wrong.push_back("the file is damaged: " + damage);
  CapsInForce caps(ledger, result.wrong);
  PlansKept plans;
  ledger.database().each_release([&](const Entry& e, bool intact) {
    caps.read(e);
    if (e.kind != "charge" && !(intact && e.released.empty()))
      result.wrong.push_back("entry " + std::to_string(e.sequence) + ": '" + e.kind + "' with a value");
    if (e.kind != "charge" && e.kind != "failed") return;
    const std::string place = "entry " + std::to_string(e.sequence) + " (run " + e.run + ", node " +
                              std::to_string(e.node) + ", round " + std::to_string(e.round) + ")";
    if (e.kind == "charge") {
      if (intact)
        ++result.releases;
      else
        result.wrong.push_back(place + ": the stored value is damaged");
    }
    const LedgerFile::Run* run = ledger.find_run(e.run);
    if (run == nullptr || !run->not_private.empty()) return;
    const privacy::Charge charge = charge_from_text(e.body, place);
    plans.add(e, charge);
    if (charge.kind != "none" && rows_per_person(charge) != static_cast<double>(run->unit.rows))
      result.wrong.push_back(place + ": charged for another unit than " + run->unit.in_words() +
                             ", which was registered before round 0");
    const Price proved = recomputed(charge);
    ++result.charges;
    if (std::ranges::find(charge.parameters, std::pair(std::string("verified_only"), 1.0)) != charge.parameters.end())
      ++result.verified_only;
    if (!std::isfinite(proved.epsilon) || !std::isfinite(proved.mu))
      result.wrong.push_back(place + ": no theorem covers the charge '" + charge.kind + "' with these parameters");
    else if (!covers(charge.epsilon, proved.epsilon))
      result.wrong.push_back(place + ": charged epsilon " + number(charge.epsilon) + ", but its parameters cost " +
                             number(proved.epsilon));
    else if (!covers(charge.mu, proved.mu))
      result.wrong.push_back(place + ": charged mu " + number(charge.mu) + ", but its parameters cost " +
                             number(proved.mu));
    else if (charge.mu_colluders && proved.mu_colluders && !covers(*charge.mu_colluders, *proved.mu_colluders))
      result.wrong.push_back(place + ": charged mu " + number(*charge.mu_colluders) +
                             " against colluders, but its parameters cost " + number(*proved.mu_colluders));
  });
  caps.end();
  for (const auto& [name, dataset] : ledger.datasets()) {
    const auto unit = ledger.unit_of(name);
    for (const LedgerFile::Run& run : ledger.runs())
      if (unit && run.not_private.empty() && run.unit.person != unit->person &&
          std::ranges::any_of(run.accounts,
                              [&](const auto& a) { return a.second.dataset == name && !a.second.prices.empty(); }))
        result.wrong.push_back("dataset '" + name + "': run " + run.id + " was for " + run.unit.in_words() +
                               ", and others for " + unit->in_words() + ": what they cost does not add up");
  }
  for (const auto& [name, dataset] : ledger.datasets())
    if (const std::string changed = rows_that_changed(ledger, name); !changed.empty())
      result.other_rows.push_back(changed);
  for (const LedgerFile::Run& run : ledger.runs()) {
    result.processes += run.processes;
    plans.compare(run, result.wrong);
    if (!run.failed) continue;
    ++result.failed;
    for (const auto& [node, account] : run.accounts)
      if (!account.failed)
        result.wrong.push_back("run " + run.id + " failed in round " + std::to_string(run.failed->round) +
                               ", and node " + std::to_string(node) + " was not charged for it");
  }
  return result;
}

std::vector<std::string> verify_record(const LedgerFile& ledger, const std::string& run_id,
                                       std::span<const std::vector<Vector>> released, int first,
                                       const std::string& where) {
  const std::string older = ": your ledger is older than what you have released";
  const LedgerFile::Run* run = ledger.find_run(run_id);
  if (run == nullptr)
    return {where + ": the ledger does not know run " + run_id + older + ", or the run was charged to another ledger"};
  std::vector<std::string> wrong;
  for (const auto& [node, account] : run->accounts) {
    const std::string who = where + ", node " + std::to_string(node);
    const auto rounds = static_cast<int>(released.size());
    if (account.last_round + 1 < rounds) {
      std::string sentence = who + ": " + std::to_string(rounds) + " rounds were released, ";
      sentence += std::to_string(account.last_round + 1) + " are in the ledger" + older;
      wrong.push_back(std::move(sentence));
      continue;
    }
    for (int round = 0; round < rounds; ++round) {
      const auto& values = released[static_cast<std::size_t>(round)];
      const auto at = static_cast<std::size_t>(node - first);
      if (node < first || at >= values.size()) continue;
      const Vector& value = values[at];
      const std::size_t size = static_cast<std::size_t>(value.size()) * sizeof(double);
      const auto bytes = ledger.database().released(run_id, node, round);
      if (!bytes || bytes->size() != size || (size > 0 && std::memcmp(bytes->data(), value.data(), size) != 0)) {
        std::string sentence = who + ", round ";
        sentence += std::to_string(round) + ": the record holds another value than the ledger paid for";
        wrong.push_back(std::move(sentence));
        break;
      }
    }
  }
  return wrong;
}

std::vector<std::string> verify_claim(const LedgerFile& ledger, const std::string& run_id, const RunClaim& claim,
                                      const std::string& where) {
  const LedgerFile::Run* const run = ledger.find_run(run_id);
  if (run == nullptr || !claim.is_private) return {};
  if (!run->not_private.empty())
    return {where + ": run.json claims a bound, and the ledger has a run that is not private"};
  std::vector<std::string> wrong;
  if (run->unit.rows != claim.rows_per_person)
    wrong.push_back(where + ": run.json claims epsilon for " +
                    Unit{.person = run->unit.person, .rows = claim.rows_per_person}.in_words() +
                    ", and the ledger's charges are for " + run->unit.in_words());
  if (!(claim.delta >= 0 && claim.delta < 1)) return {where + ": run.json claims no delta from 0 to 1"};
  constexpr double rounding = 1e-9;  // of sums in another order
  for (const auto& [whom, claimed] :
       {std::pair(privacy::Against::colluders, claim.epsilon_colluders), {privacy::Against::anybody, claim.epsilon}})
    for (const auto& [node, account] : run->accounts) {
      const double charged = Spend(claim.delta, account.prices, whom).epsilon();
      if (claimed >= charged * (1 - rounding)) continue;
      wrong.push_back(where + ", node " + std::to_string(node) + ": run.json claims epsilon = " + number(claimed) +
                      " at delta = " + number(claim.delta) +
                      (whom == privacy::Against::colluders ? " against colluders" : "") +
                      ", and the ledger's charges for its run make " + number(charged));
      break;
    }
  return wrong;
}

}  // namespace parley::ledger
