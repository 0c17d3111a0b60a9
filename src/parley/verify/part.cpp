#include "parley/verify/part.h"

#include <algorithm>
#include <utility>

#include "parley/protocol/compare/histories.h"

namespace parley::verify {
namespace {

using protocol::Kind;

class PartCheck {
 public:
  PartCheck(SeenPart& part, Findings& findings) : part_(part), known_(part.known), findings_(findings) {}

  void run() {
    collect();
    for (int node = 0; node < known_.agreed().nodes(); ++node) compare(node);
    for (int node = 0; node < known_.agreed().nodes(); ++node) follow(node);
    for (const study::PartyRecord& t : part_.records) check_rounds(t);
    check_noise_keys();
  }

 private:
  const std::string& name(int node) const { return known_.name(node); }
  void wrong(const std::string& sentence) { findings_.wrong.push_back(sentence); }

  // What the transcripts tell of everybody, each against the others. Receivers come first: where they agree, what a party
  // recorded itself is held against it.
  void collect() {
    for (const bool own : {false, true})
      for (const study::PartyRecord& t : part_.records) {
        for (const auto& [node, values] : t.values)
          for (std::size_t round = 0; (node == t.node) == own && round < values.size(); ++round)
            histories_.add_round(t.node, node, static_cast<int>(round), values[round].head);
        if (own) collect_signed(t);
      }
    for (const protocol::Contradiction& one : histories_.contradictions()) part_.contradicted.insert(one.node);
  }

  void collect_signed(const study::PartyRecord& t) {
    for (const protocol::Message& hello : t.hellos) histories_.add_process(t.node, hello.node, hello.process);
    for (const auto& [node, values] : t.values)
      for (const study::Heard& h : values) histories_.add_process(t.node, node, h.process);
    for (const auto* last_words : {&t.finals, &t.seals, &t.noise_keys})
      for (const auto& [node, message] : *last_words) histories_.add(t.node, message);
  }

  // What the others received of this node: the same from each other, and the same as it recorded itself.
  void compare(int node) {
    std::vector<const study::PartyRecord*> receivers;
    for (const study::PartyRecord& t : part_.records)
      if (t.node != node && t.values.contains(node)) receivers.push_back(&t);
    const study::PartyRecord* const self = part_.own(node);
    const bool agreed = std::ranges::none_of(histories_.contradictions(), [=](const protocol::Contradiction& c) {
      return c.node == node && c.kind == Kind::value && c.other != node;
    });
    for (const protocol::Contradiction& c : histories_.contradictions())
      if (c.node == node && c.kind == Kind::value && (c.other != node || agreed)) tell_two_values(c);
    for (const study::PartyRecord* t : receivers)
      if (self != nullptr && self->intact && t->rounds_of(node) > self->rounds_of(node))
        wrong(name(node) + ", round " + std::to_string(self->rounds_of(node)) + ": missing in its own record, and " +
              name(t->node) + " received it");
    for (const protocol::Contradiction& c : histories_.contradictions())
      if (c.node == node && c.kind != Kind::value) tell_two_words(c);
    for (const study::PartyRecord& t : part_.records)
      if (t.accused.contains(node)) part_.contradicted.insert(node);
    // The longest that anybody has of it, or epsilon would be too small: its own may have been cut.
    const study::PartyRecord* best = self;
    for (const study::PartyRecord* t : receivers)
      if (best == nullptr || t->rounds_of(node) > best->rounds_of(node)) best = t;
    if (best != nullptr && best->values.contains(node)) part_.merged[node] = best->values.at(node);
    const auto holders = receivers.size() + (self != nullptr ? 1 : 0);
    if (holders >= 2 && agreed) findings_.compared += part_.rounds(node);
  }

  void tell_two_values(const protocol::Contradiction& c) {
    const std::string who = name(c.node) + ", round " + std::to_string(c.number);
    if (c.other == c.node)
      wrong(who + ": its own record differs from the value that " + name(c.one) + " received and " + name(c.node) +
            " signed");
    else
      wrong(who + ": it sent one value to " + name(c.one) + " and another to " + name(c.other) + ", and signed both");
  }

  void tell_two_words(const protocol::Contradiction& c) {
    if (c.kind == Kind::hello) {
      if (twice_.insert(c.node).second)  // R14: one process for each number, in all that it signed
        wrong(name(c.node) + ": two processes of its have the number " + std::to_string(c.number) +
              ", and it signed both: it ran from two copies of one folder, or from a restored one");
      return;
    }
    const std::string what = c.kind == Kind::final_iterate ? "final iterate"
                             : c.kind == Kind::seal        ? "seal"
                                                           : "key for shared noise";
    if (words_.insert({c.node, c.kind}).second)
      wrong(name(c.node) + ": the " + what + " that " + name(c.one) + " has is not the one that " + name(c.other) +
            " has, and it signed both");
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
      findings_.unchecked.push_back(
          name(t.node) +
          (t.outcome() == record::abandoned
               ? ": its owner has abandoned the run, so there is no statement of its end; what it cost stands "
                 "in its ledger (parley ledger show)"
               : ": its run has not ended (" + t.outcome() + "), so there is no statement of its end"));
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
  protocol::Histories histories_{};
  std::set<int> twice_{};  // whose two processes were told
  std::set<std::pair<int, Kind>> words_{};
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
