// The promises, checked where they could be broken.
#include "parley/base/error.h"
#include "protocol/world.h"

namespace parley::protocol {

using protocol::Kind;
using protocol::Message;

namespace {

std::string who(int node, int round) {
  return "node " + std::to_string(node) + ", round " + std::to_string(round);
}

}  // namespace

void World::check_leaves(int node, const std::string& bytes) {
  const auto parsed = protocol::decode(bytes);
  if (!std::holds_alternative<Message>(parsed)) throw Violation("what leaves is no message");
  const Message& m = std::get<Message>(parsed);
  log("party " + std::to_string(node) + " sends kind " + std::to_string(static_cast<int>(m.kind)) + " of node " +
      std::to_string(m.node) + ", round " + std::to_string(m.round));
  if (m.kind != Kind::value && m.kind != Kind::silent) return;
  const Machine& machine = machines_[at(node)];
  std::size_t part = 0;
  while (part < machine.parts.size() && machine.parts[part].agreed.run != m.run) ++part;
  if (part == machine.parts.size()) throw Violation("a value of another run's leaves party " + std::to_string(node));
  if (machine.parts[part].node_of(node) != m.node) {
    const auto found = left_.find({m.run, m.node, m.round});
    if (!machine.parts[part].agreed.passed_on || found == left_.end() || found->second != m.payload)
      throw Violation("what is passed on has not left its sender so: " + who(m.node, m.round));
    return;
  }
  const auto& durable = machine.stores[part]->ledger.durable();
  if (m.round >= static_cast<int>(durable.size()) || protocol::payload_of(durable[at(m.round)].value) != m.payload)
    throw Violation("what leaves is not paid and durable: " + who(m.node, m.round));
  const auto [first, is_new] = left_.try_emplace({m.run, m.node, m.round}, m.payload);
  if (!is_new && first->second != m.payload) throw Violation("a second value leaves: " + who(m.node, m.round));
  if (is_new) sent_values.push_back(bytes);
}

// Whatever was acknowledged by an earlier process of this machine is there again.
void World::check_start(int node) {
  const Machine& m = machines_[at(node)];
  for (int number = 1; number <= m.party->part(); ++number) {
    const std::string& run = m.parts[at(number) - 1].agreed.run;
    const protocol::Exchange& exchange = m.party->part(number).exchange();
    for (const auto& [of, round] : m.acknowledged)
      if (of.first == run && of.second != m.parts[at(number) - 1].node_of(node) && round > exchange.stored(of.second))
        throw Violation("party " + std::to_string(node) + " has lost what it acknowledged: " + who(of.second, round));
    for (const auto& [of, kind, origin] : m.signed_by)
      if (of == run &&
          !(kind == Kind::loss ? exchange.survivors().stated(origin) : exchange.survivors().consented(origin)))
        throw Violation("party " + std::to_string(node) + " has lost a statement or consent that it acknowledged");
    for (const auto& [of, origin] : m.finals)
      if (of == run && !exchange.has_final(origin))
        throw Violation("party " + std::to_string(node) + " has lost a final iterate that it acknowledged");
  }
}

void World::check_progress(int node) {
  Machine& m = machines_[at(node)];
  m.completed = m.completed || (m.party->ending() && m.party->ending()->end == protocol::End::completed);
  if (!m.completed && !m.party->ending() && now_ > faults_.until + patience && cut_.empty() && !continues)
    throw Violation("party " + std::to_string(node) + " waits for ever");
}

void World::check_exit(int node) {
  const party::PartyInParts& party = *machines_[at(node)].party;
  endings[at(node)] = party.ending();
  check_spend(node);
  if (party.ending()->end != protocol::End::completed) return;
  models[at(node)] = party.model();
  if (party.part() > 1) return check_model_in_parts(node);
  if (ledger(node).spent(node) != scenario_.spent[at(node)])
    throw Violation("party " + std::to_string(node) + " has spent " + std::to_string(ledger(node).spent(node)) +
                    ", undisturbed it is " + std::to_string(scenario_.spent[at(node)]));
  if (ledger(node).durable().size() != scenario_.released.size())
    throw Violation("party " + std::to_string(node) + " has another number of releases than an undisturbed run");
  for (std::size_t other = 0; other < machines_.size(); ++other)
    if (models[other].size() > 0 && machines_[other].parts.size() == 1 && !same_bits(models[other], models[at(node)]))
      throw Violation("two parties have different models");
  if (faults_.fresh_noise) return;
  if (!same_bits(models[at(node)], scenario_.model)) throw Violation("the model is not that of an undisturbed run");
  for (std::size_t t = 0; t < scenario_.released.size(); ++t)
    if (!same_bits(ledger(node).durable()[t].value, scenario_.released[t][at(node)]))
      throw Violation("a release is not that of an undisturbed run: " + who(node, static_cast<int>(t)));
}

// The model is that of the values in the ledgers, also when the noise was drawn anew at every attempt.
void World::check_end() const {
  if (parts.size() > 1) return check_end_in_parts();
  std::vector<std::vector<Vector>> values(scenario_.released.size());
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    if (endings[i]->end != protocol::End::completed) return;
    for (std::size_t t = 0; t < values.size(); ++t)
      values[t].push_back(machines_[i].stores.front()->ledger.durable()[t].value);
  }
  for (const Vector& model : models)
    if (!same_bits(model, scenario_.model_of(values))) throw Violation("the model does not follow from the ledgers");
}

}  // namespace parley::protocol
