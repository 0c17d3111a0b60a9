#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "parley/base/text.h"
#include "parley/report/decision/decision.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

// Somebody will paste this line into a shell: a value that is no plain word or list of numbers has no place in it.
bool plain(const std::string& value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == ',' || c == '-' || c == '+';
  });
}

// As it was in force, with all digits.
std::string exact(const Run& run, const std::string& name) {
  const auto found = run.exact.find(name);
  return found == run.exact.end() ? run.option(name) : found->second;
}

std::vector<const Node*> holders(const Run& run) {
  std::vector<const Node*> all;
  for (const Node& n : run.nodes)
    if (!n.trainer) all.push_back(&n);
  return all;
}

// One number for all nodes, or one for each.
template <class Of>
std::string of_nodes(const Run& run, const Of& of) {
  std::vector<std::string> all;
  for (const Node* n : holders(run)) all.push_back(of(*n));
  return std::ranges::all_of(all, [&](const std::string& v) { return v == all[0]; }) ? all[0] : join(all, ",");
}

std::string whole(double value) {
  return fmt::format("{:.0f}", value);
}

// The record has the noise of all rounds of all nodes that hold rows. A run that went on in parts has it of the first.
bool from_noise(const Run& run) {
  const auto all = holders(run).size(), told = run.noise.nodes.size();
  return (told == 1 || told == all) && run.parts.empty() &&
         (run.option("noise") == "gaussian" || run.option("noise") == "gamma");
}

std::string rounds_told(const NoiseOfNode& node) {
  std::vector<std::string> all;
  for (const auto& [count, noise] : node.rounds) all.push_back((count > 1 ? whole(count) + "x" : "") + number(noise));
  return join(all, ",");
}

std::string noise_options(const NoiseUsed& used) {
  std::vector<std::string> rounds;
  for (const NoiseOfNode& node : used.nodes) rounds.push_back(rounds_told(node));
  std::string options = " --noise-rounds " + join(rounds, "/");
  for (const auto& [name, noise] :
       {std::pair("moments", &NoiseOfNode::moments), std::pair("hessian", &NoiseOfNode::hessian),
        std::pair("spread", &NoiseOfNode::spread), std::pair("square", &NoiseOfNode::square)}) {
    std::vector<std::string> list;
    for (const NoiseOfNode& node : used.nodes)
      if (std::isfinite(node.*noise)) list.push_back(number(node.*noise));
    if (!list.empty()) options += std::string(" --noise-") + name + " " + join(list, ",");
  }
  return std::isfinite(used.pair_over_own) ? options + " --noise-pair " + number(used.pair_over_own) : options;
}

// "9.51", or "8.2 to 9.51 (all: in the command)" where nodes or rounds differ.
template <class Of>
std::string range_of(const NoiseUsed& used, const Of& of) {
  double least = HUGE_VAL, most = 0;
  for (const NoiseOfNode& node : used.nodes)
    for (const double noise : of(node)) least = std::min(least, noise), most = std::max(most, noise);
  return least == most ? value_text(most) : value_text(least) + " to " + value_text(most);
}

std::string noise_words(const Run& run) {
  const NoiseUsed& used = run.noise;
  if (used.nodes.empty()) return "The record does not say how much noise was used.";
  const auto rounds = [](const NoiseOfNode& node) {
    std::vector<double> all;
    for (const auto& [count, noise] : node.rounds) all.push_back(noise);
    return all;
  };
  std::string words = fmt::format(
      "{}{} {}{} in {} private round{}", run.planned() ? "Planned noise: " : "Noise that was used: ",
      run.option("noise") == "gamma" ? "gamma, rate" : "Gaussian, standard deviation", range_of(used, rounds),
      run.sums ? " on sums of gradients" : "", whole(used.nodes[0].in_all()), used.nodes[0].in_all() == 1 ? "" : "s");
  for (const auto& [name, noise] :
       {std::pair("second moments", &NoiseOfNode::moments), std::pair("the Hessian", &NoiseOfNode::hessian),
        std::pair("squares of slopes", &NoiseOfNode::spread), std::pair("squares of labels", &NoiseOfNode::square)})
    if (std::isfinite(used.nodes[0].*noise))
      words += "; " + range_of(used, [of = noise](const NoiseOfNode& n) { return std::vector{n.*of}; }) + " on " + name;
  if (std::isfinite(used.pair_over_own))
    words += ". That is each party's own. Every two parties share noise of " + value_text(used.pair_over_own) +
             " times that, which cancels in the sum";
  return words + ".";
}

