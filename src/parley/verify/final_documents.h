// What a party wrote at the end of a run, held against what follows from the released values: statement, model, final
// iterates, and the lines of its rounds.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/study/part_history.h"
#include "parley/verify/part.h"

namespace parley::verify {

// A party's record through all parts that it has one of.
struct WholeRecord {
  std::filesystem::path folder;
  nlohmann::json run;              // run.json of the whole
  int node = 0;                    // of the study
  const SeenPart* last = nullptr;  // its last part, and what it recorded there
  const study::PartyRecord* record = nullptr;
  study::PartHistory history{};
  Vector trainer_said{};  // in a star: the last value of the trainer's that it worked with

  bool whole() const { return record->outcome() == "completed"; }
  bool ended() const;  // with a statement, which a party stores before it says so
};

// The lines of its rounds in one part. through: its parts, this one the last.
void check_lines(const SeenPart& part, const study::PartyRecord& t, const study::PartHistory& through,
                 std::vector<std::string>& wrong);
void check_final_documents(const WholeRecord& record, std::vector<std::string>& wrong);

// The ε in its statement, whether it holds or not; nullopt: none is there.
std::optional<double> stated_epsilon(const std::filesystem::path& folder);
bool states_what_is_confirmed(const std::filesystem::path& folder);  // it has a statement, without "unconfirmed"

}  // namespace parley::verify
