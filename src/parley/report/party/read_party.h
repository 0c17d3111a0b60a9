// The record of `join`: one party's own values, the study that all parties signed, and its signed statement; of a run
// that went on after a loss, all parts as one run.
#pragma once
#include "parley/report/find.h"
#include "parley/report/run.h"

namespace parley::report {

Run read_party(const Sources& sources, Audience audience);  // of one run, in the order given

const Source* part_of(const Source& source, std::size_t part);  // the record of a part, 0 the first; null: it has none
void read_statement(Run& run, const Source& source);            // read_statement.cpp
// compare_records.cpp: of a run with its parts. What its parties' transcripts tell of each other goes into the void claims.
void compare_records(Run& run, const Sources& sources);

// What simulations and parties have in common (read.cpp).
void read_common(Run& run, const Source& source, const nlohmann::json& options);
void read_in_force(Run& run, const nlohmann::json& top);  // in place of "auto", after the options
void read_coefficients(Run& run, const nlohmann::json& top);
void read_expected(Run& run, const nlohmann::json& top);            // what the planner chose and let expect
void read_worth(Metrics& metrics, const nlohmann::json& measured);  // what a model is worth against guessing
// The lines of a folder: those from `from` through `through` of its own, which stand `before` rounds later in the run.
struct Stretch {
  int part = 1, before = 0, from = 0, through = 1'000'000'000;
};
void read_rounds(Run& run, const std::filesystem::path& folder, Audience audience, const Stretch& stretch = {});

}  // namespace parley::report
