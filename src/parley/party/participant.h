// A party's place in a study, before it opens a connection: who it is, what it holds, what it is going to spend.
#pragma once
#include <string>
#include <vector>

#include "parley/data/dataset.h"
#include "parley/data/read/load_csv.h"
#include "parley/identity/identity.h"
#include "parley/ledger/ledger_file.h"
#include "parley/party/join_options.h"
#include "parley/study/study.h"

namespace parley::party {

struct Participant {
  study::Study study;
  study::StudyPlan plan;
  std::string canonical, hash;
  int node = 0;
  bool trainer = false;
  identity::Identity self;
  std::vector<std::string> stamps;  // why NOT PRIVATE

  const algorithm::Schedule& schedule() const { return plan.plan.nodes[trainer ? 0 : static_cast<std::size_t>(node)]; }
  Index dimension() const { return plan.dimension(); }
  const study::Invited& me() const { return study.parties[static_cast<std::size_t>(node)]; }
};
Participant participant_of(study::Study study, study::StudyPlan plan, const std::string& name);  // without its key
Participant participant_from(const JoinOptions& o);  // Error: a key or certificate that the others would refuse

// Privacy: rows, as the public schema encodes them; a trainer has none. The last --test-share of the file is held out,
// by position alone: which rows these are follows from the number of rows and not from any value; of persons (data/split.h)
// from where each first appears. A neighbouring file (one row or one person replaced, at its place) has the same split. Nothing that leaves is computed from rows that are held out.
struct OwnRows {
  data::Dataset trained;  // as many as the roster says
  data::Rows held_out;
};
OwnRows own_rows(const JoinOptions& o, const study::Study& study, const data::Watch& watch = {});

// What the run will charge to this party's ledger.
ledger::PlannedRun planned_run(const JoinOptions& o, const Participant& participant, const data::Dataset& rows,
                               const ledger::LedgerFile& book);

// How the owner makes a ledger that allows this study.
std::string cap_command(const Participant& participant, const std::string& dataset);
std::string key_file(const JoinOptions& o);
std::string certificate_file(const JoinOptions& o);

}  // namespace parley::party
