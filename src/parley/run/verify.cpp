#include "parley/run/verify.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/run/replay.h"
#include "parley/run/testimony.h"
#include "parley/run/verify_ledger.h"
#include "parley/run/verify_papers.h"

namespace parley::run {
namespace {

class Verification {
 public:
  explicit Verification(const std::filesystem::path& study) : basis_(basis_of(study)) {
    result_.title = basis_.study.title;
    result_.hash = basis_.hash;
    result_.noisy = basis_.plan.plan.noisy();
    result_.bound = basis_.plan.plan.verified_only() ? "numerically verified" : "proved";
    result_.not_private = not_private(basis_.study, basis_.plan);
    result_.delta = result_.noisy ? basis_.plan.plan.nodes.front().delta : 0;
    own_.resize(static_cast<std::size_t>(basis_.agreed.nodes()), nullptr);
  }

  Verified run(const VerifyOptions& o, const std::vector<std::string>& folders) {
    read(folders);
    for (int node = 0; node < basis_.agreed.nodes(); ++node) compare(node);
    for (int node = 0; node < basis_.agreed.nodes(); ++node) follow(node);
    for (const Testimony& t : testimonies_) {
      check_rounds(t);
      check_papers(basis_, t, replayed_, result_.wrong);
      result_.messages += t.messages;
    }
    for (const std::string& file : o.ledger) check_ledger(basis_, file, merged_, result_);
    return std::move(result_);
  }

 private:
  const Testimony* own(int node) const { return own_[static_cast<std::size_t>(node)]; }
  const std::string& name(int node) const { return basis_.name(node); }
  void wrong(const std::string& sentence) { result_.wrong.push_back(sentence); }

  void read(const std::vector<std::string>& folders) {
    testimonies_.reserve(folders.size());  // own_ points into it
    for (const std::string& folder : folders) {
      auto t = read_testimony(basis_, folder, result_.wrong);
      if (!t) continue;
      if (own(t->node) != nullptr)
        throw Error({.what = "two records of one party",
                     .value = name(t->node),
                     .where = folder,
                     .fix = "give one of " + folder + " and " + own(t->node)->folder.string()});
      testimonies_.push_back(std::move(*t));
      own_[static_cast<std::size_t>(testimonies_.back().node)] = &testimonies_.back();
    }
  }

  // What the others received of this node: the same from each other, and the same as it recorded itself.
  void compare(int node) {
    std::vector<const Testimony*> receivers;
    for (const Testimony& t : testimonies_)
      if (t.node != node && t.values.contains(node)) receivers.push_back(&t);
    const Testimony* const self = own(node);
    bool agreed = true;
    for (std::size_t i = 1; i < receivers.size(); ++i)
      if (const int round = differing(*receivers[0], *receivers[i], node); round >= 0) {
        agreed = false;
        wrong(name(node) + ", round " + std::to_string(round) + ": it sent one value to " + name(receivers[0]->node) +
              " and another to " + name(receivers[i]->node) + ", and signed both");
      }
    for (const Testimony* t : receivers) {
      if (self == nullptr) break;
      const int round = agreed ? differing(*self, *t, node) : -1;
      if (round >= 0)
        wrong(name(node) + ", round " + std::to_string(round) + ": its own record differs from the value that " +
              name(t->node) + " received and " + name(node) + " signed");
      if (self->intact && t->rounds_of(node) > self->rounds_of(node))
        wrong(name(node) + ", round " + std::to_string(self->rounds_of(node)) + ": missing in its own record, and " +
              name(t->node) + " received it");
      if (round >= 0) break;
    }
    compare_finals(node);
    const Testimony* best = self;
    for (const Testimony* t : receivers)
      if (best == nullptr || (!best->intact && t->rounds_of(node) > best->rounds_of(node))) best = t;
    if (best != nullptr && best->values.contains(node)) merged_[node] = best->values.at(node);
    const auto holders = receivers.size() + (self != nullptr ? 1 : 0);
    if (holders >= 2 && agreed && merged_.contains(node)) result_.compared += static_cast<long>(merged_[node].size());
  }

