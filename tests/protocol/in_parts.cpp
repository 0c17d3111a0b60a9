// What a run in parts gives in one process: without messages, disks or losses, from the agreements alone.
#include <algorithm>

#include "parley/party/party_in_parts.h"
#include "protocol/scenario.h"

namespace parley::protocol {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

privacy::Inbox inbox_of(const study::Part& part, int node, const std::vector<Vector>& values) {
  privacy::Inbox inbox;
  for (const int j : part.agreed.heard_by(node)) inbox.push_back(std::make_shared<const Vector>(values[at(j)]));
  return inbox;
}

}  // namespace

Scenario::Values Scenario::in_parts(const std::vector<study::Part>& parts,
                                    const std::vector<protocol::Succession>& agreements) const {
  Values values = {released};
  std::vector<algorithm::Start> starts(at(nodes()));
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const study::Part &before = parts[p - 1], &part = parts[p];
    const protocol::Succession& next = agreements[p - 1];
    std::vector<algorithm::Start> begun;
    std::vector<std::unique_ptr<algorithm::Node>> all;
    for (int i = 0; i < part.agreed.nodes(); ++i) {
      const int self = next.members[at(i)];
      study::Ended ended{
          .part = before, .next = next, .self = self, .start = starts[at(self)], .own = {}, .inboxes = {}};
      for (int t = 0; t <= std::min(next.through, next.released[at(i)]); ++t)
        ended.own.push_back(values[p - 1][at(t)][at(self)]);
      for (int t = 0; t < next.through; ++t) ended.inboxes.push_back(inbox_of(before, self, values[p - 1][at(t)]));
      begun.push_back(study::start_after(part, ended));
      all.push_back(node(part, i, begun.back()));
    }
    starts = std::move(begun);
    const privacy::NoiseSource noise(seed);
    auto& rounds = values.emplace_back();
    for (int t = 0; all.front()->has_next(); ++t) {
      std::vector<Vector> now;
      for (int i = 0; i < part.agreed.nodes(); ++i) {
        const auto inbox = t == 0 ? privacy::Inbox{} : inbox_of(part, i, rounds.back());
        auto random = noise.stream(part.nodes[at(i)], t, study::noise_of_part(part.number));
        now.push_back(all[at(i)]->step(inbox, random).value);
      }
      for (int i = 0; i < part.agreed.nodes(); ++i)
        all[at(i)]->commit(t == 0 ? privacy::Inbox{} : inbox_of(part, i, rounds.back()), now[at(i)]);
      rounds.push_back(std::move(now));
    }
  }
  return values;
}

// Each survivor's last value, or with averaging the mean of its values of the later half of the whole run: those of an
// earlier part through the common round, then those of the next.
Vector Scenario::model_in_parts(const std::vector<study::Part>& parts,
                                const std::vector<protocol::Succession>& agreements, const Values& values) const {
  Vector mean = Vector::Zero(dimension);
  const study::Part& last_part = parts.back();
  for (std::size_t i = 0; i < last_part.nodes.size(); ++i) {
    if (plan.star() && i + 1 < last_part.nodes.size()) continue;
    Vector last, sum = Vector::Zero(dimension);
    int count = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto self = at(parts[p].node_of(last_part.nodes[i]));
      const int end = p < agreements.size() ? agreements[p].through : static_cast<int>(values[p].size()) - 1;
      for (int t = 0; t <= end && t < static_cast<int>(values[p].size()); ++t) {
        const Vector& value = values[p][at(t)][self];
        if (value.size() > 0) last = value;
        const int whole = parts[p].before + t;
        const bool full = plan.star() ? t >= 2 && t % 2 == 0 : parts[p].plan.nodes.front().touches_data(t);
        if (!plan.average || whole < plan.nodes.front().rounds / 2 + 1 || !full) continue;
        sum += last;
        ++count;
      }
    }
    mean += count > 0 ? Vector(sum / count) : last;
  }
  return plan.star() ? mean : Vector(mean / static_cast<double>(last_part.nodes.size()));
}

}  // namespace parley::protocol
