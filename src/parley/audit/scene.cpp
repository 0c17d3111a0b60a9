#include "parley/audit/scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/algorithm/newton/newton_node.h"
#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/star_node.h"
#include "parley/base/error.h"

namespace parley::audit {
namespace {

void append(data::Rows& rows, double first, double second, double label) {
  const std::array<std::int32_t, 2> columns{0, 1};
  const std::array<double, 2> values{first, second};
  rows.append(columns, values, label);
}

}  // namespace

const Vector& Scene::neighbour_at(int round) const {
  return neighbour[std::min(static_cast<std::size_t>(round), neighbour.size() - 1)];
}

Vector Scene::received(const Transcript& heard) const {
  return answer != nullptr ? answer(*this, heard) : neighbour_at(static_cast<int>(heard.size()));
}

problem::Problem Scene::problem(int world) const {
  return problem_of(rows[static_cast<std::size_t>(world)], schedule);
}

std::array<data::Rows, 2> opposed_rows(long records, double tilt, double row_norm, long of_person) {
  std::array<data::Rows, 2> both;
  const double s = tilt * row_norm, c = std::sqrt(1 - tilt * tilt) * row_norm;
  for (const int world : {0, 1}) {
    data::Rows& rows = both[static_cast<std::size_t>(world)];
    rows.features = 2;
    for (long n = 0; n < of_person; ++n) append(rows, world == 0 ? c : -c, s, 1);
    for (long n = of_person; n < records; ++n)  // the same in both worlds
      append(rows, 0.9 * std::cos(static_cast<double>(n)), 0.9 * std::sin(static_cast<double>(n)), n % 3 == 0 ? -1 : 1);
  }
  return both;
}

Transcript play(const Scene& scene, algorithm::Node& node, privacy::Random& random) {
  Transcript transcript;
  node.commit({}, scene.start);
  for (int round = 1; node.has_next(); ++round) {
    const bool silent = scene.schedule.algorithm.star && round % 2 == 0;  // the trainer's turn
    const Vector received = silent ? Vector() : scene.received(transcript);
    const privacy::Inbox inbox{std::make_shared<const Vector>(received)};
    privacy::Release release = node.step(inbox, random);
    node.commit(inbox, release.value);
    expects(silent == (release.value.size() == 0), "a provider that speaks in odd rounds only");
    if (silent) continue;
    transcript.push_back({.round = release.round,
                          .received = received,
                          .value = std::move(release.value),
                          .epsilon = release.charge.epsilon,
                          .mu = release.charge.mu});
  }
  return transcript;
}

Mechanism product(const Scene& scene) {
  return product(scene, scene.schedule);
}

Mechanism product(const Scene& scene, const algorithm::Schedule& followed) {
  return [&scene, followed](int world, privacy::Random& random) {
    if (followed.algorithm.star) {
      algorithm::ProviderNode node(scene.problem(world), followed);
      return play(scene, node, random);
    }
    if (followed.algorithm.sums) {
      algorithm::newton::NewtonNode node(scene.problem(world), followed);
      return play(scene, node, random);
    }
    algorithm::PeerNode node(scene.problem(world), followed);
    return play(scene, node, random);
  };
}

}  // namespace parley::audit
