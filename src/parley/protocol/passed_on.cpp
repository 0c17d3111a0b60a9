// PassedOn, and what Exchange does with it: values that reach this party through others, and those that it passes on.
#include "parley/protocol/passed_on.h"

#include <algorithm>

#include "parley/base/text.h"
#include "parley/protocol/exchange.h"
#include "parley/protocol/inspection.h"

namespace parley::protocol {

std::vector<int> PassedOn::goes_to(int sender) const {
  const auto& told = agreed_.graph.neighbours(sender);  // by the sender itself
  std::vector<int> to;
  for (const int node : agreed_.graph.neighbours(self_))
    if (node != sender && !std::ranges::binary_search(told, node)) to.push_back(node);
  return to;
}

bool PassedOn::goes_to(int sender, int neighbour) const {
  return std::ranges::binary_search(goes_to(sender), neighbour);
}

void PassedOn::add(const Message& m, std::string bytes) {
  newest_ = std::max(newest_, m.round);
  if (!goes_to(m.node).empty()) messages_[key(m)] = std::move(bytes);
}

const std::pair<const PassedOn::Key, std::string>* PassedOn::next_for(int neighbour, const Has& has) const {
  const auto found = std::ranges::find_if(
      messages_, [&](const auto& one) { return goes_to(one.first.node, neighbour) && !has(neighbour, one.first); });
  return found == messages_.end() ? nullptr : &*found;
}

int PassedOn::oldest() const {
  return messages_.empty() ? newest_ - 1 : std::min(newest_ - 1, messages_.begin()->first.round);
}

void PassedOn::drop(const Has& has) {
  std::erase_if(messages_, [&](const auto& one) {
    return one.first.round < newest_ - 1 &&
           std::ranges::all_of(goes_to(one.first.node), [&](int node) { return has(node, one.first); });
  });
}

bool Exchange::is_neighbour(int node) const {
  return std::ranges::find(links_, node, &Link::node) != links_.end();
}

void Exchange::pass_on(const Message& m, std::string_view bytes) {
  if (!agreed_.passed_on) return;
  passed_on_.add(m, std::string(bytes));
  passed_on_.drop([this](int neighbour, const PassedOn::Key& key) { return has(link_to(neighbour), key); });
  for (Link& link : links_)
    while (!link.passed_on.empty() && link.passed_on.begin()->round < passed_on_.oldest())
      link.passed_on.erase(link.passed_on.begin());
}

// Its value of a round was computed from everybody's of the round before.
bool Exchange::has(const Link& link, const PassedOn::Key& key) const {
  return link.passed_on.contains(key) || key.round < received_.seen(link.node).round;
}

Finding Exchange::judge_value(const Message& m, const Link& from) const {
  if (m.node == self_) return {Verdict::duplicate, ""};  // unknown_here has looked at it
  const bool direct = from.node == m.node;
  const Finding finding = received_.judge(m, released());
  if (finding.verdict != Verdict::accepted) return finding;
  // Trap: how much a later process knows of, its hello says, and that has come before its values where it calls itself.
  if (!direct && is_neighbour(m.node))
    return {Verdict::wrong_sender, "a value of " + m.sender + ", which calls this party itself"};
  return direct ? processes_.judge(m) : processes_.judge_passed_on(m);
}

// R3: what another has kept as evidence, held against the values here. Where those are passed on all have them, so all
// keep it, and whoever calls the accused can show it.
bool Exchange::shows_contradiction(const std::string& by, std::string_view proof) {
  for (const std::string& bytes : unbundled(proof.substr(0, message_cap(agreed_.largest_size)), 3)) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    const bool is_key = m != nullptr && m->kind == Kind::noise_key;
    if (m == nullptr || (!is_key && m->kind != Kind::value && m->kind != Kind::silent) || m->node == self_ ||
        inspect(*m, by, agreed_, self_, keys_))
      continue;
    const Finding finding = is_key ? noise_keys_.judge(*m) : received_.judge(*m, released());
    if (!contradicts(finding.verdict)) continue;
    contradicted(*m, finding, bytes);
    return true;
  }
  return false;
}

// Whoever is near a silent party loses it, and all hear of it; but there is a limit to what others do not bring.
void Exchange::watch_passed_on() {
  std::vector<std::string> missing;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (node != self_ && !is_neighbour(node) &&
        (noise_keys_.lacks(node) || (received_.hears(node) && received_.seen(node).round < released())))
      missing.push_back(name(node));
  if (missing.empty() || closed()) passed_on_at_ = now_;
  const double waited = now_ - passed_on_at_, patience = agreed_.nodes() * (timing_.wait + 8 * timing_.deadline);
  if (waited < patience) return;
  stop(End::peer_lost,
       (noise_keys_.complete() ? "round " + std::to_string(released()) : "the key for shared noise") + " of " +
           join(missing, ", ") + " has not come through others for " + std::to_string(static_cast<long>(waited)) + " s",
       Reason::silence);
}

}  // namespace parley::protocol
