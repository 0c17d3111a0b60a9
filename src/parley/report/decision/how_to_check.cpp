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

// pp has its noise on the penalty: b = 2ηV times it (ZKL18, Algorithm 2), and the record has b.
double level_given(const Run& run, const Node& n, bool gaussian) {
  if (run.option("algorithm") != "pp") return n.noise;
  const double linear = 2 * std::atof(exact(run, "penalty").c_str()) * n.degree;
  return gaussian ? n.noise / linear : n.noise * linear;
}

// Is the noise of the record all that a run's loss follows from? It holds the level of the first private round.
bool from_noise(const Run& run) {
  const bool growing = exact(run, "penalty-growth") != "1" && !exact(run, "penalty-growth").empty();
  const auto all = holders(run);
  return !growing && run.option("colluders").empty() && !run.with_intervals() && run.option("loss") != "squared" &&
         (run.option("noise") == "gaussian" || run.option("noise") == "gamma") &&
         std::ranges::all_of(all, [](const Node* n) { return std::isfinite(n->noise) && n->noise > 0; });
}

std::string noise_words(const Run& run) {
  double least = HUGE_VAL, most = 0;
  for (const Node* n : holders(run))
    if (std::isfinite(n->noise)) least = std::min(least, n->noise), most = std::max(most, n->noise);
  if (most == 0) return "The record does not say how much noise was used.";
  const std::string range = least == most
                                ? value_text(most)
                                : value_text(least) + " to " + value_text(most) + " (the table of nodes has each)";
  return std::string(run.planned() ? "Planned noise: " : "Noise that was used: ") +
         (run.option("noise") == "gamma" ? "gamma, rate" : "Gaussian, standard deviation") +
         " in the first private round " + range + ".";
}

std::string account_command(const Run& run, bool by_noise) {
  std::string command = "parley account " + run.option("algorithm");
  const bool gaussian = run.option("noise") != "gamma";
  const bool target = !by_noise && !run.option("epsilon").empty();
  const std::string left_out = by_noise ? "epsilon,iteration-epsilon,iteration-delta,noise-scale,noise-rate"
                               : target ? "penalty,damping"
                                        : "";
  auto skipped = split_list(left_out.empty() ? "-" : left_out);
  if (run.option("loss") == "squared")  // one exchange: it has none of these
    for (const char* name : {"clip", "curvature-share", "regularization"}) skipped.emplace_back(name);
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
  if (by_noise)
    command += (gaussian ? " --noise-scale " : " --noise-rate ") +
               of_nodes(run, [&](const Node& n) { return number(level_given(run, n, gaussian)); });
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
