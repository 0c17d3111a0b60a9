#include "parley/run/resume.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/ledger/verify.h"

namespace parley::run {
namespace {

using nlohmann::json;

constexpr const char* same_options = "repeat the options of the first start, and leave out what it left to the planner";

// Options that are younger than some records. Their default is exactly what the program did that did not know them: each
// record counts once, whatever its class. Trap: an option belongs here only where that is so.
const json& younger_options() {
  static const json defaults = [] {
    TrainOptions untouched;
    const json all = json::parse(to_json(option_rows(untouched)).dump());
    return json{{"class-weight", all.at("class-weight")}, {"class-share", all.at("class-share")}};
  }();
  return defaults;
}

// A resumed run is the same run: what its record says was asked must be asked again.
void check_options(const json& before, const json& now, const std::string& file) {
  for (const auto& [name, value] : now.items())
    if (const json was = before.value(name, younger_options().value(name, json())); was != value)
      throw Error({.what = "the run that is resumed had another --" + name,
                   .value = value.dump(),
                   .allowed = was.dump(),
                   .where = file,
                   .fix = same_options});
}

// The options that were given, not filled in by the planner: one of these is the reason for whatever else differs.
json given(const TrainOptions& o, const json& filled_in) {
  TrainOptions copy = o;
  const json all = json::parse(to_json(option_rows(copy)).dump());
  json same = json::object();
  for (const auto& [name, value] : filled_in.items())
    if (all.at(name) == value) same[name] = value;
  return same;
}

// Other rows of the same number cannot be told from here; the ledger's fingerprint warns of them.
void check_data(const json& before, const json& now, const std::string& file) {
  const std::string fix = "give it the data it was started with; other data is another run";
  const auto ranks = [](const json& run) { return run.at("released").value("ranks", 1); };
  if (ranks(before) != ranks(now))
    throw Error({.what = "the run that is resumed had another number of ranks",
                 .value = std::to_string(ranks(now)),
                 .allowed = std::to_string(ranks(before)),
                 .where = file,
                 .fix = "start as many ranks as before: each goes on with its own nodes' record"});
  for (const char* fact : {"data", "nodes", "features", "released", "edges", "rows_per_person"})
    if (before.value(fact, json()) != now.value(fact, json()))
      throw Error({.what = std::string("the run that is resumed had other data or another network: its ") + fact,
                   .value = now.value(fact, json()).dump(),
                   .allowed = before.value(fact, json()).dump(),
                   .where = file,
                   .fix = fix});
  for (std::size_t i = 0; i < now.at("node_facts").size(); ++i) {
    const json& node = now["node_facts"][i];
    const json was = before.value("node_facts", json::array()).at(i);
    if (was.at("records") != node.at("records"))
      throw Error({.what = "the run that is resumed had other data: node " + std::to_string(i) +
                           " has another number of records",
                   .value = node["records"].dump(),
                   .allowed = was["records"].dump(),
                   .where = file,
                   .fix = fix});
  }
}

// Labels, bounds and categories decide what each row is. What to say of a record from before this was kept.
std::string check_schema(const json& before, const Simulation& now, const std::string& file) {
  const std::string digest = schema_digest(now);
  if (!before.contains("schema_digest"))
    return digest.empty()
               ? ""
               : "the run that is resumed was begun by an earlier version, which did not keep what the schema "
                 "said: that it is the same one was not checked";
  if (before["schema_digest"] == digest) return "";
  throw Error({.what = "the run that is resumed had another schema: labels, bounds, categories or columns were others, "
                       "and the rounds so far would be of other rows than the rest",
               .value = "digest " + digest.substr(0, 16),
               .allowed = "digest " + before["schema_digest"].get<std::string>().substr(0, 16),
               .where = file,
               .fix = "put the schema back as it was; comments and the order of keys may change. Another schema is "
                      "another run, in another --out"});
}

void check_outcome(const json& run, const std::string& folder) {
  const std::string outcome = run.value("outcome", "");  // of a run with a ledger, that also knows of a failed round
  if (outcome == "completed")
    throw Error({.what = "this run is complete: there is nothing to resume",
                 .where = folder,
                 .fix = "its model is in " + folder + "/model.json; choose another --out for a new run"});
  if (outcome == "uncertified")
    throw Error(
        {.what = "a round of this run could not be solved, or its minimum not be certified: trying again with other "
                 "noise until it can be would choose the noise, and no bound covers that",
         .where = folder,
         .fix = "start another run with a larger --tolerance, in another --out; what this one spent stays spent"});
  if (outcome == "diverged")
    throw Error(
        {.what = "this run diverged: going on would not help",
         .where = folder,
         .fix = "start another run with a larger --penalty, in another --out; what this one spent stays spent"});
}

void check_ledger(const json& run, const TrainOptions& o, const std::string& file) {
  const bool charged = !run.value("run_id", "").empty();
  if (charged && o.engine.ledger.empty())
    throw Error({.what = "the run that is resumed is charged to a ledger, and none was given",
                 .where = file,
                 .fix = "repeat --ledger and --dataset: what it releases must be paid for"});
  if (!charged && !o.engine.ledger.empty())
    throw Error(
        {.what = "the run that is resumed was started without a ledger: its first rounds were not charged to one",
         .where = file,
         .fix = "resume it without --ledger and --dataset, or start a new run with them"});
  if (charged) check_options(run.at("options"), {{"dataset", o.engine.dataset}}, file);
}

}  // namespace

namespace {

// A run that began before an option was known is in its ledger without it.
std::string configuration_of(const Simulation& simulation, const TrainOptions& o,
                             const ledger::LedgerFile::Run* begun) {
  json configuration = configuration_json(simulation, o);
  const std::string hash = hex(sha256(configuration.dump()));
  if (begun == nullptr || begun->configuration == hash) return hash;
  json& options = configuration["options"];
  for (const auto& [name, before] : younger_options().items())
    if (json::parse(options.at(name).dump()) == before) options.erase(name);
  const std::string without = hex(sha256(configuration.dump()));
  return begun->configuration == without ? without : hash;
}

}  // namespace

ledger::PlannedRun planned_run(const Simulation& simulation, const TrainOptions& o, const ledger::LedgerFile& book,
                               const std::string& resumed_id) {
  double fewest = std::numeric_limits<double>::infinity();
  ledger::PlannedRun run;
  ledger::Fingerprint rows = book.fingerprint();
  for (const auto& p : simulation.problems) {
    for (const std::string_view part : p.rows->bytes()) rows.add(part);
    fewest = std::min(fewest, static_cast<double>(p.rows->count()));
  }
  for (int node = simulation.first(); node < simulation.holdings.end(); ++node) {
    ledger::PlannedRun::Account account{.node = node, .dataset = o.engine.dataset};
    for (const auto& r : simulation.plan.nodes[static_cast<std::size_t>(node)].private_rounds)
      account.planned.push_back(r.charge);
    run.accounts.push_back(std::move(account));
  }
  if (simulation.hosts_trainer())  // it holds no rows and is charged nothing; its releases are kept like the others
    run.accounts.push_back({.node = simulation.parties(), .dataset = o.engine.dataset});
  run.datasets = {{.name = o.engine.dataset, .fingerprint = rows.text(), .records = fewest}};
  if (!resumed_id.empty()) run.id = resumed_id;
  run.configuration = configuration_of(simulation, o, resumed_id.empty() ? nullptr : book.find_run(resumed_id));
  run.started = timestamp();
  run.not_private = simulation.not_private;
  run.unit = {.person = simulation.unit.person, .rows = simulation.unit.rows_per_person};
  return run;
}

Unfinished find_unfinished(const Simulation& simulation, const TrainOptions& o, const std::string& folder,
                           const ledger::LedgerFile* book) {
  const std::string file = folder + "/run.json";
  Unfinished found{.run_id = "", .record = record::read(folder)};
  const json& before = found.record.run;
  const json now = json::parse(configuration_json(simulation, o).dump());  // as a file would give it back
  try {
    check_outcome(before, folder);
    check_options(before.at("options"), given(o, now.at("options")), file);
    check_data(before, now, file);
    found.warning = check_schema(before, simulation, file);
    check_options(before.at("options"), now.at("options"), file);
    check_ledger(before, o, file);
    if (o.engine.seed && before.at("options").value("repeat", 1) > 1)
      throw Error({.what = "a seeded run of --repeat has a seed of its own and cannot be resumed alone",
                   .where = file,
                   .fix = "start it anew"});
    found.run_id = before.value("run_id", "");
  } catch (const json::exception& e) {
    throw Error({.what = "the record cannot be read: " + std::string(e.what()), .where = file, .fix = same_options});
  }
  if (book == nullptr) return found;
  const auto wrong = ledger::verify_record(*book, found.run_id, found.record.released, found.record.first, folder);
  if (!wrong.empty())
    throw Error({.what = "the ledger and the record do not belong together: " + wrong.front(),
                 .where = book->file().string(),
                 .fix = "use the newest copy of the ledger that this run was charged to; what an older one has lost is "
                        "spent all the same (docs/operate/backup.md)"});
  return found;
}

void check_pasts(const std::vector<RankPast>& ranks, const std::string& folder) {
  std::string job;
  double most_recorded = 0, most_paid = 0;
  for (const RankPast& r : ranks) {
    if (job.empty()) job = r.job;
    most_recorded = std::max(most_recorded, r.recorded);
    most_paid = std::max(most_paid, r.paid.value_or(r.recorded));
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankPast& r = ranks[i];
    const double needed = std::max(most_paid - 1, r.paid ? most_recorded : most_recorded - 1);
    const double has = r.paid.value_or(r.recorded);
    std::string wrong;
    if (!r.job.empty() && r.job != job) wrong = "its record is another run's";
    if (r.job.empty() && most_recorded > 0)
      wrong = "its record is missing, and other ranks have released rounds";
    else if (has < needed)
      wrong = "it has " + std::to_string(static_cast<long>(has)) + " rounds where another rank has " +
              std::to_string(static_cast<long>(std::max(most_recorded, most_paid))) +
              ": your ledger or record is older than what you have released";
    if (!wrong.empty())
      throw Error({.what = "rank " + std::to_string(i) + ": " + wrong,
                   .where = folder,
                   .fix =
                       "bring back that rank's newest record and ledger (docs/operate/cluster.md); what was released "
                       "stays spent, and a new run needs another --out"});
  }
}

std::optional<privacy::Release> PastReleases::release(int node, int round) const {
  std::optional<Vector> value;
  if (round < kept().values)
    value = record_.released[static_cast<std::size_t>(round)][static_cast<std::size_t>(node - simulation_.first())];
  else if (const auto paid = ledger_.stored(node, round))
    value = *paid->value();
  if (!value) return std::nullopt;
  privacy::Release release{.node = node, .round = round, .value = std::move(*value), .charge = {}};
  if (node < simulation_.parties() && simulation_.plan.nodes[static_cast<std::size_t>(node)].touches_data(round))
    release.charge = simulation_.plan.nodes[static_cast<std::size_t>(node)].private_round(round).charge;
  return release;
}

}  // namespace parley::run
