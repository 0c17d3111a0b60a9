#include "parley/run/verify_ledger.h"

#include "parley/algorithm/pricing.h"
#include "parley/base/text.h"
#include "parley/privacy/ledger_verify.h"

namespace parley::run {
namespace {

// Of a run that is not private the ledger counts every charge as infinite, and still stores it as it was.
std::string charge_difference(const privacy::Charge& found, const privacy::Charge& planned) {
  const auto both = [](const std::string& what, const std::string& a, const std::string& b) {
    return "charged with " + what + " = " + a + ", and the plan has " + b;
  };
  if (found.kind != planned.kind) return both("kind", found.kind, planned.kind);
  if (!nearly(found.epsilon, planned.epsilon)) return both("epsilon", number(found.epsilon), number(planned.epsilon));
  if (!nearly(found.mu, planned.mu)) return both("mu", number(found.mu), number(planned.mu));
  return "";
}

}  // namespace

void check_ledger(const Basis& basis, const std::filesystem::path& file, const Values& values, Verified& result) {
  const privacy::LedgerFile ledger(file);
  const auto wrong = [&](const std::string& sentence) { result.wrong.push_back(sentence); };
  for (const std::string& sentence : privacy::verify(ledger).wrong) wrong(file.string() + ": " + sentence);
  const auto* const run = ledger.find_run(basis.agreed.run);
  if (run == nullptr) return wrong(file.string() + ": this ledger has no charge of run " + basis.agreed.run);
  for (const auto& [node, account] : run->accounts) {
    if (node < 0 || node >= basis.agreed.nodes()) {
      wrong(file.string() + ": charged as node " + std::to_string(node) + ", which the study does not have");
      continue;
    }
    const std::string who = basis.name(node) + ", round ";
    const auto released = values.contains(node) ? values.at(node) : std::vector<Heard>{};
    std::vector<privacy::Charge> charges;
    for (const privacy::Entry& e : ledger.database().charges(run->id)) {
      if (e.node != node) continue;
      const auto at = static_cast<std::size_t>(e.round);
      const privacy::Charge charge = privacy::charge_from_text(e.body, file.string());
      const privacy::Charge planned = basis.touches_data(node, e.round) && e.round <= basis.agreed.rounds
                                          ? basis.schedule(node).private_round(e.round).charge
                                          : privacy::Charge{};
      if (const std::string what = charge_difference(charge, planned); !what.empty())
        wrong(who + std::to_string(e.round) + ": " + what);
      if (at < released.size() &&
          ledger.database().released(run->id, node, e.round) != network::payload_of(*released[at].value))
        wrong(who + std::to_string(e.round) + ": its ledger paid for another value than the one released");
      charges.push_back(charge);
    }
    if (charges.size() < released.size())
      wrong(who + std::to_string(charges.size()) +
            ": released, and not in its ledger: it is older than what was released");
    VerifiedParty& party = result.parties[static_cast<std::size_t>(node)];
    if (basis.is_trainer(node) || !result.noisy) continue;
    const bool whole = static_cast<int>(charges.size()) > basis.agreed.rounds;
    party.in_ledger = whole || party.delta == 0 ? algorithm::whole_run_epsilon(charges, party.delta) : party.epsilon;
  }
}

}  // namespace parley::run
