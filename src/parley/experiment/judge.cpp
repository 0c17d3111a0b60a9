#include "parley/experiment/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::experiment {
namespace {

// Mean of b − a over runs, and its standard error; runs are paired when there are as many.
struct Difference {
  double mean = nothing, error = 0;
};

double standard_error(const std::vector<double>& v) {
  if (v.size() < 2) return 0;
  const double n = static_cast<double>(v.size()), mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  double squares = 0;
  for (const double x : v) squares += (x - mean) * (x - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  return error > 1e-12 * std::abs(mean) ? error : 0;  // privacy losses are the same in every run, up to rounding
}

Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean = spread(b).mean - spread(a).mean;
  if (a.size() != b.size()) return {mean, std::hypot(standard_error(a), standard_error(b))};
  std::vector<double> each(a.size());
  std::ranges::transform(b, a, each.begin(), std::minus<>());
  return {mean, standard_error(each)};
}

Finding positive(const Difference& d) {
  if (std::isnan(d.mean)) return Finding::fails;  // a run diverged: nothing to show
  if (d.error > 0 && std::abs(d.mean) <= 2 * d.error) return Finding::undecided;
  return d.mean > 0 ? Finding::holds : Finding::fails;
}

Finding worst(Finding a, Finding b) {
  return std::max(a, b);
}

class Deciding {
 public:
  Deciding(const Judge& judge, const std::vector<Measured>& all) : j_(judge), all_(all) {}

  Judgement decide() {
    apply(j_.rule);
    for (const std::string& name : j_.of)
      for (const Measured* m : cells_of(name))
        if (const std::string early = m->ended_early(); !early.empty()) said_.push_back(m->legend + ": " + early);
    return {.says = j_.says, .finding = finding_, .measured = join(said_, "; "), .claim = j_.claim};
  }

 private:
  void apply(JudgeRule rule) {
    switch (rule) {
      case JudgeRule::lower:
        return lower();
      case JudgeRule::close:
        return close();
      case JudgeRule::falls:
        return falls();
      case JudgeRule::rises:
        return rises();
      case JudgeRule::lowest:
        return lowest();
      case JudgeRule::gain:
        return gain();
      case JudgeRule::steadier:
        return steadier();
      case JudgeRule::smoother:
        return smoother();
      case JudgeRule::reaches:
        return reaches();
      case JudgeRule::misses:
        return misses();
      case JudgeRule::ratio:
        return ratio();
      case JudgeRule::below:
        return below();
    }
  }

  std::vector<const Measured*> cells_of(const std::string& name) const {
    std::vector<const Measured*> found;
    for (const Measured& m : all_)
      if (m.name == name || m.series == name) found.push_back(&m);
    expects(!found.empty(), "a judge that names runs");
    return found;
  }
  const Measured& one(const std::string& name) const { return *cells_of(name).front(); }

  std::vector<double> values(const Measured& m) const { return m.values(j_.y, j_.at); }
  Difference between(const Measured& a, const Measured& b) const {
    Difference d = difference(values(a), values(b));
    if (lone(a) || lone(b)) d.error = std::numeric_limits<double>::infinity();
    return d;
  }
  // One run of something random decides nothing. (Privacy losses are the same in every run.)
  bool lone(const Measured& m) const {
    return m.facts.noisy && m.runs.size() == 1 && j_.y != Metric::epsilon && j_.y != Metric::epsilon_paper;
  }
  std::string text(const Measured& m) const { return text(m.legend, values(m)); }
  std::string text(const std::string& who, const std::vector<double>& v) const { return who + " " + range(v); }
  std::string range(const std::vector<double>& v) const {
    const Spread s = spread(v);
    std::string out = shown(j_.y, s.mean);
    if (v.size() > 1 && s.high > s.low) out += " (" + shown(j_.y, s.low) + " to " + shown(j_.y, s.high) + ")";
    return out;
  }
  std::string apart(const Difference& d) const {
    const bool points = j_.y == Metric::test_error;
    return fmt::format("{:+.3g}", points ? 100 * d.mean : d.mean) +
           (d.error > 0 && std::isfinite(d.error) ? fmt::format(" ± {:.2g}", points ? 100 * d.error : d.error) : "") +
           (points ? " points" : "");
  }
  std::string where() const {
    if (j_.at != Moment::round) return j_.at == Moment::end ? "" : "mean over rounds of ";
    return "in round " + std::to_string(std::min(std::stol(j_.at.text), one(j_.of.front()).rounds())) + ", ";
  }
  void say(const std::string& text) { said_.push_back(text); }
  void start() { finding_ = Finding::holds; }

  std::string mark(const Difference& d) {
    const Finding f = positive(d);
    finding_ = worst(finding_, f);
    return " [" + apart(d) + (f == Finding::holds ? "]" : f == Finding::fails ? ": no]" : ": not decided]");
  }

