// What an owner does beside training: the ledger, a study with others, pages.
#include <utility>

#include "parley/base/error.h"
#include "parley/base/log_line.h"
#include "parley/base/text.h"
#include "parley/ledger/ledger_file.h"
#include "parley/library/inside.h"
#include "parley/party/exit_code.h"
#include "parley/party/join.h"
#include "parley/report/report.h"
#include "parley/study/statement.h"

namespace parley {

using ledger::LedgerFile;

Ledger::Ledger(std::filesystem::path file) : file_(std::move(file)) {}

void Ledger::cap(const std::string& dataset, double epsilon, double delta, std::optional<double> colluders_epsilon) {
  const ledger::Cap cap{epsilon, delta, colluders_epsilon};
  ledger::check_cap(dataset, cap);
  LedgerFile(file_, LedgerFile::Open::create_if_missing).set_cap(dataset, cap);
}

namespace {

const LedgerFile::Dataset& dataset_in(const LedgerFile& ledger, const std::string& name) {
  const auto found = ledger.datasets().find(name);
  if (found != ledger.datasets().end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [dataset, facts] : ledger.datasets()) known.push_back(dataset);
  throw Error({.what = "the ledger has no such dataset",
               .value = "'" + name + "'",
               .allowed = join(known, ", "),
               .where = ledger.file().string(),
               .fix = "give it a cap first"});
}

}  // namespace

double Ledger::spent(const std::string& dataset) const {
  const LedgerFile ledger(file_, LedgerFile::Open::to_read);
  dataset_in(ledger, dataset);
  return ledger.spent(dataset).epsilon();
}

double Ledger::left(const std::string& dataset) const {
  const LedgerFile ledger(file_, LedgerFile::Open::to_read);
  return ledger::left_under(dataset_in(ledger, dataset).cap, ledger.spent(dataset));
}

JoinOutcome join(const std::string& study, const Settings& settings, const JoinHooks& hooks) {
  party::JoinOptions options;
  library::set_options(party::option_rows(options), settings);
  options.study = study;
  party::JoinHooks watching;
  watching.stop = hooks.stop;
  if (hooks.on_progress)
    watching.on_progress = [&](const party::JoinProgress& p) {
      hooks.on_progress(p.round, p.rounds, p.answering, p.peers);
    };
  watching.report = [&](const LogLine& line) {
    if (hooks.log) hooks.log(line.text, line.level != Level::info);
  };
  const party::Joined j = party::join(options, watching);
  return {.outcome = study::end_name(j.ending.end),
          .text = j.ending.text,
          .exit_code = static_cast<int>(party::exit_of(j.ending, j.complete_before)),
          .epsilon = j.epsilon,
          .delta = j.delta,
          .not_private = j.not_private,
          .folder = j.folder,
          .has_model = j.has_model,
          .has_statement = j.has_statement};
}

void write_report(const std::vector<std::filesystem::path>& records, const std::filesystem::path& page, bool owner,
                  const std::string& title) {
  std::error_code code;
  if (std::filesystem::exists(page, code) && !report::is_report(page))
    throw Error({.what = "the file exists and is not a report",
                 .where = page.string(),
                 .fix = "choose another name, or remove it"});
  const report::Report made = report::make_report(
      records,
      {.audience = owner ? report::Audience::owner : report::Audience::anyone, .title = title, .version = version()});
  write_file(page, made.page);
  if (owner)
    std::filesystem::permissions(page, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace parley
