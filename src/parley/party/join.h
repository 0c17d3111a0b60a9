// One party of a study between organisations: its own process beside its own rows, ledger and key.
// Privacy: what leaves are signed messages made from paid releases (protocol/exchange.h). Nothing is computed on rows
// but the releases, unless local metrics are asked for, and those go to a file of this party's own.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parley/party/join_options.h"
#include "parley/protocol/exchange.h"
#include "parley/study/study.h"

namespace parley::party {

struct JoinProgress {
  int round = 0, rounds = 0;     // of messages: the last one that this party released
  int peers = 0, answering = 0;  // neighbours
  std::string epsilon{};         // spent of planned, and against whom, in words; "": a trainer, or no noise
  bool stamped = false;          // NOT PRIVATE
  double seconds_left = 0;       // at the pace of this process so far; < 0: not yet known
};

struct JoinHooks {
  std::function<void(const study::Study& study, const study::StudyPlan& plan, const std::string& hash,
                     const std::string& folder)>
      on_start;
  std::function<void(const JoinProgress& progress)> on_progress;
  std::function<void(const LogLine& line)> report;
  const std::atomic<bool>* stop = nullptr;
  data::Watch watch{};  // while this party's rows are loaded
};

struct Joined {
  protocol::Ending ending;
  // What this party's records have lost, at most. Neither this nor the final documents are there when its past is
  // unknown.
  std::optional<double> epsilon, delta;  // against the colluders that the study allows for
  double epsilon_all_others = 0;         // against all others together: the same where no noise is shared
  std::string against{};                 // whom epsilon holds against, where noise is shared
  std::string several_parties{};         // what rows at two of the parties cost (run/claim.h)
  int rounds_from_rows = 0;
  long rows_per_person = 0;  // whom epsilon is for; 0: one record
  std::vector<std::string> not_private;
  std::string folder;
  bool has_model = false, has_statement = false;
  bool complete_before = false;      // an earlier process had the model
  std::vector<std::string> parts{};  // of a run that went on after a loss, a line each, and what the model is made of
  std::optional<std::string> contradiction{};  // of somebody's, kept in the transcript
  bool metrics_held_out = false;               // measured on rows of --test-share, not on those of the training
  std::string private_metrics{};               // a file that is never shared; "": there is none
  struct {
    double total = 0, solve = 0, pay = 0, wait = 0;
  } seconds;
};

// Takes part in the study, or goes on where an earlier process stopped. Error: a mistake that can be mended; nothing
// that was not charged has left.
Joined join(const JoinOptions& options, const JoinHooks& hooks);

}  // namespace parley::party
