// Where the records are, and what the audience may see of them.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/record/schema.h"

namespace parley::report {

// For whom a report is made, and which options it may show.
struct View {
  record::Audience audience = record::Audience::anyone;
  record::OptionRule option{};
};

// The folder of one process: of a simulation, of a rank of an MPI job, or of a party.
struct Source {
  std::filesystem::path folder;
  nlohmann::json run;    // run.json, as far as the audience may see it
  std::string identity;  // equal for runs of the same options up to seed and place; compared, never shown
  int options_hidden = 0;
  std::string split;            // how rows were dealt, whoever may see it
  bool seeded = false;          // its options have a seed, whoever may see them
  std::vector<Source> later{};  // of a party whose run went on after a loss: its other parts, in their order
};

Source source_from(const nlohmann::json& run, const std::filesystem::path& folder, const View& view);

// A run and the folders it left: one, or those of its ranks, or those of the study's parties that were given.
using Sources = std::vector<Source>;
std::vector<Sources> find_runs(const std::vector<std::filesystem::path>& folders, const View& view);

}  // namespace parley::report
