// Exchange: who is silent, and for how long.
#include "parley/base/text.h"
#include "parley/protocol/exchange.h"

namespace parley::protocol {

void Exchange::tick(double now) {
  const double gap = now - now_;
  now_ = now;
  // This process slept: nobody could have been heard.
  if (gap > timing_.deadline) {
    patience_from_ += gap;
    last_word_at_ += gap;
    for (Link& link : links_) link.heard += gap;
  }
  for (Link& link : links_) {
    if (link.call && now_ - link.call->since > timing_.deadline) failed(link.call->id);
    watch(link);
  }
  watch_last_words();
  settle();
  pump();
}

// Somebody's final iterate or seal does not come, and everybody answers: there is a limit to that too.
void Exchange::watch_last_words() {
  if (phase_ != Phase::finals) last_word_at_ = now_;
  if (now_ - last_word_at_ < timing_.wait + 8 * timing_.deadline) return;
  std::vector<std::string> whose;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (!seals_.has(node)) whose.push_back(name(node));
  stop(End::peer_lost, "the final iterate or the seal of " + join(whose, ", ") + " has not come", Reason::silence);
}

void Exchange::watch(Link& link) {
  const bool completed = phase_ == Phase::completed, went_on = phase_ == Phase::continued;
  if (done_with(link) || (closed() && !completed && !went_on)) return;
  const double silent = now_ - link.heard, limit = link.ever_heard ? timing_.wait : timing_.first_wait;
  const auto seconds = [](double s) { return std::to_string(static_cast<long>(s)) + " s"; };
  if (went_on) {
    link.given_up = silent >= limit;
    return;
  }
  if (completed) {  // it only has to be told, unless it still lacks something
    const bool for_ever = now_ - ended_ >= limit + 8 * timing_.deadline;  // it answers, and refuses what it is told
    link.given_up = for_ever || silent >= (lacks_last_word(link) ? limit : 2 * timing_.deadline);
    return;
  }
  const bool one_way = link.called && now_ - *link.called < 1.5 * timing_.deadline;
  const std::string address =
      one_way ? "; but it calls this party: its address in the study here is probably wrong" : "";
  if (silent >= 1.5 * timing_.deadline && !link.reported) {
    link.reported = true;
    report(name(link.node) + (link.ever_heard ? " has not answered for " : " has not been heard for ") +
           seconds(silent) + "; waiting for it up to " + seconds(limit) + address);
  }
  const int last = received_.seen(link.node).round;
  if (silent >= limit)
    lose(link.node,
         name(link.node) + " has not answered for " + seconds(silent) + " and is lost " +
             (last < 0 ? "before its first round" : "after round " + std::to_string(last)) + address,
         Reason::silence);
}

}  // namespace parley::protocol
