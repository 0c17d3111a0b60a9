// Exchange: what arrives, as a call or as the answer to one. What the clock says is in exchange_clock.cpp.
#include <algorithm>

#include "parley/protocol/exchange.h"
#include "parley/protocol/inspection.h"

namespace parley::protocol {
namespace {

const std::string too_many_processes = "it has been started " + std::to_string(most_processes) + " times in this part";

}  // namespace

Link& Exchange::link_to(int node) {
  return *std::ranges::find(links_, node, &Link::node);
}

const Link& Exchange::link_to(int node) const {
  return *std::ranges::find(links_, node, &Link::node);
}

Link* Exchange::link_with(std::uint64_t call) {
  const auto found = std::ranges::find_if(links_, [=](const Link& l) { return l.call && l.call->id == call; });
  return found == links_.end() ? nullptr : &*found;
}

Receipt Exchange::deliver(const std::string& caller, std::string_view bytes) {
  for (Link& link : links_)
    if (name(link.node) == caller) link.called = now_;
  Receipt receipt = judged(caller, bytes);
  if (!receipt.good()) report_refusal(caller, receipt);
  pump();
  return receipt;
}

Receipt Exchange::judged(const std::string& caller, std::string_view bytes) {
  if (bytes.size() > message_cap(agreed_.largest_size))
    return refuse(caller, {Verdict::oversize, std::to_string(bytes.size()) + " bytes, at most " +
                                                  std::to_string(message_cap(agreed_.largest_size)) + " are read"});
  auto parsed = decode(bytes);
  if (const auto* wrong = std::get_if<Finding>(&parsed)) return refuse(caller, *wrong);
  const Message& m = std::get<Message>(parsed);
  if (const auto wrong = inspect(m, caller, agreed_, self_, keys_)) {
    Receipt receipt = refuse(caller, *wrong);
    if (wrong->verdict == Verdict::wrong_configuration) receipt.attachment = agreed_.configuration;
    return receipt;
  }
  if (caller == m.sender && phase_ != Phase::recovering)
    if (auto receipt = against_rival(m)) return *receipt;
  // Before whether this party is open at all: what it has claimed may be wrong, also where its run has ended.
  if (m.kind == Kind::goodbye && phase_ != Phase::recovering && accused_by(m.sender, goodbye_of(m.payload)->proof))
    return {.verdict = Verdict::accepted};
  if (const auto wrong = not_open(m, caller)) {
    Receipt receipt = refuse(caller, *wrong);
    if (const int node = *agreed_.node_of(caller); node == contradicted_by_) receipt.attachment = proof_against(node);
    if (wrong->verdict == Verdict::left_behind) receipt.attachment = survivors_.proof();
    return receipt;
  }
  if (m.node == self_) {  // a last word of this party's comes back to it: perhaps by a copy
    if (const std::string has = unknown_here(m); !has.empty()) {
      accept_accusation(caller, has, bytes);
      return refuse(caller, {Verdict::stopped, ending_->text});
    }
  }
  switch (m.kind) {
    case Kind::hello:
      return on_hello(m, bytes);
    case Kind::final_iterate:
    case Kind::seal:
      return on_last_word(m, bytes, link_to(*agreed_.node_of(caller)));
    case Kind::noise_key:
      return on_noise_key(m, bytes, link_to(*agreed_.node_of(caller)));
    case Kind::goodbye:
      return on_goodbye(m, bytes);
    case Kind::loss:
    case Kind::consent:
      return on_survivors(m, bytes, link_to(*agreed_.node_of(caller)));
    case Kind::value:
    case Kind::silent:
      break;
  }
  return on_value(m, bytes, link_to(*agreed_.node_of(caller)));
}

std::optional<Finding> Exchange::not_open(const Message& m, const std::string& caller) const {
  const bool agreeing = m.kind == Kind::loss || m.kind == Kind::consent || m.kind == Kind::goodbye;
  switch (phase_) {
    case Phase::recovering:
      return Finding{Verdict::unavailable, name(self_) + " is starting"};
    case Phase::interrupted:
      return Finding{Verdict::unavailable, name(self_) + " was interrupted by its owner"};
    case Phase::stopped:
      return Finding{Verdict::stopped, name(self_) + " has stopped: " + ending_->text};
    case Phase::continued:
      if (!succession_->has(m.node) || !succession_->has(*agreed_.node_of(caller)))
        return Finding{Verdict::left_behind, ending_->text};
      if (!agreeing) return Finding{Verdict::unavailable, ending_->text};
      return std::nullopt;
    case Phase::consented:  // before it a party may still complete the run, by what others have; now they count on it
      if (!agreeing)
        return Finding{Verdict::unavailable,
                       name(self_) + " has lost a party, and waits for the others' word on going on"};
      return std::nullopt;
    case Phase::greeting:
    case Phase::rounds:
    case Phase::finals:
    case Phase::stated:
    case Phase::stated_finals:
    case Phase::completed:
      break;
  }
  return std::nullopt;
}

Receipt Exchange::on_value(const Message& m, std::string_view bytes, Link& from) {
  const Finding finding = judge_value(m, from);
  if (contradicts(finding.verdict)) return contradicted(m, finding, bytes);
  if (finding.verdict == Verdict::accepted) {
    transcript_->append(Transcript::Entry::received, bytes);
    transcript_->sync();
    received_.add(m, bytes);
    processes_.add(m, std::string(bytes));
    pass_on(m, bytes);
    if (from.node == m.node) from.progressed(now_);
  } else if (finding.verdict != Verdict::duplicate) {
    return refuse(m.sender, finding);
  }
  if (from.node != m.node) from.passed_on.insert(PassedOn::key(m));
  return {.verdict = finding.verdict};
}

Finding Exchange::judge_last_word(const Message& m) const {
  if (const Finding finding = processes_.judge_passed_on(m); finding.verdict != Verdict::accepted) return finding;
  if (const Finding finding = received_.judge_final(m); finding.verdict != Verdict::accepted) return finding;
  const bool is_seal = m.kind == Kind::seal;
  const auto head = is_seal ? finals_.head(m.node) : seals_.head(m.node);  // of the other of the two
  if (head && *head != m.head)
    return {Verdict::other_history,
            m.sender + "'s seal is of other releases than its final iterate: it contradicts itself"};
  return is_seal ? seals_.judge(m) : finals_.judge(m);
}

Receipt Exchange::on_last_word(const Message& m, std::string_view bytes, Link& from) {
  const Finding finding = judge_last_word(m);
  if (contradicts(finding.verdict)) return contradicted(m, finding, bytes);
  if (finding.verdict == Verdict::accepted) {
    transcript_->append(Transcript::Entry::received, bytes);
    transcript_->sync();
    add_last_word(m, bytes);
    last_word_at_ = now_;
    check_complete();
  }
  from.last_words.insert(last_word_key(m));
  return {.verdict = finding.verdict};
}

void Exchange::add_last_word(const Message& m, std::string_view bytes) {
  if (m.kind == Kind::seal) return seals_.add(m, std::string(bytes));
  received_.add_final(m);
  finals_.add(m, std::string(bytes));
}

// R3: what contradicts itself is refused, kept with its signature, and ends the run. A run that was complete stays so:
// everybody has agreed on its model. The first contradiction is enough, and no liar fills the disk.
Receipt Exchange::contradicted(const Message& m, const Finding& finding, std::string_view bytes) {
  if (m.node == self_) {
    accept_accusation("a neighbour", another_last_word, bytes);
    return refuse(m.sender, finding);
  }
  const std::string text = m.sender + ": " + finding.detail + "; the message is in the transcript";
  const bool completed = phase_ == Phase::completed;
  if (!contradiction_) {
    transcript_->append(Transcript::Entry::evidence, bytes);
    transcript_->sync();
    contradiction_ = text;
    contradicted_by_ = m.node;
    evidence_ = bytes;
    if (completed) warn(m.sender, text + "; the run was complete before, and its model stands");
  }
  const bool can_end = !ended(phase_) || phase_ == Phase::continued;
  if (can_end) end_early(Event::contradiction, {.end = End::equivocation, .text = text});
  Receipt receipt = refuse(m.sender, finding);
  receipt.attachment = proof_against(m.node);
  return receipt;
}

void Exchange::contradicts_part_before(std::size_t place) {
  const int node = agreed_.heard_by(self_)[place];
  std::string bytes;
  transcript_->each([&](Transcript::Entry kind, std::string_view one) {
    const auto parsed = decode(one);
    const auto* m = std::get_if<Message>(&parsed);
    if (bytes.empty() && kind == Transcript::Entry::received && m != nullptr && m->node == node && m->round == 0 &&
        (m->kind == Kind::value || m->kind == Kind::silent))
      bytes = one;
  });
  const auto parsed = decode(bytes);
  contradicted(std::get<Message>(parsed),
               {Verdict::second_value, "it begins this part with another value than it has released before"}, bytes);
}

// What this party holds of another's signatures, for that one to see: what contradicts the rest, how its process was
// met, and its last value.
std::string Exchange::proof_against(int node) const {
  std::vector<std::string> messages;
  if (node == contradicted_by_) messages.push_back(evidence_);
  messages.push_back(processes_.first_message(node));
  if (received_.hears(node)) messages.push_back(received_.last_message(node));
  return bundle(messages, message_cap(agreed_.largest_size) - 1024);
}

// R15: an accusation counts with this party's own signature, and with nothing else: on a round or a value that its ledger
// does not have, or of a process that is not this one and did not come before it.
bool Exchange::accused_by(const std::string& who, std::string_view proof) {
  // Anybody may send a proof: no more of it is looked at than an honest one has.
  for (const std::string& bytes : unbundled(proof.substr(0, message_cap(agreed_.largest_size)), 3)) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    if (m == nullptr || m->sender != name(self_) || m->node != self_ || m->run != agreed_.run ||
        m->round > agreed_.rounds || !keys_.verify(self_, signed_part(*m), m->signature))
      continue;
    const std::string has = unknown_here(*m);
    if (has.empty()) continue;
    accept_accusation(who, has, bytes);
    return true;
  }
  return false;
}

