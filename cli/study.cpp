// The shared study file on the command line: begun, joined by parties, shown and checked. Nothing is sent.
#include "parley/study/study.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/study_abandon.h"
#include "cli/study_sign.h"
#include "cli/terminal.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"
#include "parley/theory/verdict.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using study::Invited;
using study::Study;
using study::StudyPlan;

// invite: the keys of a [[party]] block; the fingerprint is the certificate's, and --trainer is a flag.
std::vector<Option> rows(Invited& p) {
  std::vector<Option> list;
  for (Option& row : study::option_rows(p)) {
    if (row.name == "fingerprint" || row.name == "trainer") continue;
    row.group = "invite";
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<std::string> invite_options() {
  Invited any;
  std::vector<std::string> names = {"trainer"};
  for (const Option& row : rows(any)) names.push_back(row.name);
  return names;
}

identity::Time clock_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

int new_study(const fs::path& file) {
  if (fs::exists(file))
    throw Error({.what = "the file exists already, and is never overwritten",
                 .where = file.string(),
                 .fix = "choose another name, or remove it yourself"});
  write_file(file, study::study_template());
  fmt::print("{}: a study to begin with, nobody invited yet\n", file.string());
  fmt::print(
      "Next: edit it, then 'parley study invite {} --address HOST:PORT --certificate NAME.pem --records N' for "
      "each party.\n",
      file.string());
  return 0;
}

// The file was in order, so every mistake is in the block that was to be added: its line would mislead.
void check_block(const std::string& text, const fs::path& file) {
  try {
    study::parse_study(text, file);
  } catch (const Error& e) {
    std::vector<Error::Fields> mistakes = e.fields();
    for (Error::Fields& one : mistakes)
      if (one.where.starts_with(file.string() + ":")) one.where = "parley study invite";
    throw Error(mistakes);
  }
}

int invite(const fs::path& file, Invited p, bool trainer) {
  const auto need = [](bool given, const std::string& what, const std::string& option) {
    if (!given)
      throw Error({.what = what + " is missing",
                   .where = "option --" + option,
                   .fix = "e.g. parley study invite study.toml --name hospital_b --address b.example.org:7400 "
                          "--certificate hospital_b.pem --records 8000"});
  };
  need(!p.certificate.empty(), "the party's certificate", "certificate");
  need(!p.address.empty(), "the party's address", "address");
  need(trainer || p.records > 0, "the party's number of records", "records");
  const std::string text = read_file(file, "the study", study::largest_study);
  study::parse_study(text, file);
  const identity::Certificate c = identity::read_certificate(p.certificate);
  if (!p.name.empty() && p.name != c.name)
    throw Error({.what = "the certificate " + p.certificate + " is for another party",
                 .value = "'" + p.name + "'",
                 .allowed = c.name,
                 .where = "option --name",
                 .fix = "leave it out, or ask " + p.name + " for its own certificate"});
  p.name = c.name;
  if (const auto refusal = identity::check_certificate(c, p.name, c.fingerprint, clock_time()))
    throw Error({.what = refusal->sentence, .where = p.certificate});
  p.certificate = c.chain_pem();
  p.fingerprint = c.fingerprint;
  p.trainer = trainer;
  const std::string more = study::with_party(text, p);
  check_block(more, file);
  write_file(file, more);
  const Study study = study::read_study(file);
  fmt::print("{}: {} is node {}, {} in all\n", file.string(), p.name, study.node_of(p.name), study.parties.size());
  fmt::print("  fingerprint  {}\n", p.fingerprint);
  fmt::print("Compare it with {} by another way, such as the telephone, then give everyone this file again.\n", p.name);
  return 0;
}

std::string neighbours(const Study& s, const StudyPlan& p, int node) {
  std::vector<std::string> names;
  for (const int other : p.graph.neighbours(node)) {
    if (names.size() == 4) {
      names.push_back("...");
      break;
    }
    names.push_back(s.parties[static_cast<std::size_t>(other)].name);
  }
  return join(names, ", ");
}

json party_json(const Study& s, const std::optional<StudyPlan>& p, int node) {
  const Invited& party = s.parties[static_cast<std::size_t>(node)];
  json j = {{"node", node},
            {"name", party.name},
            {"address", party.address},
            {"fingerprint", party.fingerprint},
            {"records", party.records},
            {"trainer", party.trainer}};
  if (!p) return j;
  json names = json::array();
  for (const int other : p->graph.neighbours(node)) names.push_back(s.parties[static_cast<std::size_t>(other)].name);
  const bool priced = !party.trainer && p->plan.noisy();
  j.update({{"neighbours", names},
            {"epsilon", priced ? json(p->plan.nodes[static_cast<std::size_t>(node)].epsilon) : json()},
            {"epsilon_all_others",
             priced ? json(p->plan.nodes[static_cast<std::size_t>(node)].epsilon_all_others) : json()}});
  return j;
}

int roster(const Study& s, bool as_json) {
  std::optional<StudyPlan> p;
  std::string why_not;
  try {  // a roster is shown while it grows
    p = study::plan_of(s);
  } catch (const Error& e) {
    why_not = e.what();
  }
  const int count = static_cast<int>(s.parties.size());
  if (as_json) {
    json parties = json::array();
    for (int i = 0; i < count; ++i) parties.push_back(party_json(s, p, i));
    fmt::print("{}\n", json{{"parties", parties}, {"complete", p.has_value()}, {"incomplete_because", why_not}}.dump());
    return 0;
  }
  std::vector<std::vector<std::string>> lines = {
      {"node  name", "address", "records", "planned ε", "neighbours", "fingerprint"}};
  for (int i = 0; i < count; ++i) {
    const Invited& party = s.parties[static_cast<std::size_t>(i)];
    const std::string epsilon =
        !p || party.trainer ? "-"
        : !p->plan.noisy()  ? "no noise"
        : p->plan.sharing().on()
            ? printed_epsilon(p->plan.nodes[static_cast<std::size_t>(i)].epsilon) +
                  ", all others: " + printed_epsilon(p->plan.nodes[static_cast<std::size_t>(i)].epsilon_all_others)
            : printed_epsilon(p->plan.nodes[static_cast<std::size_t>(i)].epsilon);
    lines.push_back({fmt::format("{:>4}  {}", i, party.name), party.address,
                     party.trainer ? "trainer" : grouped(party.records), epsilon, p ? neighbours(s, *p, i) : "-",
                     party.fingerprint.substr(0, 16) + "..."});
  }
  fmt::print("{}", table(lines, ""));
  if (!why_not.empty()) fmt::print("\nThe study cannot start yet:\n{}\n", why_not);
  if (p)
    for (const auto& reason : study::not_private(s, *p)) fmt::print("\n{}\n", alarm("NOT PRIVATE: " + reason));
  return 0;
}

// "ε = 1.0000, δ = 1e-06 per record, whole run (proved)", or that there is none.
std::string guarantee(const StudyPlan& p, const std::vector<std::string>& not_private) {
  if (!p.plan.noisy()) return alarm("none, NOT PRIVATE: " + not_private.front());
  double least = p.plan.epsilon();
  for (const auto& node : p.plan.nodes) least = std::min(least, node.epsilon);
  const std::string from = printed_epsilon(least), to = printed_epsilon(p.plan.epsilon());
  std::string claim = fmt::format("ε = {}, δ = {} per {}, whole run ({})", from == to ? to : from + " to " + to,
                                  number(p.plan.nodes.front().delta), record::unit_in_words(p.unit.rows_per_person),
                                  p.plan.verified_only() ? "numerically verified" : "proved");
  if (p.plan.sharing().on())
    claim += fmt::format(" against {}; ε = {} against all other parties together", run::against_whom(p.plan.sharing()),
                         printed_epsilon(p.plan.epsilon_all_others()));
  if (not_private.empty()) return claim;
  return alarm("none, NOT PRIVATE: " + not_private.front()) + "; with secret noise " + claim;
}

std::vector<std::string> warnings(const Study& s, const StudyPlan& p) {
  std::vector<std::string> all = p.plan.warnings;
  for (std::string& text : all) text = study::in_words_of(s, text);
  for (const Invited& party : s.parties)
    if (party.pinned)
      if (const auto refusal = identity::check_certificate(*party.pinned, party.name, party.fingerprint, clock_time()))
        all.push_back(refusal->sentence);
  return all;
}

int check(const Study& s, bool as_json) {
  const StudyPlan p = study::plan_of(s);
  const json canonical = study::canonical_json(s, p);
  const std::string hash = study::study_hash(canonical),
                    convergence = theory::convergence_verdict(p.graph, p.plan, p.setting);
  const auto& first = p.plan.nodes.front();
  const auto stamps = study::not_private(s, p);
  say_first(run::too_large_epsilon(p.plan));
  if (as_json) {
    json parties = json::array();
    for (int i = 0; i < static_cast<int>(s.parties.size()); ++i) parties.push_back(party_json(s, p, i));
    fmt::print("{}\n", json{{"hash", hash},
                            {"run_id", study::run_id(hash)},
                            {"study", canonical},
                            {"parties", parties},
                            {"selection", run::to_json(p.selected)},
                            {"forecast", run::forecast_json(p.plan)},
                            {"rounds", p.plan.options.rounds},
                            {"private_rounds", first.private_rounds.size()},
                            {"epsilon", p.plan.noisy() ? json(p.plan.epsilon()) : json()},
                            {"epsilon_all_others", p.plan.noisy() ? json(p.plan.epsilon_all_others()) : json()},
                            {"against", run::against_whom(p.plan.sharing())},
                            {"delta", p.plan.noisy() ? json(first.delta) : json()},
                            {"unit", p.unit.rows_per_person > 0 ? "person" : "row"},
                            {"rows_per_person", p.unit.rows_per_person},
                            {"theorem", p.plan.noisy() ? first.theorem : ""},
                            {"bound", p.plan.verified_only() ? "numerically verified" : "proved"},
                            {"convergence", convergence},
                            {"not_private", stamps},
                            {"approvals", approvals_json(s, hash)},
                            {"warnings", warnings(s, p)}}
                           .dump());
    return 0;
  }
  for (const auto& warning : warnings(s, p)) fmt::print(stderr, "warning: {}\n", warning);
  const auto line = [](const std::string& what, const std::string& text) { fmt::print("  {:<12} {}\n", what, text); };
  fmt::print("{}\n", bold(s.title.empty() ? s.file.string() : s.title));
  line("hash", in_fours(hash));
  line("run", study::run_id(hash));
  double records = 0;
  for (const double b : p.setting.records) records += b;
  line("parties", fmt::format("{} with {} records in all{}; {} pairs of neighbours", p.setting.nodes(),
                              grouped(static_cast<long>(records)), p.plan.star() ? ", and a trainer" : "",
                              p.graph.edges().size()));
  line("data", s.schema.empty() ? fmt::format("LIBSVM, {} features", p.setting.features)
                                : fmt::format("{}: {} features", s.schema, p.setting.features));
  line("algorithm", study::in_words_of(s, run::in_words(p.selected)));
  line("rounds", fmt::format("{}, {} of them touch data ({})", p.plan.options.rounds, first.private_rounds.size(),
                             first.algorithm.source));
  line("guarantee", guarantee(p, stamps));
  if (p.plan.noisy()) line("by", first.theorem);
  line("convergence", convergence + " (without noise)");
  for (const auto& [what, text] : run::forecast_lines(p.plan)) line(what, text);
  line("deadlines", fmt::format("an answer within {} s; a silent peer is waited for {} s, then the others {}",
                                number(s.deadline_seconds), number(s.wait_seconds), s.on_loss.text));
  for (const auto& text : approval_lines(s, hash)) line("approvals", text);
  return 0;
}

std::vector<Option> all_rows(Invited& p, SignOptions& signing, AbandonOptions& abandoning) {
  std::vector<Option> all = rows(p);
  for (Option& row : rows(signing)) all.push_back(std::move(row));
  for (Option& row : rows(abandoning)) all.push_back(std::move(row));
  return all;
}

int run_study(const Arguments& arguments) {
  Invited p;
  SignOptions signing;
  AbandonOptions abandoning;
  set_from(arguments, all_rows(p, signing, abandoning));
  validate_options(all_rows(p, signing, abandoning));
  const auto& words = arguments.words;
  const std::string what = words.size() == 2 ? words[0] : "";
  if (what == "new") return new_study(words[1]);
  if (what == "invite") return invite(words[1], p, arguments.has("trainer"));
  if (what == "roster") return roster(study::read_study(words[1]), arguments.has("json"));
  if (what == "sign") {
    signing.certificate = p.certificate;
    return sign_study(words[1], signing);
  }
  if (what == "abandon") return abandon_study(words[1], signing.as, abandoning);
  if (what == "check") return check(study::read_study(words[1]), arguments.has("json"));
  throw Error({.what = "parley study does not know this",
               .value = "'" + join(words, " ") + "'",
               .allowed =
                   "new FILE, invite FILE --address A --certificate C --records N, roster FILE, check FILE, sign "
                   "FILE --as NAME --words TEXT, abandon FILE --as NAME",
               .where = "parley study",
               .fix = "parley study --help"});
}

}  // namespace

Command study_command() {
  static Invited defaults;
  static SignOptions signing;
  static AbandonOptions abandoning;
  return {.name = "study",
          .summary = "write, fill, check and approve the study file that all parties share; abandon its run",
          .tasks = {{"new", "FILE", "write a study file to begin with", {}},
                    {"invite", "FILE", "add a party to the study file", invite_options()},
                    {"roster", "FILE", "list the parties", {"json"}},
                    {"check", "FILE", "check the study: its hash, its plan, what it costs", {"json"}},
                    {"sign",
                     "FILE",
                     "approve the study: sign its hash into FILE's approvals",
                     {"as", "words", "hash", "key", "certificate"}},
                    {"abandon", "FILE", "take no further part in its run, and delete its secret", {"as", "out"}}},
          .own = all_rows(defaults, signing, abandoning),
          .flags = {"trainer", "json"},
          .examples =
              "  parley study new study.toml\n"
              "  parley study invite study.toml --name hospital_b --address b.example.org:7400 --certificate "
              "hospital_b.pem --records 8000\n"
              "  parley study invite study.toml --address c.example.org:7400 --certificate coordinator.pem --trainer\n"
              "  parley study roster study.toml\n"
              "  parley study check study.toml\n"
              "  parley study sign study.toml --as hospital_b --words 'Approved for ward 2. A. Officer'\n"
              "  parley study abandon study.toml --as hospital_b\n",
          .run = run_study};
}

}  // namespace parley::cli
