// A study between parties that keep their rows: the public file that each holds a copy of. Copies may differ in bytes
// (comments, order, addresses, where the schema stands) and must not differ in meaning: before round 1 the parties
// compare study_hash, and a difference names its field (docs/operate/study.md).
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/algorithm/planner.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/data/schema.h"
#include "parley/identity/identity.h"
#include "parley/network/graph.h"

namespace parley::study {

struct Invited {  // a line of the roster
  std::string name;
  std::string address;      // host:port at which the holder of this copy reaches it: not part of the meaning
  std::string fingerprint;  // SHA-256 of its certificate, 64 hexadecimal digits
  std::string certificate;  // the certificate itself: a PEM file beside the study, or its text; may be empty
  long records = 0;         // B_i, public; a trainer has none
  bool trainer = false;     // of a star
  std::optional<identity::Certificate> pinned{};  // what `certificate` holds
};
std::vector<Option> option_rows(Invited& p);

enum class OnLoss { stop, go_on };
constexpr Words<OnLoss, 2> words(OnLoss) {
  return {{{"stop", OnLoss::stop}, {"continue", OnLoss::go_on}}};
}

struct Study {
  std::string title;
  std::string nonce;  // random, so that two studies never have the same hash
  double deadline_seconds = 10;
  double wait_seconds = 600;
  Choice<OnLoss> on_loss = OnLoss::stop;
  std::optional<std::uint64_t> seed;  // tests: NOT PRIVATE
  std::string schema;                 // a file beside the study; its content counts
  long features = 0;                  // of LIBSVM data, instead
  network::GraphOptions graph;
  algorithm::Options algorithm;
  std::vector<Invited> parties;  // node number = position; a trainer is last wherever it stands in the file

  std::filesystem::path file;
  std::string schema_toml;           // what the schema says, in one spelling; empty while its file is missing
  std::map<std::string, int> lines;  // of the options that the file sets

  int node_of(const std::string& name) const;  // or Error with the nearest name
};
std::vector<Option> option_rows(Study& s);

constexpr std::uintmax_t largest_study = 16 * mebibyte;  // 10,000 parties with their certificates
// Throws one Error with every mistake of the file, each with its line. The roster may still be incomplete.
Study read_study(const std::filesystem::path& file);
Study parse_study(std::string_view text, const std::filesystem::path& file);

// A file that a study names stands beside it: the study comes from others, and its names lead nowhere else. It may be
// missing. Error when the name leads elsewhere, or it is not a file of at most 1 MiB.
std::filesystem::path file_beside(const std::filesystem::path& study, const std::string& name,
                                  const std::string& where);
bool is_address(const std::string& text);  // host:port

// A file to begin with: every decision with its comment, a fresh nonce, nobody invited.
std::string study_template();
// The text, byte for byte, with one more [[party]] block.
std::string with_party(std::string text, const Invited& party);

struct StudyPlan {
  algorithm::Selected selected;  // which algorithm runs, and whether the planner chose it
  network::Graph graph;          // of a star: the trainer is the last node
  algorithm::Setting setting;
  algorithm::Plan plan;
  data::Unit unit{};  // whom every epsilon is for

  Index dimension() const { return plan.nodes.front().loss.scores() * static_cast<Index>(setting.features); }  // of f
  std::vector<int> heard_by(int node) const;  // whom its releases reach: its neighbours or, passed on, everybody
};

// What will be done, known before anyone reads a row; Error while the study cannot start.
StudyPlan plan_of(const Study& study);
// The same of a study that may have run before a budget was asked of everybody: to check, show or abandon it.
StudyPlan plan_of_past(const Study& study);
std::vector<std::string> not_private(const Study& study, const StudyPlan& plan);  // why the claim is none

// Everything that must be equal between parties, with keys in order, and what identifies it.
nlohmann::json canonical_json(const Study& study, const StudyPlan& plan);
std::string study_hash(const nlohmann::json& canonical);
std::string run_id(const std::string& study_hash);  // a study is run once; a restart resumes it

// The first field in which two studies differ, in words, with both values: "rounds: 50 here, 40 at hospital_b".
// "": none. `there` may be anything that a peer sends.
std::string difference(const nlohmann::json& here, const nlohmann::json& there, const std::string& peer);

// An Error's text about an option, in the words of the file: "option --rounds" is "study.toml:7", --rounds is rounds.
std::string in_words_of(const Study& study, std::string text);
Error in_words_of(const Study& study, const Error& error);

}  // namespace parley::study