std::string Exchange::unknown_here(const Message& own) const {
  if (own.kind == Kind::consent) return "";  // its round and head are not this party's
  if (own.kind == Kind::noise_key && noise_keys_.has(self_) && noise_keys_.payload(self_) != own.payload)
    return "another key for shared noise of " + own.sender;
  const std::string round = std::to_string(own.round);
  if (own.round > released())
    return "round " + round + " of " + own.sender + ", and the ledger ends with " + std::to_string(released());
  if (own.round >= 0 && own.head != heads_[static_cast<std::size_t>(own.round)])
    return "another round " + round + " of " + own.sender;
  if (own.process != process_ && own.process.incarnation >= process_.incarnation)
    return "met another process of " + own.sender + ", from a copy of this folder";
  return "";
}

// A second key for shared noise (a folder was removed) ends this run and says nothing of the ledger: a round that it lacks
// would.
bool Exchange::tells_of_ledger(std::string_view bytes) {
  const auto decoded = decode(bytes);
  const auto* m = std::get_if<Message>(&decoded);
  return m == nullptr || m->kind != Kind::noise_key;
}

void Exchange::accept_accusation(const std::string& who, const std::string& has, std::string_view bytes) {
  if (accused_) return;
  // Trap: a kill in between must leave the mark, for without it other runs would go on with this ledger.
  if (mark_accused_ && tells_of_ledger(bytes)) mark_accused_(who + " has " + has, bytes);
  transcript_->append(Transcript::Entry::evidence, bytes);
  transcript_->sync();
  withdraw("your ledger is older than what you have released: " + who + " has " + has +
           "; this party's signature on it is in the transcript");
}

