#include "parley/party/final_documents.h"

#include <nlohmann/json.hpp>

#include "parley/base/text.h"
#include "parley/record/files.h"
#include "parley/record/void_claims.h"
#include "parley/run/claim.h"
#include "parley/study/model.h"
#include "parley/study/void_epsilon.h"

namespace parley::party {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json header_of(const Participant& participant, const PartsOnDisk& parts, const std::string& outcome,
               const std::set<std::string>& contradicted, const std::string& voided_before) {
  json shape = run::released_json(parts.part().plan, participant.dimension(), 1);
  shape["first"] = parts.self();
  json head = {{"format", "parley-party-1"},
               {"outcome", outcome},
               {"study", json::parse(participant.canonical)},
               {"study_hash", participant.hash},
               {"run_id", parts.part().agreed.run},
               {"party", participant.me().name},
               {"selection", run::to_json(participant.plan.selected)},
               {"node", parts.self()},
               {"nodes", parts.part().plan.nodes.size()},
               {"released", shape},
               {"ledger_head", parts.book().recorded_head()}};
  if (!contradicted.empty()) head[record::contradicted_parties] = contradicted;
  if (!voided_before.empty()) head[record::void_before] = voided_before;
  head.update(study::privacy_facts(participant.study, participant.plan, record::void_claims(head)));
  if (const json forecast = run::forecast_json(participant.plan.plan); !forecast.is_null()) head["forecast"] = forecast;
  if (parts.part().number > 1) {
    head["part"] = json::parse(parts.part().agreed.configuration);
    head["parts"] = to_json(parts.history());
  }
  return head;
}

json last_word(const Participant& participant, const PartsOnDisk& parts, const std::string& outcome,
               const std::string& words, const EndOfParty& end, int rounds_done) {
  std::set<std::string> contradicted = parts.contradicted_before();
  for (const int node : end.contradicted)
    contradicted.insert(participant.study.parties[static_cast<std::size_t>(node)].name);
  const std::string& before = parts.voided_before();
  const bool answered =
      end.ending.end == protocol::End::completed || (before == record::past_unknown && end.past_confirmed);
  json head = header_of(participant, parts, outcome, contradicted, answered ? "" : before);
  head["outcome_in_words"] = words;
  head["rounds_done"] = parts.part().before + rounds_done;
  return head;
}

// A process that was sure of its past has signed how this run ended, with a contradiction of another's: after that this
// party released nothing more. Of no other end that is so, and its folder may be an old copy.
bool stated_before(const fs::path& folder, const protocol::Ending& ending, const study::PartHistory& history) {
  if (ending.end != protocol::End::equivocation) return false;
  const json document = record::read_json(folder / "statement.json"), said = record::member(document, "statement");
  return record::text_in(said, "outcome") == study::end_name(ending.end) && !said.contains("unconfirmed") &&
         record::number_in(said, "rounds_released") == rounds_released(history);
}

// The models that are there, without a number for ε once a claim is void. null: none is.
json withdraw_epsilon(const Participant& participant, const fs::path& folder, const study::VoidClaims& claims) {
  if (claims.empty()) return {};
  const auto withdrawn = [&](const char* name) {
    json model = record::read_json(folder / name);
    if (model.is_object())
      model.update({{"privacy", privacy_of_run(participant.study, participant.plan, claims)},
                    {"not_private", not_private(participant.study, participant.plan, claims)}});
    return model;
  };
  if (const json own = withdrawn("own_model.json"); own.is_object())
    write_file(folder / "own_model.json", own.dump(1) + "\n");
  return withdrawn("model.json");
}

}  // namespace

json record_header(const Participant& participant, const PartsOnDisk& parts, const std::string& outcome) {
  return header_of(participant, parts, outcome, parts.contradicted_before(), parts.voided_before());
}

DocumentsWritten write_final_documents(const Participant& participant, PartsOnDisk& parts, const fs::path& folder,
                                       const EndOfParty& end) {
  const protocol::Ending& ending = end.ending;
  const bool whole = ending.end == protocol::End::completed;
  if (!whole && parts.was_complete() &&
      !ending.past_unknown()) {  // and this process could not rebuild it: what is there stands
    const json head =
        last_word(participant, parts, study::end_name(protocol::End::completed), protocol::completed_in_words, end,
                  static_cast<int>(parts.part().plan.nodes.front().rounds));
    parts.finish(head, withdraw_epsilon(participant, folder, record::void_claims(head)));
    return {.spent = std::nullopt, .model = true};
  }
  const auto remove = [&](std::initializer_list<const char*> names) {  // of an earlier end
    for (const char* name : names)
      for (const fs::path& of : {folder, parts.folder()}) fs::remove(of / name);
  };
  json head = last_word(participant, parts, ending.past_unknown() ? record::past_unknown : study::end_name(ending.end),
                        ending.text, end, end.rounds_done);
  const study::PartHistory history = parts.history();
  const bool confirmed = end.past_confirmed || stated_before(folder, ending, history);
  // Privacy: a party that does not know what it has released signs nothing, and neither does one whose ledger is empty
  // without anybody's word on it: a ledger that was lost looks the same.
  if (ending.past_unknown() || (!confirmed && !has_used_rows(history))) {
    remove({"statement.json", "statement.txt", "model.json", "own_model.json", run::coefficients_file});
    parts.finish(head, json());
    return {};
  }
  const std::vector<record::VoidClaim> claims = record::void_claims(head);
  DocumentsWritten written{.spent = spent_in(history, whole, confirmed)};
  json model;
  written.model = end.model.size() > 0 && ending.end != protocol::End::diverged && has_learnt(history);
  if (written.model) {
    model =
        model_json(participant.study, participant.plan, end.model, study::end_name(ending.end), claims, end.estimate);
    if (model.contains("coefficients"))
      write_file(folder / run::coefficients_file,
                 run::coefficients_csv(coefficients_of(participant.study, end.estimate), participant.stamps.empty()));
    write_file(
        folder / "own_model.json",
        model_json(participant.study, participant.plan, end.own, "this party's own iterate", claims).dump(1) + "\n");
  } else {
    remove({"model.json", "own_model.json", run::coefficients_file});
  }
  const json statement =
      statement_json(participant.study, participant.plan, participant.node, participant.hash, ending, *written.spent);
  write_file(folder / "statement.json", study::signed_statement(statement, participant.self).dump(1) + "\n");
  write_file(folder / "statement.txt", study::statement_text(statement));
  if (model.contains("coefficients")) head["coefficients"] = model["coefficients"];
  parts.finish(head, model);
  return written;
}

}  // namespace parley::party
