// verify_part.h: what the survivors of a loss have signed, and the part that follows from it.
#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/verify_part.h"

namespace parley::run {
namespace {

using network::Kind;
using network::Message;
using network::Succession;
using network::Survivors;

std::string what_of(const Message& m) {
  return m.kind == Kind::loss ? "statement after a loss" : "consent";
}

// A statement says what its sender has released in this part; from then on it releases nothing more there, since the
// others plan with it.
void check_statement(const SeenPart& part, const Message& m, Findings& findings) {
  const std::string who = part.basis.name(m.node);
  const int rounds = part.rounds(m.node);
  const Testimony* const self = part.own(m.node);
  const auto stated = [&] { return "its statement after the loss says round " + std::to_string(m.round); };
  if (rounds > m.round + 1)
    findings.wrong.push_back(who + ", round " + std::to_string(m.round + 1) + ": released, and " + stated() +
                             " was its last in this part");
  else if (self != nullptr && self->intact && rounds < m.round + 1)
    findings.wrong.push_back(who + ": " + stated() + ", and its own record ends with round " +
                             std::to_string(rounds - 1));
  else if (rounds == m.round + 1 && rounds > 0 && part.merged.at(m.node).back().head != m.head)
    findings.wrong.push_back(who + ": " + stated() + " with another head than that of the values it released");
}

std::optional<Succession> decided(const SeenPart& part, int self, const std::vector<const Message*>& messages) {
  Survivors survivors(part.basis.agreed(), self);
  for (const Message* m : messages)
    if (survivors.judge(*m).verdict == network::Verdict::accepted) survivors.add(*m, "");
  const auto outlook = survivors.outlook(network::Patience::fresh);
  if (outlook.what != Survivors::Outlook::What::go_on) return std::nullopt;
  return outlook.next;
}

}  // namespace

std::optional<Succession> agreed_on(const SeenPart& part, Findings& findings) {
  const network::Agreement& agreed = part.basis.agreed();
  Survivors all(agreed, 0);
  std::vector<const Message*> messages;
  for (const Testimony& t : part.testimonies)
    for (const Message& m : t.after_loss) {
      const auto verdict = all.judge(m).verdict;
      if (verdict == network::Verdict::second_value)
        findings.wrong.push_back(m.sender + " contradicted itself: " + part.basis.name(t.node) + " has another " +
                                 what_of(m) + " of its, signed, than somebody else");
      if (verdict != network::Verdict::accepted) continue;
      all.add(m, "");
      messages.push_back(&m);
      if (m.kind == Kind::loss) check_statement(part, m, findings);
    }
  for (int self = 0; self < agreed.nodes(); ++self) {
    auto next = decided(part, self, messages);
    if (!next) continue;
    if (const std::string why = all.objection(next->members); !why.empty()) {
      findings.wrong.push_back("they went on, and may not: " + why);
      return std::nullopt;
    }
    return next;
  }
  return std::nullopt;
}

bool saw_agreement(const SeenPart& part, const Testimony& t) {
  std::vector<const Message*> messages;
  for (const Message& m : t.after_loss) messages.push_back(&m);
  const auto next = decided(part, t.node, messages);
  return next && part.next && next->id == part.next->id;
}

std::optional<SeenPart> part_after(const SeenPart& part, Findings& findings) {
  const Succession& next = *part.next;
  std::optional<Part> following;
  try {
    following = next_part(part.basis.part, next);
  } catch (const Error& e) {
    findings.wrong.push_back("they went on, and no plan for that follows from the study: " + e.brief());
    return std::nullopt;
  }
  for (const Testimony& t : part.testimonies)
    for (const Message& m : t.after_loss) {
      if (m.kind != Kind::consent || m.head != next.id) continue;
      const std::string planned = network::consent_of(m.payload)->configuration;
      if (planned == following->agreed.configuration_hash) continue;
      findings.wrong.push_back(m.sender +
                               ": it consented to another plan than the one that follows from the study and "
                               "the survivors' statements");
      return std::nullopt;
    }
  SeenPart after{.basis = basis_of_part(part.basis, std::move(*following)), .starts = {}};
  for (const int node : next.members) {
    const auto at = static_cast<std::size_t>(node);
    after.starts.push_back(part.starts[at]
                               ? start_after(part.basis, next, after.basis.part, node, part.seen[at], *part.starts[at])
                               : std::nullopt);
  }
  return after;
}

}  // namespace parley::run