// A new process of a neighbour's is stored before it is answered: it may release when all have answered.
void Exchange::meet(const Message& hello, std::string_view bytes) {
  const int other = seen_of(hello.payload)->waits_for;
  const auto& theirs = agreed_.graph.neighbours(hello.node);
  link_to(hello.node).waits_for = other != self_ && std::ranges::find(theirs, other) != theirs.end() ? other : -1;
  if (!processes_.is_new(hello)) return;
  transcript_->append(Transcript::Entry::received, bytes);
  transcript_->sync();
  processes_.add(hello, std::string(bytes));
  Link& link = link_to(hello.node);
  link.passed_on.clear();  // its disk may be an older one
  link.noise_keys.clear();
  link.settled_noise_keys = 0;
  if (++link.restarts <= 3) link.restarted = now_;
}

// A ledger that is older than what it has released is refused, and whoever has it stops: a disk was lost or put back.
// Where its process has the number of another one, that one may be alive: it is held against it when it speaks.
Finding Exchange::judge_hello(const Message& m, std::string_view bytes, int at_least) {
  const Finding process = processes_.judge(m), past = received_.judge_hello(m, at_least);
  if (past.verdict == Verdict::accepted) return process;
  if (contradicts(process.verdict)) rivals_[m.node] = bytes;
  return past;
}

