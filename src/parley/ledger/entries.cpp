// What stands in a ledger's entries: how a LedgerFile writes them, and what it takes from them when it is opened.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/text.h"
#include "parley/base/utf8.h"
#include "parley/ledger/ledger_file.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/pure.h"

namespace parley::ledger {
namespace {

using nlohmann::json;
constexpr double infinite = std::numeric_limits<double>::infinity();

const std::string put_back = "put back the last good copy, or ask who changed it";

json to_json(double value) {  // JSON has no infinity
  return std::isfinite(value) ? json(value) : json("infinite");
}

double to_double(const json& value) {
  if (value == "infinite") return infinite;
  const double number = value.get<double>();
  if (!(number >= 0)) throw json::other_error::create(501, "a negative amount", nullptr);
  return number;
}

}  // namespace

std::string charge_text(const privacy::Charge& charge) {
  json parameters = json::object();
  for (const auto& [name, value] : charge.parameters) parameters[name] = to_json(value);
  json body = {{"kind", charge.kind},
               {"epsilon", to_json(charge.epsilon)},
               {"mu", to_json(charge.mu)},
               {"parameters", parameters}};
  if (charge.mu_colluders) body["mu_colluders"] = to_json(*charge.mu_colluders);
  return body.dump();
}

privacy::Charge charge_from_text(const std::string& text, const std::string& where) {
  try {
    const json body = json::parse(text);
    privacy::Charge charge{.kind = body.at("kind").get<std::string>(),
                           .epsilon = to_double(body.at("epsilon")),
                           .mu = to_double(body.at("mu"))};
    if (body.contains("mu_colluders")) charge.mu_colluders = to_double(body["mu_colluders"]);
    for (const auto& [name, value] : body.at("parameters").items())
      charge.parameters.emplace_back(name, value == "infinite" ? infinite : value.get<double>());
    return charge;
  } catch (const json::exception& e) {
    throw Error({.what = "a charge cannot be read: " + std::string(e.what()), .where = where, .fix = put_back});
  }
}

namespace {

// In words: "map::at" says nothing to whoever reads it.
template <class Map, class Key>
auto& known(Map& map, const Key& key, const std::string& what) {
  const auto found = map.find(key);
  if (found != map.end()) return found->second;
  std::string name;
  if constexpr (std::is_integral_v<Key>)
    name = std::to_string(key);
  else
    name = is_plain_line(key, 200) ? "'" + key + "'" : "in bytes " + hex(key).substr(0, 80);
  throw std::out_of_range(what + " " + name + " is not known there");
}

}  // namespace

void LedgerFile::load_charge(const Entry& e, const std::string& where) {
  Run& run = runs_.at(known(run_at_, e.run, "run"));
  Account& account = known(run.accounts, e.node, "node");
  if (run.failed) throw std::out_of_range("a charge of a run that has failed");
  if (e.round != account.last_round + 1) throw std::out_of_range("a round is missing");
  const Price price = price_of(charge_from_text(e.body, where), run.not_private.empty());
  if (price.epsilon > 0 || price.mu > 0) account.prices.push_back(price);
  account.last_round = e.round;
}

// One entry for each node of the run, one after the other; the last thing that the ledger has of this run.
void LedgerFile::load_failure(const Entry& e, const std::string& where) {
  Run& run = runs_.at(known(run_at_, e.run, "run"));
  Account& account = known(run.accounts, e.node, "node");
  if (e.round != account.last_round + 1) throw std::out_of_range("a round is missing");
  if (account.failed) throw std::out_of_range("a node fails twice");
  const Failure failure{.round = e.round, .reason = json::parse(e.body).at("reason")};
  if (run.failed && (run.failed->round != failure.round || run.failed->reason != failure.reason))
    throw std::out_of_range("a run fails in two ways");
  account.failed = charge_from_text(e.body, where);
  const Price price = price_of(*account.failed, run.not_private.empty());
  if (price.epsilon > 0 || price.mu > 0) account.prices.push_back(price);
  run.failed = failure;
}

void LedgerFile::load_run(const Entry& e) {
  const json body = json::parse(e.body);
  Run run{.id = e.run,
          .configuration = body.at("configuration"),
          .started = body.at("started"),
          .not_private = body.at("not_private"),
          .unit = {.person = body.value("person", ""), .rows = body.value("rows_per_person", 0L)},
          .folder = body.value("folder", "")};
  if (run.unit.person.empty() != (run.unit.rows == 0) || run.unit.rows < 0)
    throw std::out_of_range("persons without a column, or without a number of rows");
  for (const json& a : body.at("accounts")) {
    Account account{.dataset = a.at("dataset"),
                    .planned_epsilon = to_double(a.at("planned_epsilon")),
                    .planned_mu = to_double(a.at("planned_mu"))};
    if (a.contains("planned_mu_colluders")) account.planned_mu_colluders = to_double(a["planned_mu_colluders"]);
    known(datasets_, account.dataset, "dataset");
    run.accounts.emplace(a.at("node").get<int>(), std::move(account));
  }
  for (const json& d : body.at("datasets")) {
    const std::string name = d.at("name"), fingerprint = d.at("fingerprint");
    Dataset& dataset = known(datasets_, name, "dataset");
    run.records[name] = d.value("records", 0.0);
    if (!fingerprint.empty()) dataset.fingerprint = run.fingerprints[name] = fingerprint;
  }
  for (const auto& [node, account] : run.accounts)
    known(run.records, account.dataset, "among the rows of its run, dataset");
  run_at_.emplace(e.run, runs_.size());
  runs_.push_back(std::move(run));
}

void LedgerFile::load_process(const Entry& e) {
  Run& run = runs_.at(known(run_at_, e.run, "run"));
  if (run.failed) throw std::out_of_range("a process of a run that has failed");
  if (json::parse(e.body).at("incarnation").get<int>() != run.processes + 1)
    throw std::out_of_range("a process is missing");
  ++run.processes;
}

void LedgerFile::load_acceptance(const Entry& e) {
  const json body = json::parse(e.body);
  Acceptance accepted{
      .entry = e.sequence, .when = body.at("when"), .reason = body.at("reason"), .memory = body.at("memory")};
  for (Accusation& a : accusations_)
    if (!std::exchange(a.accepted, true)) accepted.proofs.push_back(a.entry);
  for (const json& r : body.at("records"))
    accepted.records.push_back({.folder = r.at("folder").get<std::string>(), .head = r.at("head")});
  acceptances_.push_back(std::move(accepted));
}

void LedgerFile::load_accusation(const Entry& e) {
  const json body = json::parse(e.body);
  known(run_at_, e.run, "run");
  accusations_.push_back({.entry = e.sequence,
                          .run = e.run,
                          .when = body.at("when"),
                          .what = body.at("what"),
                          .evidence = body.at("evidence")});
}

void LedgerFile::load(const Entry& e) {
  const std::string where = name_ + ", entry " + std::to_string(e.sequence);
  try {
    if (e.kind == "charge") {
      load_charge(e, where);
    } else if (e.kind == "failed") {
      load_failure(e, where);
    } else if (e.kind == "run") {
      load_run(e);
    } else if (e.kind == "process") {
      load_process(e);
    } else if (e.kind == "cap") {
      const json body = json::parse(e.body);
      Cap cap(to_double(body.at("epsilon")), to_double(body.at("delta")));
      if (body.contains("colluders_epsilon")) cap.colluders_epsilon = to_double(body["colluders_epsilon"]);
      const auto at = datasets_.emplace(body.at("dataset").get<std::string>(), Dataset{.cap = cap}).first;
      at->second.cap = cap;
      at->second.history.push_back(cap);
    } else if (e.kind == "accused") {
      load_accusation(e);
    } else if (e.kind == "accepted") {
      load_acceptance(e);
    } else if (e.kind != "ledger") {
      throw std::out_of_range("unknown kind '" + e.kind + "'");
    }
  } catch (const json::exception& problem) {
    throw Error({.what = "an entry of the ledger cannot be read: " + std::string(problem.what()),
                 .where = where,
                 .fix = put_back});
  } catch (const std::out_of_range& problem) {
    throw Error({.what = "an entry of the ledger does not fit what stands before it: " + std::string(problem.what()),
                 .where = where,
                 .fix = put_back});
  }
}

// What is on disk and what is in memory come from the same entries.
void LedgerFile::append(const std::vector<Entry>& entries, LedgerDatabase::First first) {
  expects(!doubt_, "nothing appended to a ledger that was opened to be read");
  database_->append(entries, first);
  auto sequence = database_->head().entries - static_cast<decltype(Entry::sequence)>(entries.size());
  for (Entry e : entries) {
    e.sequence = ++sequence;
    load(e);
  }
}

void LedgerFile::set_cap(const std::string& dataset, const Cap& cap) {
  check_cap(dataset, cap);
  check_not_proved_old();
  expects(active_.expired(), "no change of a cap during a run");
  json body = {{"dataset", dataset}, {"epsilon", to_json(cap.epsilon)}, {"delta", cap.delta}};
  if (cap.colluders_epsilon) body["colluders_epsilon"] = *cap.colluders_epsilon;
  append({{.kind = "cap", .body = body.dump()}});
}

void LedgerFile::start(const PlannedRun& run) {
  check_room(run);
  for (std::string& warning : warnings_about(run)) warnings_.push_back(std::move(warning));
  if (const Run* there = find_run(run.id)) {
    const auto refuse = [&](const std::string& what) {
      throw Error({.what = "run " + run.id + " cannot go on: " + what,
                   .where = file().string(),
                   .fix = "use the options it was started with, or start a new run"});
    };
    if (there->configuration != run.configuration) refuse("its configuration was another one");
    if (there->not_private != run.not_private) refuse("its privacy stamp was another one");
    if (there->unit != run.unit) refuse("its prices were for " + there->unit.in_words());
    if (there->accounts.size() != run.accounts.size()) refuse("its nodes were others");
    for (const auto& account : run.accounts) {
      const auto at = there->accounts.find(account.node);
      if (at == there->accounts.end()) refuse("its nodes were others");
      if (at->second.dataset != account.dataset)
        refuse("node " + std::to_string(account.node) + " held dataset '" + at->second.dataset + "'");
    }
    return;
  }
  json accounts = json::array(), used = json::array();
  for (const auto& a : run.accounts) {
    privacy::UpwardSum epsilon;
    std::vector<double> mus, mus_colluders;
    bool shared = false;
    for (const privacy::Charge& c : a.planned) {
      epsilon.add(c.epsilon);
      mus.push_back(c.mu);
      mus_colluders.push_back(c.mu_against(privacy::Against::colluders));
      shared = shared || c.mu_colluders;
    }
    json account = {{"node", a.node},
                    {"dataset", a.dataset},
                    {"planned_epsilon", to_json(epsilon.value())},
                    {"planned_mu", to_json(privacy::gdp_compose(mus))}};
    if (shared) account["planned_mu_colluders"] = to_json(privacy::gdp_compose(mus_colluders));
    accounts.push_back(std::move(account));
  }
  for (const auto& d : run.datasets)
    used.push_back({{"name", d.name}, {"fingerprint", d.fingerprint}, {"records", d.records}});
  json body = {{"configuration", run.configuration},
               {"started", run.started},
               {"not_private", run.not_private},
               {"accounts", accounts},
               {"datasets", used}};
  if (run.unit.rows > 0) body.update({{"person", run.unit.person}, {"rows_per_person", run.unit.rows}});
  std::error_code unknown;
  auto folder = run.folder.empty() ? run.folder : std::filesystem::weakly_canonical(run.folder, unknown);
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/a/" is "runs/a"
  if (!unknown && !folder.empty() && is_utf8(folder.string())) body["folder"] = folder.string();  // JSON holds no other
  append({{.kind = "run", .run = run.id, .body = body.dump()}});
}

int LedgerFile::begin_process(const std::string& id) {
  const Run* const run = find_run(id);
  expects(run != nullptr, "a process of a run that the ledger has");
  check_not_failed(id);
  const json body = {{"incarnation", run->processes + 1}};
  append({{.kind = "process", .run = id, .body = body.dump()}});
  return find_run(id)->processes;
}

void LedgerFile::charge(const std::string& run, const std::vector<const privacy::Release*>& releases) {
  check_not_proved_old();
  std::vector<Entry> entries;
  entries.reserve(releases.size());
  for (const privacy::Release* r : releases)
    entries.push_back({.kind = "charge",
                       .run = run,
                       .node = r->node,
                       .round = r->round,
                       .body = charge_text(r->charge),
                       .released = std::string(reinterpret_cast<const char*>(r->value.data()),
                                               static_cast<std::size_t>(r->value.size()) * sizeof(double))});
  append(entries);
}

void LedgerFile::fail(const std::string& run, const std::vector<privacy::Release>& unreleased,
                      const std::string& reason) {
  std::vector<Entry> entries;
  entries.reserve(unreleased.size());
  for (const privacy::Release& r : unreleased) {
    json body = json::parse(charge_text(r.charge));
    body["reason"] = reason;
    entries.push_back({.kind = "failed", .run = run, .node = r.node, .round = r.round, .body = body.dump()});
  }
  failpoint("before the mark of a failed round");
  append(entries);
  failpoint("after the mark of a failed round");
}

}  // namespace parley::ledger
