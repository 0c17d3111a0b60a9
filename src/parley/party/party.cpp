#include "parley/party/party.h"

#include <algorithm>

#include "parley/base/error.h"

namespace parley::party {

Party::Party(Own own, protocol::Exchange::Setup setup, std::unique_ptr<AppendFile> transcript)
    : own_(std::move(own)),
      self_(setup.self),
      release_bound_(setup.agreed.release_bound),
      final_(own_.earlier ? protocol::FinalIterate(own_.counts, *own_.earlier) : protocol::FinalIterate(own_.counts)),
      exchange_(std::move(setup), std::move(transcript)) {
  advance();
}

protocol::Receipt Party::deliver(const std::string& caller, std::string_view bytes) {
  auto receipt = exchange_.deliver(caller, bytes);
  advance();
  return receipt;
}

void Party::answered(std::uint64_t call, const protocol::Receipt& receipt) {
  exchange_.answered(call, receipt);
  advance();
}

void Party::failed(std::uint64_t call) {
  exchange_.failed(call);
  advance();
}

void Party::tick(double now) {
  exchange_.tick(now);
  advance();
}

void Party::advance() {
  while (!exchange_.ending() && solving_ == Solving::no && !finishing_) {
    if (round_ > 0 && !inbox_) inbox_ = exchange_.inbox();
    if (round_ > 0 && !inbox_) return;
    if (round_ > 0) check_free(*inbox_);
    if (exchange_.ending()) return;
    if (!own_.node->has_next()) {
      finishing_ = true;
      exchange_.finish(final_);
    } else if (const auto paid = own_.stored(round_)) {
      commit(*paid);
    } else {
      solving_ = Solving::wanted;
    }
  }
}

std::optional<Party::Job> Party::job() {
  if (!has_job()) return std::nullopt;
  if (own_.check_in_place) own_.check_in_place();
  if (own_.pairs && !pairs_ && round_ > 0) pairs_ = own_.pairs(exchange_.noise_keys());
  solving_ = Solving::under_way;
  return Job{.round = round_, .inbox = inbox_.value_or(privacy::Inbox{})};
}

privacy::Release Party::solve(const Job& job, privacy::Random& random) const {
  if (pairs_) random.share(pairs_, self_);
  return own_.node->step(job.inbox, random);
}

void Party::solved(privacy::Release release) {
  expects(solving_ == Solving::under_way && release.round == round_, "the release that was asked for");
  if (exchange_.closed()) return;  // what this party has signed to have released stays true
  if (own_.check_in_place) own_.check_in_place();
  const auto paid = own_.pay(std::move(release));
  if (!paid)
    return exchange_.stop(protocol::End::budget_exhausted,
                          "the budget ends before round " + std::to_string(round_) + "; nothing was charged for it");
  solving_ = Solving::no;
  commit(*paid);
  advance();
}

bool Party::unsolved(const std::string& reason) {
  expects(solving_ == Solving::under_way, "a round that is being solved");
  if (exchange_.closed()) return false;
  if (own_.fail) own_.fail(round_, reason);
  return true;
}

// R3: what is released free of charge everybody can compute. Round 0 of a part after a loss repeats what was released
// before; of sums the first and the last value are the common point and the model, the same for all.
void Party::check_free(const privacy::Inbox& inbox) {
  const bool common = own_.sums && (round_ == 1 || !own_.node->has_next());
  for (std::size_t j = 0; j < inbox.size() && common; ++j)
    if (*inbox[j] != *own_.stored(round_ - 1)->value())
      return exchange_.stop(protocol::End::contradicted,
                            exchange_.heard(j) + "'s value of round " + std::to_string(round_ - 1) +
                                " does not follow from the releases that are here: it has others, or does not compute "
                                "as agreed; 'parley verify' with the records of all finds who");
  for (std::size_t j = 0; j < own_.expected.size() && round_ == 1; ++j)
    if (own_.expected[j] && *own_.expected[j] != *inbox[j]) return exchange_.contradicts_part_before(j);
}

std::vector<Vector> Party::own_values(int through) const {
  std::vector<Vector> values;
  for (int t = 0; t <= std::min(through, exchange_.released()); ++t) values.push_back(*own_.stored(t)->value());
  return values;
}

protocol::FinalIterate Party::final_through(int round) const {
  protocol::FinalIterate final(own_.counts);
  if (own_.earlier) final = protocol::FinalIterate(own_.counts, *own_.earlier);
  for (int t = 0; t <= std::min(round, exchange_.released()); ++t) final.add(*own_.stored(t));
  return final;
}

void Party::commit(const privacy::Paid& paid) {
  const Vector& value = *paid.value();
  own_.node->commit(inbox_.value_or(privacy::Inbox{}), value);
  final_.add(paid);
  if (own_.on_round) own_.on_round(paid, inbox_.value_or(privacy::Inbox{}));
  inbox_.reset();
  ++round_;
  exchange_.release(paid);
  if (privacy::reaches_bound(value, release_bound_))
    exchange_.stop(protocol::End::diverged, "a released value of round " + std::to_string(paid.round()) +
                                                " is at the public bound: the run diverged");
}

}  // namespace parley::party
