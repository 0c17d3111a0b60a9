#include "parley/algorithm/sharing.h"

#include "parley/base/error.h"

namespace parley::algorithm {
namespace {

// s² + h p² against v (shared_noise.h). In a sum over all parties what is shared cancels, however large. In an iterate it
// stays until iterates are averaged, and the next gradient is taken there: measured with 5 and 20 parties (docs/frontier.md).
constexpr double in_sums = 100, in_iterates = 4;

}  // namespace

void check_colluders(const Options& o, const Algorithm& a, int nodes) {
  if (!o.colluders) return;
  const std::string count = std::to_string(*o.colluders);
  const auto refuse = [&](const std::string& what, const std::string& allowed, const std::string& fix) {
    throw Error({.what = what, .value = count, .allowed = allowed, .where = "option --colluders", .fix = fix});
  };
  if (*o.colluders > static_cast<std::uint64_t>(nodes) - 1)
    refuse("there are not so many other parties: " + std::to_string(nodes) + " take part",
           nodes == 1 ? "none" : "1 to " + std::to_string(nodes - 1),
           "leave it out: then the guarantee holds against all others together");
  if (!a.sums && !a.linear)
    refuse(a.name +
               " minimises: a party's noise goes through its own curvature before it is added to others', and does "
               "not cancel",
           "newton, dp-gd, dp-admm, linear-admm", "use --algorithm newton, or leave it out");
  const bool gaussian = o.noise == Noise::gaussian || (a.sums && o.noise == Noise::automatic);
  if (!gaussian || o.epsilon.empty())
    refuse("noise that cancels is Gaussian and planned for a budget", "with --epsilon and a --delta above 0",
           "give --epsilon, or leave it out");
}

privacy::Sharing sharing_of(const Options& o, int nodes) {
  if (!o.colluders || nodes < 2) return {.parties = nodes, .colluders = nodes - 1};
  const auto colluders = static_cast<int>(*o.colluders);
  return {.parties = nodes,
          .colluders = colluders,
          .noise =
              privacy::shared_noise_for(nodes, colluders, algorithm_named(o.algorithm).linear ? in_iterates : in_sums)};
}

void add_parameters(const privacy::Sharing& sharing, privacy::Charge& charge) {
  if (!sharing.on()) return;
  charge.parameters.insert(charge.parameters.end(), {{"own_share", sharing.noise.own},
                                                     {"pair_share", sharing.noise.pair},
                                                     {"parties", sharing.parties},
                                                     {"colluders", sharing.colluders}});
}

}  // namespace parley::algorithm
