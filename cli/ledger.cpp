// A data owner's ledger on the command line: what was spent, what may be spent, and whether the file can be trusted.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/budget.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/ledger/verify.h"
#include "parley/record/files.h"
#include "parley/record/record.h"

namespace parley::cli {
namespace {

using ledger::Cap;
using ledger::LedgerFile;
using nlohmann::json;
using privacy::Against;

struct LedgerOptions {
  std::string dataset, epsilon, reason;
  double delta = 0;
  std::optional<double> colluders_epsilon;
  Cap cap() const;
};

std::vector<Option> rows(LedgerOptions& o) {
  return {{"dataset", "", "cap: the name under which spend adds up, over all runs", any_text("a name"), &o.dataset,
           "Options"},
          {"epsilon", "ε", "cap: the most that may ever be spent on a row; unlimited: public or synthetic rows only",
           any_text("0 < ε <= 1000, or unlimited"), &o.epsilon, "Options"},
          {"delta", "δ", "cap: 0: sums of ε; above 0: the GDP filter, which Gaussian noise needs", between(0, 0.999999),
           &o.delta, "Options"},
          {"colluders-epsilon", "ε",
           "cap: where noise cancels between parties: the most that may be spent against the colluders of each run; "
           "without it only --epsilon counts, which holds against anybody",
           above(0), &o.colluders_epsilon, "Options"},
          {"reason", "", "accept: why you use this ledger although it may be an old copy; the ledger records it",
           any_text("a line"), &o.reason, "Options"}};
}

Cap LedgerOptions::cap() const {
  const double most = epsilon == "unlimited" ? std::numeric_limits<double>::infinity()
                                             : parse_number(epsilon, "epsilon", "option --epsilon");
  return {most, delta, colluders_epsilon};
}

json amount(double value) {
  return std::isfinite(value) ? json(value) : json();
}

std::string shown(double epsilon) {
  return printed_epsilon(epsilon);
}

// Rounded down: what is left must not be overstated.
std::string left_text(const Cap& cap, const ledger::Spend& spent, Against whom = Against::anybody) {
  if (std::isinf(ledger::limit_of(cap, whom)))
    return std::isfinite(spent.total()) ? "unlimited" : "nothing is promised";
  return fixed(std::floor(ledger::left_under(cap, spent, whom) * 1e4) / 1e4, 4);
}

bool shares_noise(const LedgerFile& ledger) {
  return std::ranges::any_of(ledger.runs(), [](const auto& run) {
    return std::ranges::any_of(run.accounts, [](const auto& a) { return a.second.planned_mu_colluders.has_value(); });
  });
}

int runs_on(const LedgerFile& ledger, const std::string& dataset) {
  int count = 0;
  for (const auto& run : ledger.runs())
    for (const auto& [node, account] : run.accounts)
      if (account.dataset == dataset) {
        ++count;
        break;
      }
  return count;
}

double epsilon_of(const LedgerFile::Run& run, const std::string& dataset, double delta) {
  double most = 0;
  for (const auto& [node, account] : run.accounts)
    if (account.dataset == dataset) most = std::max(most, ledger::Spend(delta, account.prices).epsilon());
  return most;
}

json accepted_json(const LedgerFile& ledger) {
  json accepted = json::array();
  for (const auto& a : ledger.acceptances()) {
    json folders = json::array();
    for (const auto& r : a.records) folders.push_back(r.folder.string());
    accepted.push_back(
        {{"entry", a.entry}, {"when", a.when}, {"reason", a.reason}, {"memory", a.memory}, {"records", folders}});
  }
  return accepted;
}

json proved_old_json(const LedgerFile& ledger) {
  json proofs = json::array();
  for (const auto& a : ledger.accusations())
    proofs.push_back(
        {{"entry", a.entry}, {"run", a.run}, {"when", a.when}, {"what", a.what}, {"accepted", a.accepted}});
  return proofs;
}

// What is spent is more than the table says.
std::string alarm_of(const LedgerFile& ledger) {
  const auto* const proof = ledger.open_accusation();
  if (proof == nullptr) return "";
  return "This ledger is older than what was released: " + proof->sentence() +
         ". More is spent than stands here, and less is left. Nothing is charged to it until its newest copy is put "
         "back, or its owner accepts it as it is: parley ledger accept " +
         ledger.file().string() + " --reason TEXT";
}

// Less was charged than planned.
bool unfinished(const LedgerFile::Run& run) {
  constexpr double rounding = 1 - 1e-9;
  return std::ranges::any_of(run.accounts, [](const auto& of_node) {
    const LedgerFile::Account& a = of_node.second;
    double epsilon = 0, mu_squared = 0;
    for (const auto& price : a.prices) {
      epsilon += price.epsilon;
      mu_squared += price.mu * price.mu;
    }
    return epsilon < rounding * a.planned_epsilon || mu_squared < rounding * a.planned_mu * a.planned_mu;
  });
}

// Whom all that was spent on a dataset is for; null before anything was.
json unit_text(const LedgerFile& ledger, const std::string& dataset) {
  const auto unit = ledger.unit_of(dataset);
  return unit ? json(unit->in_words()) : json();
}

json show_json(const LedgerFile& ledger) {
  json datasets = json::array(), runs = json::array();
  for (const auto& [name, d] : ledger.datasets()) {
    const double spent = ledger.spent(name).epsilon();
    datasets.push_back({{"dataset", name},
                        {"cap", amount(d.cap.epsilon)},
                        {"delta", d.cap.delta},
                        {"epsilon", amount(spent)},
                        {"colluders_cap", d.cap.colluders_epsilon ? json(*d.cap.colluders_epsilon) : json()},
                        {"colluders_epsilon", amount(ledger.spent(name, Against::colluders).epsilon())},
                        {"left", amount(ledger::left_under(d.cap, ledger.spent(name)))},
                        {"left_after_one_more", amount(left_after_one_more(d.cap, ledger.spent(name)))},
                        {"infinite", std::isinf(spent)},
                        {"unit", unit_text(ledger, name)},
                        {"caps_so_far", d.history.size()},
                        {"runs", runs_on(ledger, name)}});
  }
  for (const auto& run : ledger.runs()) {
    json accounts = json::array();
    for (const auto& [node, a] : run.accounts) {
      const double delta = ledger.datasets().at(a.dataset).cap.delta;
      accounts.push_back({{"node", node},
                          {"dataset", a.dataset},
                          {"rounds_released", a.last_round + 1},
                          {"charges", a.prices.size()},
                          {"epsilon", amount(ledger::Spend(delta, a.prices).epsilon())},
                          {"colluders_epsilon", amount(ledger::Spend(delta, a.prices, Against::colluders).epsilon())}});
    }
    runs.push_back(
        {{"run", run.id},
         {"started", run.started},
         {"configuration", run.configuration},
         {"not_private", run.not_private},
         {"person", run.unit.rows > 0 ? json(run.unit.person) : json()},
         {"rows_per_person", run.unit.rows},
         {"processes", run.processes},
         {"folder", run.folder.empty() ? json() : json(run.folder)},
         {"failed", run.failed ? json{{"round", run.failed->round}, {"reason", run.failed->reason}} : json()},
         {"accounts", accounts}});
  }
  return {{"file", ledger.file().string()},
          {"entries", ledger.head().entries},
          {"head", hex(ledger.head().hash)},
          {"in_doubt", ledger.doubt() ? json(ledger.doubt()->what) : json()},
          {"proved_old", proved_old_json(ledger)},
          {"accepted", accepted_json(ledger)},
          {"datasets", datasets},
          {"runs", runs}};
}

// The second account of each dataset.
void print_against_colluders(const LedgerFile& ledger) {
  std::vector<std::vector<std::string>> lines = {{"dataset", "ε against colluders", "δ", "cap", "left for a run"}};
  for (const auto& [name, d] : ledger.datasets()) {
    const ledger::Spend spent = ledger.spent(name, Against::colluders);
    lines.push_back({name, shown(spent.epsilon()), number(d.cap.delta),
                     d.cap.colluders_epsilon ? number(*d.cap.colluders_epsilon) : "none",
                     left_text(d.cap, spent, Against::colluders)});
  }
  fmt::print(
      "\nAbove: against anybody. Below: against any organisations that have, in every run, at most as many of its\n"
      "parties as its plan allows for (--colluders). A person with rows at k of the parties costs the sum of their μ:\n"
      "k times as much.\n{}",
      table(lines));
}

int show(const LedgerFile& ledger, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", show_json(ledger).dump());
    return 0;
  }
  fmt::print("{}: {} entries, head {}\n", ledger.file().string(), ledger.head().entries,
             hex(ledger.head().hash).substr(0, 16));
  if (const std::string old = alarm_of(ledger); !old.empty()) fmt::print("\n{}\n", alarm(old));
  std::vector<std::vector<std::string>> lines = {{"dataset", "ε spent", "δ", "cap", "left for a run", "runs"}};
  for (const auto& [name, d] : ledger.datasets()) {
    const double spent = ledger.spent(name).epsilon();
    lines.push_back({name, shown(spent), number(d.cap.delta), d.cap.limited() ? number(d.cap.epsilon) : "unlimited",
                     left_text(d.cap, ledger.spent(name)), std::to_string(runs_on(ledger, name))});
  }
  fmt::print("\n{}", table(lines));
  fmt::print("\n{}{}\n", table(budget_table(ledger)), budget_words);
  for (const auto& [name, d] : ledger.datasets())
    if (const auto unit = ledger.unit_of(name); unit && unit->rows > 0)
      fmt::print("What is spent on '{}' is for {} in a run.\n", name, unit->in_words());
  if (shares_noise(ledger) ||
      std::ranges::any_of(ledger.datasets(), [](const auto& d) { return d.second.cap.colluders_epsilon.has_value(); }))
    print_against_colluders(ledger);
  for (const auto& accepted : ledger.acceptances()) fmt::print("\n{}\n", accepted.sentence());
  if (ledger.runs().empty()) return 0;
  lines = {{"run", "dataset", "nodes", "rounds", "ε", "processes", "started"}};
  for (const auto& run : ledger.runs())
    for (const auto& [name, d] : ledger.datasets()) {
      int nodes = 0, holding = 0, last = -1;
      for (const auto& [node, a] : run.accounts)
        if (a.dataset == name) {
          ++nodes;
          if (a.planned_epsilon > 0 || a.planned_mu > 0 || !a.prices.empty()) ++holding;
          last = std::max(last, a.last_round);
        }
      if (nodes == 0) continue;
      // A star's trainer holds no rows; what it says is stored and costs nothing.
      const std::string who = nodes == holding + 1 ? std::to_string(holding) + " + trainer" : std::to_string(nodes);
      lines.push_back({run.id.substr(0, 16), name, who, std::to_string(last + 1),
                       run.not_private.empty() ? shown(epsilon_of(run, name, d.cap.delta)) : "NOT PRIVATE",
                       run.processes > 0 ? std::to_string(run.processes) : "–", run.started});
    }
  fmt::print("\n{}", table(lines));
  if (std::ranges::any_of(ledger.runs(), [](const auto& run) { return run.not_private.empty() && unfinished(run); }))
    fmt::print(
        "\nOf a run that has not released all its rounds, ε is that of the rounds so far. If it ended early, at δ > 0\n"
        "only its planned ε covers it (docs/approve/guarantee.md, the terms).\n");
  for (const auto& run : ledger.runs())
    if (run.failed)
      fmt::print("\nrun {}: round {} {}. It is charged as if it had been released, and the run does not go on.\n",
                 run.id.substr(0, 16), run.failed->round,
                 run.failed->reason == "uncertified" ? "could not be certified" : "failed");
  return 0;
}

// What a cap does: a new budget for rows that have one under another name must not look like a change.
std::string change_to(const LedgerFile& ledger, const std::string& dataset, double epsilon) {
  const auto known = ledger.datasets().find(dataset);
  if (known != ledger.datasets().end()) {
    const Cap& before = known->second.cap;
    const std::string was = (before.limited() ? "ε = " + number(before.epsilon) : "unlimited") +
                            (before.delta > 0 ? " at δ = " + number(before.delta) : "");
    return (before.epsilon < epsilon ? "raised from " : before.epsilon > epsilon ? "lowered from " : "it was ") + was;
  }
  std::vector<std::string> others;
  for (const auto& [name, d] : ledger.datasets()) others.push_back(name);
  return others.empty() ? "a new dataset" : "a new dataset beside " + join(others, ", ") + ", with a budget of its own";
}

int set_cap(const std::string& file, const LedgerOptions& o) {
  if (o.dataset.empty() || o.epsilon.empty())
    throw Error({.what = "cap needs --dataset and --epsilon",
                 .where = "parley ledger cap",
                 .fix = "e.g. parley ledger cap " + file + " --dataset ward-2 --epsilon 2"});
  Cap cap = o.cap();
  const double epsilon = cap.epsilon;
  ledger::check_cap(o.dataset, cap);  // before a file is made
  LedgerFile ledger(file, LedgerFile::Open::create_if_missing);
  if (const auto known = ledger.datasets().find(o.dataset);
      known != ledger.datasets().end() && !cap.colluders_epsilon) {
    cap.colluders_epsilon = known->second.cap.colluders_epsilon;  // it stays unless another is given
    if (cap.colluders_epsilon) *cap.colluders_epsilon = std::min(*cap.colluders_epsilon, epsilon);
  }
  const std::string change = change_to(ledger, o.dataset, epsilon);
  ledger.set_cap(o.dataset, cap);
  fmt::print("{}: dataset '{}' may spend {} ({})\n", file, o.dataset,
             std::isinf(epsilon) ? cap.colluders_epsilon ? "without limit against anybody"
                                                         : "without limit (for public or synthetic rows only)"
             : o.delta > 0       ? fmt::format("ε = {} at δ = {} in all, by the GDP filter", o.epsilon, o.delta)
                                 : fmt::format("ε = {} in all, by sums", o.epsilon),
             change);
  if (cap.colluders_epsilon)
    fmt::print("  and ε = {} against the colluders that each run allows for\n", number(*cap.colluders_epsilon));
  for (const Against whom : {Against::anybody, Against::colluders})
    if (ledger.spent(o.dataset, whom).total() > ledger::limit_of(cap, whom))
      fmt::print(stderr, "warning: ε = {} is already spent{}; nothing more will be paid\n",
                 shown(ledger.spent(o.dataset, whom).epsilon()),
                 whom == Against::colluders ? " against colluders" : "");
  return 0;
}

int accept(const std::string& file, const std::vector<std::string>& folders, const LedgerOptions& o) {
  if (o.reason.empty())
    throw Error({.what = "accept needs --reason: the ledger keeps it, and shows it to whoever reads the ledger",
                 .where = "parley ledger accept",
                 .fix = "e.g. parley ledger accept " + file + " --reason 'disk failed, copy of 16 November'"});
  LedgerFile ledger(file, LedgerFile::Open::to_accept);
  ledger.accept(o.reason, timestamp(), {folders.begin(), folders.end()});
  fmt::print("{}: accepted as it is, with {} entries; the decision is entry {}, and {} is made anew\n",
             ledger.file().string(), ledger.head().entries - 1, ledger.head().entries,
             ledger.database().memory_file().string());
  fmt::print(
      stderr,
      "warning: if this ledger is an old copy, what was released since it was made is spent all the same, and is "
      "not counted here. Lower the caps by it: docs/operate/backup.md, \"When the newest copy is lost\"\n");
  return 0;
}

// NaN where run.json lacks a number: that claims less than any charge makes.
ledger::RunClaim claim_of(const json& run) {
  const json privacy = record::member(run, "privacy");
  const bool whole = record::text_in(run, "outcome") == "completed";
  const auto claimed = [&](const char* spent, const char* planned) {
    const double epsilon = record::number_in(privacy, spent);
    return whole ? epsilon : std::fmax(epsilon, record::number_in(privacy, planned));
  };
  ledger::RunClaim claim{.epsilon_colluders = claimed("epsilon", "epsilon_planned"),
                         .epsilon = claimed("epsilon_all_others", "epsilon_all_others_planned"),
                         .delta = record::number_in(privacy, "delta"),
                         .is_private = record::member(privacy, "private") == json(true)};
  if (std::isnan(claim.epsilon)) claim.epsilon = claim.epsilon_colluders;  // records of earlier versions
  if (record::text_in(privacy, "unit") != "person") return claim;
  const double rows = record::number_in(privacy, "rows_per_person");
  claim.rows_per_person = rows >= 1 && rows <= 1e6 ? static_cast<long>(rows) : -1;
  return claim;
}

int verify(const LedgerFile& ledger, const std::vector<std::string>& records, bool as_json) {
  ledger::Checked checked = ledger::verify(ledger);
  long compared = 0;
  for (const std::string& folder : records) {
    const record::Record r = record::read(folder);
    const std::string id = record::text_in(r.run, "run_id");
    if (id.empty())
      throw Error({.what = "this record names no run of a ledger",
                   .where = folder,
                   .fix = "only runs with --ledger can be compared"});
    const auto wrong = ledger::verify_record(ledger, id, r.released, r.first, folder);
    const auto claims = ledger::verify_claim(ledger, id, claim_of(r.run), folder);
    checked.wrong.insert(checked.wrong.end(), wrong.begin(), wrong.end());
    checked.wrong.insert(checked.wrong.end(), claims.begin(), claims.end());
    compared += static_cast<long>(r.released.size());
  }
  if (as_json) {
    fmt::print("{}\n", json{{"file", ledger.file().string()},
                            {"entries", ledger.head().entries},
                            {"head", hex(ledger.head().hash)},
                            {"charges_recomputed", checked.charges},
                            {"charges_verified_only", checked.verified_only},
                            {"releases_intact", checked.releases},
                            {"processes", checked.processes},
                            {"runs_failed", checked.failed},
                            {"records", records.size()},
                            {"proved_old", proved_old_json(ledger)},
                            {"accepted", accepted_json(ledger)},
                            {"other_rows", checked.other_rows},
                            {"wrong", checked.wrong}}
                           .dump());
    return checked.wrong.empty() ? 0 : exit_mistake;
  }
  if (!checked.wrong.empty()) {
    std::vector<Error::Fields> all;
    all.reserve(checked.wrong.size());
    for (const auto& sentence : checked.wrong)
      all.push_back({.what = sentence,
                     .where = ledger.file().string(),
                     .fix =
                         "do not run with this file: take the newest undamaged copy, and treat what it lacks as spent "
                         "(docs/operate/backup.md)"});
    throw Error(all);
  }
  fmt::print("{}: {} entries, chain intact, head {}\n", ledger.file().string(), ledger.head().entries,
             hex(ledger.head().hash).substr(0, 16));
  fmt::print("{} charges cost no less than their parameters prove; {} released values intact\n", checked.charges,
             checked.releases);
  if (checked.processes > 0)
    fmt::print("{} process{} of a party, numbered without a gap in each run\n", checked.processes,
               checked.processes == 1 ? "" : "es");
  if (checked.failed > 0)
    fmt::print("{} run{} ended in a failed round, charged in full\n", checked.failed, checked.failed == 1 ? "" : "s");
  for (const auto& sentence : checked.accepted) fmt::print("{}\n", sentence);
  for (const auto& sentence : checked.other_rows) fmt::print("{}\n", sentence);
  if (records.empty())
    fmt::print(
        "not compared with any record: parley ledger verify FILE RECORD... shows whether it is the newest copy\n");
  else
    fmt::print("{} record{} ({} rounds) in the ledger, bit for bit; epsilon, delta and unit cover their charges\n",
               records.size(), records.size() == 1 ? "" : "s", compared);
  return 0;
}

int run_ledger(const Arguments& arguments) {
  LedgerOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const auto& words = arguments.words;
  const std::string what = words.empty() ? "" : words[0];
  if (words.size() == 2 && what == "cap") return set_cap(words[1], o);
  if (words.size() >= 2 && what == "accept") return accept(words[1], {words.begin() + 2, words.end()}, o);
  if ((words.size() == 2 && what == "show") || (words.size() >= 2 && what == "verify")) {
    const LedgerFile ledger(words[1], LedgerFile::Open::to_read);
    for (const auto& warning : ledger.warnings()) fmt::print(stderr, "warning: {}\n", warning);
    if (what == "show" && ledger.doubt()) fmt::print(stderr, "warning: {}\n", Error(*ledger.doubt()).in_one_line());
    if (what == "show") return show(ledger, arguments.has("json"));
    return verify(ledger, {words.begin() + 2, words.end()}, arguments.has("json"));
  }
  throw Error({.what = "parley ledger does not know this",
               .value = "'" + join(words, " ") + "'",
               .allowed = "show FILE, cap FILE --dataset NAME --epsilon E [--delta D] [--colluders-epsilon F], verify "
                          "FILE [RECORD...], accept FILE "
                          "[RECORD...] --reason TEXT",
               .where = "parley ledger",
               .fix = "parley ledger --help"});
}

}  // namespace

