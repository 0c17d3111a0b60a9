// One party of a study between organisations.
#include "parley/party/join.h"

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/study/statement.h"

namespace parley::cli {
namespace {

void print_start(const party::JoinOptions& o, const study::Study& s, const study::StudyPlan& p, const std::string& hash,
                 const std::string& folder) {
  const auto& first = p.plan.nodes.front();
  fmt::print(stderr, "{} takes part in \"{}\"\nstudy {}\n", o.as, s.title, hash);
  fmt::print(stderr, "{} between {} parties{}, {} rounds of messages; record in {}\n", first.algorithm.name,
             p.plan.nodes.size(), p.plan.star() ? " and a trainer" : "", first.rounds, folder);
  for (const auto& reason : study::not_private(s, p)) fmt::print(stderr, "{}\n", alarm("NOT PRIVATE: " + reason));
}

std::string progress_text(const party::JoinProgress& p) {
  std::string text =
      fmt::format("round {:>3}/{}  {} of {} peers answer", std::max(0, p.round), p.rounds, p.answering, p.peers);
  if (p.budget > 0) text += fmt::format("  ε {} of {}", printed_epsilon(p.epsilon), printed_epsilon(p.budget));
  if (p.stamped) text += "  " + alarm("NOT PRIVATE");
  if (p.seconds_left >= 0) text += fmt::format("  {:.0f} s left", p.seconds_left);
  return text;
}

void print_end(const party::JoinOptions& o, const party::Joined& j) {
  const bool whole = j.ending.end == protocol::End::completed;
  fmt::print("\n{}: {}\n", whole ? bold("completed") : alarm(study::end_name(j.ending.end)), j.ending.text);
  for (const auto& line : j.parts) fmt::print("  {}\n", line);
  if (j.contradiction && whole)
    fmt::print("  {}\n", alarm(*j.contradiction + "; the run was complete before, and its model stands"));
  if (!j.not_private.empty()) fmt::print("  {}\n", alarm("NOT PRIVATE: " + join(j.not_private, "; ")));
  if (j.ending.past_unknown())
    fmt::print(
        "  Nothing is claimed about the records of {}: its ledger does not hold all that it has released. No statement "
        "and no model are written.\n",
        o.as);
  else if (j.rounds_from_rows == 0 && !o.data.empty())
    fmt::print("  By its ledger, nothing computed from rows of {} has left.\n", o.as);
  else if (j.epsilon && *j.epsilon > 0 && j.not_private.empty())
    fmt::print("  Whoever sees every message of this run learns at most ε = {}, δ = {} about any one record of {}.\n",
               printed_epsilon(*j.epsilon), number(*j.delta), o.as);
  if (j.has_model)
    fmt::print("Model:     {}/model.json{}\n", j.folder,
               whole && j.parts.empty() ? " (of all parties)"
               : whole                  ? " (of all who went on)"
                                        : " (this party's, of the rounds so far)");
  if (j.has_statement) fmt::print("Statement: {}/statement.txt, signed in statement.json\n", j.folder);
  if (!j.private_metrics.empty())
    fmt::print("Metrics:   {} (measured on rows and not paid for: never share it)\n", j.private_metrics);
  using protocol::End;
  const bool for_good = j.ending.end == End::diverged || j.ending.end == End::equivocation ||
                        j.ending.end == End::contradicted || j.ending.end == End::refused;
  if (j.ending.left_behind())
    fmt::print("The others go on in a part of their own; what this party has released stays paid.\n");
  else if (!whole && !for_good)
    fmt::print("Started again, the same command goes on from here.\n");
}

int run_join(const Arguments& arguments) {
  party::JoinOptions options;
  set_from(arguments, party::option_rows(options));
  if (arguments.words.size() != 1)
    throw Error({.what = "parley join needs the study file",
                 .value = "'" + join(arguments.words, " ") + "'",
                 .allowed = "one file",
                 .where = "parley join",
                 .fix = "parley join study.toml --as NAME --data mine.csv --ledger my.ledger"});
  options.study = arguments.words[0];
  if (options.as.empty())
    throw Error(
        {.what = "who is this?", .where = "option --as", .fix = "give --as NAME, a name in the study's roster"});
  std::optional<Progress> progress;
  const bool quiet = arguments.has("quiet");
  const party::JoinHooks hooks{
      .on_start =
          [&](const study::Study& s, const study::StudyPlan& p, const std::string& hash, const std::string& folder) {
            if (!quiet) print_start(options, s, p, hash, folder);
            progress.emplace(quiet, p.plan.nodes.front().rounds);
          },
      .on_progress = [&](const party::JoinProgress& p) { progress->show(std::max(0, p.round), progress_text(p)); },
      .report =
          [&](const std::string& sentence) {
            if (progress) progress->clear();
            fmt::print(stderr, "{}: {}\n", options.as, sentence);
            std::fflush(stderr);
          },
      .stop = &stop_on({SIGINT, SIGTERM})};
  const party::Joined joined = party::join(options, hooks);
  progress->finish();
  if (arguments.has("json"))
    fmt::print("{}\n", nlohmann::json{{"outcome", study::end_name(joined.ending.end)},
                                      {"outcome_in_words", joined.ending.text},
                                      {"epsilon", joined.epsilon ? nlohmann::json(*joined.epsilon) : nlohmann::json()},
                                      {"delta", joined.delta ? nlohmann::json(*joined.delta) : nlohmann::json()},
                                      {"rounds_from_rows", joined.rounds_from_rows},
                                      {"statement", joined.has_statement},
                                      {"private", joined.not_private.empty()},
                                      {"record", joined.folder},
                                      {"model", joined.has_model},
                                      {"parts", joined.parts},
                                      {"seconds", joined.seconds.total},
                                      {"seconds_solve", joined.seconds.solve},
                                      {"seconds_pay", joined.seconds.pay},
                                      {"seconds_wait", joined.seconds.wait}}
                           .dump());
  else
    print_end(options, joined);
  switch (joined.ending.end) {
    case protocol::End::completed:
      return 0;
    case protocol::End::interrupted:
      return exit_interrupted;
    default:
      return exit_unusable;
  }
}

}  // namespace

Command join_command() {
  static party::JoinOptions defaults;
  return {.name = "join",
          .summary = "take part in a study between organisations, beside one's own rows",
          .words = "STUDY",
          .own = party::option_rows(defaults),
          .flags = {"json", "quiet"},
          .examples =
              "  parley join study.toml --as hospital_a --data mine.csv --ledger my.ledger\n"
              "  parley join study.toml --as coordinator --ledger trainer.ledger\n"
              "  parley join study.toml --as hospital_a --data mine.csv --ledger my.ledger --listen 10.0.0.5:7400 "
              "--out a\n",
          .run = run_join};
}

}  // namespace parley::cli
