#include "parley/report/released.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "parley/record/files.h"
#include "parley/record/round.h"

namespace parley::report {
namespace {

class Following {
 public:
  Following(const Run& run, std::size_t parties)
      : run_(run), parties_(parties), there_(run.nodes.size(), true), last_(run.nodes.size()), sum_(last_.size()) {
    rounds_ = run.rounds.empty() ? 0 : std::max(run.rounds.back().round, planned_rounds());
  }

  // The others go on without them.
  void lose(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < there_.size(); ++i)
      if (std::ranges::find(names, run_.nodes[i].name) != names.end()) there_[i] = false;
    centre_ = centre_of(last_);  // a step from the mean of all to that of those who are left is no movement
  }

  bool take(const std::vector<Vector>& values) {
    bool spoke = false;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].size() > 0) {
        last_[i] = values[i];
        spoke = spoke || !run_.star || i == parties_;
      }
    return spoke;
  }

  void add(Round& round, const std::vector<Vector>& values) {
    const bool spoke = take(values);
    const record::Turn turn{
        .round = round.in_part, .touches_data = round.kind == record::RoundKind::data, .star = run_.star};
    if (run_.option("average") == "yes" && record::counts_in_mean(turn, round.round, rounds_)) {
      ++count_;
      for (std::size_t i = 0; i < last_.size(); ++i)
        if (last_[i].size() > 0) sum_[i] = sum_[i].size() == 0 ? last_[i] : Vector(sum_[i] + last_[i]);
    }
    if (const Vector centre = centre_of(last_); spoke && centre.size() > 0) {
      if (centre_.size() == centre.size()) round.movement = (centre - centre_).norm();
      centre_ = centre;
    }
    if (!std::isnan(round.disagreement) || !whole()) return;
    double most = 0;
    for (const double far : distances()) most = std::fmax(most, far);
    round.disagreement = most;
  }

  bool whole() const {
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (there_[i] && last_[i].size() == 0) return false;
    return true;
  }

  std::vector<double> distances() const {  // NaN: not there any more
    std::vector<Vector> f = last_;
    if (count_ > 0)
      for (std::size_t i = 0; i < f.size(); ++i)
        if (sum_[i].size() > 0) f[i] = sum_[i] / count_;
    const Vector centre = centre_of(f);
    std::vector<double> all;
    for (std::size_t i = 0; i < parties_; ++i) all.push_back(there_[i] ? (f[i] - centre).norm() : absent);
    return all;
  }

 private:
  int planned_rounds() const {  // of messages; a star has two for each
    const std::string text = run_.option("rounds");
    const int rounds = text.empty() ? 0 : static_cast<int>(std::atof(text.c_str()));
    return run_.star ? 2 * rounds : rounds;
  }

  Vector centre_of(const std::vector<Vector>& f) const {
    if (run_.star) return f.back();
    Vector sum;
    int n = 0;
    for (std::size_t i = 0; i < f.size(); ++i)
      if (there_[i] && f[i].size() > 0) {
        sum = sum.size() == 0 ? f[i] : Vector(sum + f[i]);
        ++n;
      }
    return n == 0 ? sum : Vector(sum / n);
  }

  const Run& run_;
  std::size_t parties_;
  std::vector<bool> there_;  // by node
  std::vector<Vector> last_, sum_;
  int rounds_ = 0, count_ = 0;
  Vector centre_;
};

// The values of one part, round by round, of everybody whose record is there.
class PartValues {
 public:
  PartValues(const Run& run, const Sources& sources, std::size_t part)
      : nodes_(run.nodes.size()), last_(part + 1 >= run.parts.size()) {
    for (const Source& source : sources) {
      if (part > source.later.size()) continue;  // it was lost before
      const Source& of = part == 0 ? source : source.later[part - 1];
      files_.emplace_back(of.folder, record::shape_of(of.run));
      const std::string name = record::text_in(of.run, "party");  // its number changes from part to part
      const auto named = std::ranges::find(run.nodes, name, &Node::name);
      first_.push_back(run.party && named != run.nodes.end() ? static_cast<std::size_t>(named - run.nodes.begin())
                                                             : static_cast<std::size_t>(files_.back().first()));
    }
  }

  // A trainer that these folders know.
  bool has_last_node() const {
    for (std::size_t k = 0; k < files_.size(); ++k)
      if (first_[k] + static_cast<std::size_t>(files_[k].nodes()) >= nodes_) return true;
    return false;
  }

  // false: some record ends here. In a part that another follows, whoever is lost may have recorded less.
  bool next(std::vector<Vector>& values) {
    values.assign(nodes_, Vector());
    bool any = false;
    for (std::size_t k = 0; k < files_.size(); ++k) {
      std::vector<Vector> some;
      if (!files_[k].next(some)) {
        if (last_) return false;
        continue;
      }
      any = true;
      for (std::size_t i = 0; i < some.size(); ++i)
        if (first_[k] + i < nodes_ && some[i].allFinite()) values[first_[k] + i] = std::move(some[i]);
    }
    return any;
  }

 private:
  std::size_t nodes_;
  bool last_;
  std::vector<record::ReleasedFile> files_;
  std::vector<std::size_t> first_;  // node, by file
};

bool one_size(const std::vector<Vector>& values) {  // parties' folders may have been mixed up
  Index size = -1;
  for (const Vector& v : values) {
    if (v.size() > 0 && size >= 0 && v.size() != size) return false;
    if (v.size() > 0) size = v.size();
  }
  return true;
}

}  // namespace

void add_released(Run& run, const Sources& sources) {
  const std::size_t parties = run.nodes.size() - (run.star ? 1 : 0);
  if (run.nodes.empty() || parties == 0) return;
  // Where sums are exchanged all hold one point, which no single value shows.
  for (const Source& source : sources)
    if (const auto shape = record::shape_of(source.run); shape && shape->sums) return;
  Run view = run;
  // A party of a star sees the trainer's value only in the trainer's own record: without it, follow its own.
  if (run.star && !PartValues(run, sources, 0).has_last_node()) view.star = false;
  Following following(view, view.star ? parties : run.nodes.size());
  std::size_t part = 0;
  std::optional<PartValues> values;
  std::vector<Vector> said;
  int read = -1;  // the round of this part that was read last
  for (Round& round : run.rounds) {
    if (!values || static_cast<std::size_t>(round.part) != part) {
      part = static_cast<std::size_t>(round.part);
      values.emplace(run, sources, part - 1);
      if (part - 1 < run.parts.size()) following.lose(run.parts[part - 1].lost);
      read = -1;
    }
    for (; read < round.in_part; ++read) {
      if (!values->next(said)) return;
      if (!one_size(said)) return run.faults.push_back("released values have different sizes");
      if (read + 1 < round.in_part) following.take(said);  // where a part begins: not a round of its own
    }
    following.add(round, said);
  }
  if (!following.whole()) return;
  const auto far = following.distances();
  for (std::size_t i = 0; i < far.size() && i < run.nodes.size(); ++i) run.nodes[i].distance = far[i];
}

}  // namespace parley::report
