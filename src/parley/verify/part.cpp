#include "parley/verify/part.h"

#include <algorithm>

namespace parley::verify {
namespace {

class PartCheck {
 public:
  PartCheck(SeenPart& part, Findings& findings) : part_(part), known_(part.known), findings_(findings) {}

  void run() {
    for (int node = 0; node < known_.agreed().nodes(); ++node) compare(node);
    for (int node = 0; node < known_.agreed().nodes(); ++node) follow(node);
    for (const study::PartyRecord& t : part_.records) check_rounds(t);
    check_noise_keys();
  }

 private:
  const std::string& name(int node) const { return known_.name(node); }
  void wrong(const std::string& sentence) { findings_.wrong.push_back(sentence); }

  // What the others received of this node: the same from each other, and the same as it recorded itself.
  void compare(int node) {
    std::vector<const study::PartyRecord*> receivers;
    for (const study::PartyRecord& t : part_.records)
      if (t.node != node && t.values.contains(node)) receivers.push_back(&t);
    const study::PartyRecord* const self = part_.own(node);
    bool agreed = true;
    for (std::size_t i = 1; i < receivers.size(); ++i)
      if (const int round = differing(*receivers[0], *receivers[i], node); round >= 0) {
        agreed = false;
        part_.contradicted.insert(node);
        wrong(name(node) + ", round " + std::to_string(round) + ": it sent one value to " + name(receivers[0]->node) +
              " and another to " + name(receivers[i]->node) + ", and signed both");
      }
    for (const study::PartyRecord* t : receivers) {
      if (self == nullptr) break;
      const int round = agreed ? differing(*self, *t, node) : -1;
      if (round >= 0) part_.contradicted.insert(node);
      if (round >= 0)
        wrong(name(node) + ", round " + std::to_string(round) + ": its own record differs from the value that " +
              name(t->node) + " received and " + name(node) + " signed");
      if (self->intact && t->rounds_of(node) > self->rounds_of(node))
        wrong(name(node) + ", round " + std::to_string(self->rounds_of(node)) + ": missing in its own record, and " +
              name(t->node) + " received it");
      if (round >= 0) break;
    }
    compare_processes(node);
    for (const study::PartyRecord& t : part_.records)
      if (t.accused.contains(node)) part_.contradicted.insert(node);
    compare_last_words(node, &study::PartyRecord::finals, "final iterate");
    compare_last_words(node, &study::PartyRecord::seals, "seal");
    compare_last_words(node, &study::PartyRecord::noise_keys, "key for shared noise");
    // The longest that anybody has of it, or epsilon would be too small: its own may have been cut.
    const study::PartyRecord* best = self;
    for (const study::PartyRecord* t : receivers)
      if (best == nullptr || t->rounds_of(node) > best->rounds_of(node)) best = t;
    if (best != nullptr && best->values.contains(node)) part_.merged[node] = best->values.at(node);
    const auto holders = receivers.size() + (self != nullptr ? 1 : 0);
    if (holders >= 2 && agreed) findings_.compared += part_.rounds(node);
  }

  // The first round of this node's in which two records differ; −1: none.
  static int differing(const study::PartyRecord& a, const study::PartyRecord& b, int node) {
    const int rounds = std::min(a.rounds_of(node), b.rounds_of(node));
    for (int round = 0; round < rounds; ++round) {
      const auto at = static_cast<std::size_t>(round);
      if (a.values.at(node)[at].head != b.values.at(node)[at].head) return round;
    }
    return -1;
  }

  // R14: one process for each number, in all that it signed.
  void compare_processes(int node) {
    std::map<int, protocol::Process> by_number;
    std::set<int> twice;
    const auto signed_by = [&](const protocol::Process& process) {
      if (by_number.emplace(process.incarnation, process).first->second != process) twice.insert(process.incarnation);
    };
    for (const study::PartyRecord& t : part_.records) {
      for (const protocol::Message& hello : t.hellos)
        if (hello.node == node) signed_by(hello.process);
      if (const auto values = t.values.find(node); values != t.values.end())
        for (const study::Heard& h : values->second) signed_by(h.process);
      for (const auto* last_words : {&t.finals, &t.seals, &t.noise_keys})
        if (const auto found = last_words->find(node); found != last_words->end()) signed_by(found->second.process);
    }
    if (twice.empty()) return;
    part_.contradicted.insert(node);
    wrong(name(node) + ": two processes of its have the number " + std::to_string(*twice.begin()) +
          ", and it signed both: it ran from two copies of one folder, or from a restored one");
  }

  void compare_last_words(int node, std::map<int, protocol::Message> study::PartyRecord::* of,
                          const std::string& what) {
    const study::PartyRecord* first = nullptr;
    for (const study::PartyRecord& t : part_.records) {
      if (!(t.*of).contains(node)) continue;
      if (first == nullptr) first = &t;
      const protocol::Message &mine = (t.*of).at(node), &other = (first->*of).at(node);
      if (mine.payload == other.payload && mine.head == other.head) continue;
      part_.contradicted.insert(node);
      wrong(name(node) + ": the " + what + " that " + name(first->node) + " has is not the one that " + name(t.node) +
            " has, and it signed both");
      return;
    }
  }

