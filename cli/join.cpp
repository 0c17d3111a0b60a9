// One party of a study between organisations.
#include "parley/party/join.h"

#include <fmt/core.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/load_view.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/party/exit_code.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"
#include "parley/study/statement.h"
#include "parley/verify/verify.h"

namespace parley::cli {
namespace {

void log_start(const party::JoinOptions& o, const study::Study& s, const study::StudyPlan& p, const std::string& hash,
               const std::string& folder) {
  const auto& first = p.plan.nodes.front();
  write_log(fmt::format("{} takes part in \"{}\"", o.as, s.title));
  write_log("study " + in_fours(hash));
  write_log(fmt::format("{} between {} parties{}, {} rounds of messages; record in {}", first.algorithm.name,
                        p.plan.nodes.size(), p.plan.star() ? " and a trainer" : "", first.rounds, folder));
  for (const auto& reason : study::not_private(s, p))
    write_log({alarm("NOT PRIVATE: " + reason, stderr), Level::warning});
}

std::string progress_text(const party::JoinProgress& p) {
  std::string text =
      fmt::format("round {:>3}/{}  {} of {} peers answer", std::max(0, p.round), p.rounds, p.answering, p.peers);
  if (!p.epsilon.empty()) text += "  " + p.epsilon;
  if (p.stamped) text += "  " + alarm("NOT PRIVATE", stderr);
  if (p.seconds_left >= 0) text += fmt::format("  {:.0f} s left", p.seconds_left);
  return text;
}

// A completed run verifies its own folder, as whoever is given it will. nullopt: there is nothing to verify, or what is
// wrong has been told (a party contradicted itself after the run was complete).
std::optional<std::vector<std::string>> wrong_in_own_record(const party::JoinOptions& o, const party::Joined& j) {
  if (j.ending.end != protocol::End::completed || !j.has_statement || j.contradiction) return std::nullopt;
  try {
    return verify::verify({.study = o.study}, {j.folder}).wrong;
  } catch (const Error& e) {  // the study was changed meanwhile, say: how the run ended is told all the same
    return std::vector<std::string>{"it cannot be verified: " + e.in_one_line()};
  }
}

std::string verdict_text(const party::JoinOptions& o, const party::Joined& j,
                         const std::optional<std::vector<std::string>>& wrong) {
  std::string text;
  if (wrong && wrong->empty())
    text += "Verified:  this record holds by itself; the other parties' records show whether all received the same\n";
  if (wrong && !wrong->empty())
    text += alarm("WRONG in this record, by 'parley verify': " + join(*wrong, "; ") +
                  ". Do not use the model before this is explained.") +
            "\n";
  if (j.has_statement) text += fmt::format("To verify: parley verify {} OTHER-FOLDERS --study {}\n", j.folder, o.study);
  return text;
}

std::string claim_in_words(const party::Joined& j, const std::string& as) {
  std::string text =
      j.against.empty()
          ? fmt::format(
                "  Whoever sees every message of this run learns at most ε = {}, δ = {} about any one {} of {}.\n",
                printed_epsilon(*j.epsilon), number(*j.delta), record::unit_in_words(j.rows_per_person), as)
          : fmt::format(
                "  About any one {} of {}, at most ε = {} against {};\n  ε = {} against all other "
                "parties together; δ = {}.\n",
                record::unit_in_words(j.rows_per_person), as, printed_epsilon(*j.epsilon), j.against,
                printed_epsilon(j.epsilon_all_others), number(*j.delta));
  if (!j.several_parties.empty()) text += "  " + j.several_parties + ".\n";
  return text;
}

std::string end_text(const party::JoinOptions& o, const party::Joined& j, party::Exit exit) {
  const bool whole = j.ending.end == protocol::End::completed;
  std::string text =
      fmt::format("\n{}: {}\n", whole ? bold("completed") : alarm(study::end_name(j.ending.end)), j.ending.text);
  for (const auto& line : j.parts) text += fmt::format("  {}\n", line);
  if (j.contradiction && whole)
    text += fmt::format("  {}\n", alarm(*j.contradiction + "; the run was complete before, and its model stands"));
  if (!j.not_private.empty()) text += fmt::format("  {}\n", alarm("NOT PRIVATE: " + join(j.not_private, "; ")));
  if (j.ending.past_unknown())
    text += fmt::format(
        "  Nothing is claimed about the records of {}: its ledger does not hold all that it has released. No statement "
        "and no model are written.\n",
        o.as);
  else if (j.rounds_from_rows == 0 && !o.data.empty())
    text += fmt::format("  By its ledger, nothing computed from rows of {} has left.\n", o.as);
  else if (j.epsilon && *j.epsilon > 0 && j.not_private.empty())
    text += claim_in_words(j, o.as);
  if (j.has_model)
    text += fmt::format("Model:     {}/model.json{}\n", j.folder,
                        whole && j.parts.empty() ? " (of all parties)"
                        : whole                  ? " (of all who went on)"
                                                 : " (this party's, of the rounds so far)");
  if (j.has_statement) text += fmt::format("Statement: {}/statement.txt, signed in statement.json\n", j.folder);
  if (!j.private_metrics.empty())
    text += fmt::format("Metrics:   {} (measured on rows {} and not paid for: never share it)\n", j.private_metrics,
                        j.metrics_held_out ? "that were held out" : "that it was trained on");
  if (j.ending.left_behind())
    text += "The others go on in a part of their own; what this party has released stays paid.\n";
  else if (exit == party::Exit::start_again && j.ending.reason == protocol::Reason::no_agreement)
    text += "Started again, this party asks the others again: start it when they are there.\n";
  else if (exit == party::Exit::start_again)
    text += "Started again, the same command goes on from here.\n";
  else if (j.ending.end == protocol::End::budget_exhausted)
    text += "With a larger cap ('parley ledger cap'), the same command goes on from here.\n";
  else if (exit == party::Exit::completed_already)
    text += "It was complete before this process was started.\n";
  return text;
}

std::string end_json(const party::Joined& joined, const std::optional<std::vector<std::string>>& wrong) {
  using nlohmann::json;
  return json{{"outcome", study::end_name(joined.ending.end)},
              {"outcome_in_words", joined.ending.text},
              {"epsilon", joined.epsilon ? json(*joined.epsilon) : json()},
              {"epsilon_all_others", joined.epsilon ? json(joined.epsilon_all_others) : json()},
              {"delta", joined.delta ? json(*joined.delta) : json()},
              {"rounds_from_rows", joined.rounds_from_rows},
              {"statement", joined.has_statement},
              {"private", joined.not_private.empty()},
              {"record", joined.folder},
              {"wrong_in_record", wrong ? json(*wrong) : json()},
              {"model", joined.has_model},
              {"parts", joined.parts},
              {"seconds", joined.seconds.total},
              {"seconds_solve", joined.seconds.solve},
              {"seconds_pay", joined.seconds.pay},
              {"seconds_wait", joined.seconds.wait}}
             .dump() +
         "\n";
}

int run_join(const Arguments& arguments) {
  party::JoinOptions options;
  set_from(arguments, party::option_rows(options));
  if (arguments.words.size() != 1)
    throw Error({.what = "the study file is missing",
                 .where = "parley join",
                 .fix = "parley join study.toml --as NAME --data mine.csv --ledger my.ledger"});
  options.study = arguments.words[0];
  if (options.as.empty())
    throw Error(
        {.what = "who is this?", .where = "option --as", .fix = "give --as NAME, a name in the study's roster"});
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the output may leave: the run goes on
  std::optional<Progress> progress;
  const bool quiet = arguments.has("quiet");
  LoadView loading(quiet, true);
  const party::JoinHooks hooks{
      .on_start =
          [&](const study::Study& s, const study::StudyPlan& p, const std::string& hash, const std::string& folder) {
            errors_are_logged();
            if (const std::string first = run::too_large_epsilon(p.plan); !first.empty())
              write_log({alarm(first, stderr), Level::warning});
            if (!quiet) log_start(options, s, p, hash, folder);
            for (const auto& text : p.plan.warnings) write_log({study::in_words_of(s, text), Level::warning});
            progress.emplace(quiet, p.plan.nodes.front().rounds);
          },
      .on_progress =
          [&](const party::JoinProgress& p) {
            const std::string text = progress_text(p);
            progress->show(std::max(0, p.round), {text}, log_line_now(text));
          },
      .report =
          [&](const LogLine& line) {
            if (progress) progress->clear();
            write_log(line);
          },
      .stop = &stop_on({SIGINT, SIGTERM, SIGHUP}),
      .watch = loading.watch()};
  try {
    const party::Joined joined = party::join(options, hooks);
    progress->finish();
    const party::Exit exit = party::exit_of(joined.ending, joined.complete_before);
    const auto wrong = wrong_in_own_record(options, joined);
    if (!to_stdout(arguments.has("json") ? end_json(joined, wrong)
                                         : end_text(options, joined, exit) + verdict_text(options, joined, wrong)))
      write_log({"nobody reads stdout any more; how the run ended is in " + joined.folder, Level::warning});
    return static_cast<int>(wrong && !wrong->empty() ? party::Exit::stopped : exit);
  } catch (const Error& e) {
    const party::Exit exit = party::exit_of(e);
    if (exit == party::Exit::mistake) throw;
    if (progress) progress->finish();
    say_error(e.what());
    return static_cast<int>(exit);
  }
}

std::string exit_codes_text() {
  std::string text = "\nExit codes:\n";
  for (const party::ExitCode& row : party::exit_codes())
    text += fmt::format("  {}  {:<18} {}\n", static_cast<int>(row.code), row.name, row.meaning);
  return text;
}

}  // namespace

Command join_command() {
  static party::JoinOptions defaults;
  return {
      .name = "join",
      .summary = "take part in a study between organisations, beside one's own rows",
      .words = "STUDY",
      .own = party::option_rows(defaults),
      .flags = {"json", "quiet"},
      .examples = std::string("  parley join study.toml --as hospital_a --data mine.csv --ledger my.ledger\n") +
                  "  parley join study.toml --as coordinator --ledger trainer.ledger\n"
                  "  parley join study.toml --as hospital_a --data mine.csv --ledger my.ledger --listen 0.0.0.0:7400 "
                  "--out a\n" +
                  exit_codes_text(),
      .run = run_join};
}

}  // namespace parley::cli
