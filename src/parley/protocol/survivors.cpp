#include "parley/protocol/survivors.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::protocol {
namespace {

bool contains(const std::vector<int>& sorted, int node) {
  return std::ranges::binary_search(sorted, node);
}

}  // namespace

bool Succession::has(int node) const {
  return contains(members, node);
}

Finding Survivors::judge(const Message& m) const {
  const auto found = [&](bool before, bool same, const std::string& what) -> Finding {
    if (!before) return {Verdict::accepted, ""};
    if (same) return {Verdict::duplicate, ""};
    return {Verdict::second_value, m.sender + " contradicts itself: it has signed another " + what};
  };
  if (m.kind == Kind::loss) {
    const auto one = statements_.find(m.node);
    const bool before = one != statements_.end();
    return found(before,
                 before && one->second.released == m.round && one->second.head == m.head &&
                     one->second.lost == loss_of(m.payload)->lost,
                 "statement");
  }
  const auto one = consents_.find(m.node);
  const bool before = one != consents_.end();
  return found(before,
               before && one->second.through == m.round && one->second.id == m.head &&
                   payload_of(one->second.consent) == m.payload,
               "consent");
}

void Survivors::add(const Message& m, std::string bytes) {
  if (m.kind == Kind::loss)
    statements_[m.node] = {.released = m.round, .head = m.head, .lost = loss_of(m.payload)->lost};
  else
    consents_[m.node] = {.consent = *consent_of(m.payload), .id = m.head, .through = m.round};
  bytes_[key(m)] = std::move(bytes);
}

std::optional<int> Survivors::stated_round(int node) const {
  const auto found = statements_.find(node);
  if (found == statements_.end()) return std::nullopt;
  return found->second.released;
}

bool Survivors::lost_by_somebody(int node) const {
  return std::ranges::any_of(statements_, [=](const auto& s) { return contains(s.second.lost, node); });
}

std::vector<int> Survivors::lost() const {
  std::vector<int> nodes;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (lost_by_somebody(node)) nodes.push_back(node);
  return nodes;
}

bool Survivors::needed(int node) const {
  const auto mine = consents_.find(self_);
  if (mine != consents_.end()) return contains(mine->second.consent.members, node);
  return !lost_by_somebody(node);
}

bool Survivors::has_lost(int node, int other) const {
  const auto found = statements_.find(node);
  return found != statements_.end() && contains(found->second.lost, other);
}

// Without those of which one end has lost the other.
std::vector<std::pair<int, int>> Survivors::edges(const std::vector<int>& among) const {
  std::vector<std::pair<int, int>> kept;
  for (const auto& [i, j] : agreed_.graph.edges())
    if (contains(among, i) && contains(among, j) && !has_lost(i, j) && !has_lost(j, i)) kept.emplace_back(i, j);
  return kept;
}

std::vector<int> Survivors::reached(int first, const std::vector<int>& among) const {
  const auto kept = edges(among);
  std::vector<int> found = {first};
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const auto& [i, j] : kept)
      for (const auto& [from, to] : {std::pair(i, j), std::pair(j, i)})
        if (from == found[next] && std::ranges::find(found, to) == found.end()) found.push_back(to);
  std::ranges::sort(found);
  return found;
}

// Whoever is lost to somebody may be alive, and is waited for a little; the others, for as long as for a silent peer.
bool Survivors::enough_heard(Patience patience) const {
  for (int node = 0; node < agreed_.nodes(); ++node) {
    if (stated(node) || patience == Patience::out_of) continue;
    if (patience == Patience::fresh || !lost_by_somebody(node)) return false;
  }
  return true;
}

std::string Survivors::unheard() const {
  std::vector<std::string> names;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (!stated(node)) names.push_back(name(node));
  return names.empty() ? "" : " (nothing was heard of " + join(names, ", ") + ")";
}

// A round takes the round before of those whom its node hears. So no statement can be further ahead of another than their
// distance; one of the two is false, and no signature says which.
std::string Survivors::impossible(const std::vector<int>& members) const {
  for (const int behind : members) {
    const std::vector<int> steps = agreed_.passed_on ? std::vector(static_cast<std::size_t>(agreed_.nodes()), 1)
                                                     : network::distances(agreed_.graph, behind);
    for (const int ahead : members) {
      const int most = statements_.at(behind).released + steps[static_cast<std::size_t>(ahead)];
      if (ahead == behind || statements_.at(ahead).released <= most) continue;
      return name(ahead) + " states round " + std::to_string(statements_.at(ahead).released) + " and " + name(behind) +
             " round " + std::to_string(statements_.at(behind).released) + ": both cannot be true";
    }
  }
  return "";
}

std::string Survivors::too_few(const std::vector<int>& members) const {
  const int nodes = agreed_.nodes(), count = static_cast<int>(members.size());
  if (agreed_.trainer && !contains(members, *agreed_.trainer)) return "the trainer is lost, and nobody can go on";
  if (2 * count <= nodes)
    return std::to_string(count) + " of " + std::to_string(nodes) +
           " parties are left together, and only more than half may go on: the rest might do the same";
  if (count - (agreed_.trainer ? 1 : 0) < 2) return "one party with records is left";
  return "";
}

std::string Survivors::objection(const std::vector<int>& members) const {
  if (std::string why = too_few(members); !why.empty()) return why;
  if (reached(members.front(), members) != members) return "those who are left do not reach each other";
  return impossible(members);
}

