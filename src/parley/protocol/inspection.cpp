#include "parley/protocol/inspection.h"

#include <algorithm>
#include <cmath>

#include "parley/base/text.h"
#include "parley/protocol/noise_keys.h"

namespace parley::protocol {

bool passed_on(Kind kind, const Agreement& agreed) {
  if (kind == Kind::value || kind == Kind::silent) return agreed.passed_on;
  return kind == Kind::final_iterate || kind == Kind::seal || kind == Kind::loss || kind == Kind::consent ||
         kind == Kind::noise_key;
}

namespace {

std::optional<Finding> check_caller(const std::string& caller, const Agreement& agreed, int self) {
  const auto node = agreed.node_of(caller);
  if (!node) return Finding{Verdict::unknown_caller, "'" + printable(caller) + "' is not in the roster"};
  if (!std::ranges::binary_search(agreed.graph.neighbours(self), *node))
    return Finding{Verdict::unknown_caller, caller + " is no neighbour of " + agreed.name(self)};
  return std::nullopt;
}

std::optional<Finding> check_sender(const Message& m, const std::string& caller, const Agreement& agreed) {
  if (!passed_on(m.kind, agreed) && m.sender != caller)
    return Finding{Verdict::wrong_sender, "'" + printable(m.sender) + "', but the certificate says " + caller};
  if (agreed.node_of(m.sender) != m.node)
    return Finding{Verdict::wrong_sender, "'" + printable(m.sender) + "' is not node " + std::to_string(m.node)};
  return std::nullopt;
}

std::optional<Finding> check_round(const Message& m, const Agreement& agreed) {
  const bool has_value = m.kind == Kind::value || m.kind == Kind::silent || m.kind == Kind::consent;
  const bool last = m.kind == Kind::final_iterate || m.kind == Kind::seal;
  const int first = last ? agreed.rounds : has_value ? 0 : -1;
  if (m.round < first)
    return Finding{Verdict::past_round, std::to_string(m.round) + ", the first possible is " + std::to_string(first)};
  const int most = m.kind == Kind::noise_key ? -1 : agreed.rounds;
  if (m.round > most)
    return Finding{Verdict::future_round, std::to_string(m.round) + ", the last is " + std::to_string(most)};
  return std::nullopt;
}

std::optional<Finding> check_turn(const Message& m, const Agreement& agreed) {
  if (m.kind == Kind::noise_key && !agreed.shared_noise)
    return Finding{Verdict::wrong_turn, "a key for shared noise, and in this study noise is not shared"};
  if (m.kind == Kind::final_iterate && !std::ranges::binary_search(agreed.model_of, m.node))
    return Finding{Verdict::wrong_turn, "a final iterate, and " + m.sender + "'s is not part of the model"};
  if (m.kind == Kind::value && !agreed.speaks(m.node, m.round))
    return Finding{Verdict::wrong_turn, "a value in round " + std::to_string(m.round) + ", which is silent"};
  if (m.kind == Kind::silent && agreed.speaks(m.node, m.round))
    return Finding{Verdict::wrong_turn, "silence in round " + std::to_string(m.round) + ", which has a value"};
  return std::nullopt;
}

std::string described(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "+Inf" : "-Inf";
  return number(x);
}

std::optional<Finding> check_values(const Message& m, const Agreement& agreed) {
  const auto value = vector_of(m.payload);
  const Index expected = m.kind == Kind::final_iterate ? agreed.dimension : agreed.size(m.node, m.round);
  if (!value || value->size() != expected)
    return Finding{Verdict::wrong_dimension,
                   std::to_string(m.payload.size()) + " bytes, but " + std::to_string(8 * expected) + " are expected"};
  for (Index i = 0; i < value->size(); ++i) {
    const double x = (*value)[i];
    const std::string what = "coordinate " + std::to_string(i) + " is " + described(x);
    if (!std::isfinite(x)) return Finding{Verdict::not_finite, what};
    if (std::abs(x) > agreed.release_bound)
      return Finding{Verdict::beyond_bound, what + ", the public bound is " + number(agreed.release_bound)};
    if (m.kind != Kind::value) continue;
    const double steps = x / agreed.grid(m.node, m.round);
    if (steps != std::nearbyint(steps))
      return Finding{Verdict::off_grid, what + ", no multiple of " + number(agreed.grid(m.node, m.round))};
  }
  return std::nullopt;
}

std::optional<Finding> check_survivors(const Message& m, const Agreement& agreed) {
  const auto loss = m.kind == Kind::loss ? loss_of(m.payload) : std::nullopt;
  const auto consent = m.kind == Kind::consent ? consent_of(m.payload) : std::nullopt;
  if (!loss && !consent)
    return Finding{Verdict::truncated, m.kind == Kind::loss ? "the payload is no loss" : "the payload is no consent"};
  const std::vector<int>& nodes = loss ? loss->lost : consent->members;
  if (!nodes.empty() && nodes.back() >= agreed.nodes())
    return Finding{Verdict::wrong_dimension,
                   "node " + std::to_string(nodes.back()) + " of " + std::to_string(agreed.nodes())};
  if (std::ranges::binary_search(nodes, m.node) == (m.kind == Kind::loss))
    return Finding{Verdict::wrong_sender,
                   loss ? m.sender + " says that it has lost itself" : m.sender + " is not among those it speaks for"};
  return std::nullopt;
}

std::optional<Finding> check_payload(const Message& m, const Agreement& agreed) {
  if (m.kind == Kind::hello && !seen_of(m.payload)) return Finding{Verdict::truncated, "the payload is no hello"};
  if (m.kind == Kind::goodbye && !goodbye_of(m.payload))
    return Finding{Verdict::truncated, "the payload is no goodbye"};
  if (m.kind == Kind::hello || m.kind == Kind::goodbye) return std::nullopt;
  if (m.kind == Kind::loss || m.kind == Kind::consent) return check_survivors(m, agreed);
  if (m.kind == Kind::seal && m.payload.size() != sizeof(Digest))
    return Finding{Verdict::truncated, "the payload is no seal"};
  if (m.kind == Kind::noise_key && m.payload.size() != noise_key_bytes)
    return Finding{Verdict::truncated, "the payload is no key for shared noise"};
  if (m.kind == Kind::seal || m.kind == Kind::noise_key) return std::nullopt;
  return check_values(m, agreed);
}

}  // namespace

std::optional<Finding> inspect(const Message& m, const std::string& caller, const Agreement& agreed, int self,
                               const Keys& keys) {
  if (auto wrong = check_caller(caller, agreed, self)) return wrong;
  if (auto wrong = check_sender(m, caller, agreed)) return wrong;
  if (!keys.verify(m.node, signed_part(m), m.signature))
    return Finding{Verdict::bad_signature, "not that of " + m.sender + " over these bytes"};
  // Before the run: its id follows from the study, and only the configuration can say which field differs (R6).
  if (m.configuration != agreed.configuration_hash)
    return Finding{Verdict::wrong_configuration,
                   "hash " + printable(m.configuration) + ", but here it is " + agreed.configuration_hash};
  if (m.run != agreed.run)
    return Finding{Verdict::wrong_run, "'" + printable(m.run) + "', but this is '" + agreed.run + "'"};
  if (m.process.incarnation < (m.kind == Kind::hello && m.round < 0 ? 0 : 1))
    return Finding{Verdict::truncated, "its process has no number"};
  if (auto wrong = check_round(m, agreed)) return wrong;
  if (auto wrong = check_turn(m, agreed)) return wrong;
  return check_payload(m, agreed);
}

}  // namespace parley::protocol
