// The records of a study's parties, checked from outside.
#include "parley/verify/verify.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"

namespace parley::cli {
namespace {

using nlohmann::json;
using verify::Verified;

json amount(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

json as_json(const Verified& v) {
  json parties = json::array();
  for (const auto& p : v.parties) {
    const bool priced = v.noisy && !p.trainer && !p.claims_nothing();
    parties.push_back({{"party", p.name},
                       {"record", p.folder.empty() ? json() : json(p.folder)},
                       {"outcome", p.outcome.empty() ? json() : json(p.outcome)},
                       {"trainer", p.trainer},
                       {"parts", p.parts},
                       {"rounds_released", p.rounds},
                       {"rounds_from_rows", p.rounds_from_rows},
                       {"values_recomputed", p.recomputed},
                       {"epsilon", priced ? json(p.epsilon) : json()},
                       {"epsilon_all_others", priced ? json(p.epsilon_all_others) : json()},
                       {"delta", priced ? json(p.delta) : json()},
                       {"contradicted", p.contradicted},
                       {"past_unknown", p.past_unknown},
                       {"doubted", p.doubted},
                       {"epsilon_stated", p.claims_nothing() ? json() : amount(p.stated)},
                       {"epsilon_in_ledger", p.claims_nothing() ? json() : amount(p.in_ledger)}});
  }
  const bool priced = v.noisy && std::ranges::none_of(v.parties, &verify::VerifiedParty::claims_nothing);
  json parts = json::array();
  for (const auto& p : v.parts)
    parts.push_back({{"part", p.number},
                     {"run_id", p.run},
                     {"parties", p.parties},
                     {"after_round", p.after_round < 0 ? json() : json(p.after_round)},
                     {"rounds", p.rounds}});
  return {{"holds", v.wrong.empty()},
          {"wrong", v.wrong},
          {"unchecked", v.unchecked},
          {"accepted_by_ledger_owner", v.accepted},
          {"secrets", v.secrets},
          {"beyond_verification", verify::beyond_verification()},
          {"study", v.title},
          {"study_hash", v.hash},
          {"parts", parts},
          {"parties", parties},
          {"epsilon", priced ? json(v.epsilon) : json()},
          {"epsilon_all_others", priced ? json(v.epsilon_all_others) : json()},
          {"unit", v.rows_per_person > 0 ? "person" : "row"},
          {"rows_per_person", v.rows_per_person},
          {"several_parties", v.several_parties},
          {"against", v.against.empty() ? json() : json(v.against)},
          {"delta", v.noisy ? json(v.delta) : json()},
          {"bound", v.bound},
          {"not_private", v.not_private},
          {"messages", v.messages},
          {"values_compared", v.compared}};
}

void print_party_table(const Verified& v) {
  const std::string mark = v.not_private.empty() ? "" : " (NOT PRIVATE)";
  std::vector<std::vector<std::string>> lines = {{"party", "rounds", "from rows", "recomputed", "ε found" + mark,
                                                  "ε stated" + mark, "ε in its ledger" + mark, "own record"}};
  const auto shown = [](const std::optional<double>& e) { return e ? printed_epsilon(*e) : "-"; };
  for (const auto& p : v.parties)
    lines.push_back({p.name, std::to_string(p.rounds), std::to_string(p.rounds_from_rows), std::to_string(p.recomputed),
                     !v.noisy || p.trainer ? "-"
                     : p.claims_nothing()  ? "none"
                                           : printed_epsilon(p.epsilon),
                     p.claims_nothing() ? "void" : shown(p.stated), p.claims_nothing() ? "void" : shown(p.in_ledger),
                     p.folder.empty() ? "not given" : p.outcome});
  fmt::print("{}", table(lines));
}

void print(const Verified& v) {
  fmt::print("{}\nstudy {}\n\n", bold(v.title), in_fours(v.hash));
  print_party_table(v);
  if (v.parts.size() > 1) fmt::print("\nThe run went on after a loss; the table has all parts together.\n");
  for (const auto& p : v.parts)
    if (p.number > 1)
      fmt::print("  part {}: {}, from round {} of part {}, {} rounds\n", p.number, join(p.parties, ", "), p.after_round,
                 p.number - 1, p.rounds);
  for (const auto& reason : v.not_private) fmt::print("\n{}\n", alarm("NOT PRIVATE: " + reason));
  std::vector<std::string> contradicted, unknown, doubted;
  for (const auto& p : v.parties)
    if (p.claims_nothing()) (p.contradicted ? contradicted : p.past_unknown ? unknown : doubted).push_back(p.name);
  if (!contradicted.empty())
    fmt::print("\n{}\n",
               alarm("No ε holds for " + join(contradicted, ", ") +
                     (contradicted.size() == 1 ? ": it has signed two things that exclude each other, so it"
                                               : ": each has signed two things that exclude each other, so it") +
                     " may have released more."));
  if (!unknown.empty())
    fmt::print("\n{}\n", alarm("No ε holds for " + join(unknown, ", ") +
                               (unknown.size() == 1 ? ": by its own record" : ": by their own records") +
                               " more was released than the ledger knows of."));
  if (!doubted.empty())
    fmt::print("\n{}\n",
               alarm("No ε is told for " + join(doubted, ", ") +
                     ": a party told its peers things that exclude each other, and these records do not prove "
                     "which party it was."));
  const std::size_t without = contradicted.size() + unknown.size() + doubted.size();
  if (v.noisy && without < v.parties.size())
    fmt::print("\nAny one {} of any {}party: {}ε = {}, δ = {} ({}), on the assumptions in the statements.\n",
               record::unit_in_words(v.rows_per_person), without == 0 ? "" : "other ",
               v.not_private.empty() ? "" : "with secret noise ", printed_epsilon(v.epsilon), number(v.delta), v.bound);
  if (v.noisy && !v.against.empty() && without < v.parties.size())
    fmt::print("That holds against {}; against all other parties together, ε = {}.\n", v.against,
               printed_epsilon(v.epsilon_all_others));
  if (v.noisy && !v.several_parties.empty() && without < v.parties.size()) fmt::print("{}.\n", v.several_parties);
  fmt::print("\n{} signed messages; {} released values that two or more records hold.\n", v.messages, v.compared);
  const auto list = [](const std::string& title, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    fmt::print("\n{}\n", title);
    for (const auto& sentence : sentences) fmt::print("  - {}\n", sentence);
  };
  list("Not checked, for want of records:", v.unchecked);
  list("Accepted by the owner of a ledger:", v.accepted);
  list(alarm("Secrets that lie beside these records:"), v.secrets);
  list("Nobody can verify from outside:", verify::beyond_verification());
  list(alarm("WRONG:"), v.wrong);
  if (v.wrong.empty()) fmt::print("\n{}\n", bold("Everything that was checked holds."));
}

int run_verify(const Arguments& arguments) {
  verify::VerifyOptions o;
  set_from(arguments, verify::option_rows(o));
  validate_options(verify::option_rows(o));
  const std::string example = "parley verify a/out b/out c/out --study study.toml";
  if (o.study.empty())
    throw Error({.what = "signatures are checked against the certificates in the study file, and none was given",
                 .where = "option --study",
                 .fix = example});
  if (arguments.words.empty())
    throw Error(
        {.what = "the records are missing: the folders of the parties", .where = "parley verify", .fix = example});
  const Verified v = verify::verify(o, arguments.words);
  if (arguments.has("json"))
    fmt::print("{}\n", as_json(v).dump());
  else
    print(v);
  return v.wrong.empty() ? 0 : exit_mistake;
}

}  // namespace

Command verify_command() {
  static verify::VerifyOptions defaults;
  return {.name = "verify",
          .summary = "check the records of a study's parties from outside, without data",
          .words = "RECORD…",
          .own = verify::option_rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley verify a/out b/out c/out --study study.toml\n"
              "  parley verify mine/out --study study.toml --ledger my.ledger\n",
          .run = run_verify};
}

}  // namespace parley::cli