// Statements and consents are final, and a further one only adds to those whom this party reaches: at best all who have
// said nothing come back and have lost nobody. Nobody consents twice, so all of them have to have consented to the same.
bool Survivors::over_for_ever() const {
  std::vector<int> all, heard;
  for (int node = 0; node < agreed_.nodes(); ++node) {
    all.push_back(node);
    if (stated(node)) heard.push_back(node);
  }
  std::vector<int> here;
  if (stated(self_)) here = reached(self_, heard);
  if (!too_few(reached(self_, all)).empty() || !impossible(here).empty()) return true;
  const auto mine = consents_.find(self_);
  const std::vector<int>& members = mine == consents_.end() ? here : mine->second.consent.members;
  const Signed* one = nullptr;
  for (const int node : members) {
    const auto found = consents_.find(node);
    if (found == consents_.end()) continue;
    const Signed& other = found->second;
    if (!other.consent.agrees) return true;
    if (one != nullptr && (one->id != other.id || one->consent.configuration != other.consent.configuration))
      return true;
    one = &other;
  }
  return false;
}

std::optional<Succession> Survivors::succession(const std::vector<int>& members) const {
  if (!std::ranges::all_of(members, [this](int node) { return stated(node); })) return std::nullopt;
  Succession s{.members = members, .edges = edges(members), .through = agreed_.rounds};
  std::string text = "parley survivors 1" + std::string(1, '\0') + static_cast<char>(agreed_.run.size()) + agreed_.run;
  for (const int node : members) {
    const Statement& one = statements_.at(node);
    s.released.push_back(one.released);
    s.through = std::min(s.through, one.released);
    text += payload_of(Loss{{node}}) + payload_of(Seen{one.released, one.head}) + payload_of(Loss{one.lost});
  }
  if (s.through < agreed_.rounds) s.through -= s.through % agreed_.turn;  // after the last round no turn is broken
  s.through = std::max(s.through, 0);
  s.id = sha256(text);
  return s;
}

std::optional<Succession> Survivors::succession(const Signed& consent) const {
  auto next = succession(consent.consent.members);
  if (next && (next->id != consent.id || next->through != consent.through)) next.reset();
  return next;
}

// Somebody refuses, or all members of a set agree to it.
std::optional<Survivors::Outlook> Survivors::decided() const {
  const auto over = [](std::string why) { return Outlook{.what = Outlook::What::over, .why = std::move(why)}; };
  for (const auto& [node, one] : consents_)
    if (!one.consent.agrees && needed(node))
      return over(name(node) + " cannot go on: " + printable(one.consent.reason, 255));
  for (const auto& [node, one] : consents_) {
    const auto next = succession(one);
    const auto agrees = [&, id = one.id](int other) {
      const auto found = consents_.find(other);
      return found != consents_.end() && found->second.consent.agrees && found->second.id == id;
    };
    // A set that may not go on decides nothing: one liar's consent to itself would leave all others behind.
    if (!next || !one.consent.agrees || !objection(next->members).empty()) continue;
    for (const int other : next->members) {
      if (!agrees(other)) continue;
      const Consent& its = consents_.at(other).consent;
      if (its.configuration != one.consent.configuration)
        return over(name(other) + " plans the next part otherwise than " + name(node));
      if (its.values == one.consent.values) continue;
      return Outlook{.what = Outlook::What::over,
                     .why = name(node) + " and " + name(other) +
                            " hold different values of the rounds before: somebody has sent two, and nobody can go on; "
                            "'parley verify' with the records of all finds who",
                     .contradicted = true};
    }
    if (!std::ranges::all_of(next->members, agrees)) continue;
    if (!next->has(self_))
      return Outlook{
          .what = Outlook::What::over,
          .why = "the others have gone on without " + name(self_) + " after round " + std::to_string(next->through),
          .left_behind = true};
    return Outlook{.what = Outlook::What::go_on, .next = *next};
  }
  return std::nullopt;
}

std::string Survivors::proof() const {
  std::vector<std::string> all;
  for (const auto& [key, bytes] : bytes_) all.push_back(bytes);
  return bundle(all, proof_cap);
}

Survivors::Outlook Survivors::outlook(Patience patience) const {
  Outlook found = looked(patience);
  found.for_ever = found.what == Outlook::What::over && over_for_ever();
  return found;
}

Survivors::Outlook Survivors::looked(Patience patience) const {
  if (auto found = decided()) return *found;
  if (consented(self_)) {
    if (patience != Patience::out_of) return {};
    std::vector<std::string> missing;
    const Signed& mine = consents_.at(self_);
    for (const int node : mine.consent.members)
      if (!consents_.contains(node) || consents_.at(node).id != mine.id) missing.push_back(name(node));
    return {.what = Outlook::What::over, .why = "no agreement on going on: waited for " + join(missing, ", ")};
  }
  if (!stated(self_)) return {};
  // Trap: following the first proposal would let one party leave out whom it likes. Everybody waits for itself, and
  // proposes all whom it hears.
  if (!enough_heard(patience)) return {};
  std::vector<int> all;
  for (const auto& [node, one] : statements_) all.push_back(node);
  const std::vector<int> members = reached(self_, all);
  const std::string why = objection(members);
  if (why.empty()) return {.what = Outlook::What::consent, .next = *succession(members)};
  // The rest may still go on; then this party is told so.
  if (patience != Patience::out_of && 2 * members.size() < all.size()) return {};
  return {.what = Outlook::What::over, .why = why + unheard()};
}

}  // namespace parley::protocol
