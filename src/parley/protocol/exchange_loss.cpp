// Exchange: what happens after a party is lost, where the study says that the others go on.
#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/protocol/exchange.h"
#include "parley/protocol/inspection.h"

namespace parley::protocol {
namespace {

// R7: the lost one may be the only one that knows of a later release, and what is planned next counts them all.
const std::string unconfirmed =
    "; since this process was started not every neighbour has confirmed what was released before, so it does not go on";

const std::string final =
    "; what was signed after the loss stays, so this run cannot go on however often it is started: agree on a new "
    "study";

}  // namespace

void Exchange::lose(int node, const std::string& text, Reason reason, const std::string& passed_on) {
  if (!consent_ || phase_ == Phase::recovering)
    return stop({.end = End::peer_lost, .text = text, .reason = reason, .passed_on = passed_on});
  if (closed()) return;
  if (!past_confirmed()) return stop(End::peer_lost, text + unconfirmed, reason);
  warn(name(node), text + "; asking all who are left whether to go on without it");
  std::vector<int> lost = {node};
  for (const Link& link : links_)  // whoever has been silent for as long is lost with it
    if (link.node != node &&
        (keeps_back(link.node) || now_ - link.heard >= (link.ever_heard ? timing_.wait : timing_.first_wait)))
      lost.push_back(link.node);
  std::ranges::sort(lost);
  state_loss(std::move(lost));
  settle();
}

// From here on nothing is released in this part: what others plan with is what is stated here. Synced before it
// leaves, so that the next process knows it too.
void Exchange::state_loss(std::vector<int> lost) {
  patience_from_ = now_;
  Message m = unsigned_message(Kind::loss, released(), payload_of(Loss{std::move(lost)}));
  sign_and_store(std::move(m));
  happens(Event::statement);
  for (Link& link : links_) link.next_attempt = now_;
}

void Exchange::sign_and_store(Message m) {
  m.signature = keys_.sign(signed_part(m));
  const std::string bytes = encode(m);
  transcript_->append(Transcript::Entry::sent, bytes);
  transcript_->sync();
  survivors_.add(m, bytes);
}

Receipt Exchange::on_survivors(const Message& m, std::string_view bytes, Link& from) {
  if (!consent_) return refuse(m.sender, {Verdict::wrong_turn, "a loss ends this study"});
  if (phase_ == Phase::completed) return refuse(m.sender, {Verdict::stopped, name(self_) + " has completed the run"});
  const Finding finding = survivors_.judge(m);
  if (finding.verdict == Verdict::accepted && m.kind == Kind::loss && received_.hears(m.node)) {
    const Finding past = received_.judge_hello(m, received_.seen(m.node).round);
    if (past.verdict != Verdict::accepted) return refuse(m.sender, past);
  }
  if (finding.verdict == Verdict::accepted && m.node == self_) {  // signed here, and forgotten (R7)
    accept_accusation("a neighbour",
                      "a statement after a loss, of round " + std::to_string(m.round) + ", that is not here", bytes);
    return refuse(m.sender, {Verdict::stopped, ending_->text});
  }
  if (finding.verdict == Verdict::second_value) return contradicted(m, finding, bytes);
  if (finding.verdict == Verdict::accepted) {
    transcript_->append(Transcript::Entry::received, bytes);
    transcript_->sync();
    survivors_.add(m, std::string(bytes));
  }
  from.told.insert(survivors_.key(m));
  settle();
  return {.verdict = finding.verdict};
}

bool Exchange::is_left_behind(std::string_view proof) const {
  if (!consent_) return false;  // in this study nobody is left behind
  Survivors shown(agreed_, self_);
  const std::string& any_neighbour = name(links_.front().node);  // such messages are passed on by anybody
  for (const std::string& bytes : unbundled(proof.substr(0, proof_cap), 2 * agreed_.parties.size())) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    if (m == nullptr || (m->kind != Kind::loss && m->kind != Kind::consent) ||
        inspect(*m, any_neighbour, agreed_, self_, keys_) || shown.judge(*m).verdict != Verdict::accepted)
      continue;
    shown.add(*m, bytes);
  }
  return shown.outlook(Patience::fresh).left_behind;
}

