#include "parley/experiment/charges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "parley/algorithm/noise_used.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/error.h"
#include "parley/run/setting.h"

namespace parley::experiment {
namespace {

std::size_t private_rounds_by(const algorithm::Plan& plan, std::size_t round) {
  return plan.nodes.front().algorithm.recycled ? (round + 1) / 2 : round;
}

Curve by_round(const algorithm::Plan& plan, const std::function<double(std::size_t private_rounds)>& of) {
  Curve curve = {0};
  std::size_t before = 0;
  for (std::size_t t = 1; t <= static_cast<std::size_t>(plan.options.rounds); ++t) {
    const std::size_t k = private_rounds_by(plan, t);
    curve.push_back(k == before ? curve.back() : of(k));
    before = k;
  }
  return curve;
}

}  // namespace

Curve epsilon_so_far(const algorithm::Plan& plan) {
  std::vector<std::vector<privacy::Charge>> charges(plan.nodes.size());
  for (std::size_t i = 0; i < charges.size(); ++i)
    for (const auto& r : plan.nodes[i].private_rounds) charges[i].push_back(r.charge);
  const auto costliest = static_cast<std::size_t>(
      std::ranges::max_element(plan.nodes, {}, &algorithm::Schedule::epsilon) - plan.nodes.begin());
  return by_round(plan, [&](std::size_t k) {
    return algorithm::whole_run_epsilon(std::span(charges[costliest]).first(k), plan.nodes[costliest].delta);
  });
}

Curve epsilon_paper_so_far(const algorithm::Plan& plan) {
  // Nodes with the same number of records, neighbours and noise pay the same: once is enough.
  std::map<std::pair<std::vector<double>, std::vector<double>>, const algorithm::Schedule*> unlike;
  for (const algorithm::Schedule& s : plan.nodes) {
    std::vector<double> levels;
    for (std::size_t k = 0; k < s.private_rounds.size(); ++k) levels.push_back(algorithm::noise_level(s, k));
    unlike.emplace(std::pair(std::vector<double>{s.weight, static_cast<double>(s.degree),
                                                 s.private_rounds.front().penalty, s.private_rounds.back().penalty},
                             std::move(levels)),
                   &s);
  }
  return by_round(plan, [&](std::size_t k) {
    double most = 0;
    for (const auto& [key, schedule] : unlike) {
      algorithm::Schedule so_far = *schedule;
      so_far.private_rounds.resize(k);
      so_far.epsilon_paper.reset();
      algorithm::price_as_printed(so_far, {key.second.begin(), key.second.begin() + static_cast<std::ptrdiff_t>(k)});
      if (!so_far.epsilon_paper) return nothing;
      most = std::max(most, *so_far.epsilon_paper);
    }
    return most;
  });
}

void match_noise(run::Simulation& simulation, run::TrainOptions& options, const Cell& cell) {
  const bool printed = cell.match->by == Metric::epsilon_paper;
  const auto loss_of = [&](const algorithm::Plan& plan) {
    return printed ? plan.epsilon_paper().value_or(nothing) : plan.epsilon();
  };
  const int nodes = simulation.parties();
  const auto planned = [&](const algorithm::Options& o) {
    algorithm::Setting setting = run::setting_on(simulation.graph, simulation.holdings.records, nodes);
    setting.features = static_cast<long>(simulation.holdings.test.features);
    setting.classes = std::max(2, static_cast<int>(simulation.holdings.classes.size()));
    setting.rows_per_person = simulation.unit.rows_per_person;
    return algorithm::make_plan(o, setting);
  };
  const double target = loss_of(planned(cell.match_target->algorithm));
  const auto refuse = [&](const std::string& why) {
    throw Error({.what = "the noise of '" + cell.name + "' cannot be matched to '" + cell.match->series + "': " + why,
                 .where = "match",
                 .fix = "match by the other loss, or change the noise of '" + cell.match->series + "'"});
  };
  if (!std::isfinite(target)) refuse("its loss is absent");
  double low = 1e-6, high = 1e4;  // the loss grows with the rate
  const auto at = [&](double rate) {
    options.algorithm.noise_rate = {rate};
    try {
      return loss_of(planned(options.algorithm));
    } catch (const Error&) {  // so much noise that no minimum could be certified: less loss than any other
      return 0.0;
    }
  };
  if (!(at(low) <= target)) refuse("more noise does not bring its own loss down to " + std::to_string(target));
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (at(middle) <= target ? low : high) = middle;
  }
  options.algorithm.noise_rate = {low};
  simulation.plan = planned(options.algorithm);
}

}  // namespace parley::experiment
