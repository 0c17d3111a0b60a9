#include "parley/report/released.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/report/files.h"

namespace parley::report {
namespace {

class Following {
 public:
  Following(Run& run, std::size_t parties) : run_(run), parties_(parties), last_(run.nodes.size()), sum_(last_.size()) {
    const double rounds = run.rounds.empty() ? 0 : std::max<double>(run.rounds.back().round, planned());
    first_ = run.option("average") == "yes" ? static_cast<int>(rounds) / 2 + 1 : static_cast<int>(rounds) + 1;
  }

  void add(Round& round, const std::vector<Vector>& values) {
    bool spoke = false;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].size() > 0) {
        last_[i] = values[i];
        spoke = spoke || !run_.star || i == parties_;
      }
    const bool counts = run_.star ? round.round >= 2 && round.round % 2 == 0 : round.kind == "data";
    if (round.round >= first_ && counts) {
      ++count_;
      for (std::size_t i = 0; i < last_.size(); ++i)
        if (last_[i].size() > 0) sum_[i] = sum_[i].size() == 0 ? last_[i] : Vector(sum_[i] + last_[i]);
    }
    if (const Vector centre = centre_of(last_); spoke && centre.size() > 0) {
      if (centre_.size() == centre.size()) round.movement = (centre - centre_).norm();
      centre_ = centre;
    }
    if (!std::isnan(round.disagreement) || !whole()) return;
    const auto far = distances();
    round.disagreement = *std::ranges::max_element(far);
  }

  bool whole() const {
    return std::ranges::all_of(last_, [](const Vector& v) { return v.size() > 0; });
  }

  std::vector<double> distances() const {
    std::vector<Vector> f = last_;
    if (count_ > 0)
      for (std::size_t i = 0; i < f.size(); ++i)
        if (sum_[i].size() > 0) f[i] = sum_[i] / count_;
    const Vector centre = centre_of(f);
    std::vector<double> all;
    for (std::size_t i = 0; i < parties_; ++i) all.push_back((f[i] - centre).norm());
    return all;
  }

 private:
  double planned() const {  // rounds of messages; a star has two for each
    const std::string text = run_.option("rounds");
    const double rounds = text.empty() ? 0 : std::atof(text.c_str());
    return run_.star ? 2 * rounds : rounds;
  }

  Vector centre_of(const std::vector<Vector>& f) const {
    if (run_.star) return f.back();
    Vector sum;
    int n = 0;
    for (const Vector& v : f)
      if (v.size() > 0) {
        sum = sum.size() == 0 ? v : Vector(sum + v);
        ++n;
      }
    return n == 0 ? sum : Vector(sum / n);
  }

  Run& run_;
  std::size_t parties_;
  std::vector<Vector> last_, sum_;
  int first_ = 0, count_ = 0;
  Vector centre_;
};

}  // namespace

void add_released(Run& run, const std::vector<Part>& parts) {
  std::vector<ReleasedFile> files;
  for (const Part& part : parts) files.emplace_back(part.folder, member(part.run, "released"));
  const std::size_t parties = run.nodes.size() - (run.star ? 1 : 0);
  if (run.nodes.empty() || parties == 0) return;
  // A party of a star sees the trainer's value only in the trainer's own record: without it, follow its own.
  const bool trainer_known = std::ranges::any_of(
      files, [&](const ReleasedFile& f) { return f.first() + f.nodes() >= static_cast<int>(run.nodes.size()); });
  Run view = run;
  if (run.star && !trainer_known) view.star = false;
  Following following(view, view.star ? parties : run.nodes.size());
  for (Round& round : run.rounds) {
    std::vector<Vector> values(run.nodes.size());
    for (ReleasedFile& file : files) {
      std::vector<Vector> some;
      if (!file.next(some)) return;
      for (std::size_t i = 0; i < some.size(); ++i)
        if (const std::size_t at = i + static_cast<std::size_t>(file.first()); at < values.size())
          values[at] = std::move(some[i]);
    }
    Index size = -1;  // parties' folders may have been mixed up
    for (const Vector& v : values)
      if (v.size() > 0 && size >= 0 && v.size() != size)
        return run.faults.push_back("released values have different sizes");
      else if (v.size() > 0)
        size = v.size();
    following.add(round, values);
  }
  if (!following.whole()) return;
  const auto far = following.distances();
  for (std::size_t i = 0; i < far.size() && i < run.nodes.size(); ++i) run.nodes[i].distance = far[i];
}

}  // namespace parley::report