// Of two live processes with one number the one that was first here speaks after the other: both stop (R14).
std::optional<Receipt> Exchange::against_rival(const Message& m) {
  const auto rival = rivals_.find(m.node);
  if (rival == rivals_.end() || m.process != processes_.of(m.node)) return std::nullopt;
  const std::string bytes = rival->second;
  const auto parsed = decode(bytes);
  const auto& other = std::get<Message>(parsed);
  return contradicted(other, processes_.judge(other), bytes);
}

Receipt Exchange::on_hello(const Message& m, std::string_view bytes) {
  const Finding finding = judge_hello(m, bytes, received_.seen(m.node).round);
  if (contradicts(finding.verdict)) return contradicted(m, finding, bytes);
  if (finding.verdict != Verdict::accepted) {
    Receipt receipt = refuse(m.sender, finding);
    receipt.attachment = proof_against(m.node);
    return receipt;
  }
  if (processes_.is_new(m) && processes_.too_many(m.node))
    return refuse(m.sender, {Verdict::unavailable, too_many_processes});
  Link& link = link_to(m.node);
  meet(m, bytes);
  if (const Seen seen = *seen_of(m.payload); is_known(seen)) link.stored = std::max(link.stored, seen.round);
  return {.verdict = Verdict::accepted, .attachment = hello_to(link)};
}

// What a goodbye tells of its sender's past is held against what is stored, like a hello: who only leaves must not claim
// what it has forgotten.
Receipt Exchange::on_goodbye(const Message& m, std::string_view bytes) {
  if (m.process.incarnation < processes_.of(m.node).incarnation) return {.verdict = Verdict::accepted};  // came late
  const Finding past = judge_hello(m, bytes, received_.seen(m.node).round);
  if (contradicts(past.verdict)) return contradicted(m, past, bytes);
  const Goodbye goodbye = *goodbye_of(m.payload);
  if (goodbye.end == End::equivocation && shows_contradiction(m.sender, goodbye.proof))
    return {.verdict = Verdict::accepted};
  if (goodbye.end == End::completed && !(finals_.complete() && seals_.complete()))  // it passed all of them on: this
    return refuse(m.sender, {Verdict::unavailable, "final iterates are missing here"});  // disk was put back
  take_leave(m, goodbye);
  if (past.verdict != Verdict::ledger_behind) return {.verdict = Verdict::accepted};
  Receipt receipt = refuse(m.sender, past);
  receipt.attachment = proof_against(m.node);
  return receipt;
}

void Exchange::take_leave(const Message& m, const Goodbye& goodbye) {
  Link& link = link_to(m.node);
  const std::string text = goodbye.text.empty() ? "it gives no reason" : printable(goodbye.text, 200);
  const bool passed_on = goodbye.reason == Reason::peer_stopped;
  const std::string why = m.sender + (passed_on ? " says: " : " has stopped: ") + text;
  // Decided on released values alone (R10): whoever only says so has left.
  const bool diverged = goodbye.end == End::diverged && shows_divergence(goodbye.proof);
  // Said before the two have met in this process: it has lost an earlier one, perhaps this party's own.
  const bool stale = goodbye.end == End::peer_lost && !link.confirmed && !consent_ && !ended(phase_);
  const bool for_all =
      goodbye.end == End::equivocation || goodbye.end == End::contradicted;  // without anybody it goes on
  if (goodbye.end == End::completed)
    link.complete = true;
  else if (stale)
    warn_of(link, Told::stopped_before, why + "; waiting for it to be started again");
  else if (goodbye.end == End::interrupted)
    warn_of(link, Told::interrupted, m.sender + " was interrupted by its owner; waiting for it");
  else if (!diverged && (!for_all || consent_) && !closed())  // one neighbour's word costs its edge
    lose(m.node, why, Reason::peer_stopped, passed_on ? text : "");
  else if (for_all && phase_ == Phase::completed)
    warn(m.sender, why + "; the run was complete here before, and its model stands");
  else if (survivors_.needed(m.node) || for_all)
    stop({.end = diverged ? End::diverged : End::peer_lost,
          .text = why,
          .reason = Reason::peer_stopped,
          .for_ever = !diverged && survivors_.begun() && survivors_.over_for_ever(),
          .passed_on = passed_on ? text : ""});
}

