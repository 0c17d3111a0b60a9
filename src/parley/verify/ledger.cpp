#include "parley/verify/ledger.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/algorithm/pricing.h"
#include "parley/base/text.h"
#include "parley/ledger/verify.h"
#include "parley/record/files.h"
#include "parley/study/part_history.h"

namespace parley::verify {
namespace {

using privacy::Against;

// Of a run that is not private the ledger counts every charge as infinite, and still stores it as it was.
std::string charge_difference(const privacy::Charge& found, const privacy::Charge& planned) {
  const auto both = [](const std::string& what, const std::string& a, const std::string& b) {
    return "charged with " + what + " = " + a + ", and the plan has " + b;
  };
  if (found.kind != planned.kind) return both("kind", found.kind, planned.kind);
  if (!study::nearly(found.epsilon, planned.epsilon))
    return both("epsilon", number(found.epsilon), number(planned.epsilon));
  if (!study::nearly(found.mu, planned.mu)) return both("mu", number(found.mu), number(planned.mu));
  if (found.mu_colluders.has_value() != planned.mu_colluders.has_value() ||
      !study::nearly(found.mu_against(Against::colluders), planned.mu_against(Against::colluders)))
    return both("mu against colluders", number(found.mu_against(Against::colluders)),
                number(planned.mu_against(Against::colluders)));
  return "";
}

class LedgerCheck {
 public:
  LedgerCheck(const std::filesystem::path& file, Verified& result)
      : file_(file.string()), ledger_(file, ledger::LedgerFile::Open::to_read), result_(result) {
    for (const Digest& hash : ledger_.database().hashes()) heads_.insert(hex(hash));
  }

  void run(const std::vector<SeenPart>& parts) {
    const ledger::Checked checked = ledger::verify(ledger_);
    for (const std::string& sentence : checked.wrong) wrong(file_ + ": " + sentence);
    for (const std::string& sentence : checked.accepted) result_.accepted.push_back(file_ + ": " + sentence);
    for (const std::string& sentence : checked.other_rows)
      result_.unchecked.push_back(file_ + ": whose rows were meant; " + sentence);
    const std::string& first = parts.front().known.agreed().run;
    const auto* const run = ledger_.find_run(first);
    if (run == nullptr) return wrong(file_ + ": this ledger has no charge of run " + first);
    const auto proofs = ledger_.accusations();
    const bool past_unknown = std::ranges::find(proofs, first, &ledger::LedgerFile::Accusation::run) != proofs.end();
    for (const auto& [node, account] : run->accounts) {
      if (node >= 0 && node < parts.front().known.agreed().nodes())
        owners_.insert(node);
      else
        wrong(file_ + ": charged as node " + std::to_string(node) + ", which the study does not have");
    }
    for (const SeenPart& part : parts)
      if (const auto* const of_part = ledger_.find_run(part.known.agreed().run)) check_run(*of_part, part.known, *run);
    for (const int node : owners_) {
      study::PartHistory history;
      std::vector<privacy::Charge> charges;
      for (const SeenPart& part : parts) {
        const int self = part.known.part.node_of(node);
        if (self < 0) continue;
        check_head(part, self);
        const auto found = check(part, self);
        if (part.known.part.number > 1 && found.empty()) continue;
        history.push_back({.part = &part.known.part, .self = self, .released = static_cast<int>(found.size()) - 1});
        charges.insert(charges.end(), found.begin(), found.end());
        if (const auto failed = failed_round(part, self)) charges.push_back(*failed);
      }
      price(node, history, charges);
      if (past_unknown) result_.parties[static_cast<std::size_t>(node)].past_unknown = true;
    }
  }

 private:
  void wrong(const std::string& sentence) { result_.wrong.push_back(sentence); }

  // All parts of a run are about the same rows. Which rows these are, and what their owner calls them, is in no record.
  void check_rows(const ledger::LedgerFile::Run& run, const ledger::LedgerFile::Account& account,
                  const ledger::LedgerFile::Run& first, int study_node) {
    const std::string& dataset = first.accounts.at(study_node).dataset;
    const auto fingerprint = [&](const ledger::LedgerFile::Run& of) {
      const auto found = of.fingerprints.find(dataset);
      return found == of.fingerprints.end() ? "" : found->second;
    };
    if (account.dataset != dataset || fingerprint(run) != fingerprint(first))
      wrong(file_ + ": run " + run.id +
            " is registered with other rows, by dataset and fingerprint, than the first part");
  }