  void lower() {
    start();
    const auto first = cells_of(j_.of.front());
    std::vector<std::string> series;
    for (const std::string& name : j_.of) series.push_back(cells_of(name).front()->series);
    say(where() + facts(j_.y).noun + (first.size() > 1 ? " of " + join(series, " and ") : ""));
    for (std::size_t v = 0; v < first.size(); ++v) {
      std::string line = first.size() > 1 ? "at " + number(*first[v]->value) + ": " : "";
      const Measured* before = nullptr;
      for (const std::string& name : j_.of) {
        const auto cells = cells_of(name);
        const Measured* m = cells.size() == 1 ? cells.front() : cells.at(v);
        line += (before == nullptr ? "" : ", ") + (first.size() > 1 ? range(values(*m)) : text(*m));
        if (before != nullptr) line += mark(between(*before, *m));
        before = m;
      }
      say(line);
    }
  }

  void close() {
    start();
    say(where() + facts(j_.y).noun);
    const double target = spread(values(one(j_.of.front()))).mean;
    for (const std::string& name : j_.of)
      for (const Measured* m : cells_of(name)) {
        say(text(*m));
        const double off = std::abs(spread(values(*m)).mean - target);
        if (!(off <= j_.tolerance)) finding_ = Finding::fails;
      }
    said_.back() += ", allowed difference " + shown(j_.y, j_.tolerance);
  }

  void trend(double sign) {
    start();
    say(where() + facts(j_.y).noun);
    for (const std::string& name : j_.of) {
      const auto cells = cells_of(name);
      const bool sweep = cells.size() > 1;
      const std::vector<double> from = sweep ? values(*cells.front()) : cells.front()->values(j_.y, "0"),
                                to = values(*cells.back());
      Difference d = difference(from, to);
      if (lone(*cells.front()) || lone(*cells.back())) d.error = std::numeric_limits<double>::infinity();
      d.mean *= sign;
      finding_ = worst(finding_, positive(d));
      d.mean *= sign;
      std::string path;
      if (sweep) {
        for (const Measured* m : cells) path += (path.empty() ? "" : " → ") + shown(j_.y, spread(values(*m)).mean);
      } else {
        path = shown(j_.y, spread(from).mean) + " → " + shown(j_.y, spread(to).mean);
      }
      say(cells.front()->series + ": " + path + " [" + apart(d) + "]");
    }
  }
  void falls() { trend(-1); }
  void rises() { trend(1); }

  void lowest() {
    start();
    for (const std::string& name : j_.of) {
      const auto cells = cells_of(name);
      const Measured* best =
          *std::ranges::min_element(cells, {}, [&](const Measured* m) { return spread(values(*m)).mean; });
      std::string path;
      for (const Measured* m : cells)
        path += (path.empty() ? "" : ", ") + number(*m->value) + ": " + shown(j_.y, spread(values(*m)).mean);
      say("lowest " + facts(j_.y).noun + " at " + number(*best->value) + " (" + path + ")");
      const double span = spread(values(*best)).mean;
      // Values inside that are no worse than the best by more than the tolerance count as a tie.
      const bool inside = std::ranges::any_of(cells, [&](const Measured* m) {
        return *m->value >= j_.low && *m->value <= j_.high && spread(values(*m)).mean <= span + j_.tolerance;
      });
      if (!inside) finding_ = Finding::fails;
    }
  }

  void gain() {
    const Difference first = between(one(j_.of[1]), one(j_.of[0])), second = between(one(j_.of[3]), one(j_.of[2]));
    const Difference d{first.mean - second.mean, std::hypot(first.error, second.error)};
    finding_ = positive(d);
    const auto pair = [&](std::size_t a, std::size_t b, const Difference& gained) {
      return one(j_.of[a]).legend + " against " + one(j_.of[b]).legend + ": " + apart(gained);
    };
    say(where() + facts(j_.y).noun + " gained: " + pair(0, 1, first) + "; " + pair(2, 3, second));
  }

  // Rules on one number per cell, which the runs share: nothing to take an error of.
  void ordered(const std::string& what, const std::function<double(const Measured&)>& of) {
    start();
    std::string line = what + ": ";
    double before = nothing;
    for (std::size_t k = 0; k < j_.of.size(); ++k) {
      const Measured& m = one(j_.of[k]);
      const double v = of(m);
      line += (k == 0 ? "" : ", ") + m.legend + " " + shown(j_.y, v);
      if (k > 0 && !(before < v)) {
        finding_ = Finding::fails;
        line += " [no]";
      }
      before = v;
    }
    say(line);
  }
  void steadier() {
    ordered("range of the " + facts(j_.y).noun + " over runs, averaged over rounds", [&](const Measured& m) {
      double sum = 0;
      for (long t = 1; t <= m.rounds(); ++t) {
        const Spread s = m.at_round(j_.y, static_cast<std::size_t>(t));
        sum += s.high - s.low;
      }
      return sum / static_cast<double>(m.rounds());
    });
  }
  void smoother() {
    ordered("mean change of the " + facts(j_.y).noun + " from round to round", [&](const Measured& m) {
      double sum = 0;
      long steps = 0;
      for (const auto& run : m.runs) {
        const Curve& c = run.at(j_.y);
        for (std::size_t t = 2; t < c.size(); ++t, ++steps) sum += std::abs(c[t] - c[t - 1]);
      }
      return sum / static_cast<double>(steps);
    });
  }

