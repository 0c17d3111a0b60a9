#include "parley/run/party.h"

#include <algorithm>
#include <numeric>

#include "parley/base/error.h"

namespace parley::run {

network::Agreement agreement(const algorithm::Plan& plan, Index dimension, network::Graph graph,
                             std::vector<std::string> parties, std::string run, std::string configuration,
                             std::string configuration_hash) {
  expects(static_cast<int>(parties.size()) == graph.nodes(), "a name for every node");
  const algorithm::Schedule& first = plan.nodes.front();
  const bool star = plan.star();
  const int trainer = static_cast<int>(plan.nodes.size());
  std::vector<int> model_of(static_cast<std::size_t>(graph.nodes()));
  std::iota(model_of.begin(), model_of.end(), 0);
  if (star) model_of = {trainer};
  return {.run = std::move(run),
          .configuration = std::move(configuration),
          .configuration_hash = std::move(configuration_hash),
          .parties = std::move(parties),
          .graph = std::move(graph),
          .dimension = dimension,
          .rounds = static_cast<int>(first.rounds),
          .release_bound = first.release_bound,
          .speaks = [=](int node, int round) { return !star || round == 0 || (round % 2 == 0) == (node == trainer); },
          .grid =
              [nodes = plan.nodes](int node, int round) {
                const auto at = static_cast<std::size_t>(node);
                return at < nodes.size() ? nodes[at].grid(round) : nodes.front().finest_grid();
              },
          .model_of = std::move(model_of),
          .turn = first.alternates() ? 2 : 1,
          .trainer = star ? std::optional(trainer) : std::nullopt};
}

bool counts_in_final(const algorithm::Plan& plan, int round) {
  const algorithm::Schedule& first = plan.nodes.front();
  if (!plan.average || round < first.rounds / 2 + 1) return false;
  return plan.star() ? round >= 2 && round % 2 == 0 : first.touches_data(round);
}

Party::Party(Parts parts, network::Exchange::Setup setup, std::unique_ptr<network::AppendFile> transcript)
    : parts_(std::move(parts)),
      release_bound_(setup.agreed.release_bound),
      final_(parts_.earlier ? network::FinalIterate(parts_.counts, *parts_.earlier)
                            : network::FinalIterate(parts_.counts)),
      exchange_(std::move(setup), std::move(transcript)) {
  advance();
}

network::Receipt Party::deliver(const std::string& caller, std::string_view bytes) {
  auto receipt = exchange_.deliver(caller, bytes);
  advance();
  return receipt;
}

void Party::answered(std::uint64_t call, const network::Receipt& receipt) {
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
    if (round_ == 1) check_start(*inbox_);
    if (exchange_.ending()) return;
    if (!parts_.node->has_next()) {
      finishing_ = true;
      exchange_.finish(final_);
    } else if (const auto paid = parts_.stored(round_)) {
      commit(*paid);
    } else {
      solving_ = Solving::wanted;
    }
  }
}

std::optional<Party::Job> Party::job() {
  if (!has_job()) return std::nullopt;
  solving_ = Solving::under_way;
  return Job{.round = round_, .inbox = inbox_.value_or(privacy::Inbox{})};
}

void Party::solved(privacy::Release release) {
  expects(solving_ == Solving::under_way && release.round == round_, "the release that was asked for");
  if (exchange_.closed()) return;  // what this party has signed to have released stays true
  const auto paid = parts_.pay(std::move(release));
  if (!paid)
    return exchange_.stop(network::End::budget_exhausted,
                          "the budget ends before round " + std::to_string(round_) + "; nothing was charged for it");
  solving_ = Solving::no;
  commit(*paid);
  advance();
}

bool Party::unsolved(const std::string& reason) {
  expects(solving_ == Solving::under_way, "a round that is being solved");
  if (exchange_.closed()) return false;
  if (parts_.fail) parts_.fail(round_, reason);
  return true;
}

// R3: round 0 of a part after a loss repeats what was released before.
void Party::check_start(const privacy::Inbox& inbox) {
  for (std::size_t j = 0; j < parts_.expected.size(); ++j)
    if (parts_.expected[j] && *parts_.expected[j] != *inbox[j])
      exchange_.stop(network::End::equivocation,
                     "neighbour " + std::to_string(j) + " begins the new part with another value than it has released");
}

std::vector<Vector> Party::own_values(int through) const {
  std::vector<Vector> values;
  for (int t = 0; t <= std::min(through, exchange_.released()); ++t) values.push_back(*parts_.stored(t)->value());
  return values;
}

network::FinalIterate Party::final_through(int round) const {
  network::FinalIterate final(parts_.counts);
  if (parts_.earlier) final = network::FinalIterate(parts_.counts, *parts_.earlier);
  for (int t = 0; t <= std::min(round, exchange_.released()); ++t) final.add(*parts_.stored(t));
  return final;
}

void Party::commit(const privacy::Paid& paid) {
  const Vector& value = *paid.value();
  parts_.node->commit(inbox_.value_or(privacy::Inbox{}), value);
  final_.add(paid);
  if (parts_.on_round) parts_.on_round(paid, inbox_.value_or(privacy::Inbox{}));
  inbox_.reset();
  ++round_;
  exchange_.release(paid);
  if (value.size() > 0 && value.cwiseAbs().maxCoeff() >= 0.999 * release_bound_)  // decided on a released value
    exchange_.stop(network::End::diverged, "a released value of round " + std::to_string(paid.round()) +
                                               " is at the public bound: the run diverged");
}

}  // namespace parley::run
