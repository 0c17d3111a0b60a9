#include "parley/mesh/callers.h"

#include <algorithm>

#include "parley/base/error.h"

namespace parley::mesh {
namespace {

identity::Certificate presented_as(std::string_view pem) {
  return identity::parse_certificate(std::string(pem), "the presented certificate");
}

std::string_view kind_of(identity::Refused refused) {
  switch (refused) {
    case identity::Refused::not_in_roster:
      return "not in the roster";
    case identity::Refused::wrong_name:
      return "wrong name";
    case identity::Refused::not_pinned:
      return "not pinned";
    case identity::Refused::other_authority:
      return "of another authority";
    case identity::Refused::not_yet_valid:
      return "not yet valid";
    case identity::Refused::expired:
      break;
  }
  return "expired";
}

std::optional<Objection> objection_to(const identity::Certificate& presented, const std::vector<Contact>& roster,
                                      const std::string& expected, identity::Time now) {
  const auto contact = std::ranges::find(roster, expected, &Contact::name);
  const bool known = contact != roster.end();
  const auto refusal = check_certificate(presented, expected, known ? contact->fingerprint : "", now);
  if (!refusal) return std::nullopt;
  return Objection{std::string(kind_of(refusal->kind)) + (known ? ": " + expected : ""), refusal->sentence};
}

Objection unreadable(const Error& e) {
  return {"no certificate that can be read", e.what()};
}

}  // namespace

std::optional<Objection> objection(std::string_view pem, const std::vector<Contact>& roster,
                                   const std::string& expected, identity::Time now) {
  try {
    return objection_to(presented_as(pem), roster, expected, now);
  } catch (const Error& e) {
    return unreadable(e);
  }
}

Callers::Judged Callers::name_in(std::string_view pem) {
  const std::lock_guard lock(mutex_);
  try {
    auto known = pinned_.find(pem);
    identity::Certificate certificate = known == pinned_.end() ? presented_as(pem) : known->second;
    if (auto wrong = objection_to(certificate, roster_, certificate.name, now_())) return std::move(*wrong);
    if (known == pinned_.end()) known = pinned_.emplace(pem, std::move(certificate)).first;
    return known->second.name;
  } catch (const Error& e) {
    return unreadable(e);
  }
}

Callers::Judged Callers::admit(std::string_view pem) {
  Judged judged = name_in(pem);
  if (std::holds_alternative<Objection>(judged)) return judged;
  const std::string& name = std::get<std::string>(judged);
  const std::lock_guard lock(mutex_);
  const auto now = elapsed_();
  Visits& visits = visits_.try_emplace(name, Visits{.counted = now}).first->second;
  const double passed = std::chrono::duration<double>(now - visits.counted).count();
  visits.allowed = std::min(most_at_once, visits.allowed + per_second * passed);
  visits.counted = now;
  if (visits.allowed < 1) return Objection{"too many: " + name, name + " opens too many connections"};
  visits.allowed -= 1;
  return judged;
}

}  // namespace parley::mesh
