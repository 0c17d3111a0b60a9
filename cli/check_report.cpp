#include "cli/check_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"
#include "parley/algorithm/planner.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/theory/limit.h"
#include "parley/theory/linearized.h"
#include "parley/theory/modified.h"
#include "parley/theory/recycled.h"

namespace parley::cli {

using nlohmann::json;

namespace {

constexpr int most_nodes_searched = 120;

json pair(const theory::SingularValues& s) {
  return {{"smallest_nonzero", s.least}, {"largest", s.most}};
}

}  // namespace

void Report::section(const std::string& title) {
  text += "\n" + bold(title) + "\n";
}

void Report::line(const std::string& name, const std::string& value) {
  text += fmt::format("  {:<26} {}\n", name, value);
}

void spectra(Report& out, const network::Graph& graph, const theory::PublicRun& run) {
  out.section("Spectra: smallest nonzero and largest singular value");
  json& all = out.values["spectra"];
  const auto show = [&](const std::string& name, const std::string& key, const Matrix& m) {
    const auto s = theory::singular_values(m);
    out.line(name, s.most == 0 ? "0" : fmt::format("{:<12.6g} {:.6g}", s.least, s.most));
    all[key] = pair(s);
  };
  const Matrix minus = graph.laplacian(-1), plus = graph.laplacian(1);
  show("D - A", "laplacian", minus);
  show("D + A", "signless", plus);
  for (const bool last : {false, true}) {
    const Vector &eta = last ? run.penalty.back() : run.penalty.front(),
                 &theta = last ? run.dual_step.back() : run.dual_step.front();
    if (last && eta == run.penalty.front() && theta == run.dual_step.front()) break;
    const std::string when = last ? ", last round" : "", key = last ? "_last" : "_first";
    show("W(D + A)" + when, "weighted_signless" + key, eta.asDiagonal() * plus);
    show("(W - theta)(D - A)" + when, "excess" + key, (eta - theta).asDiagonal() * minus);
  }
}

void modified(Report& out, const network::Graph& graph, const theory::PublicRun& run) {
  json& all = out.values["zkl18"];
  const auto violation = theory::order_violated(run);
  out.section("ZKL18 Theorem 3.1: penalties never fall and are at least the dual step");
  out.line("condition", violation ? fmt::format("violated: node {}, private round {}: {}", violation->node,
                                                violation->round, violation->what)
                                  : "holds");
  all["theorem_3_1"] = {{"holds", !violation}};
  if (violation)
    all["theorem_3_1"]["violation"] = {
        {"node", violation->node}, {"round", violation->round}, {"what", violation->what}};
  const theory::RoundRate first = theory::rate(graph, run, 1),
                          last = theory::rate(graph, run, static_cast<long>(run.penalty.size()));
  const bool proved = first.corrected && last.corrected;
  all["theorem_3_1"]["proved"] = proved;
  const double margin = std::min(first.monotone_margin, last.monotone_margin);
  all["theorem_3_1"]["margin_of_19"] = margin;
  const bool equal = theory::equal_entries(run.penalty.front()) && theory::equal_entries(run.penalty.back()) &&
                     theory::equal_entries(run.dual_step.front()) && theory::equal_entries(run.dual_step.back());
  if (!equal) {
    out.note(
        "Penalties or dual steps differ between nodes. The paper's proof does not cover that: (W - theta I)(D - A) is "
        "not positive semidefinite");
    out.note(fmt::format("and W(D + A) is not symmetric. (19) itself {} here by strong convexity (margin {}).",
                         margin >= 0 ? "is safe" : "is not safe", short_number(margin)));
  }
  if (run.dual_step.front() != run.dual_step.back())
    out.note("The theorems have one dual step for all rounds; here it changes.");
  const double growth = run.penalty.back().cwiseQuotient(run.penalty.front()).maxCoeff();
  if (growth > 1)
    out.note(
        "Penalties must also stay bounded (the paper's eta < infinity for each t is not enough): growth has to end.");
  out.section("ZKL18 Theorem 3.2: one round shrinks the distance by 1/(1 + delta)");
  const auto show = [&](const std::string& when, const std::string& key, const theory::RoundRate& r) {
    const bool same = r.corrected && r.corrected->delta == r.printed.delta;
    out.line("(23) as printed, " + when,
             fmt::format("delta >= {} (mu = {})", short_number(r.printed.delta), short_number(r.printed.mu)));
    if (!same)
      out.line("(23) corrected, " + when, r.corrected
                                              ? fmt::format("delta >= {} (mu = {})", short_number(r.corrected->delta),
                                                            short_number(r.corrected->mu))
                                              : "absent: not proved here");
    all["theorem_3_2"][key] = {{"printed", r.printed.delta},
                               {"printed_mu", r.printed.mu},
                               {"corrected", r.corrected ? json(r.corrected->delta) : json()},
                               {"corrected_mu", r.corrected ? json(r.corrected->mu) : json()}};
    return same;
  };
  const bool first_valid = show("first", "first", first), last_valid = show("last", "last", last);
  const bool valid = first_valid && last_valid;
  if (!valid && !violation)
    out.note(
        "As printed (23) is too large where a penalty exceeds the dual step: its numerator 2 m + 2 sigma must be 2 m.");
  if (violation) out.note("Theorem 3.1's condition is violated, so nothing is proved here.");
  if (growth > 1)
    out.note(fmt::format(
        "The norm itself grows with the penalty, by {} in all over the run; the shrinking has to make up for that.",
        short_number(growth)));
}

void recycled(Report& out, const network::Graph& graph, const theory::PublicRun& run, const algorithm::Plan& plan) {
  json& all = out.values["zkl20_theorem_1"];
  std::vector<double> factor;
  const auto& rounds = plan.nodes.front().private_rounds;
  const double damping = rounds.front().damping;
  for (const auto& r : rounds) factor.push_back(damping > 0 ? r.damping / damping : 1);
  const theory::RecycledConditions conditions(graph, run, factor);
  const bool fixed = !plan.nodes.front().algorithm.growing, large = graph.nodes() > most_nodes_searched;
  out.section("ZKL20 Theorem 1: sufficient conditions, without noise");
  const auto show = [&](const std::string& name, const std::string& key, bool chosen,
                        const theory::RecycledConditions::Smallest& s) {
    out.line(name, fmt::format("{} with damping {}", chosen ? "hold" : "do not hold", short_number(damping)));
    out.line("  smallest damping",
             s.damping ? short_number(*s.damping) + (s.every_larger ? "" : " (but not every larger one)")
                       : "none: " + s.why_none);
    all[key] = {{"hold", chosen},
                {"smallest_damping", s.damping ? json(*s.damping) : json()},
                {"every_larger", s.every_larger}};
    if (!s.damping) all[key]["why_none"] = s.why_none;
  };
  all["damping"] = damping;
  if (fixed)
    show("(iii), (iv): L = mu = 2", "iii_iv", conditions.hold(damping, 2, 2), conditions.smallest_damping(2, 2));
  if (large) {
    out.note(fmt::format("L and mu are searched up to {} nodes.", most_nodes_searched));
  } else {
    const auto constants = conditions.constants(damping);
    const auto smallest = conditions.smallest_damping();
    show("(i), (ii): best L, mu", "i_ii", constants.has_value(), smallest);
    const auto at = constants          ? constants
                    : smallest.damping ? conditions.constants(*smallest.damping * 1.001)
                                       : std::nullopt;
    if (at)
      out.line("  with", fmt::format("L = {}, mu = {}{}", short_number(at->l), short_number(at->mu),
                                     constants ? "" : " (just above the smallest damping)"));
    if (at) all["i_ii"]["constants"] = {{"L", at->l}, {"mu", at->mu}};
  }
  out.note(
      "Sufficient only: runs converge with far less damping. \"X > Y\" is read as: the symmetric part of X - Y is "
      "positive definite.");
  for (std::size_t k = 0; k < run.penalty.size(); ++k)
    if ((run.penalty[k] - run.dual_step[k]).cwiseAbs().maxCoeff() > 1e-12 * run.penalty[k].maxCoeff()) {
      out.note("The theorem is for dual step = penalty at every node; here they differ, so it does not apply.");
      all["applies"] = false;
      return;
    }
  const bool equal = theory::equal_entries(run.penalty.front()) && theory::equal_entries(run.penalty.back());
  if (!equal)
    out.note(
        "The theorem claims the optimum as limit; with penalties that differ between nodes the limit is that of the "
        "weights below.");
  if (factor.back() != 1)
    out.note("The theorem is stated for a fixed damping; here each round is checked with its own.");
  all["applies"] = equal;
}

void limit(Report& out, const network::Graph& graph, const theory::PublicRun& run, const CheckOptions& o,
           const algorithm::Plan& plan) {
  out.section("Limit of the run without noise");
  const auto weights = theory::limit_weights(run);
  const bool common = weights && theory::equal_entries(*weights);
  Vector growth(graph.nodes());
  for (Index i = 0; i < growth.size(); ++i)
    growth[i] = o.algorithm.penalty_growth.size() == 1 ? o.algorithm.penalty_growth[0]
                                                       : o.algorithm.penalty_growth[static_cast<std::size_t>(i)];
  const bool endless = o.algorithm.penalty_growth_rounds == 0 && growth.minCoeff() > 1;
  if (common) {
    out.line(endless ? "would solve" : "a limit solves", "sum_i grad O_i(f) = 0: the optimum");
  } else if (weights) {
    std::string list;
    for (Index i = 0; i < std::min<Index>(weights->size(), 12); ++i)
      list += (list.empty() ? "" : ", ") + short_number((*weights)[i]);
    out.line("a limit solves", "sum_i w_i grad O_i(f) = 0, not the optimum: dual steps differ between nodes");
    out.line("weights w_i = 1/theta_i", list + (weights->size() > 12 ? ", ..." : ""));
  } else {
    out.line("a limit solves", "no fixed problem: the ratios of the dual steps change over the rounds");
  }
  out.values["limit"] = {{"optimum", common},
                         {"weights", weights ? json(std::vector<double>(weights->begin(), weights->end())) : json()}};
  if (!endless) return;
  const auto& s = plan.nodes.front();
  const theory::Growth g = theory::endless_growth(
      graph, run, growth, s.algorithm.recycled ? std::optional(s.private_rounds.front().damping) : std::nullopt);
  out.line("growth without end",
           fmt::format("the mean moves at most {} x |mean gradient| in all, {} of it after the last round",
                       short_number(g.travel), percent(g.remaining / g.travel)));
  out.line("", fmt::format("directions of curvature below {} keep over 1 % of their distance for ever;",
                           short_number(g.stuck)));
  out.line("", fmt::format("the weakest, {}, keeps {} (nodes that agree). --penalty-growth-rounds ends the growth",
                           short_number(run.least_curvature.mean()), percent(g.kept)));
  out.values["limit"]["growth"] = {
      {"travel", g.travel}, {"remaining", g.remaining}, {"kept", g.kept}, {"stuck_below_curvature", g.stuck}};
}

void samples(Report& out, const CheckOptions& o, const algorithm::Plan& plan, const algorithm::Setting& setting) {
  if (!o.target_excess) return;
  if (plan.nodes.front().loss.weighted())
    throw Error({.what = "ZKL20's sample sizes are for records that weigh the same",
                 .value = "--class-weight " + o.algorithm.class_weight.text,
                 .where = "option --target-excess",
                 .fix = "leave one of the two out"});
  theory::SampleQuestion q = o.sample;
  q.target_excess = *o.target_excess;
  if (q.target_excess <= q.optimality_gap)
    throw Error({.what = "target-excess must exceed optimality-gap",
                 .value = number(q.target_excess),
                 .allowed = "> " + number(q.optimality_gap),
                 .where = "option --target-excess",
                 .fix = "raise --target-excess"});
  out.section(fmt::format("ZKL20 Theorems 3, 4: records for an excess loss of {}, up to the constant w = {}",
                          short_number(q.target_excess), short_number(q.constant)));
  const double plain = theory::records_needed(q);
  out.line("Theorem 3, no noise",
           fmt::format("{:.0f} records, with probability {}", std::ceil(plain), 1 - q.failure_probability));
  json& all = out.values["sample_size"];
  all = {{"theorem_3", plain}};
  const auto& first_node = plan.nodes.front();  // Theorem 4 is about gamma noise in the objective
  if (first_node.noise != algorithm::Noise::gamma || first_node.place == algorithm::Place::output) return;
  json list = json::array();
  for (const auto& s : plan.nodes) {
    double rate = s.private_rounds.front().objective_rate;
    for (const auto& r : s.private_rounds) rate = std::min(rate, r.objective_rate);
    const double c = s.weight * setting.records[static_cast<std::size_t>(s.node)], d = static_cast<double>(o.dimension);
    const auto needed = theory::records_needed_private(q, c, rate, d);
    list.push_back({{"node", s.node},
                    {"records", needed ? json(*needed) : json()},
                    {"least_noise_rate", theory::least_noise_rate(q, c, d)}});
    if (s.node < 8)
      out.line(
          fmt::format("Theorem 4, node {}", s.node),
          needed ? fmt::format("{:.0f} records, with probability {}", std::ceil(*needed), 1 - 2 * q.failure_probability)
                 : fmt::format("none suffice at noise rate {}: it must exceed {}", short_number(rate),
                               short_number(theory::least_noise_rate(q, c, d))));
  }
  all["theorem_4"] = list;
}

void star(Report& out, const CheckOptions& o, const algorithm::Setting& setting) {
  const algorithm::Options& a = o.algorithm;
  const problem::Loss loss = algorithm::loss_of(a, setting.classes);
  if (a.regularizer == algorithm::Regularizer::elastic_net || a.weighting == algorithm::Weighting::rows)
    throw Error({.what = "HHCG20's theorems are for l2 or l1 and for nodes that count the same",
                 .where = a.weighting == algorithm::Weighting::rows ? "option --weighting" : "option --regularizer",
                 .fix = "leave it out"});
  const theory::Star s{.records = setting.records,
                       .penalty = a.penalty.empty() ? 1 : a.penalty[0],
                       .regularization = a.regularization.value_or(algorithm::usual_regularization),
                       .dimension = static_cast<double>(o.dimension),
                       .epsilon = a.iteration_epsilon.value_or(0.1),
                       .delta = a.iteration_delta.value_or(1e-3),
                       .solution_bound = a.solution_bound.value_or(1),
                       .disagreement_weight = o.disagreement_weight,
                       .gradient_bound = a.loss_weight * loss.gradient_bound(),
                       .curvature_bound = a.loss_weight * loss.curvature_bound(),
                       .l1 = a.regularizer == algorithm::Regularizer::l1};
  out.section(fmt::format("HHCG20: E sum_i f_i - f_i* + {} |disagreement| after {} rounds, zero start",
                          short_number(s.disagreement_weight), o.algorithm.rounds));
  const auto show = [&](const std::string& name, const std::string& key, const theory::GapBounds& b) {
    out.line(name,
             fmt::format("as printed {:<12.6g} corrected {:<12.6g} proved {:.6g}", b.printed, b.corrected, b.proved));
    out.values["hhcg20"][key] = {{"printed", b.printed}, {"corrected", b.corrected}, {"proved", b.proved}};
  };
  show("Theorem 3, convex", "theorem_3", theory::convex_bounds(s, o.algorithm.rounds));
  if (s.l1 || !loss.smooth())
    out.line("Theorem 4, smooth", "absent: it asks for second derivatives of loss and regularizer");
  else
    show("Theorem 4, smooth", "theorem_4", theory::smooth_bounds(s, o.algorithm.rounds));
  out.note(
      "As printed both are wrong: Theorem 3 drops the noise, Theorem 4 its dimension. Corrected puts the noise right, "
      "but like the paper");
  out.note(
      "needs every iterate within D_w of the optimum in mean square. Proved needs only |w*| <= D_w. Each theorem is "
      "for its own step size.");
}

}  // namespace parley::cli
