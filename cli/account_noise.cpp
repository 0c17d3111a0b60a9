#include "cli/account_noise.h"

#include <algorithm>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr std::size_t most_rounds = 1'000'000;

[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& option,
                         const std::string& fix) {
  throw Error({.what = what, .value = value, .where = "option --" + option, .fix = fix});
}

double above_zero(const std::string& text) {
  const double value = parse_number(text, "noise-rounds", "option --noise-rounds");
  if (!(value > 0)) refuse("noise is above 0", text, "noise-rounds", "such as 25x9.5, or 9.5,9.3,9.1");
  return value;
}

// "25x9.5,9.4": 25 rounds of 9.5 and one of 9.4
std::vector<double> rounds_of(const std::string& text) {
  std::vector<double> all;
  for (const std::string& some : split_list(text)) {
    const std::size_t x = some.find('x');
    const double count = x == std::string::npos ? 1 : above_zero(some.substr(0, x));
    const double level = above_zero(x == std::string::npos ? some : some.substr(x + 1));
    if (!(count <= static_cast<double>(most_rounds - all.size())) ||
        count != static_cast<double>(static_cast<long>(count)))
      refuse("so many rounds are in no plan", some, "noise-rounds", "such as 25x9.5, or 9.5,9.3,9.1");
    all.insert(all.end(), static_cast<std::size_t>(count), level);
  }
  return all;
}

void check_alone(const NoiseOptions& given, const algorithm::Options& o) {
  const bool other =
      !given.moments.empty() || !given.hessian.empty() || !given.spread.empty() || !given.square.empty() || given.pair;
  if (!given.given() && other)
    refuse("the noise of sums and of pairs goes with that of the rounds", "", "noise-rounds",
           "copy the line from \"How to check\" of the run's report");
  if (!given.given()) return;
  const std::string twice = !o.epsilon.empty()       ? "epsilon"
                            : o.iteration_epsilon    ? "iteration-epsilon"
                            : !o.noise_rate.empty()  ? "noise-rate"
                            : !o.noise_scale.empty() ? "noise-scale"
                                                     : "";
  if (!twice.empty())
    refuse("the noise of every round and --" + twice + " are both given", given.rounds, "noise-rounds",
           "leave one of the two out");
  if (given.pair && !o.colluders)
    refuse("what pairs share is priced against so many parties that pool what they know", number(*given.pair),
           "noise-pair", "give --colluders too");
}

}  // namespace

std::vector<Option> noise_rows(NoiseOptions& o) {
  return {
      {"noise-rounds", "",
       "the noise of every private round as it was, in place of --epsilon: scale or rate, of newton on sums of "
       "gradients. 25x9.5 is 25 rounds of 9.5; 9.5,9.3 is two; a / stands between nodes that differ",
       any_text("numbers"), &o.rounds, "noise"},
      {"noise-moments", "", "with it, newton: on second moments, one for all nodes or one per node", above(0),
       &o.moments, "noise"},
      {"noise-hessian", "", "with it, --intervals: on the Hessian of the final round", above(0), &o.hessian, "noise"},
      {"noise-spread", "", "with it, --intervals: on the squares of slopes", above(0), &o.spread, "noise"},
      {"noise-square", "", "with it, --intervals and --loss squared: on the squares of labels", above(0), &o.square,
       "noise"},
      {"noise-pair", "p/s",
       "with it and --colluders: what each pair of parties shares, as a multiple of a party's own noise, which the "
       "other options then are",
       above(0), &o.pair, "noise"}};
}

NoiseAsUsed::NoiseAsUsed(const NoiseOptions& given, algorithm::Options& o, int nodes) {
  check_alone(given, o);
  if (!given.given()) return;
  const auto apart = split_list(given.rounds, '/');
  if (apart.size() != 1) algorithm::check_list(std::vector<double>(apart.size(), 1), "noise-rounds", nodes);
  const std::size_t listed =
      std::max({apart.size(), given.moments.size(), given.hessian.size(), given.spread.size(), given.square.size()});
  const auto of = [&](const std::vector<double>& list, const char* name, std::size_t i) {
    if (list.empty()) return 0.0;
    algorithm::check_list(list, name, nodes);
    return algorithm::of_node(list, static_cast<int>(i));
  };
  std::vector<double> first;
  for (std::size_t i = 0; i < listed; ++i) {
    nodes_.push_back({.rounds = rounds_of(apart[apart.size() == 1 ? 0 : i]),
                      .moments = of(given.moments, "noise-moments", i),
                      .hessian = of(given.hessian, "noise-hessian", i),
                      .spread = of(given.spread, "noise-spread", i),
                      .square = of(given.square, "noise-square", i)});
    if (nodes_.back().rounds.empty())
      refuse("no noise is given", given.rounds, "noise-rounds", "such as 25x9.5, or 9.5,9.3,9.1");
    first.push_back(nodes_.back().rounds.front());
  }
  if (o.noise == algorithm::Noise::gamma)
    o.noise_rate = first;
  else
    o.noise_scale = first, o.noise = algorithm::Noise::gaussian;
  if (!given.pair) return;
  pairs_ = {.over_own = *given.pair, .colluders = static_cast<int>(std::min<std::uint64_t>(*o.colluders, 1'000'000))};
  o.colluders.reset();
}

void NoiseAsUsed::price_again(algorithm::Plan& plan) const {
  if (!nodes_.empty()) algorithm::price_again(plan, nodes_, pairs_);
}

}  // namespace parley::cli
