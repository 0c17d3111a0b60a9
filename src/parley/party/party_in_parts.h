// A party through all parts of its run (study/continuation.h): messages go to the part that they belong to, and when
// the survivors of a loss have agreed, the next part begins. The earlier ones keep answering: a survivor may still lack
// somebody's consent, and whoever was left behind is told so. Like Party a state machine without thread or clock.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "parley/party/party.h"

namespace parley::party {

class PartyInParts {
 public:
  struct One {
    std::unique_ptr<Party> party;
    std::string run;         // its id
    std::vector<int> nodes;  // of the study, by node number in this part
    std::string begins{};    // a sentence for the party's log; empty: none
  };
  // Makes the part that follows `before`, which has ended as continued; null: the first one. From what is on disk.
  using Make = std::function<One(Party* before, double now)>;
  PartyInParts(Make make, double now);

  protocol::Receipt deliver(const std::string& caller, std::string_view bytes);
  void answered(std::uint64_t call, const protocol::Receipt& receipt);
  void failed(std::uint64_t call);
  void tick(double now);
  protocol::Actions take();  // peers by their node number in the study

  struct Job {
    Party* party = nullptr;
    int part = 1;
    Party::Job job;
  };
  bool has_job() const { return now().has_job(); }
  std::optional<Job> job();
  static privacy::Release solve(const Job& job, privacy::Random& random) { return job.party->solve(job.job, random); }
  void solved(const Job& job, privacy::Release release);
  static bool unsolved(const Job& job, const std::string& reason) { return job.party->unsolved(reason); }
  void interrupt();

  int part() const { return static_cast<int>(parts_.size()); }
  const Party& now() const { return *parts_.back().party; }
  const Party& part(int number) const { return *parts_[static_cast<std::size_t>(number) - 1].party; }
  const std::optional<protocol::Ending>& ending() const { return now().ending(); }
  std::set<int> contradicted() const;  // nodes of the study: who has signed two things that exclude each other
  bool finished() const { return now().finished(); }
  Vector model() const { return now().model(); }
  Vector own_iterate() const { return now().own_iterate(); }
  const algorithm::newton::Estimate* estimate() const { return now().estimate(); }

 private:
  void go_on();

  Make make_;
  double now_;
  std::vector<One> parts_;
  std::vector<LogLine> reports_;
};

}  // namespace parley::party
