#include "parley/party/party_in_parts.h"

#include <algorithm>
#include <utility>

namespace parley::party {
namespace {

// Each part counts its calls from 1: here the part stands in the lowest digits.
constexpr std::uint64_t parts_at_most = 256;

}  // namespace

PartyInParts::PartyInParts(Make make, double now) : make_(std::move(make)), now_(now) {
  parts_.push_back(make_(nullptr, now_));
  go_on();
}

// A loss in the next part, or a contradiction found in an earlier one, ends what is under way.
void PartyInParts::go_on() {
  while (ending() && ending()->end == protocol::End::continued) {
    parts_.push_back(make_(parts_.back().party.get(), now_));
    if (!parts_.back().begins.empty()) reports_.push_back(parts_.back().begins);
  }
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    const auto& ended = parts_[i].party->ending();
    if (ended && ended->past_unknown() && !(ending() && ending()->past_unknown()))
      parts_.back().party->withdraw(ended->text);
    const auto& contradiction = parts_[i].party->exchange().contradiction();
    if (contradiction && !ending()) parts_.back().party->stop(protocol::End::equivocation, *contradiction);
  }
}

std::set<int> PartyInParts::contradicted() const {
  std::set<int> nodes;
  for (const One& one : parts_)
    if (const int node = one.party->exchange().contradicted_by(); node >= 0)
      nodes.insert(one.nodes[static_cast<std::size_t>(node)]);
  return nodes;
}

protocol::Receipt PartyInParts::deliver(const std::string& caller, std::string_view bytes) {
  const std::string run = protocol::run_of(bytes);
  auto found = std::ranges::find(parts_, run, &One::run);
  if (found == parts_.end()) {
    // Its sender may know of an agreement that this party does not know of.
    if (!ending() && now().exchange().closed())
      return protocol::refuse(caller, {protocol::Verdict::unavailable, "the others have not all agreed here yet"});
    if (ending() && now().exchange().survivors().begun())
      return protocol::refuse(caller, {protocol::Verdict::stopped, ending()->text});
    found = parts_.end() - 1;
  }
  auto receipt = found->party->deliver(caller, bytes);
  go_on();
  return receipt;
}

void PartyInParts::answered(std::uint64_t call, const protocol::Receipt& receipt) {
  parts_[call % parts_at_most].party->answered(call / parts_at_most, receipt);
  go_on();
}

void PartyInParts::failed(std::uint64_t call) {
  parts_[call % parts_at_most].party->failed(call / parts_at_most);
  go_on();
}

void PartyInParts::tick(double now) {
  now_ = now;
  for (const One& one : parts_) one.party->tick(now);
  go_on();
}

protocol::Actions PartyInParts::take() {
  protocol::Actions all;
  std::vector<LogLine> begins = std::exchange(reports_, {});
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    protocol::Actions some = parts_[i].party->take();
    if (i + 1 == parts_.size())  // after what the part before has to say
      for (LogLine& line : begins) all.reports.push_back(std::move(line));
    for (LogLine& line : some.reports) all.reports.push_back(std::move(line));
    for (auto& send : some.sends)
      all.sends.push_back({.call = parts_at_most * send.call + i,
                           .peer = parts_[i].nodes[static_cast<std::size_t>(send.peer)],
                           .bytes = std::move(send.bytes)});
  }
  return all;
}

std::optional<PartyInParts::Job> PartyInParts::job() {
  auto job = parts_.back().party->job();
  if (!job) return std::nullopt;
  return Job{.party = parts_.back().party.get(), .part = part(), .job = std::move(*job)};
}

void PartyInParts::solved(const Job& job, privacy::Release release) {
  job.party->solved(std::move(release));
  go_on();
}

void PartyInParts::interrupt() {
  parts_.back().party->interrupt();
}

}  // namespace parley::party