void Exchange::settle() {
  using What = Survivors::Outlook::What;
  if (ended(phase_) || phase_ == Phase::recovering || !survivors_.begun()) return;
  if (!survivors_.stated(self_)) {
    if (!past_confirmed()) {
      const bool over = survivors_.over_for_ever();
      return stop({.end = End::peer_lost,
                   .text = "others have lost a party" + unconfirmed + (over ? final : ""),
                   .reason = Reason::no_agreement,
                   .for_ever = over});
    }
    std::vector<std::string> lost;
    std::vector<int> here_too;
    for (const int node : survivors_.lost()) {
      lost.push_back(node == self_ ? "this one" : name(node));
      if (keeps_back(node)) here_too.push_back(node);
    }
    warn("", "others have lost " + (lost.empty() ? "a party" : join(lost, ", ")) +
                 "; asking all who are left whether to go on");
    state_loss(std::move(here_too));
  }
  while (!ended(phase_)) {
    const double waited = now_ - patience_from_, little = 2 * timing_.deadline;
    const Patience patience = waited >= std::max(timing_.wait, little * agreed_.nodes()) ? Patience::out_of
                              : waited >= 2 * little                                     ? Patience::short_of
                                                                                         : Patience::fresh;
    const auto outlook = survivors_.outlook(patience);
    if (outlook.what == What::wait) return;
    if (outlook.what == What::over)
      return stop(
          {.end = outlook.contradicted ? End::contradicted : End::peer_lost,
           .text = outlook.why + (outlook.for_ever && !outlook.left_behind && !outlook.contradicted ? final : ""),
           .reason = outlook.left_behind ? Reason::left_behind : Reason::no_agreement,
           .for_ever = outlook.for_ever});
    if (outlook.what == What::go_on) return go_on(outlook.next);
    Consent consent = consent_(outlook.next);
    consent.members = outlook.next.members;
    consent.values = values_before(outlook.next.through);
    Message m = unsigned_message(Kind::consent, -1, payload_of(consent));
    m.round = outlook.next.through;
    m.head = outlook.next.id;
    patience_from_ = now_;
    sign_and_store(std::move(m));
    happens(Event::consent);
  }
}

// R3: where all hear all, what comes next rests on everybody's rounds before k, also on those of the lost. Who has sent two
// values and left is found out here, before anybody is blamed for what follows from them.
Digest Exchange::values_before(int round) const {
  if (!agreed_.passed_on || round < 1) return {};
  std::string text = "parley values 1";
  for (int node = 0; node < agreed_.nodes(); ++node)
    text += payload_of(node == self_ ? heads_[static_cast<std::size_t>(round) - 1] : received_.head(node, round - 1));
  return sha256(text);
}

void Exchange::go_on(const Succession& next) {
  std::vector<std::string> left_out;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (!next.has(node)) left_out.push_back(name(node));
  succession_ = next;
  if (left_out.empty()) left_out.emplace_back("an edge that is broken");
  const std::string whom = join(left_out, ", ") + " after round " + std::to_string(next.through);
  end(Event::agreement, {.end = End::continued, .text = "the others have gone on without " + whom});
  report("all who are left agree: going on without " + whom);
}

std::vector<privacy::Inbox> Exchange::history() {
  std::map<int, std::vector<privacy::Released>> values;
  for (const int node : agreed_.heard_by(self_)) values[node];
  transcript_->each([&](Transcript::Entry kind, std::string_view bytes) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    if (kind == Transcript::Entry::received && m != nullptr && (m->kind == Kind::value || m->kind == Kind::silent))
      values.at(m->node).push_back(std::make_shared<const Vector>(*vector_of(m->payload)));
  });
  std::size_t rounds = values.begin()->second.size();
  for (const auto& [node, of] : values) rounds = std::min(rounds, of.size());
  std::vector<privacy::Inbox> inboxes(rounds);
  for (std::size_t t = 0; t < rounds; ++t)
    for (const auto& [node, of] : values) inboxes[t].push_back(of[t]);
  return inboxes;
}

bool has_stated_loss(const std::filesystem::path& transcript) {
  std::error_code code;
  if (!std::filesystem::exists(transcript, code)) return false;
  bool stated = false;
  Transcript::scan(open_append_file(transcript)->read(), [&](Transcript::Entry kind, std::string_view bytes) {
    const auto parsed = decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    stated = stated || (kind == Transcript::Entry::sent && m != nullptr && m->kind == Kind::loss);
  });
  return stated;
}

}  // namespace parley::protocol