// Somebody's signed value at the bound: by whom it came does not matter.
bool Exchange::shows_divergence(std::string_view proof) {
  for (const std::string& bytes : unbundled(proof.substr(0, message_cap(agreed_.largest_size)), 1)) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    if (m == nullptr || m->kind != Kind::value || m->run != agreed_.run || agreed_.node_of(m->sender) != m->node ||
        !keys_.verify(m->node, signed_part(*m), m->signature))
      continue;
    const auto value = vector_of(m->payload);
    if (!value || !privacy::reaches_bound(*value, agreed_.release_bound)) continue;
    diverged_with_ = bytes;
    return true;
  }
  return false;
}

// An honest neighbour that has more answers this party's hello with the proof; its word alone is anybody's.
bool Exchange::is_known(const Seen& seen) const {
  return seen.round <= released() && (seen.round < 0 || seen.head == heads_[static_cast<std::size_t>(seen.round)]);
}

void Exchange::warn_of(Link& link, Told what, const std::string& text) {
  if (worth_a_line(++link.told_of[static_cast<std::size_t>(what)])) warn(name(link.node), text);
}

void Exchange::report_refusal(const std::string& caller, const Receipt& receipt) {
  const auto row = static_cast<std::size_t>(agreed_.node_of(caller).value_or(agreed_.nodes()));
  const long count = ++refused_[row][static_cast<std::size_t>(receipt.verdict)];
  if (worth_a_line(count)) warn(caller, receipt.reason + (count > 1 ? " (" + std::to_string(count) + " times)" : ""));
}

// ---- answers ----

void Exchange::answered(std::uint64_t id, const Receipt& receipt) {
  Link* link = link_with(id);
  if (link == nullptr) return;  // given up by tick(); it was or will be sent again
  const Link::Call call = *link->call;
  link->call.reset();
  heard(*link);
  if (!receipt.good() && receipt.verdict != Verdict::wrong_configuration &&
      accused_by(name(link->node), receipt.attachment)) {
    link->goodbye_said = call.what == Link::What::goodbye;
  } else if (call.what == Link::What::goodbye && phase_ == Phase::completed && !receipt.good()) {
    link->last_words.clear();
    link->retry_later(now_, timing_);
  } else if (call.what == Link::What::goodbye && receipt.verdict == Verdict::unavailable) {
    link->retry_later(now_, timing_);  // it is starting, and has not read it
  } else if (call.what == Link::What::goodbye) {
    link->goodbye_said = true;
  } else if (call.what == Link::What::survivors && !receipt.good()) {
    if (receipt.verdict == Verdict::left_behind && !ended(phase_)) on_refusal(*link, receipt);
    link->given_up = receipt.verdict != Verdict::unavailable;  // it has stopped, and why comes by its goodbye
    link->retry_later(now_, timing_);
  } else if (!receipt.good()) {
    if (contradicts(receipt.verdict) && shows_contradiction(name(link->node), receipt.attachment))
      link->retry_later(now_, timing_);
    else
      on_refusal(*link, receipt);
  } else {
    link->failures = 0;
    if (call.what == Link::What::hello) on_greeting(*link, call, receipt);
    if (call.what == Link::What::value) link->stored = std::max(link->stored, call.number);
    if (call.what == Link::What::passed_on) link->passed_on.insert(call.key);
    if (call.what == Link::What::noise_key) link->noise_keys.insert(call.number);
    if (call.what == Link::What::last_word) link->last_words.insert(call.number);
    if (call.what == Link::What::survivors) link->told.insert(call.number);
  }
  pump();
}

