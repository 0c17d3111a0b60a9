// Worlds in which survivors go on after a loss: how a machine begins the next part, and what must be true of it.
#include <algorithm>

#include "parley/base/error.h"
#include "protocol/world.h"

namespace parley::protocol {

party::PartyInParts::One World::make_part(int node, party::Party* before, const Fuse& fuse) {
  Machine& m = machines_[at(node)];
  std::optional<protocol::FinalIterate> earlier;
  privacy::Inbox expected;
  if (before == nullptr) {
    m.parts = {scenario_.first};
    m.starts = {{}};
  } else {
    const protocol::Succession next = *before->exchange().succession();
    const study::Part& ended = m.parts.back();
    study::Part part = study::next_part(ended, next);
    check_next_part(part, next);
    const study::Ended past{.part = ended,
                            .next = next,
                            .self = ended.node_of(node),
                            .start = m.starts.back(),
                            .own = before->own_values(next.through),
                            .inboxes = before->inboxes()};
    m.starts.push_back(study::start_after(part, past));
    expected = study::expected_after(part, past);
    earlier = before->final_through(next.through);
    m.parts.push_back(std::move(part));
  }
  const study::Part& part = m.parts.back();
  const std::size_t number = m.parts.size();
  if (m.stores.size() < number) m.stores.push_back(std::make_unique<Store>(part.agreed.nodes()));
  Store& store = *m.stores[number - 1];
  store.ledger.start(fuse);
  const int self = part.node_of(node);
  if (caps.contains(node)) {
    store.ledger.limit = caps.at(node);
    for (std::size_t p = 0; p + 1 < number; ++p)
      store.ledger.limit -= m.stores[p]->ledger.spent(m.parts[p].node_of(node));
  }
  protocol::Keys keys = simulated_keys(node);
  keys.verify = [nodes = part.nodes, by_node = keys.verify](int who, std::string_view bytes, std::string_view with) {
    return by_node(nodes[at(who)], bytes, with);
  };
  protocol::Exchange::Setup setup{.agreed = part.agreed,
                                  .self = self,
                                  .last_released = store.ledger.last_round(),
                                  .keys = std::move(keys),
                                  .process = m.number,
                                  .timing = timing,
                                  .now = now_};
  if (continues) setup.consent = [this, node](const protocol::Succession& next) { return consent(node, next); };
  auto party = std::make_unique<party::Party>(
      party::Party::Own{.node = scenario_.node(part, self, m.starts.back()),
                        .pay = [&store](privacy::Release r) { return store.ledger.pay(std::move(r)); },
                        .stored = [&store](int round) { return store.ledger.stored(round); },
                        .counts = [part](int round) { return study::counts_in_final(part, round); },
                        .sums = part.plan.passed_on(),
                        .earlier = std::move(earlier),
                        .expected = std::move(expected)},
      std::move(setup), store.disk.open(fuse));
  return {.party = std::move(party), .run = part.agreed.run, .nodes = part.nodes};
}

protocol::Consent World::consent(int node, const protocol::Succession& next) const {
  const Machine& m = machines_[at(node)];
  try {
    const study::Part part = study::next_part(m.parts.back(), next);
    const int self = part.node_of(node);
    if (caps.contains(node) && self < part.holders()) {
      double all = 0;
      for (std::size_t p = 0; p < m.parts.size(); ++p) all += m.stores[p]->ledger.spent(m.parts[p].node_of(node));
      for (const auto& charge : study::charges(part, self)) all += charge.epsilon;
      if (all > caps.at(node)) throw Error({.what = "the cap does not allow it"});
    }
    return {.agrees = true, .configuration = part.agreed.configuration_hash};
  } catch (const Error& e) {
    return {.reason = e.what()};
  }
}

// Whoever goes on does so with the same set, the same configuration, and more than half of those before.
void World::check_next_part(const study::Part& part, const protocol::Succession& next) {
  const auto number = at(part.number);
  if (parts.size() < number) {
    parts.push_back(part);
    agreements.push_back(next);
    if (2 * part.nodes.size() <= parts[number - 2].nodes.size()) throw Violation("half of them go on");
  } else if (parts[number - 1].agreed.run != part.agreed.run || parts[number - 1].nodes != part.nodes ||
             parts[number - 1].agreed.configuration != part.agreed.configuration) {
    throw Violation("two sets of survivors go on");
  }
}

// The ledgers of all parts together: the charges of what was released, and no more than the study planned.
void World::check_spend(int node) const {
  const Machine& m = machines_[at(node)];
  if (node >= scenario_.first.holders()) return;
  ledger::Spend all(scenario_.plan.nodes[at(node)].delta);
  double sum = 0;
  for (std::size_t p = 0; p < m.parts.size(); ++p) {
    const auto& durable = m.stores[p]->ledger.durable();
    const study::Part& part = m.parts[p];
    const int self = part.node_of(node);
    const auto expected = study::charges(part, self, std::max(0, static_cast<int>(durable.size()) - 1));
    std::size_t paid = 0;
    for (const auto& release : durable) {
      if (release.charge.kind == "none") continue;
      if (paid >= expected.size() || release.charge.epsilon != expected[paid].epsilon)
        throw Violation("a charge is not that of the plan: node " + std::to_string(node));
      all.add(ledger::Price{release.charge.epsilon, release.charge.mu});
      sum += release.charge.epsilon;
      ++paid;
    }
    if (paid != expected.size()) throw Violation("a release was not charged: node " + std::to_string(node));
  }
  if (all.total() > scenario_.first.anybody.allowance[at(node)])
    throw Violation("party " + std::to_string(node) + " has spent more than the study planned");
  if (caps.contains(node) && sum > caps.at(node)) throw Violation("a cap is exceeded");
}

// One model for all who complete; without fresh noise, that of the same parts in one process.
void World::check_model_in_parts(int node) const {
  const Machine& m = machines_[at(node)];
  for (std::size_t other = 0; other < machines_.size(); ++other) {
    if (models[other].size() == 0) continue;
    // Whoever has completed an earlier part is no survivor: the others could not reach it.
    const std::size_t of = machines_[other].parts.size();
    if (of < m.parts.size() && m.parts[of].node_of(static_cast<int>(other)) >= 0)
      throw Violation("a party that others count on has completed without them");
    if (of == m.parts.size() && !same_bits(models[other], models[at(node)]))
      throw Violation("two survivors have different models");
  }
  if (faults_.fresh_noise) return;
  const auto oracle = scenario_.in_parts(m.parts, agreements);
  for (std::size_t p = 0; p < m.parts.size(); ++p) {
    const auto& durable = m.stores[p]->ledger.durable();
    for (std::size_t t = 0; t < durable.size(); ++t)
      if (!same_bits(durable[t].value, oracle[p][t][at(m.parts[p].node_of(node))]))
        throw Violation("a release is not that of the same parts in one process: part " + std::to_string(p + 1) +
                        ", node " + std::to_string(node) + ", round " + std::to_string(t));
  }
  if (!same_bits(scenario_.model_in_parts(m.parts, agreements, oracle), models[at(node)]))
    throw Violation("the model is not that of the same parts in one process");
}

// With fresh noise too: the model follows from the values in the ledgers.
void World::check_end_in_parts() const {
  const study::Part& last = parts.back();
  Scenario::Values values(parts.size());
  for (const int node : last.nodes) {
    const Machine& m = machines_[at(node)];
    if (endings[at(node)]->end != protocol::End::completed || m.stores.size() < parts.size()) return;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto& durable = m.stores[p]->ledger.durable();
      if (values[p].size() < durable.size()) values[p].resize(durable.size());
      for (std::size_t t = 0; t < durable.size(); ++t) {
        values[p][t].resize(parts[p].nodes.size());
        values[p][t][at(parts[p].node_of(node))] = durable[t].value;
      }
    }
  }
  if (!same_bits(scenario_.model_in_parts(parts, agreements, values), models[at(last.nodes.front())]))
    throw Violation("the model does not follow from the ledgers of all parts");
}

}  // namespace parley::protocol
