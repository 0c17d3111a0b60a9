// Exchange: who is silent, and for how long.
#include <algorithm>

#include "parley/base/text.h"
#include "parley/protocol/exchange.h"

namespace parley::protocol {

void Exchange::tick(double now) {
  const double gap = now - now_;
  now_ = now;
  // This process slept: nobody could have been heard.
  if (gap > timing_.deadline) {
    patience_from_ += gap;
    last_words_awaited_ += gap;
    for (Link& link : links_) link.heard += gap, link.progress += gap;
  }
  for (Link& link : links_) {
    if (link.call && now_ - link.call->since > timing_.deadline) failed(link.call->id);
    watch(link);
  }
  watch_last_words();
  settle();
  pump();
}

std::string Exchange::awaited_from(const Link& link) const {
  if (!link.confirmed) return "its word on what it has of this party";
  if (const int round = received_.seen(link.node).round + 1; round <= released())
    return "its round " + std::to_string(round);
  if (phase_ != Phase::finals) return "";
  if (std::ranges::binary_search(agreed_.model_of, link.node) && !finals_.has(link.node)) return "its final iterate";
  return seals_.has(link.node) ? "" : "its seal";
}

// All neighbours have given theirs, and somebody's has not come through them.
void Exchange::watch_last_words() {
  const bool stuck = phase_ == Phase::finals &&
                     std::ranges::all_of(links_, [this](const Link& link) { return awaited_from(link).empty(); });
  if (!stuck) last_words_awaited_ = now_;
  if (now_ - last_words_awaited_ < timing_.wait + 8 * timing_.deadline) return;
  std::vector<std::string> whose;
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (!seals_.has(node)) whose.push_back(name(node));
  stop(End::peer_lost,
       "the final iterate or the seal of " + join(whose, ", ") + " has not reached this party through any neighbour",
       Reason::silence);
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
    const bool lacks = link.last_words.size() < last_words().size();
    link.given_up = silent >= (lacks ? limit : 2 * timing_.deadline);
    return;
  }
  const bool one_way = link.called && now_ - *link.called < 1.5 * timing_.deadline;
  const std::string address =
      one_way ? "; but it calls this party: its address in the study here is probably wrong" : "";
  if (silent >= 1.5 * timing_.deadline && !link.reported) {
    link.reported = true;
    warn(name(link.node), name(link.node) + (link.ever_heard ? " has not answered for " : " has not been heard for ") +
                              seconds(silent) + "; waiting for it up to " + seconds(limit) + address);
  }
  const int last = received_.seen(link.node).round;
  const std::string after = last < 0 ? "before its first round" : "after round " + std::to_string(last);
  if (silent >= limit)
    return lose(link.node,
                name(link.node) + " has not answered for " + seconds(silent) + " and is lost " + after + address,
                Reason::silence);
  // Who answers and brings nothing holds everybody. It may itself wait for somebody: that one is lost first, by its own
  // neighbours, and all hear of it before this one is.
  const std::string awaited = awaited_from(link);
  if (awaited.empty()) link.progressed(now_);
  const double still = now_ - link.progress, patience = limit + 8 * timing_.deadline;
  const bool somebody_is_silent = std::ranges::any_of(links_, &Link::reported);  // and is waited for by all
  if (still >= patience / 2 && !link.awaited && !somebody_is_silent) {
    link.awaited = true;
    warn(name(link.node), name(link.node) + " answers, and " + awaited + " has been awaited for " + seconds(still) +
                              "; it counts as lost after " + seconds(patience));
  }
  if (still >= patience)
    lose(link.node,
         name(link.node) + " answers, but " + awaited + " has not come for " + seconds(still) + ": it is lost " + after,
         Reason::silence);
}

}  // namespace parley::protocol
