#include "parley/run/party.h"

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
          .model_of = std::move(model_of)};
}

bool counts_in_final(const algorithm::Plan& plan, int round) {
  const algorithm::Schedule& first = plan.nodes.front();
  if (!plan.average || round < first.rounds / 2 + 1) return false;
  return plan.star() ? round >= 2 && round % 2 == 0 : first.touches_data(round);
}

Party::Party(Parts parts, network::Exchange::Setup setup, std::unique_ptr<network::AppendFile> transcript)
    : parts_(std::move(parts)),
      release_bound_(setup.agreed.release_bound),
      final_(parts_.counts),
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
  if (solving_ != Solving::wanted || exchange_.ending()) return std::nullopt;
  solving_ = Solving::under_way;
  return Job{.round = round_, .inbox = inbox_.value_or(privacy::Inbox{})};
}

void Party::solved(privacy::Release release) {
  expects(solving_ == Solving::under_way && release.round == round_, "the release that was asked for");
  if (exchange_.ending()) return;
  const auto paid = parts_.pay(std::move(release));
  if (!paid)
    return exchange_.stop(network::End::budget_exhausted,
                          "the budget ends before round " + std::to_string(round_) + "; nothing was charged for it");
  solving_ = Solving::no;
  commit(*paid);
  advance();
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
