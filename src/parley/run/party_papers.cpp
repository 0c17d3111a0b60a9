#include "parley/run/party_papers.h"

#include <nlohmann/json.hpp>

#include "parley/base/text.h"
#include "parley/run/joint_model.h"
#include "parley/run/study.h"

namespace parley::run {

using nlohmann::json;
namespace fs = std::filesystem;

json record_header(const Seat& seat, const PartsOnDisk& parts, const std::string& outcome) {
  json head = {{"format", "parley-party-1"},
               {"outcome", outcome},
               {"study", json::parse(seat.canonical)},
               {"study_hash", seat.hash},
               {"run_id", parts.part().agreed.run},
               {"party", seat.me().name},
               {"node", parts.self()},
               {"nodes", parts.part().plan.nodes.size()},
               {"released", {{"nodes", 1}, {"size", seat.dimension()}, {"first", parts.self()}}},
               {"privacy", privacy_json(seat.plan.plan, seat.stamps, seat.plan.plan.epsilon(), true)}};
  if (parts.part().number > 1) {
    head["part"] = json::parse(parts.part().agreed.configuration);
    head["parts"] = to_json(parts.told());
  }
  return head;
}

namespace {

json last_word(const Seat& seat, const PartsOnDisk& parts, const std::string& outcome, const std::string& words,
               int rounds_done) {
  json head = record_header(seat, parts, outcome);
  head["outcome_in_words"] = words;
  head["rounds_done"] = parts.part().before + rounds_done;
  return head;
}

}  // namespace

PapersWritten write_papers(const Seat& seat, PartsOnDisk& parts, const fs::path& folder, const EndOfParty& end) {
  const network::Ending& ending = end.ending;
  const bool whole = ending.end == network::End::completed;
  if (!whole && parts.was_complete()) {  // and this process could not rebuild it: what is there stands
    parts.finish(last_word(seat, parts, end_name(network::End::completed), network::completed_in_words,
                           static_cast<int>(parts.part().plan.nodes.front().rounds)),
                 json());
    return {.spent = std::nullopt, .model = true};
  }
  const auto remove = [&](std::initializer_list<const char*> names) {  // of an earlier end
    for (const char* name : names)
      for (const fs::path& of : {folder, parts.folder()}) fs::remove(of / name);
  };
  const json head = last_word(seat, parts, ending.past_unknown() ? "past_unknown" : end_name(ending.end), ending.text,
                              end.rounds_done);
  const PartsTold told = parts.told();
  // Privacy: a party that does not know what it has released signs nothing, and neither does one whose ledger is empty
  // without anybody's word on it: a ledger that was lost looks the same.
  if (ending.past_unknown() || (!end.past_confirmed && !has_learnt(told))) {
    remove({"statement.json", "statement.txt", "model.json", "own_model.json"});
    parts.finish(head, json());
    return {};
  }
  PapersWritten written{.spent = spent_in(told, whole, end.past_confirmed)};
  json model;
  written.model = end.model.size() > 0 && ending.end != network::End::diverged && has_learnt(told);
  if (written.model) {
    model = joint_model_json(seat.study, seat.plan, end.model, end_name(ending.end));
    write_file(folder / "own_model.json",
               joint_model_json(seat.study, seat.plan, end.own, "this party's own iterate").dump(1) + "\n");
  } else {
    remove({"model.json", "own_model.json"});
  }
  const json statement = statement_json(seat.study, seat.plan, seat.node, seat.hash, ending, *written.spent);
  write_file(folder / "statement.json", signed_statement(statement, seat.self).dump(1) + "\n");
  write_file(folder / "statement.txt", statement_text(statement));
  parts.finish(head, model);
  return written;
}

}  // namespace parley::run
