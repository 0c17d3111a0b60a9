// One party of a run between organisations, as events: the driver's loop for a node whose neighbours are elsewhere. A
// pure state machine: whoever holds it carries messages, tells the time, owns disk and ledger, and solves when asked.
//   the order of a round (R1)   inbox stored and synced → job → solve → pay (ledger, synced) → commit → send
// Before job and before pay: is what the run is rebuilt from still there?
// After a restart the transcript's inputs and the ledger's own releases are committed again, without data, noise or
// charge; what was paid is sent again as it was.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/privacy/pair_noise.h"
#include "parley/privacy/release.h"
#include "parley/protocol/exchange.h"

namespace parley::party {

class Party {
 public:
  struct Own {
    std::unique_ptr<algorithm::Node> node;
    // Privacy: the owner's ledger. pay charges, stores and syncs, or says nullopt (the cap); stored gives back what was
    // paid as this node's round, before this process too.
    std::function<std::optional<privacy::Paid>(privacy::Release release)> pay;
    std::function<std::optional<privacy::Paid>(int round)> stored;
    // Privacy: marks the round as failed, for good; synced when it returns. Empty: nobody keeps marks.
    std::function<void(int round, const std::string& reason)> fail{};
    // Error: what this run is rebuilt from has gone, so nothing more is solved or paid. Empty: it cannot go.
    std::function<void()> check_in_place{};
    std::function<bool(int round)> counts;  // in the final iterate
    // Privacy: the noise that it shares, by everybody's keys; asked once, when all are here. Empty: it shares none.
    std::function<std::shared_ptr<const privacy::PairKeys>(const protocol::NoiseKeys& keys)> pairs{};
    bool sums = false;  // what it releases before the last round are no iterates (newton)
    // Of a part that goes on after a loss: what the earlier ones have brought, and the neighbours' values of its round
    // 0, as far as they are known from there (null: unknown).
    std::optional<protocol::FinalIterate> earlier{};
    privacy::Inbox expected{};
    // Each round with the inbox that it was computed from, before it is sent: record, report. Empty: nothing to do.
    std::function<void(const privacy::Paid& paid, const privacy::Inbox& inbox)> on_round{};
  };
  Party(Own own, protocol::Exchange::Setup setup, std::unique_ptr<AppendFile> transcript);

  // ---- the carrier's events (protocol/exchange.h) ----
  protocol::Receipt deliver(const std::string& caller, std::string_view bytes);
  void answered(std::uint64_t call, const protocol::Receipt& receipt);
  void failed(std::uint64_t call);
  void tick(double now);
  protocol::Actions take() { return exchange_.take(); }

  // ---- the solver's ----
  struct Job {
    int round = 0;
    privacy::Inbox inbox;
  };
  bool has_job() const { return solving_ == Solving::wanted && !exchange_.closed(); }
  std::optional<Job> job();  // once for each round that has to be solved
  // Changes nothing, so it may run on another thread while messages come in.
  privacy::Release solve(const Job& job, privacy::Random& random) const;
  // Pays for it, stores it, and only then lets it go. Dropped, unpaid, when the run has ended meanwhile.
  void solved(privacy::Release release);

  // It could not be solved, for a reason that depends on the noise: charged and marked, and then the run must end.
  // False when the run has ended meanwhile: dropped, as its release would have been, and nobody hears of it.
  bool unsolved(const std::string& reason);

  void stop(protocol::End end, const std::string& text) { exchange_.stop(end, text); }
  void withdraw(const std::string& text) { exchange_.withdraw(text); }
  void interrupt() { exchange_.stop(protocol::End::interrupted, "interrupted by its owner"); }

  const std::optional<protocol::Ending>& ending() const { return exchange_.ending(); }
  bool finished() const { return exchange_.finished(); }
  Vector model() const { return exchange_.model(); }  // after End::completed
  // Usable after any ending; a function of released values, as the node's state is.
  Vector own_iterate() const { return own_.sums ? own_.node->iterate() : final_.value(); }
  const algorithm::newton::Estimate* estimate() const { return own_.node->estimate(); }
  const protocol::Exchange& exchange() const { return exchange_; }

  // After protocol::End::continued, what the next part begins with; released values and nothing else.
  std::vector<Vector> own_values(int through) const;
  std::vector<privacy::Inbox> inboxes() { return exchange_.history(); }
  protocol::FinalIterate final_through(int round) const;

 private:
  void advance();
  void commit(const privacy::Paid& paid);
  void check_free(const privacy::Inbox& inbox);

  Own own_;
  int self_;
  double release_bound_;
  protocol::FinalIterate final_;
  protocol::Exchange exchange_;
  std::shared_ptr<const privacy::PairKeys> pairs_{};
  int round_ = 0;                        // the next one of this node's
  std::optional<privacy::Inbox> inbox_;  // what it is computed from
  enum class Solving { no, wanted, under_way } solving_ = Solving::no;
  bool finishing_ = false;
};

}  // namespace parley::party
