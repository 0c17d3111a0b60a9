#include "parley/run/seat.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/source.h"
#include "parley/run/resume.h"

namespace parley::run {

using nlohmann::json;

std::string key_file(const JoinOptions& o) {
  return o.key.empty() ? o.as + ".key" : o.key;
}

std::string certificate_file(const JoinOptions& o) {
  return o.certificate.empty() ? o.as + ".pem" : o.certificate;
}

Seat seat_of(JointStudy study, JointPlan plan, const std::string& name) {
  const json canonical = canonical_json(study, plan);
  Seat seat{.study = std::move(study), .plan = std::move(plan), .canonical = canonical.dump()};
  seat.hash = study_hash(canonical);
  seat.node = seat.study.node_of(name);
  seat.trainer = seat.me().trainer;
  seat.stamps = not_private(seat.study, seat.plan);
  return seat;
}

// A trainer's ledger only keeps what it released: there are no rows to spend on.
std::string cap_command(const Seat& seat, const std::string& dataset) {
  const algorithm::Schedule& s = seat.schedule();
  const bool bounded = !seat.trainer && seat.stamps.empty();
  return "parley ledger cap FILE --dataset " + (dataset.empty() ? seat.me().name : dataset) + " --epsilon " +
         (bounded ? number(s.epsilon) + (s.delta > 0 ? " --delta " + number(s.delta) : "") : "unlimited");
}

Seat take_seat(const JoinOptions& o) {
  if (!o.listen.empty() && !is_address(o.listen))
    throw Error({.what = "this is not an address to listen on",
                 .value = "'" + o.listen + "'",
                 .allowed = "host:port, such as 0.0.0.0:7400 or [::]:7400",
                 .where = "option --listen",
                 .fix = "give an address of this machine, or leave it out for the port in the roster"});
  JointStudy study = read_joint_study(o.study);
  if (!o.on_loss.empty() && o.on_loss != study.on_loss)
    throw Error({.what = "the study decides otherwise about a lost party",
                 .value = "'" + o.on_loss + "'",
                 .allowed = study.on_loss + ", as in " + o.study,
                 .where = "option --on-loss",
                 .fix = "leave it out to accept the study's; or agree with the others on another study"});
  JointPlan plan = plan_of(study);
  Seat seat = seat_of(std::move(study), std::move(plan), o.as);
  if (o.key.empty() && !std::filesystem::exists(key_file(o)))
    throw Error({.what = "there is no key of " + o.as + " here",
                 .where = std::filesystem::absolute(key_file(o)).string(),
                 .fix = "--as chose the name: give your own; or say where its key is with --key and --certificate"});
  seat.self = network::read_identity(key_file(o), certificate_file(o));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (const auto refusal = network::check_certificate(seat.self.certificate, o.as, seat.me().fingerprint, now))
    throw Error({.what = "the others would refuse this party: " + refusal->sentence,
                 .where = certificate_file(o),
                 .fix = "use the key and certificate that the roster of the study pins"});
  for (const Invited& p : seat.study.parties)
    if (!p.pinned)
      throw Error(
          {.what = "the roster does not hold the certificate of " + p.name + ": its signatures cannot be checked",
           .where = o.study,
           .fix = "add certificate = … to its [[party]] block, as 'parley study invite' does"});
  return seat;
}

data::Dataset own_rows(const JoinOptions& o, const JointStudy& study) {
  const Invited& me = study.parties[static_cast<std::size_t>(study.node_of(o.as))];
  if (me.trainer) {
    if (!o.data.empty())
      throw Error(
          {.what = "the trainer holds no rows", .value = o.data, .where = "option --data", .fix = "leave it out"});
    return {};
  }
  if (o.data.empty())
    throw Error({.what = "a party needs its rows", .where = "option --data", .fix = "give --data FILE"});
  if (!std::filesystem::exists(o.data))
    throw Error({.what = "there is no such file of rows",
                 .value = o.data,
                 .where = "option --data",
                 .fix = "give this party's .csv or .libsvm file"});
  data::Options source{.data = {o.data}, .format = o.format, .header = o.header, .features = study.features};
  if (!study.schema.empty()) source.schema = (study.file.parent_path() / study.schema).string();
  data::Dataset rows = data::load_file(source, o.data);
  if (static_cast<long>(rows.rows.count()) != me.records)
    throw Error(
        {.what = "the roster of the study has another number of records for " + o.as,
         .value = std::to_string(rows.rows.count()) + " rows",
         .allowed = std::to_string(me.records) + " rows",
         .where = o.data,
         .fix = "give the file that was counted, or have the roster changed: the noise of everybody follows from it"});
  return rows;
}

privacy::PlannedRun planned(const JoinOptions& o, const Seat& seat, const data::Dataset& rows,
                            const privacy::LedgerFile& book) {
  const std::string dataset = o.dataset.empty() ? o.as : o.dataset;
  privacy::PlannedRun run;
  run.id = run_id(seat.hash);
  run.configuration = seat.hash;
  run.started = timestamp();
  run.not_private = seat.stamps;
  privacy::PlannedRun::Account account{.node = seat.node, .dataset = dataset};
  privacy::PlannedRun::Dataset held{.name = dataset};
  if (!seat.trainer) {
    for (const auto& r : seat.schedule().private_rounds) account.planned.push_back(r.charge);
    held.fingerprint = fingerprint_of({&rows.rows}, book);
    held.records = static_cast<double>(rows.rows.count());
  }
  run.accounts = {std::move(account)};
  run.datasets = {std::move(held)};
  return run;
}

}  // namespace parley::run
