#include "parley/protocol/processes.h"

namespace parley::protocol {

Finding Processes::judge(const Message& m) const {
  const auto found = known_.find(m.node);
  if (found == known_.end() || m.process.incarnation > found->second.process.incarnation)
    return {Verdict::accepted, ""};
  const Known& known = found->second;
  const std::string number = std::to_string(m.process.incarnation);
  if (m.process.incarnation == known.process.incarnation) {
    if (m.process == known.process) return {Verdict::accepted, ""};
    return {Verdict::second_process, "two processes have the number " + number + ": " + m.sender +
                                         " runs from two copies of one folder, or from a restored one"};
  }
  if (m.kind == Kind::hello)
    return {Verdict::ledger_behind, "the ledger of " + m.sender + " is older than what it has released: its process " +
                                        number + " says hello after its process " +
                                        std::to_string(known.process.incarnation)};
  if (m.round <= known.released) return {Verdict::accepted, ""};
  return {Verdict::second_process, "round " + std::to_string(m.round) + " of its process " + number +
                                       ", of which its process " + std::to_string(known.process.incarnation) +
                                       " does not know: " + m.sender + " runs from two copies of one folder"};
}

Finding Processes::judge_passed_on(const Message& m) const {
  return m.process.incarnation == of(m.node).incarnation ? judge(m) : Finding{Verdict::accepted, ""};
}

bool Processes::is_new(const Message& m) const {
  return m.process.incarnation > of(m.node).incarnation;
}

// Who sends hellos with higher and higher numbers fills no disk.
bool Processes::too_many(int node) const {
  const auto found = known_.find(node);
  return found != known_.end() && found->second.met >= most_processes;
}

void Processes::add(const Message& m, std::string bytes) {
  if (!is_new(m)) return;
  const auto found = known_.find(m.node);
  const int met = found == known_.end() ? 0 : found->second.met;
  known_[m.node] = {m.process, m.round, std::move(bytes), met + 1};
}

Process Processes::of(int node) const {
  const auto found = known_.find(node);
  return found == known_.end() ? Process{} : found->second.process;
}

const std::string& Processes::first_message(int node) const {
  static const std::string none;
  const auto found = known_.find(node);
  return found == known_.end() ? none : found->second.bytes;
}

}  // namespace parley::protocol
