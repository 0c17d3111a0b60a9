// Exchange: who is silent, and for how long.
#include <algorithm>

#include "parley/base/text.h"
#include "parley/protocol/exchange.h"

namespace parley::protocol {
namespace {

const std::string in_vain =
    ", although everybody answers: started again, this party waits for it again; first ask its owner why";

std::string in_seconds(double s) {
  return std::to_string(static_cast<long>(s)) + " s";
}

}  // namespace

void Exchange::tick(double now) {
  const double gap = now - now_;
  now_ = now;
  // This process slept: nobody could have been heard.
  const bool slept = gap > timing_.deadline;
  if (slept) {
    patience_from_ += gap;
    last_word_at_ += gap;
    passed_on_at_ += gap;
  }
  for (Link& link : links_) {
    if (slept) link.heard += gap, link.progress += gap, link.restarted += gap;
    if (!slept && link.waits_for >= 0) link.excused += gap;
  }
  for (Link& link : links_) {
    if (link.call && now_ - link.call->since > timing_.deadline) failed(link.call->id);
    watch(link);
  }
  watch_last_words();
  watch_passed_on();
  settle();
  pump();
}

std::string Exchange::awaited_from(const Link& link) const {
  if (!link.confirmed) return "its word on what it has of this party";
  if (noise_keys_.lacks(link.node)) return "its key for shared noise";
  if (const int round = received_.seen(link.node).round + 1; round <= released())
    return "its round " + std::to_string(round);
  return "";
}

int Exchange::waits_for(const Link& asking) const {
  for (const Link& link : links_)
    if (link.node != asking.node && (link.reported || !awaited_from(link).empty())) return link.node;
  return -1;
}

// Somebody's final iterate or seal does not come, and everybody answers: there is a limit to that too.
void Exchange::watch_last_words() {
  if (disagreement_ && !ended(phase_) && now_ - *disagreement_ >= 2 * timing_.deadline)
    return stop(
        End::contradicted,
        name(seals_.other_than(finals_.digest())) +
            " has signed other final iterates than those that are here: the parties do not have one model, and whoever "
            "passes messages on may have changed its own; 'parley verify' with the records of all finds who");
  if (phase_ != Phase::finals) last_word_at_ = now_;
  const double waited = now_ - last_word_at_, patience = last_word_patience();
  if (waited < patience / 2) last_words_awaited_ = false;
  if (waited < patience / 2 || (waited < patience && last_words_awaited_)) return;
  const std::string missing = missing_last_words() + " has not come for " + in_seconds(waited);
  if (waited >= patience) return give_up_last_words(missing);
  last_words_awaited_ = true;
  warn("", missing + "; without it " +
               (consent_ ? "a party that keeps it back is lost after " : "this party stops after ") +
               in_seconds(patience));
}

// A neighbour that keeps its last word back is lost, as one that keeps back a round. Of another party it is for its own
// neighbours to find that out, and everybody hears of it; this one waits for that, as long as for a row of them.
void Exchange::give_up_last_words(const std::string& missing) {
  if (!consent_) return stop(End::peer_lost, missing + in_vain, Reason::silence);
  for (const Link& link : links_)
    if (keeps_back(link.node)) return lose(link.node, missing + ": it is lost", Reason::silence);
  if (now_ - last_word_at_ >= (agreed_.nodes() + 1) * last_word_patience())
    stop(End::peer_lost, missing + in_vain, Reason::silence);
}

// A seal takes all final iterates: where one of those is missing, its origin alone keeps everybody's seal back.
std::vector<int> Exchange::keep_back_last_words() const {
  std::vector<int> finals, seals;
  for (const int node : agreed_.model_of)
    if (!finals_.has(node)) finals.push_back(node);
  for (int node = 0; node < agreed_.nodes(); ++node)
    if (node != self_ && !seals_.has(node)) seals.push_back(node);
  return finals.empty() ? seals : finals;
}

// A neighbour that has kept it back for long. It is excused for longer where it says that it waits for another one, or
// has not taken a final iterate without which it cannot seal. Who hears that somebody has lost it loses it too: otherwise
// the next part would have it again, through whoever's time was not yet up.
bool Exchange::keeps_back(int node) const {
  if (phase_ != Phase::finals || !is_neighbour(node)) return false;
  const double waited = now_ - last_word_at_, patience = last_word_patience();
  const Link& link = link_to(node);
  const bool has_finals =
      std::ranges::all_of(agreed_.model_of, [&](int origin) { return link.last_words.contains(origin); });
  const bool excused = link.waits_for >= 0 || (finals_.complete() && !has_finals);
  return waited >= patience / 2 && (!excused || waited >= agreed_.nodes() * patience) &&
         std::ranges::binary_search(keep_back_last_words(), node);
}

std::string Exchange::missing_last_words() const {
  std::vector<std::string> names;
  for (const int node : keep_back_last_words()) names.push_back(name(node));
  return (finals_.complete() ? "the seal of " : "the final iterate of ") + join(names, ", ");
}

void Exchange::watch(Link& link) {
  const bool completed = phase_ == Phase::completed, went_on = phase_ == Phase::continued;
  if (done_with(link) || (closed() && !completed && !went_on)) return;
  const double silent = now_ - link.heard, limit = link.ever_heard ? timing_.wait : timing_.first_wait;
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
    warn(name(link.node), name(link.node) + (link.ever_heard ? " has not answered for " : " has not been heard for ") +
                              in_seconds(silent) + "; waiting for it up to " + in_seconds(limit) + address);
  }
  const int last = received_.seen(link.node).round;
  const std::string after = last < 0 ? "before its first round" : "after round " + std::to_string(last);
  if (silent >= limit)
    return lose(link.node,
                name(link.node) + " has not answered for " + in_seconds(silent) + " and is lost " + after + address,
                Reason::silence);
  // Who answers and brings nothing holds everybody. Where it says that it waits for another, that one's neighbours lose
  // that one; but there is a limit to excuses too, by which time every such row of parties has ended.
  const std::string awaited = awaited_from(link);
  if (awaited.empty()) link.progressed(now_);
  const double still = now_ - std::max(link.progress + link.excused, link.restarted),
               patience = limit + 8 * timing_.deadline;
  const bool somebody_is_silent = std::ranges::any_of(links_, &Link::reported);  // and is waited for by all
  const double in_all = now_ - link.progress;
  if (in_all >= patience / 2 && !link.awaited && !somebody_is_silent) {
    link.awaited = true;
    warn(name(link.node), name(link.node) + " answers, and " + awaited + " has been awaited for " + in_seconds(in_all) +
                              (link.waits_for < 0 ? "; it counts as lost after " + in_seconds(patience)
                                                  : "; it says that it waits for " + name(link.waits_for) +
                                                        ", and counts as lost after " +
                                                        in_seconds(agreed_.nodes() * patience) + " at the latest"));
  }
  if (still >= patience || in_all >= agreed_.nodes() * patience)
    lose(link.node,
         name(link.node) + " answers, but " + awaited + " has not come for " + in_seconds(in_all) + ": it is lost " +
             after,
         Reason::silence);
}

}  // namespace parley::protocol