// The answer to a hello of this process: its sender's own, and with it what that one has of this node. It may be older
// than values that came meanwhile, so it is held against what was stored here when it was asked for.
void Exchange::on_greeting(Link& link, const Link::Call& call, const Receipt& receipt) {
  const std::string& who = name(link.node);
  auto parsed = decode(std::string_view(receipt.attachment).substr(0, message_cap(agreed_.largest_size)));
  const auto* m = std::get_if<Message>(&parsed);
  Finding finding{Verdict::truncated, "the answer to a hello is none"};
  if (m != nullptr && m->kind == Kind::hello) {
    const auto wrong = inspect(*m, who, agreed_, self_, keys_);
    finding =
        wrong ? *wrong : judge_hello(*m, receipt.attachment, call.number);  // trap: only a neighbour's may be judged
  }
  if (finding.verdict == Verdict::accepted && against_rival(*m)) return;
  if (contradicts(finding.verdict)) {
    contradicted(*m, finding, receipt.attachment);
    return;
  }
  const Seen seen = finding.verdict == Verdict::accepted ? *seen_of(m->payload) : Seen{};
  if (finding.verdict == Verdict::accepted && !is_known(seen))
    finding = {Verdict::wrong_turn, "it says that it has round " + std::to_string(seen.round) + " of " + name(self_) +
                                        ", and gives no proof"};
  if (finding.verdict == Verdict::accepted && seen.process != process_)
    finding = {Verdict::wrong_turn, "it does not confirm this process"};
  if (finding.verdict == Verdict::accepted && processes_.is_new(*m) && processes_.too_many(m->node))
    finding = {Verdict::unavailable, too_many_processes};
  if (finding.verdict != Verdict::accepted) {
    report_refusal(who, refuse(who, finding));
    return link.retry_later(now_, timing_);
  }
  meet(*m, receipt.attachment);
  link.stored = std::max(link.stored, seen.round);
  link.greeted = link.confirmed = true;
  check_confirmed();
}

void Exchange::on_refusal(Link& link, const Receipt& receipt) {
  const std::string& who = name(link.node);
  std::string text = who + " answers: " + printable(receipt.reason, 400);
  if (receipt.verdict == Verdict::wrong_configuration && !receipt.attachment.empty())
    text = who + " has another configuration: " +
           printable(keys_.difference(agreed_.configuration, receipt.attachment, who), 400);
  // future_round: it lacks what it had, another process perhaps, on another disk; the greeting will tell.
  const bool retry = receipt.verdict == Verdict::unavailable || receipt.verdict == Verdict::future_round;
  if (receipt.verdict == Verdict::future_round) {
    link.passed_on.clear();
    warn_of(link, Told::lacks_rounds, text + "; greeting it again");
  }
  // A peer that has taken part was started again with something else: its mistake, and time to mend it.
  const bool set_up_otherwise = receipt.verdict == Verdict::wrong_configuration ||
                                receipt.verdict == Verdict::wrong_run || receipt.verdict == Verdict::unknown_version;
  const bool its_mistake = set_up_otherwise && received_.seen(link.node).round >= 0;
  if (its_mistake) warn_of(link, Told::started_wrongly, text);
  link.greeted = false;
  link.retry_later(now_, timing_);
  if (retry || its_mistake) return;
  if (receipt.verdict == Verdict::stopped && !link.confirmed && !consent_) {  // it tells what matters by its goodbye
    warn_of(link, Told::stopped_before, text + "; waiting for it to be started again");
    return;
  }
  if (receipt.verdict == Verdict::stopped) return lose(link.node, text, Reason::peer_stopped);
  if (receipt.verdict == Verdict::left_behind && is_left_behind(receipt.attachment))
    return stop(End::peer_lost, text, Reason::left_behind);
  if (receipt.verdict == Verdict::left_behind || receipt.verdict == Verdict::ledger_behind ||
      contradicts(receipt.verdict)) {
    warn_of(link, Told::accuses, text + "; it gives no proof of that, so it does not count");
    return;
  }
  // A neighbour's word alone: where a loss does not end the study, it costs the two of them each other and nobody else.
  if (consent_ && !set_up_otherwise) return lose(link.node, text, Reason::refusal);
  stop(End::refused, text, Reason::refusal);
}

void Exchange::failed(std::uint64_t id) {
  Link* link = link_with(id);
  if (link == nullptr) return;
  link->call.reset();
  link->greeted = false;  // it may be another process by now: greet it first
  link->retry_later(now_, timing_);
  pump();
}

}  // namespace parley::protocol