  // What was registered before round 1 of a part: whoever writes the chain anew may have changed it.
  void check_run(const ledger::LedgerFile::Run& run, const study::ExpectedPart& known,
                 const ledger::LedgerFile::Run& first) {
    const auto differs = [&](const std::string& what, const std::string& found, const std::string& expected) {
      wrong(file_ + ": run " + run.id + " is registered with " + what + " " + found + ", and " + expected + " follows");
    };
    if (const std::string& follows = known.agreed().configuration_hash; run.configuration != follows)
      differs("the configuration", run.configuration, follows);
    if (const auto stamps = not_private(known.study, known.plan); run.not_private.empty() != stamps.empty())
      differs("the stamp", run.not_private.empty() ? "private" : "NOT PRIVATE",
              stamps.empty() ? "private" : "NOT PRIVATE");
    const ledger::Unit unit{.person = known.plan.unit.person, .rows = known.plan.unit.rows_per_person};
    if (run.unit != unit) differs("prices for", run.unit.in_words(), unit.in_words());
    for (const auto& [node, account] : run.accounts) {
      if (node < 0 || node >= known.agreed().nodes() || !owners_.contains(known.study_node(node))) {
        if (known.part.number > 1)
          wrong(file_ + ": run " + run.id + " is registered for a party whose ledger it is not");
        continue;
      }
      check_rows(run, account, first, known.study_node(node));
      const study::Invited& party = known.study.parties[static_cast<std::size_t>(known.study_node(node))];
      double epsilon = 0, mu_squared = 0, mu_squared_colluders = 0;
      if (!known.is_trainer(node))
        for (const privacy::Charge& charge : study::charges(known.part, node)) {
          epsilon += charge.epsilon;
          mu_squared += charge.mu * charge.mu;
          const double less = charge.mu_against(Against::colluders);
          mu_squared_colluders += less * less;
        }
      if (!study::nearly(account.planned_epsilon, epsilon))
        differs("the planned epsilon", number(account.planned_epsilon), number(epsilon));
      if (!study::nearly(account.planned_mu, std::sqrt(mu_squared)))
        differs("the planned mu", number(account.planned_mu), number(std::sqrt(mu_squared)));
      if (const double found = account.planned_mu_colluders.value_or(account.planned_mu);
          !study::nearly(found, std::sqrt(mu_squared_colluders)))
        differs("the planned mu against colluders", number(found), number(std::sqrt(mu_squared_colluders)));
      if (!known.is_trainer(node) && !run.fingerprints.contains(account.dataset))
        differs("rows of '" + protocol::printable(account.dataset) + "'", "without a fingerprint", "one");
      const auto records = run.records.find(account.dataset);
      if (!known.is_trainer(node) &&
          (records == run.records.end() || records->second != static_cast<double>(party.records)))
        differs("records", records == run.records.end() ? "none" : number(records->second),
                std::to_string(party.records));
    }
  }

  // Its record names the head that this chain had when its last process began or ended. Where the owner accepted an
  // older copy, what came after that copy is in no chain any more.
  void check_head(const SeenPart& part, int node) {
    const study::PartyRecord* const record = part.own(node);
    if (record == nullptr) return;
    const auto named = record::member(record->run, "ledger_head");
    const bool this_one = record::text_in(named, "ledger") == hex(ledger_.database().identity());
    if (this_one && heads_.contains(record::text_in(named, "head"))) return;
    const int number = part.known.part.number;
    const std::string who = (number == 1 ? "" : "part " + std::to_string(number) + ": ") + part.known.name(node) + ": ";
    if (!this_one)
      wrong(who + "its record was made with another ledger than " + file_);
    else if (ledger_.acceptances().empty())
      wrong(who + "its record names a head that the chain of " + file_ +
            " never had: the chain was written anew, or is that of an older copy");
    else
      result_.unchecked.push_back(who + "the head that its record names: it is not in the chain of " + file_ +
                                  ", whose owner accepted a copy that may be old, so earlier heads are unchecked");
  }

  // The charges of this node in one part: planned there, for what was released, and none is missing.
  std::vector<privacy::Charge> check(const SeenPart& part, int node) {
    const study::ExpectedPart& known = part.known;
    const std::string& run = known.agreed().run;
    const std::string who = known.name(node) + ", round ",
                      where = known.part.number == 1 ? "" : "part " + std::to_string(known.part.number) + ": ";
    const auto released = part.merged.contains(node) ? part.merged.at(node) : std::vector<study::Heard>{};
    std::vector<privacy::Charge> charges;
    for (const ledger::Entry& e : ledger_.database().charges(run)) {
      if (e.node != node) continue;
      const auto at = static_cast<std::size_t>(e.round);
      const privacy::Charge charge = ledger::charge_from_text(e.body, file_);
      const privacy::Charge planned = known.touches_data(node, e.round) && e.round <= known.agreed().rounds
                                          ? known.schedule(node).private_round(e.round).charge
                                          : privacy::Charge{};
      if (const std::string what = charge_difference(charge, planned); !what.empty())
        wrong(where + who + std::to_string(e.round) + ": " + what);
      if (at < released.size() &&
          ledger_.database().released(run, node, e.round) != protocol::payload_of(*released[at].value))
        wrong(where + who + std::to_string(e.round) + ": its ledger paid for another value than the one released");
      charges.push_back(charge);
    }
    if (charges.size() < released.size())
      wrong(where + who + std::to_string(charges.size()) +
            ": released, and not in its ledger: it is older than what was released");
    return charges;
  }

  // What was charged for a round that failed and released nothing.
  std::optional<privacy::Charge> failed_round(const SeenPart& part, int node) const {
    const auto* const run = ledger_.find_run(part.known.agreed().run);
    return run != nullptr && run->accounts.contains(node) ? run->accounts.at(node).failed : std::nullopt;
  }

  void price(int node, const study::PartHistory& history, const std::vector<privacy::Charge>& charges) {
    VerifiedParty& party = result_.parties[static_cast<std::size_t>(node)];
    if (party.trainer || !result_.noisy) return;
    const bool whole = history.size() == 1 && history.back().released >= history.back().part->agreed.rounds;
    ledger::Spend sum(party.delta);  // as the ledger itself adds up: also where a run ended before its end, or in parts
    for (const privacy::Charge& c : charges) sum.add(ledger::Price{c.epsilon, c.mu_against(Against::colluders)});
    party.in_ledger = whole ? algorithm::whole_run_epsilon(charges, party.delta, Against::colluders) : sum.epsilon();
  }

  std::string file_;
  ledger::LedgerFile ledger_;
  Verified& result_;
  std::set<std::string> heads_;  // that its chain has had
  std::set<int> owners_;         // nodes of the study that are charged here
};

}  // namespace

void check_ledger(const std::vector<SeenPart>& parts, const std::filesystem::path& file, Verified& result) {
  LedgerCheck(file, result).run(parts);
}

}  // namespace parley::verify
