#include "parley/protocol/compare/histories.h"

namespace parley::protocol {

void Histories::found(const Contradiction& one) {
  if (told_.insert({{one.node, one.kind}, one.other}).second) found_.push_back(one);
}

void Histories::add_round(int holder, int node, int round, const Digest& head) {
  const auto& before = rounds_.try_emplace({node, round}, holder, head).first->second;
  if (before.said != head)
    found({.node = node, .kind = Kind::value, .number = round, .one = before.holder, .other = holder});
  if (const auto last = stated_.find(node); last != stated_.end() && round > last->second.said)
    found({.node = node, .kind = Kind::loss, .number = round, .one = last->second.holder, .other = holder});
}

void Histories::add_process(int holder, int node, const Process& process) {
  const auto& before = processes_.try_emplace({node, process.incarnation}, holder, process).first->second;
  if (before.said == process) return;
  found({.node = node, .kind = Kind::hello, .number = process.incarnation, .one = before.holder, .other = holder});
}

void Histories::add_last_word(int holder, const Message& m) {
  const std::pair said(m.payload, m.head);
  const auto& before = words_.try_emplace({m.node, m.kind}, holder, said).first->second;
  if (before.said != said)
    found({.node = m.node, .kind = m.kind, .number = m.round, .one = before.holder, .other = holder});
  if (m.kind != Kind::loss) return;
  stated_.try_emplace(m.node, holder, m.round);
  const auto after = rounds_.lower_bound({m.node, m.round + 1});
  if (after != rounds_.end() && after->first.first == m.node)
    found(
        {.node = m.node, .kind = m.kind, .number = after->first.second, .one = after->second.holder, .other = holder});
}

void Histories::add(int holder, const Message& m) {
  if (m.kind == Kind::goodbye) return;
  if (m.kind != Kind::loss && m.kind != Kind::consent) add_process(holder, m.node, m.process);
  if (m.kind == Kind::value || m.kind == Kind::silent)
    add_round(holder, m.node, m.round, m.head);
  else if (m.kind != Kind::hello)
    add_last_word(holder, m);
}

}  // namespace parley::protocol
