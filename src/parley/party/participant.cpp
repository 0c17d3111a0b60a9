#include "parley/party/participant.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/data/source.h"
#include "parley/data/split.h"
#include "parley/study/approval/approval.h"

namespace parley::party {

using nlohmann::json;

std::string key_file(const JoinOptions& o) {
  return o.key.empty() ? o.as + ".key" : o.key;
}

std::string certificate_file(const JoinOptions& o) {
  return o.certificate.empty() ? o.as + ".pem" : o.certificate;
}

Participant participant_of(study::Study study, study::StudyPlan plan, const std::string& name) {
  const json canonical = canonical_json(study, plan);
  Participant participant{.study = std::move(study), .plan = std::move(plan), .canonical = canonical.dump()};
  participant.hash = study::study_hash(canonical);
  participant.node = participant.study.node_of(name);
  participant.trainer = participant.me().trainer;
  participant.stamps = not_private(participant.study, participant.plan);
  return participant;
}

// A trainer's ledger only keeps what it released: there are no rows to spend on.
std::string cap_command(const Participant& participant, const std::string& dataset) {
  const algorithm::Schedule& s = participant.schedule();
  const bool bounded = !participant.trainer && participant.stamps.empty();
  return "parley ledger cap FILE --dataset " + (dataset.empty() ? participant.me().name : dataset) + " --epsilon " +
         (bounded ? printed_epsilon(s.epsilon_all_others) + (s.delta > 0 ? " --delta " + number(s.delta) : "") +
                        (s.sharing.on() ? " --colluders-epsilon " + printed_epsilon(s.epsilon) : "")
                  : "unlimited");
}

Participant participant_from(const JoinOptions& o) {
  if (!o.listen.empty() && !study::is_address(o.listen))
    throw Error({.what = "this is not an address to listen on",
                 .value = "'" + o.listen + "'",
                 .allowed = "host:port, such as 0.0.0.0:7400 or [::]:7400",
                 .where = "option --listen",
                 .fix = "give an address of this machine, or leave it out for the address in the roster"});
  study::Study study = study::read_study(o.study);
  if (!o.on_loss.empty() && o.on_loss != study.on_loss.text)
    throw Error({.what = "the study decides otherwise about a lost party",
                 .value = "'" + o.on_loss + "'",
                 .allowed = study.on_loss.text + ", as in " + o.study,
                 .where = "option --on-loss",
                 .fix = "leave it out to accept the study's; or agree with the others on another study"});
  study::StudyPlan plan = plan_of(study);
  Participant participant = participant_of(std::move(study), std::move(plan), o.as);
  if (o.key.empty() && !std::filesystem::exists(key_file(o)))
    throw Error({.what = "there is no key of " + o.as + " here",
                 .where = std::filesystem::absolute(key_file(o)).string(),
                 .fix = "--as chose the name: give your own; or say where its key is with --key and --certificate"});
  participant.self = identity::read_identity(key_file(o), certificate_file(o));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (const auto refusal =
          identity::check_certificate(participant.self.certificate, o.as, participant.me().fingerprint, now))
    throw Error({.what = "the others would refuse this party: " + refusal->sentence,
                 .where = certificate_file(o),
                 .fix = "use the key and certificate that the roster of the study pins"});
  for (const study::Invited& p : participant.study.parties)
    if (!p.pinned)
      throw Error(
          {.what = "the roster does not hold the certificate of " + p.name + ": its signatures cannot be checked",
           .where = o.study,
           .fix = "add certificate = … to its [[party]] block, as 'parley study invite' does"});
  if (o.require_approvals) study::require_approvals(participant.study, participant.hash);
  return participant;
}

OwnRows own_rows(const JoinOptions& o, const study::Study& study, const data::Watch& watch) {
  const study::Invited& me = study.parties[static_cast<std::size_t>(study.node_of(o.as))];
  if (me.trainer) {
    if (!o.data.empty())
      throw Error(
          {.what = "the trainer holds no rows", .value = o.data, .where = "option --data", .fix = "leave it out"});
    return {};
  }
  if (o.data.empty())
    throw Error({.what = "a party needs its rows", .where = "option --data", .fix = "give --data FILE"});
  data::check_query_used(o.csv, {o.data});
  data::check_there(o.data, "option --data", "this party's .csv, .csv.gz or .libsvm file");
  data::Options source{.data = {o.data}, .format = o.format, .csv = o.csv, .features = study.features};
  if (!study.schema.empty()) {
    source.schema = (study.file.parent_path() / study.schema).string();
    if (study.schema_toml.empty())
      throw Error({.what = "the schema of the study is missing",
                   .where = source.schema,
                   .fix = "put it beside the study: all parties have the same"});
    source.schema_text = study.schema_toml;  // which the hash and all approvals cover; the file may have changed since
  }
  data::HeldOut parts = data::hold_out_last(data::load_file(source, o.data, "option --data", watch), o.test_share);
  const data::Dataset& rows = parts.train;
  const std::size_t held = parts.test.rows.count();
  if (static_cast<long>(rows.rows.count()) != me.records)
    throw Error(
        {.what = "the roster of the study has another number of records for " + o.as,
         .value = std::to_string(rows.rows.count()) + " rows" +
                  (held > 0 ? " without the " + std::to_string(held) + " that --test-share holds out" : ""),
         .allowed = std::to_string(me.records) + " rows",
         .where = o.data,
         .fix = "give the file that was counted, or have the roster changed: the noise of everybody follows from it"});
  return {.trained = std::move(parts.train), .held_out = std::move(parts.test.rows)};
}

ledger::PlannedRun planned_run(const JoinOptions& o, const Participant& participant, const data::Dataset& rows,
                               const ledger::LedgerFile& book) {
  const std::string dataset = o.dataset.empty() ? o.as : o.dataset;
  ledger::PlannedRun run;
  run.id = study::run_id(participant.hash);
  run.configuration = participant.hash;
  run.started = timestamp();
  run.not_private = participant.stamps;
  run.unit = {.person = participant.plan.unit.person, .rows = participant.plan.unit.rows_per_person};
  ledger::PlannedRun::Account account{.node = participant.node, .dataset = dataset};
  ledger::PlannedRun::Dataset held{.name = dataset};
  if (!participant.trainer) {
    for (const auto& r : participant.schedule().private_rounds) account.planned.push_back(r.charge);
    ledger::Fingerprint fingerprint = book.fingerprint();
    for (const std::string_view part : rows.rows.bytes()) fingerprint.add(part);
    held.fingerprint = fingerprint.text();
    held.records = static_cast<double>(rows.rows.count());
  }
  run.accounts = {std::move(account)};
  run.datasets = {std::move(held)};
  return run;
}

}  // namespace parley::party