Command ledger_command() {
  static LedgerOptions defaults;
  return {.name = "ledger",
          .summary =
              "show, cap and verify what was spent on a dataset over all runs; accept a ledger that may be an old copy",
          .tasks = {{"show", "FILE", "what was spent on each dataset, and what is left", {"json"}},
                    {"cap",
                     "FILE",
                     "set or change the most that may be spent on a dataset; makes the file",
                     {"dataset", "epsilon", "delta", "colluders-epsilon"}},
                    {"verify", "FILE [RECORD…]", "check the file, and that it holds these records", {"json"}},
                    {"accept", "FILE [RECORD…]", "use a ledger that may be an old copy", {"reason"}}},
          .own = rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley ledger cap ward.ledger --dataset ward-2 --epsilon 2\n"
              "  parley ledger cap ward.ledger --dataset ward-2 --epsilon 2 --delta 1e-6\n"
              "  parley ledger cap ward.ledger --dataset ward-2 --epsilon 12 --delta 1e-6 --colluders-epsilon 2\n"
              "  parley ledger show ward.ledger\n"
              "  parley ledger verify ward.ledger runs/20260101-120000-mr-admm\n"
              "  parley ledger accept ward.ledger --reason 'disk failed, copy of 16 November'\n",
          .run = run_ledger};
}

}  // namespace parley::cli
