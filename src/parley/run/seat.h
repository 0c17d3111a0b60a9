// A party's place in a study, before it opens a connection: who it is, what it holds, what it is going to spend.
#pragma once
#include <string>
#include <vector>

#include "parley/data/dataset.h"
#include "parley/network/identity.h"
#include "parley/privacy/ledger_file.h"
#include "parley/run/join.h"
#include "parley/run/joint_study.h"

namespace parley::run {

struct Seat {
  JointStudy study;
  JointPlan plan;
  std::string canonical, hash;
  int node = 0;
  bool trainer = false;
  network::Identity self;
  std::vector<std::string> stamps;  // why NOT PRIVATE

  const algorithm::Schedule& schedule() const { return plan.plan.nodes[trainer ? 0 : static_cast<std::size_t>(node)]; }
  Index dimension() const { return schedule().loss.scores() * static_cast<Index>(plan.setting.features); }
  const Invited& me() const { return study.parties[static_cast<std::size_t>(node)]; }
};
Seat seat_of(JointStudy study, JointPlan plan, const std::string& name);  // without its key
Seat take_seat(const JoinOptions& o);  // Error: a key or certificate that the others would refuse

// Privacy: rows, as the public schema encodes them, as many as the roster says; a trainer has none.
data::Dataset own_rows(const JoinOptions& o, const JointStudy& study);

// What the run will charge to this party's ledger.
privacy::PlannedRun planned(const JoinOptions& o, const Seat& seat, const data::Dataset& rows,
                            const privacy::LedgerFile& book);

// How the owner makes a ledger that allows this study.
std::string cap_command(const Seat& seat, const std::string& dataset);
std::string key_file(const JoinOptions& o);
std::string certificate_file(const JoinOptions& o);

}  // namespace parley::run
