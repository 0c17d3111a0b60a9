// After the last round: the final iterate of each node that is part of the model, flooded until every party has all.
// Privacy: a final iterate is a function of released values, hence free; FinalIterate is made from nothing else.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "parley/privacy/release.h"
#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

// The mean of what a node released in the rounds that count, or its last value when none does.
class MeanOfReleases {
 public:
  explicit MeanOfReleases(std::function<bool(int round)> counts) : counts_(std::move(counts)) {}
  // Goes on from what an earlier part of the run has brought; counts: rounds of this one.
  MeanOfReleases(std::function<bool(int round)> counts, const MeanOfReleases& earlier)
      : counts_(std::move(counts)), last_(earlier.last_), sum_(earlier.sum_), count_(earlier.count_) {}
  void add(int round, const Vector& released);  // empty: it was silent
  Vector value() const;  // what the node stands at, also before the last round; empty: nothing released yet

 private:
  std::function<bool(int)> counts_;
  Vector last_, sum_;
  int count_ = 0;
};

class FinalIterate {  // of this node
 public:
  explicit FinalIterate(std::function<bool(int round)> counts) : mean_(std::move(counts)) {}
  FinalIterate(std::function<bool(int round)> counts, const FinalIterate& earlier)
      : mean_(std::move(counts), earlier.mean_) {}
  void add(const privacy::Paid& paid) { mean_.add(paid.round(), *paid.value()); }
  Vector value() const { return mean_.value(); }

 private:
  MeanOfReleases mean_;
};

class FinalIterates {
 public:
  explicit FinalIterates(const Agreement& agreed) : origins_(agreed.model_of), dimension_(agreed.dimension) {}

  // Of a message that passed inspection: accepted (the first of its origin's), duplicate, or a second, different one.
  Finding judge(const Message& m) const;
  void add(const Message& m, std::string bytes);

  bool has(int origin) const { return found_.contains(origin); }
  bool complete() const { return found_.size() == origins_.size(); }
  Vector model() const;  // complete: the mean in node order, the same bits at every party
  // Complete: SHA-256("parley seal 1" ‖ for each origin: node 4 ‖ head 32 ‖ payload), as the payload of a seal.
  std::string digest() const;
  std::optional<Digest> head(int origin) const;  // of its releases, as its final iterate has it; nullopt: not here

  // By origin: the signed bytes, as they are passed on.
  const std::map<int, std::string>& messages() const { return bytes_; }

 private:
  struct Found {
    Vector value;
    Digest head;
  };
  std::vector<int> origins_;
  Index dimension_;
  std::map<int, Found> found_;
  std::map<int, std::string> bytes_;
};

// The last word of each party: the head of its own releases, and a digest of all final iterates as it has them, signed and
// flooded. A run is complete where every party's seal is here and all say the same (R15): then every party that is honest
// has, or will never have another than, the same model. Without them a party in the middle could show each side another
// final iterate, and both would call the run complete.
class Seals {
 public:
  explicit Seals(const Agreement& agreed) : parties_(agreed.nodes()) {}

  // Of a message that passed inspection: accepted (the first of its sender's), duplicate, or a second, different one.
  Finding judge(const Message& m) const;
  void add(const Message& m, std::string bytes);

  bool has(int node) const { return seals_.contains(node); }
  std::optional<Digest> head(int node) const;  // of its releases, as its seal has it; nullopt: not here
  bool complete() const { return static_cast<int>(seals_.size()) == parties_; }
  // Whose seal is not this one; −1: nobody's, of those that are here.
  int other_than(const std::string& payload) const;

  const std::map<int, std::string>& messages() const { return bytes_; }  // by sender: the signed bytes

 private:
  struct Seal {
    Digest head;
    std::string payload;
  };
  int parties_;
  std::map<int, Seal> seals_;
  std::map<int, std::string> bytes_;
};

}  // namespace parley::protocol
