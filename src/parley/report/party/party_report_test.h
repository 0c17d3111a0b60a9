// What the tests of parties' pages share: two parties of one study, made by hand, with transcripts.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/base/append_file.h"
#include "parley/protocol/message.h"
#include "parley/protocol/transcript.h"
#include "parley/report/report.h"

namespace parley::report {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

inline bool shareable(const std::string& /*name*/, const json& /*value*/) {
  return true;
}

struct Said {  // by a party: one number a round
  std::string name;
  std::vector<double> values;
};
// A transcript as the party number `self` keeps it. Signatures are for verify.
inline void write_transcript(const fs::path& folder, int self, const std::vector<Said>& all,
                             int incarnation_nonce = 0) {
  fs::remove(folder / "transcript");
  protocol::Transcript transcript(open_append_file(folder / "transcript"), "its owner", [](auto, auto) {});
  for (std::size_t node = 0; node < all.size(); ++node) {
    Digest head{};
    for (std::size_t round = 0; round < all[node].values.size(); ++round) {
      protocol::Message m{.kind = protocol::Kind::value,
                          .run = "abc",
                          .configuration = "c",
                          .sender = all[node].name,
                          .node = static_cast<int>(node),
                          .round = static_cast<int>(round),
                          .process = {.incarnation = 1},
                          .payload = protocol::payload_of(Vector{{all[node].values[round]}}),
                          .signature = "s"};
      m.process.nonce[0] = static_cast<std::uint8_t>(node == 0 ? incarnation_nonce : 0);
      head = m.head = protocol::next_head(head, m.run, m.node, m.round, m.payload);
      transcript.append(
          static_cast<int>(node) == self ? protocol::Transcript::Entry::sent : protocol::Transcript::Entry::received,
          protocol::encode(m));
    }
  }
}

class PartyReport : public testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::temp_directory_path() / ("parley_party_report_" + std::to_string(::getpid()));
    fs::remove_all(base_);
    for (int i = 0; i < 2; ++i) write(i);
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(int node) {
    const std::string name = node == 0 ? "alpha" : "beta";
    const fs::path folder = base_ / name;
    fs::create_directories(folder);
    const json study = {{"title", "two clinics"},
                        {"edges", json::array({json::array({"alpha", "beta"})})},
                        {"parties",
                         {{{"name", "alpha"}, {"records", 40}, {"trainer", false}},
                          {{"name", "beta"}, {"records", 60}, {"trainer", false}}}},
                        {"options", {{"algorithm", "mr-admm"}, {"rounds", 1}, {"average", "auto"}}},
                        {"planned", {{"average", "no"}}},
                        {"seed", nullptr}};
    const json run = {{"format", "parley-party-1"},
                      {"outcome", "completed"},
                      {"party", name},
                      {"node", node},
                      {"nodes", 2},
                      {"study_hash", "abc123"},
                      {"run_id", "abc"},
                      {"study", study},
                      {"released", {{"nodes", 1}, {"size", 1}, {"first", node}}},
                      {"privacy",
                       {{"private", true},
                        {"stamp", ""},
                        {"epsilon", 2.0},
                        {"epsilon_planned", 2.0},
                        {"delta", 1e-6},
                        {"bound", "proved"},
                        {"adjacency", "replace-one"},
                        {"theorem", "T"}}}};
    std::ofstream(folder / "run.json") << run.dump();
    const json statement = {{"party", name},
                            {"study_hash", "abc123"},
                            {"outcome", "completed"},
                            {"private", true},
                            {"epsilon", 1.25 + 0.5 * node},
                            {"delta", 1e-6},
                            {"bound", "proved"},
                            {"rounds_released", 2},
                            {"rounds_from_rows", 1},
                            {"assumptions", {"noise was secret at " + name}}};
    std::ofstream(folder / "statement.json") << json{{"statement", statement}, {"signature", "00"}}.dump();
    std::ofstream(folder.string() + ".private_metrics.json") << R"({"loss": 0.987654})";
    std::ofstream(folder / "rounds.jsonl") << R"({"epsilon":0.0,"kind":"start","round":0})" << '\n'
                                           << R"({"epsilon":2.0,"kind":"data","round":1})" << '\n';
    std::ofstream values(folder / "released.f64", std::ios::binary);
    for (const double v : {0.0, node == 0 ? 1.0 : 3.0}) values.write(reinterpret_cast<const char*>(&v), sizeof v);
    write_transcript(folder, node, {{"alpha", {0, 1}}, {"beta", {0, 3}}});
  }
  json statement_of(const std::string& name) const {
    return json::parse(std::ifstream(base_ / name / "statement.json")).at("statement");
  }
  void state(const std::string& name, const json& changes) const {
    json statement = statement_of(name);
    statement.update(changes);
    std::ofstream(base_ / name / "statement.json") << json{{"statement", statement}, {"signature", "00"}}.dump();
  }
  void tell_privacy(const std::string& name, const json& changes) const {
    json run = json::parse(std::ifstream(base_ / name / "run.json"));
    run["privacy"].update(changes);
    std::ofstream(base_ / name / "run.json") << run.dump();
  }
  std::string page_of(const std::vector<fs::path>& folders) const {
    return make_report(folders, {.shareable_option = shareable}).page;
  }

  fs::path base_;
};

}  // namespace parley::report
