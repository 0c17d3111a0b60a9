// An experiment that has run: its judgements, and the files it leaves: NAME.csv, NAME.svg (or NAME-a.svg, …),
// NAME.json.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/experiment/experiment.h"
#include "parley/experiment/judge.h"
#include "parley/experiment/measured.h"
#include "parley/report/drawing/chart.h"

namespace parley::experiment {

struct Outcome {
  Experiment experiment;
  std::vector<Measured> measured;
  std::vector<Judgement> judgements;
  double seconds = 0;  // that its runs took, added up
};
Outcome judged(Experiment experiment, std::vector<Measured> measured, double seconds);

report::Chart chart(const Outcome& outcome, const Panel& panel);
std::string csv(const Outcome& outcome);  // every panel's points, with the ε, δ, nodes and runs they must be read with
nlohmann::json to_json(const Outcome& outcome);

// What makes a stored result this experiment's: its text and form.
std::string fingerprint(const Experiment& experiment);
std::vector<std::string> chart_files(const Experiment& experiment);

void write(const Outcome& outcome, const std::filesystem::path& folder);
// The stored NAME.json when it is of this very experiment and all its files are there; null otherwise.
nlohmann::json stored(const Experiment& experiment, const std::filesystem::path& folder);

// From stored results, in Markdown: a table of verdicts, then a section per experiment.
std::string index(const std::vector<nlohmann::json>& results);

}  // namespace parley::experiment