  void near_optimum(bool expected) {
    start();
    for (const std::string& name : j_.of)
      for (const Measured* m : cells_of(name)) {
        const double v = spread(values(*m)).mean;
        if (j_.y == Metric::distance) {
          say(where() + m->legend + " " + fmt::format("{:.3g} %", 100 * v) + " away from the optimum");
          if ((v <= j_.tolerance) != expected) finding_ = Finding::fails;
          continue;
        }
        const double best = spread(m->optimum.at(j_.y)).mean;
        say(where() + text(*m) + ", optimum " + shown(j_.y, best) + fmt::format(" ({:+.2g} %)", 100 * (v / best - 1)));
        if ((std::abs(v / best - 1) <= j_.tolerance) != expected) finding_ = Finding::fails;
      }
    said_.back() += fmt::format("; the line is drawn at {:.3g} %", 100 * j_.tolerance);
  }
  void reaches() { near_optimum(true); }
  void misses() { near_optimum(false); }

  void ratio() {
    const double a = spread(values(one(j_.of[0]))).mean, b = spread(values(one(j_.of[1]))).mean, r = a / b;
    finding_ = r >= j_.low && r <= j_.high ? Finding::holds : Finding::fails;
    say(where() + facts(j_.y).noun + ": " + text(one(j_.of[0])) + ", " + text(one(j_.of[1])) +
        fmt::format(", ratio {:.3g} (asked: {:.3g} to {:.3g})", r, j_.low, j_.high));
  }

  void below() {
    start();
    for (const std::string& name : j_.of)
      for (const Measured* m : cells_of(name)) {
        say(where() + facts(j_.y).noun + ": " + text(*m));
        if (!(spread(values(*m)).mean < j_.tolerance)) finding_ = Finding::fails;
      }
    said_.back() += ", asked: below " + shown(j_.y, j_.tolerance);
  }

  const Judge& j_;
  const std::vector<Measured>& all_;
  Finding finding_ = Finding::fails;
  std::vector<std::string> said_;
};

}  // namespace

std::string misuse(const Judge& j, bool has_range) {
  const std::size_t n = j.of.size();
  const JudgeRule rule = j.rule;
  const bool ranged = rule == JudgeRule::lowest || rule == JudgeRule::ratio;
  if (has_range != ranged) return ranged ? "the rule needs between = [low, high]" : "the rule has no use for between";
  if (rule == JudgeRule::gain && n != 4) return "the rule compares two pairs: four runs";
  if (rule == JudgeRule::ratio && n != 2) return "the rule takes two runs";
  if ((rule == JudgeRule::lower || rule == JudgeRule::steadier || rule == JudgeRule::smoother) && n < 2)
    return "the rule compares at least two runs";
  const bool tolerant = rule == JudgeRule::close || rule == JudgeRule::reaches || rule == JudgeRule::misses ||
                        rule == JudgeRule::below || rule == JudgeRule::lowest;
  if (j.tolerance != 0 && !tolerant) return "the rule has no use for a tolerance";
  if (j.tolerance <= 0 && tolerant && rule != JudgeRule::lowest) return "the rule needs a tolerance above 0";
  if ((rule == JudgeRule::reaches || rule == JudgeRule::misses) && j.y != Metric::distance &&
      j.y != Metric::train_loss && j.y != Metric::test_error)
    return "only the training loss, the test error and the distance have an optimum";
  return n == 0 ? "the rule names no run" : "";
}

bool reads_rounds(const Judge& j) {
  const JudgeRule rule = j.rule;
  return j.at != Moment::end || rule == JudgeRule::falls || rule == JudgeRule::rises || rule == JudgeRule::steadier ||
         rule == JudgeRule::smoother;
}

Judgement decide(const Judge& judge, const std::vector<Measured>& all) {
  return Deciding(judge, all).decide();
}

std::string verdict(const std::vector<Judgement>& judgements) {
  long claims = 0, hold = 0, fail = 0;
  for (const Judgement& j : judgements) {
    if (!j.claim) continue;
    ++claims;
    hold += j.finding == Finding::holds ? 1 : 0;
    fail += j.finding == Finding::fails ? 1 : 0;
  }
  if (hold == claims) return "holds";
  if (fail == claims) return "does not hold";
  if (hold + fail == 0) return "undecided";
  return hold == 0 ? "does not hold" : "holds in part";
}

std::string in_words(Finding finding) {
  return finding == Finding::holds ? "holds" : finding == Finding::fails ? "does not hold" : "not decided";
}

}  // namespace parley::experiment
