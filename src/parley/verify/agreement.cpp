// verify/part.h: what the survivors of a loss have signed, and the part that follows from it.
#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/verify/part.h"

namespace parley::verify {
namespace {

using protocol::Kind;
using protocol::Message;
using protocol::Succession;
using protocol::Survivors;

std::string what_of(const Message& m) {
  return m.kind == Kind::loss ? "statement after a loss" : "consent";
}

// A statement says what its sender has released in this part; from then on it releases nothing more there, since the
// others plan with it.
void check_statement(SeenPart& part, const Message& m, Findings& findings) {
  const std::string who = part.known.name(m.node);
  const int rounds = part.rounds(m.node);
  const study::PartyRecord* const self = part.own(m.node);
  const auto stated = [&] { return "its statement after the loss says round " + std::to_string(m.round); };
  const bool more = rounds > m.round + 1,
             other = rounds == m.round + 1 && rounds > 0 && part.merged.at(m.node).back().head != m.head;
  if (more || other) part.contradicted.insert(m.node);  // it signed the values too
  if (more)
    findings.wrong.push_back(who + ", round " + std::to_string(m.round + 1) + ": released, and " + stated() +
                             " was its last in this part");
  else if (self != nullptr && self->intact && rounds < m.round + 1)
    findings.wrong.push_back(who + ": " + stated() + ", and its own record ends with round " +
                             std::to_string(rounds - 1));
  else if (other)
    findings.wrong.push_back(who + ": " + stated() + " with another head than that of the values it released");
}

std::optional<Succession> decided(const SeenPart& part, int self, const std::vector<const Message*>& messages) {
  Survivors survivors(part.known.agreed(), self);
  for (const Message* m : messages)
    if (survivors.judge(*m).verdict == protocol::Verdict::accepted) survivors.add(*m, "");
  const auto outlook = survivors.outlook(protocol::Patience::fresh);
  if (outlook.what != Survivors::Outlook::What::go_on) return std::nullopt;
  return outlook.next;
}

}  // namespace

std::optional<Succession> agreed_on(SeenPart& part, Findings& findings) {
  const protocol::Agreement& agreed = part.known.agreed();
  Survivors all(agreed, 0);
  std::vector<const Message*> messages;
  for (const study::PartyRecord& t : part.records)
    for (const Message& m : t.after_loss) {
      const auto verdict = all.judge(m).verdict;
      if (verdict == protocol::Verdict::second_value) {
        part.contradicted.insert(m.node);
        findings.wrong.push_back(m.sender + " contradicted itself: " + part.known.name(t.node) + " has another " +
                                 what_of(m) + " of its, signed, than somebody else");
      }
      if (verdict != protocol::Verdict::accepted) continue;
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

bool saw_agreement(const SeenPart& part, const study::PartyRecord& t) {
  std::vector<const Message*> messages;
  for (const Message& m : t.after_loss) messages.push_back(&m);
  const auto next = decided(part, t.node, messages);
  return next && part.next && next->id == part.next->id;
}

std::optional<SeenPart> part_after(const SeenPart& part, Findings& findings) {
  const Succession& next = *part.next;
  std::optional<study::Part> following;
  try {
    following = next_part(part.known.part, next);
  } catch (const Error& e) {
    findings.wrong.push_back("they went on, and no plan for that follows from the study: " + e.brief());
    return std::nullopt;
  }
  for (const study::PartyRecord& t : part.records)
    for (const Message& m : t.after_loss) {
      if (m.kind != Kind::consent || m.head != next.id) continue;
      const std::string planned = protocol::consent_of(m.payload)->configuration;
      if (planned == following->agreed.configuration_hash) continue;
      findings.wrong.push_back(m.sender +
                               ": it consented to another plan than the one that follows from the study and "
                               "the survivors' statements");
      return std::nullopt;
    }
  SeenPart after{.known = expected_part(part.known, std::move(*following)), .starts = {}};
  for (const int node : next.members) {
    const auto at = static_cast<std::size_t>(node);
    after.starts.push_back(part.starts[at]
                               ? start_after(part.known, next, after.known.part, node, part.seen[at], *part.starts[at])
                               : std::nullopt);
  }
  return after;
}

}  // namespace parley::verify