  // What a receiver has found before it released anything (docs/check/protocol-sums.md, section 15).
  void check_noise_keys() {
    for (const study::PartyRecord& t : part_.records) {
      protocol::NoiseKeys keys(known_.agreed());
      for (const auto& [node, message] : t.noise_keys) keys.add(message, "");
      if (!known_.agreed().shared_noise || !keys.complete()) continue;
      if (const auto odd = keys.out_of_time())
        wrong(name(*odd) +
              ": the day until which it says that it keeps its key for shared noise is not within those of "
              "the others, and " +
              name(t.node) + " has it");
      return;
    }
  }

  void follow(int node) {
    const study::PartyRecord* const self = part_.own(node);
    part_.seen.push_back(self != nullptr && self->intact ? self->values : part_.merged);
    const Values& seen = part_.seen.back();
    const auto& start = part_.starts[static_cast<std::size_t>(node)];
    Replayed r = start ? replay(known_, node, seen, *start, findings_.wrong) : Replayed{};
    const int rounds = seen.contains(node) ? static_cast<int>(seen.at(node).size()) : 0;
    if (!start)
      findings_.unchecked.push_back(name(node) + ": its steps; where it begins in this part follows from values of " +
                                    "the part before that are not in these records");
    else if (r.rounds < rounds && (self == nullptr || !self->intact))
      findings_.unchecked.push_back(name(node) + ": steps from round " + std::to_string(r.rounds) +
                                    " on; what it received from " + r.stopped_by + " is not in these records");
    else if (r.rounds < rounds)
      wrong(name(node) + ", round " + std::to_string(r.rounds) + ": it was released, and the value of " + r.stopped_by +
            " that it was computed from is not in its transcript");
    if (self == nullptr)
      findings_.unchecked.push_back(name(node) + ": its own record was not given" +
                                    (rounds <= known_.agreed().rounds
                                         ? "; it may have released more than these hold: counted with what was planned"
                                         : ""));
    part_.replayed.push_back(std::move(r));
  }

  // Of a completed run every round must be there.
  void check_rounds(const study::PartyRecord& t) {
    if (!t.ended() && !t.went_on)
      findings_.unchecked.push_back(name(t.node) + ": its run has not ended (" + t.outcome() +
                                    "), so there is no statement and no model");
    if (t.outcome() != "completed" || !t.intact) return;
    std::vector<int> origins = known_.agreed().heard_by(t.node);
    origins.push_back(t.node);
    for (const int origin : origins)
      if (t.rounds_of(origin) <= known_.agreed().rounds)
        wrong(name(t.node) + ", round " + std::to_string(t.rounds_of(origin)) + " of " + name(origin) +
              ": missing in its transcript, and its record says that the run was completed");
  }

  SeenPart& part_;
  const study::ExpectedPart& known_;
  Findings& findings_;
};

}  // namespace

const study::PartyRecord* SeenPart::own(int node) const {
  const auto found = std::ranges::find(records, node, &study::PartyRecord::node);
  return found == records.end() ? nullptr : &*found;
}

SeenPart first_seen(study::ExpectedPart known) {
  const auto nodes = static_cast<std::size_t>(known.agreed().nodes());
  return {.known = std::move(known), .starts = std::vector<std::optional<ReplayStart>>(nodes, ReplayStart{})};
}

void check_part(SeenPart& part, Findings& findings) {
  PartCheck(part, findings).run();
}

void check_accused_of_start(const SeenPart& before, const SeenPart& part, study::PartyRecord& record,
                            Findings& findings) {
  const auto node_before = [&](int node) { return before.known.part.node_of(part.known.study_node(node)); };
  const study::PartyRecord* const earlier = before.own(node_before(record.node));
  for (const int node : record.accused_of_start) {
    privacy::Released last;  // who is silent in a round stays where it was
    const int there = node_before(node), through = before.next ? before.next->through : -1;
    for (int t = 0; earlier != nullptr && t <= std::min(through, earlier->rounds_of(there) - 1); ++t)
      if (const auto& value = earlier->values.at(there)[static_cast<std::size_t>(t)].value; value->size() > 0)
        last = value;
    const std::string &who = part.known.name(node), &holder = part.known.name(record.node);
    if (last && !study::same_bits(*last, *record.values.at(node).front().value)) {
      record.accused.insert(node);
      findings.wrong.push_back(
          who + " contradicted itself: " + holder +
          " was sent another value at the start of this part than in the part before, both signed");
    } else {
      findings.wrong.push_back(holder + ": what it keeps as evidence against " + who + ", round 0 of " + who +
                               ", contradicts nothing in this record");
    }
  }
}

}  // namespace parley::verify
