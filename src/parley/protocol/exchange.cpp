// Exchange: the run's side, and what leaves. What arrives is in exchange_deliver.cpp.
#include "parley/protocol/exchange.h"

#include <algorithm>
#include <utility>

#include "parley/base/error.h"
#include "parley/protocol/error_codes.h"

namespace parley::protocol {

Exchange::Exchange(Setup setup, std::unique_ptr<AppendFile> transcript)
    : agreed_(std::move(setup.agreed)),
      self_(setup.self),
      last_released_(setup.last_released),
      keys_(std::move(setup.keys)),
      process_(setup.process),
      timing_(setup.timing),
      now_(setup.now),
      ended_(setup.now),
      consent_(std::move(setup.consent)),
      received_(agreed_, self_),
      passed_on_(agreed_, self_),
      noise_keys_(agreed_),
      finals_(agreed_),
      seals_(agreed_),
      survivors_(agreed_, self_),
      patience_from_(setup.now),
      last_word_at_(setup.now),
      passed_on_at_(setup.now),
      mark_accused_(std::move(setup.accused)),
      accused_(std::move(setup.accused_before)),
      refused_(agreed_.parties.size() + 1) {
  for (const int node : agreed_.graph.neighbours(self_))
    links_.push_back({.node = node, .heard = now_, .progress = now_});
  transcript_ =
      std::make_unique<Transcript>(std::move(transcript), owner_of(agreed_, self_),
                                   [this](Transcript::Entry kind, std::string_view bytes) { replay(kind, bytes); });
  if (static_cast<int>(recorded_.size()) - 1 > last_released_)
    throw Error({.what = "your ledger is older than what you have released: it ends with round " +
                         std::to_string(last_released_) + ", and the transcript has round " +
                         std::to_string(recorded_.size() - 1),
                 .where = transcript_->name(),
                 .fix = "use the newest copy of the ledger (docs/operate/backup.md)"});
  if (const auto stated = survivors_.stated_round(self_); stated && *stated != last_released_)
    throw Error({.what = "the ledger and the transcript do not belong together: after the loss of a party this one has "
                         "signed that its last round is " +
                         std::to_string(*stated) + ", and the ledger ends with round " + std::to_string(last_released_),
                 .where = transcript_->name(),
                 .fix = "use the newest copy of both"});
  if (last_released_ > 0 && !received_.complete(last_released_ - 1))
    throw Error({.what = "the transcript is older than the ledger: round " + std::to_string(last_released_) +
                         " was released, and values of round " + std::to_string(last_released_ - 1) +
                         " that it was computed from are missing",
                 .where = transcript_->name(),
                 .fix =
                     "was this run started with another --out? Then give that one; otherwise put back the newest copy "
                     "of the transcript, or agree on a new study: what was spent stays spent"});
  give_noise_key(setup.noise_key);
  take_up_decisions();
}

void Exchange::end(Event event, Ending ending) {
  happens(event);
  ending_ = std::move(ending);
  ended_ = now_;
}

bool Exchange::was_completed() const {
  return finals_.complete() && seals_.complete() && seals_.other_than(finals_.digest()) < 0 &&
         released() == agreed_.rounds && received_.complete(agreed_.rounds) && !survivors_.consented(self_);
}

// Trap: not before all of the ledger's releases have been told; what was released would seem not to be.
void Exchange::take_up_decisions() {
  if (phase_ != Phase::recovering || released() < last_released_) return;
  happens(Event::told);
  if (accused_) {
    if (mark_accused_ && !accusation_.empty() && tells_of_ledger(accusation_)) mark_accused_(*accused_, accusation_);
    return withdraw(*accused_);
  }
  check_confirmed();  // a party without neighbours
  if (survivors_.stated(self_)) happens(Event::statement);
  if (survivors_.consented(self_)) happens(Event::consent);
  if (const auto outlook = survivors_.outlook(Patience::fresh); outlook.what == Survivors::Outlook::What::go_on)
    return go_on(outlook.next);
  if (!contradiction_ || was_completed()) return;
  end(Event::contradiction, {.end = End::equivocation, .text = *contradiction_});
}

void Exchange::check_confirmed() {
  if (phase_ == Phase::greeting && std::ranges::all_of(links_, &Link::confirmed)) happens(Event::confirmed);
}

bool Exchange::past_confirmed() const {
  if (accused_ || (ending_ && ending_->past_unknown())) return false;
  // Trap: nothing in this party's own transcript confirms its ledger. Both may be an old copy, of before a part in which
  // it released more.
  return released() == agreed_.rounds || std::ranges::all_of(links_, &Link::confirmed);
}

void Exchange::replay(Transcript::Entry kind, std::string_view bytes) {
  auto parsed = decode(bytes);
  if (const auto* wrong = std::get_if<Finding>(&parsed); wrong && wrong->verdict == Verdict::unknown_version)
    throw Error({.what = "the transcript was written by another version of parley; protocol version " + wrong->detail,
                 .where = owner_of(agreed_, self_),
                 .fix = "finish this run with the version that began it, or agree on a new study",
                 .code = other_version});
  const auto* m = std::get_if<Message>(&parsed);
  bool fits = m != nullptr && m->run == agreed_.run;
  if (fits && kind == Transcript::Entry::evidence && m->node == self_) {
    accused_ = "an earlier process was shown a signature of this party's that its ledger does not know of";
    accusation_ = bytes;
  } else if (fits && kind == Transcript::Entry::evidence) {
    contradiction_ =
        m->sender + " contradicted itself in round " + std::to_string(m->round) + "; the message is in the transcript";
    contradicted_by_ = m->node;
    evidence_ = bytes;
  } else if (fits && m->kind == Kind::hello) {
    fits = kind == Transcript::Entry::received && processes_.is_new(*m);
    processes_.add(*m, std::string(bytes));
  } else if (fits && (m->kind == Kind::loss || m->kind == Kind::consent)) {
    fits = survivors_.judge(*m).verdict == Verdict::accepted;
    if (fits) survivors_.add(*m, std::string(bytes));
  } else if (fits && (m->kind == Kind::final_iterate || m->kind == Kind::seal)) {
    fits = judge_last_word(*m).verdict == Verdict::accepted;
    if (fits) add_last_word(*m, bytes);
  } else if (fits && m->kind == Kind::noise_key) {
    fits = noise_keys_.judge(*m).verdict == Verdict::accepted;
    noise_keys_.add(*m, std::string(bytes));
  } else if (fits && kind == Transcript::Entry::sent) {
    fits = m->round == static_cast<int>(recorded_.size());
    recorded_.push_back(m->head);
    envelopes_[m->round] = std::string(bytes);
    envelopes_.erase(m->round - 2);
  } else if (fits) {
    fits = kind == Transcript::Entry::received && received_.add(*m, bytes);
    processes_.add(*m, std::string(bytes));
    if (fits) pass_on(*m, bytes);
  }
  if (!fits)
    throw Error({.what = "the transcript holds a message that does not follow from those before it",
                 .where = owner_of(agreed_, self_),
                 .fix = "put back an intact copy of it"});
}

Message Exchange::made(Kind kind, int round, std::string payload) const {
  Message m = unsigned_message(kind, round, std::move(payload));
  m.signature = keys_.sign(signed_part(m));
  return m;
}

Message Exchange::unsigned_message(Kind kind, int round, std::string payload) const {
  return {.kind = kind,
          .run = agreed_.run,
          .configuration = agreed_.configuration_hash,
          .sender = name(self_),
          .node = self_,
          .round = round,
          .process = process_,
          .head = round < 0 ? Digest{} : heads_[static_cast<std::size_t>(round)],
          .payload = std::move(payload)};
}

void Exchange::release(const privacy::Paid& paid) {
  expects(paid.node() == self_ && paid.round() == released() + 1, "the next paid release of this node");
  const Vector& value = *paid.value();
  expects(value.size() == agreed_.size(self_, paid.round()),
          "a value of the round's size, and silence in another's turn");
  const auto round = heads_.size();
  const std::string payload = payload_of(value);
  heads_.push_back(next_head(round == 0 ? Digest{} : heads_.back(), agreed_.run, self_, paid.round(), payload));
  if (round < recorded_.size()) {
    if (recorded_[round] != heads_.back())
      throw Error(
          {.what = "the ledger and the transcript do not belong together: they hold different values of round " +
                   std::to_string(round),
           .where = transcript_->name(),
           .fix = "use the ledger that this run was charged to"});
  } else {
    const std::string bytes = encode(made(value.size() > 0 ? Kind::value : Kind::silent, paid.round(), payload));
    // Not synced: the ledger has the value, and what is lost here is made from it again.
    transcript_->append(Transcript::Entry::sent, bytes);
    recorded_.push_back(heads_.back());
    envelopes_[paid.round()] = bytes;
    envelopes_.erase(paid.round() - 2);
  }
  passed_on_at_ = now_;  // for a whole round: who is between others could let one value through at a time
  take_up_decisions();
  pump();
}

std::optional<privacy::Inbox> Exchange::inbox() {
  if (ended(phase_) || inboxes_ > released() || !received_.complete(inboxes_)) return std::nullopt;
  const bool leads_to_new = inboxes_ >= last_released_ && inboxes_ < agreed_.rounds;
  if (leads_to_new && phase_ != Phase::rounds) return std::nullopt;
  if (leads_to_new && !noise_keys_.complete()) return std::nullopt;
  return received_.take(inboxes_++);
}

void Exchange::finish(const FinalIterate& mine) {
  expects(released() == agreed_.rounds && inboxes_ == agreed_.rounds + 1, "a run whose last round is complete");
  if (!ended(phase_)) happens(Event::last_round);
  if (std::ranges::binary_search(agreed_.model_of, self_)) {
    const Message m = made(Kind::final_iterate, agreed_.rounds, payload_of(mine.value()));
    const Finding finding = finals_.judge(m);
    const std::string bytes = encode(m);
    if (contradicts(finding.verdict))
      return accept_accusation("a neighbour", another_last_word, finals_.messages().at(self_));
    if (finding.verdict == Verdict::accepted) {
      transcript_->append(Transcript::Entry::sent, bytes);
      finals_.add(m, bytes);
    }
  }
  check_complete();
  pump();
}

// R15: complete where everybody has the same final iterates, by everybody's own signature.
void Exchange::check_complete() {
  if ((phase_ != Phase::finals && phase_ != Phase::stated_finals) || !finals_.complete()) return;
  if (!seals_.has(self_)) seal();
  if (seals_.other_than(finals_.digest()) >= 0) {
    if (!disagreement_) disagreement_ = now_;  // who has signed two may still be found out: watch_last_words
    return;
  }
  if (seals_.complete()) end(Event::all_seals, {.end = End::completed, .text = completed_in_words});
}

void Exchange::seal() {
  const Message m = made(Kind::seal, agreed_.rounds, finals_.digest());
  const std::string bytes = encode(m);
  transcript_->append(Transcript::Entry::sent, bytes);
  transcript_->sync();
  seals_.add(m, bytes);
}

bool Exchange::lacks_last_word(const Link& link) const {
  return link.last_words.size() < finals_.messages().size() + seals_.messages().size();
}

void Exchange::stop(const Ending& ending) {
  if (!ended(phase_)) end_early(ending.end == End::interrupted ? Event::interrupt : Event::stop, ending);
}

void Exchange::withdraw(const std::string& text) {
  accused_ = text;
  end_early(Event::accusation, {.end = End::refused, .text = text, .reason = Reason::past_unknown});
}

void Exchange::end_early(Event event, const Ending& ending) {
  end(event, ending);
  for (Link& link : links_) link.next_attempt = now_;
  report({ending.text, ending.end == End::interrupted ? Level::info : Level::error});
  pump();
}

Actions Exchange::take() {
  return std::exchange(actions_, {});
}

std::vector<PeerState> Exchange::peers() const {
  std::vector<PeerState> states;
  for (const Link& link : links_)
    states.push_back({.node = link.node,
                      .answers = link.ever_heard && !link.reported,
                      .stored = received_.seen(link.node).round,
                      .has = has(link)});
  return states;
}

bool Exchange::done_with(const Link& link) const {
  return link.goodbye_said || link.given_up || link.complete ||
         (phase_ == Phase::continued && link.told.size() == survivors_.messages().size());
}

bool Exchange::finished() const {
  if (!ended(phase_)) return false;
  const bool interrupted = phase_ == Phase::interrupted;
  const bool told_enough = now_ >= ended_ + 2 * timing_.deadline;
  if ((interrupted || phase_ == Phase::stopped) && told_enough) return true;
  // Of two copies of a party one has been told; the other calls within that time, and is shown the proof.
  if (phase_ == Phase::stopped && (contradicted_by_ >= 0 || !rivals_.empty()) && !told_enough) return false;
  // Whoever was never there, and hears of no interruption, waits as it would anyway.
  return std::ranges::all_of(links_,
                             [&](const Link& link) { return done_with(link) || (interrupted && !link.ever_heard); });
}

std::string Exchange::hello_to(const Link& link) const {
  Seen seen = received_.seen(link.node);
  seen.process = processes_.of(link.node);
  seen.waits_for = waits_for(link);
  return encode(made(Kind::hello, released(), payload_of(seen)));
}

// What a goodbye says is believed for the signatures that come with it.
std::string Exchange::proof_for(const Link& link) const {
  if (contradicted_by_ >= 0 && (contradicted_by_ == link.node || agreed_.passed_on || agreed_.shared_noise))
    return proof_against(contradicted_by_);
  if (ending_->end != End::diverged) return "";
  const auto own = envelopes_.find(released());
  const std::vector<std::string> value = {!diverged_with_.empty() || own == envelopes_.end() ? diverged_with_
                                                                                             : own->second};
  return bundle(value, message_cap(agreed_.largest_size) - 1024);
}

// Its value of a round was computed from this node's of the round before, so that one it has.
int Exchange::has(const Link& link) const {
  return std::max(link.stored, received_.seen(link.node).round - 1);
}

// What this neighbour should get next, if anything.
bool Exchange::next_message(const Link& link, Link::Call& call, std::string& bytes) const {
  const auto choose = [&](Link::What what, int number, std::string message) {
    call = {.what = what, .number = number, .since = now_};
    bytes = std::move(message);
    return true;
  };
  const auto goodbye = [&] {
    return choose(
        Link::What::goodbye, -1,
        encode(made(Kind::goodbye, released(),
                    payload_of(Goodbye{.end = ending_->end,
                                       .reason = ending_->reason,
                                       .text = ending_->passed_on.empty() ? ending_->text : ending_->passed_on,
                                       .proof = proof_for(link)}))));
  };
  const auto last_word = [&] {
    for (const auto& [origin, message] : finals_.messages())
      if (!link.last_words.contains(origin)) return choose(Link::What::last_word, origin, message);
    for (const auto& [node, message] : seals_.messages())
      if (const int key = agreed_.nodes() + node; !link.last_words.contains(key))
        return choose(Link::What::last_word, key, message);
    return false;
  };
  if (done_with(link)) return false;
  if (phase_ == Phase::interrupted || phase_ == Phase::stopped) return goodbye();
  if (survivors_.stated(self_) && phase_ != Phase::completed) {
    for (const auto& [key, message] : survivors_.messages())
      if (!link.told.contains(key)) return choose(Link::What::survivors, key, message);
    return phase_ == Phase::stated_finals && last_word();  // the run may still be completed
  }
  const auto hello = [&] { return choose(Link::What::hello, received_.seen(link.node).round, hello_to(link)); };
  if (!link.greeted) return hello();
  if (const auto& stored = noise_keys_.order(); link.settled_noise_keys < stored.size()) {
    const int whose = stored[link.settled_noise_keys];
    return choose(Link::What::noise_key, whose, noise_keys_.message(whose));
  }
  if (const int round = has(link) + 1; round <= released())
    return choose(Link::What::value, round, envelopes_.at(round));
  const auto knows = [this](int neighbour, const PassedOn::Key& key) { return has(link_to(neighbour), key); };
  if (const auto* passed = passed_on_.next_for(link.node, knows)) {
    choose(Link::What::passed_on, -1, passed->second);
    call.key = passed->first;
    return true;
  }
  if (last_word()) return true;
  if (phase_ == Phase::completed) return goodbye();
  if (now_ - link.heard >= timing_.deadline / 2) return hello();
  return false;
}

void Exchange::pump() {
  if (phase_ == Phase::recovering) return;
  for (Link& link : links_) {
    Link::Call call;
    std::string bytes;
    settle_noise_keys(link);
    if (link.call || now_ < link.next_attempt || !next_message(link, call, bytes)) continue;
    if (call.what == Link::What::hello) link.stored = -1;  // the answer, or a hello of its own meanwhile, says it anew
    call.id = ++calls_;
    link.call = call;
    actions_.sends.push_back({.call = call.id, .peer = link.node, .bytes = std::move(bytes)});
  }
}

void Exchange::heard(Link& link) {
  if (link.reported)
    report({name(link.node) + (link.ever_heard ? " answers again" : " answers"), Level::info, name(link.node)});
  link.heard = now_;
  link.ever_heard = true;
  link.reported = false;
}

}  // namespace parley::protocol