  // The first round of this node's in which two records differ; −1: none.
  static int differing(const Testimony& a, const Testimony& b, int node) {
    const int rounds = std::min(a.rounds_of(node), b.rounds_of(node));
    for (int round = 0; round < rounds; ++round) {
      const auto at = static_cast<std::size_t>(round);
      if (a.values.at(node)[at].head != b.values.at(node)[at].head) return round;
    }
    return -1;
  }

  void compare_finals(int node) {
    const Testimony* first = nullptr;
    for (const Testimony& t : testimonies_) {
      if (!t.finals.contains(node)) continue;
      if (first == nullptr) first = &t;
      if (t.finals.at(node).payload == first->finals.at(node).payload) continue;
      wrong(name(node) + ": the final iterate that " + name(first->node) + " has is not the one that " + name(t.node) +
            " has, and it signed both");
      return;
    }
  }

  void follow(int node) {
    const Testimony* const self = own(node);
    Values seen = self != nullptr && self->intact ? self->values : merged_;
    Replayed r = replay(basis_, node, seen, result_.wrong);
    const int rounds = seen.contains(node) ? static_cast<int>(seen[node].size()) : 0;
    if (r.rounds < rounds && (self == nullptr || !self->intact))
      result_.unchecked.push_back(name(node) + ": steps from round " + std::to_string(r.rounds) +
                                  " on; what it received from " + r.stopped_by + " is not in these records");
    else if (r.rounds < rounds)
      wrong(name(node) + ", round " + std::to_string(r.rounds) + ": it was released, and the value of " + r.stopped_by +
            " that it was computed from is not in its transcript");
    if (self == nullptr) result_.unchecked.push_back(name(node) + ": its own record was not given");
    const bool whole = self != nullptr ? self->outcome() == "completed" : rounds == basis_.agreed.rounds + 1;
    VerifiedParty party{.name = name(node),
                        .folder = self == nullptr ? "" : self->folder.string(),
                        .outcome = self == nullptr ? "" : self->outcome(),
                        .trainer = basis_.is_trainer(node),
                        .rounds = rounds,
                        .rounds_from_rows = rounds_from_rows(basis_, node, rounds),
                        .recomputed = r.recomputed,
                        .epsilon = found_epsilon(basis_, node, rounds, whole),
                        .delta = result_.delta,
                        .stated = self == nullptr ? std::nullopt : stated_epsilon(*self)};
    result_.epsilon = std::max(result_.epsilon, party.epsilon);
    result_.parties.push_back(std::move(party));
    replayed_.push_back(std::move(r));
  }

  // Of a completed run every round must be there.
  void check_rounds(const Testimony& t) {
    if (!t.ended())
      result_.unchecked.push_back(name(t.node) + ": its run has not ended (" + t.outcome() +
                                  "), so there is no statement and no model");
    if (t.outcome() != "completed" || !t.intact) return;
    std::vector<int> origins = basis_.agreed.graph.neighbours(t.node);
    origins.push_back(t.node);
    for (const int origin : origins)
      if (t.rounds_of(origin) <= basis_.agreed.rounds)
        wrong(name(t.node) + ", round " + std::to_string(t.rounds_of(origin)) + " of " + name(origin) +
              ": missing in its transcript, and its record says that the run was completed");
  }

  Basis basis_;
  std::vector<Testimony> testimonies_;
  std::vector<const Testimony*> own_;  // by node; null: not given
  Values merged_;                      // by origin: as recorded by itself, otherwise as received
  std::vector<Replayed> replayed_;     // by node
  Verified result_;
};

}  // namespace

std::vector<Option> option_rows(VerifyOptions& o) {
  return {{"study", "", "the study file that the parties agreed on, with their certificates", any_text("a file"),
           &o.study, "verify"},
          {"ledger", "", "a party's own ledger, or several: its charges are compared with the record",
           any_text("files"), &o.ledger, "verify"}};
}

Verified verify(const VerifyOptions& options, const std::vector<std::string>& records) {
  return Verification(options.study).run(options, records);
}

const std::vector<std::string>& beyond_verification() {
  static const std::vector<std::string> sentences = {
      "that a party added the noise that its charges are for: a value computed from rows looks like any other",
      "that a party computed it from the rows, and as many of them, as it says",
      "that a party kept no second copy of its rows, its noise or its ledger"};
  return sentences;
}

}  // namespace parley::run