std::string account_command(const Run& run, bool by_noise) {
  std::string command = "parley account " + run.option("algorithm");
  const bool target = !by_noise && !run.option("epsilon").empty();
  const std::string left_out =
      by_noise ? "epsilon,iteration-epsilon,iteration-delta,noise-scale,noise-rate,noise-rate-growth,curvature-share"
      : target ? "penalty,damping"
               : "-";
  auto skipped = split_list(left_out);
  if (run.option("loss") == "squared")  // one exchange: it has none of these
    for (const char* name : {"clip", "curvature-share", "regularization"}) skipped.emplace_back(name);
  if (by_noise && !std::isfinite(run.noise.pair_over_own)) skipped.emplace_back("colluders");  // all others: no pairs
  for (const std::string& name :
       split_list("epsilon,delta,bound,iteration-epsilon,iteration-delta,noise,noise-on,"
                  "noise-rate,noise-rate-growth,noise-scale,rounds,penalty,"
                  "penalty-growth,penalty-growth-rounds,damping,loss,loss-width,loss-weight,"
                  "weighting,class-weight,class-share,regularizer,l1-share,regularization,"
                  "tolerance,sensitivity,diameter,step-size,solution-bound,colluders,clip,curvature,curvature-share")) {
    const std::string value = exact(run, name);
    const bool idle = (name.ends_with("-growth") && value == "1") || (name == "delta" && value == "0") ||
                      (name == "class-weight" && value == "none");
    if (plain(value) && !idle && std::ranges::find(skipped, name) == skipped.end())
      command += " --" + name + " " + value;
  }
  if (run.with_intervals()) command += " --intervals";
  if (run.guarantee.rows_per_person > 0) command += fmt::format(" --rows-per-person {}", run.guarantee.rows_per_person);
  if (by_noise) command += noise_options(run.noise);
  return command + fmt::format(" --nodes {} --records {} --degree {} --features {:.0f}", holders(run).size(),
                               of_nodes(run, [](const Node& n) { return whole(n.records); }),
                               of_nodes(run, [](const Node& n) { return whole(n.degree); }), run.features);
}

}  // namespace

Check how_to_check(const std::vector<Group>& groups) {
  const Run& run = groups.front().first();
  Check check{.noise = run.guarantee.holds ? noise_words(run) : ""};
  const auto all = holders(run);
  constexpr std::size_t most = 60;
  const bool known =
      !all.empty() && all.size() <= most && plain(run.option("algorithm")) && std::isfinite(run.features) &&
      std::ranges::all_of(all, [](const Node* n) { return std::isfinite(n->records) && std::isfinite(n->degree); });
  const bool by_noise = known && from_noise(run);
  if (run.party) {
    check.words =
        run.planned()
            ? "Without any data, the first command shows what the study is planned to cost."
            : "Without any data, the first command shows what the study is planned to cost, the second what the "
              "parties' records show of it.";
    check.commands = {"parley study check study.toml"};
    if (!run.planned()) check.commands.emplace_back("parley verify --study study.toml DIR…");
    if (!by_noise) return check;
    check.words += std::string(
        " The last computes ε again from the noise, with no target (a study keeps six digits of "
        "what was planned, and so does this ε).");
  } else if (by_noise) {
    check.words = run.planned()
                      ? "Without any data, this command computes ε again from the planned noise, with no target."
                      : "Without any data, this command computes ε again from the noise that was used, with no target. "
                        "It shows what this noise costs. It cannot show that the run added it.";
  } else {
    check.words =
        "Without any data, this command plans a run of these options anew and shows what such a run costs. It checks "
        "the "
        "plan; it does not look at this run, and cannot show that the run kept to it.";
  }
  check.commands.push_back(known ? account_command(run, by_noise) : "parley account --help");
  return check;
}

}  // namespace parley::report
