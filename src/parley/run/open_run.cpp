#include "parley/run/open_run.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/split.h"
#include "parley/network/together.h"
#include "parley/record/files.h"

namespace parley::run {
namespace {

using nlohmann::json;

[[noreturn]] void nothing_to_resume(const std::string& folder) {
  throw Error({.what = "there is no run to resume: no run.json",
               .where = folder,
               .fix = "a run that ended before it wrote one has released nothing: start it anew, without --resume, in "
                      "another --out"});
}

std::shared_ptr<ledger::LedgerFile> open_ledger(std::string name, const network::Ranks& ranks) {
  static constexpr std::string_view placeholder = "{rank}";
  const auto at = name.find(placeholder);
  if (at != std::string::npos) name.replace(at, placeholder.size(), std::to_string(ranks.rank()));
  try {
    return std::make_shared<ledger::LedgerFile>(name);
  } catch (const Error& e) {
    if (ranks.count() == 1 || at != std::string::npos) throw;
    Error::Fields more = e.fields().front();
    more.fix += std::string(more.fix.empty() ? "" : "; ") +
                "every rank needs a ledger of its own: on a shared disk, write {rank} into the name of --ledger";
    throw Error(more);
  }
}

// What a resumed job's ranks hold must be the past of one run; its id.
std::string agreed_past(const OpenRun& owner, const std::string& folder, bool shares_noise, network::Ranks& ranks) {
  const auto& unfinished = owner.unfinished;
  const auto at = static_cast<std::size_t>(ranks.rank());
  std::vector<double> recorded(static_cast<std::size_t>(ranks.count())), paid(recorded.size());
  recorded[at] = unfinished ? unfinished->record.kept().values : 0;
  if (owner.book)
    if (const ledger::LedgerFile::Run* run = owner.book->find_run(owner.resumed_id))
      paid[at] = run->accounts.begin()->second.last_round + 1;
  ranks.sum(recorded);
  ranks.sum(paid);
  const auto jobs = ranks.texts(unfinished ? record::text_in(unfinished->record.run, "job_id") : "");
  std::vector<RankPast> all;
  for (std::size_t r = 0; r < jobs.size(); ++r)
    all.push_back(
        {.recorded = recorded[r], .paid = owner.book ? std::optional(paid[r]) : std::nullopt, .job = jobs[r]});
  together(ranks, [&] {
    check_pasts(all, folder);
    const auto has = [](const RankPast& r) { return r.paid.value_or(r.recorded); };
    if (shares_noise && std::ranges::any_of(all, [&](const RankPast& r) { return has(r) != has(all.front()); }))
      throw Error({.what = "one rank is a round ahead, and the keys of the noise that parties share are gone: in that "
                           "round it would not cancel",
                   .where = folder,
                   .fix = "start a new run with another --out; what was released stays spent"});
  });
  return *std::ranges::find_if(jobs, [](const std::string& job) { return !job.empty(); });
}

// A ledger belongs to who owns the rows, and spend adds up where the rows are: with several ranks, one rank per file.
void check_ledger_follows_rows(const TrainOptions& o, const network::Ranks& ranks) {
  if (o.engine.ledger.empty() || ranks.count() == 1 ||
      (o.data.data.size() > 1 && static_cast<int>(o.data.data.size()) == ranks.count()))
    return;
  throw Error({.what =
                   "with several ranks a ledger needs one file per node and one rank per file: else the spend on a row "
                   "would stand in another ledger when rows are dealt otherwise",
               .value = std::to_string(o.data.data.size()) + " files, " + std::to_string(ranks.count()) + " ranks",
               .where = "option --ledger",
               .fix = "start as many ranks as files, or train in one process"});
}

// Privacy: a ledger charges a run to a row once, at the node that spends most (docs/proofs/composition.md). That needs
// a row to change one node only.
void check_ledger_counts_a_row_once(const TrainOptions& o) {
  if (o.engine.ledger.empty() || !data::reads_rows(o.data.split)) return;
  std::vector<std::string> blind = words_of<data::Split>();
  std::erase_if(blind, data::reads_rows);
  throw Error({.what = "this split reads rows, and a ledger cannot count it: replacing one row of the table may change "
                       "the data of several nodes, and the ledger would charge for one",
               .value = "--split " + o.data.split.text,
               .allowed = "with --ledger: " + join(blind, ", ") + ", or one file per node",
               .where = "option --split",
               .fix = "choose one of these splits; without --ledger and --dataset the run is marked '" +
                      record::name_of(record::Adjacency::as_dealt) + "' and charged to nobody"});
}

}  // namespace

void check_options(TrainOptions options) {
  validate_options(option_rows(options));
  if (options.engine.resume && (options.engine.out.empty() || options.engine.repeat > 1))
    throw Error({.what = "--resume continues one run, in its folder",
                 .where = "option --resume",
                 .fix = "give the --out of the run, and no --repeat"});
  if (options.engine.ledger.empty() != options.engine.dataset.empty())
    throw Error({.what = "--ledger and --dataset go together",
                 .where = options.engine.ledger.empty() ? "option --dataset" : "option --ledger",
                 .fix = "give both, or neither"});
  check_ledger_counts_a_row_once(options);
}

void check_budget(const TrainOptions& o) {
  if (algorithm::decides_privacy(o.algorithm)) return;
  check_options(o);  // what is wrong otherwise is told first
  throw Error({.what = "how much privacy? There is no budget",
               .where = "option --epsilon",
               .fix = "give --epsilon (for example 1), or --noise none to run without privacy"});
}

std::string default_folder(const std::string& algorithm) {
  const std::string text = timestamp();
  std::string folder = "runs/" + text + "-" + algorithm;
  for (int n = 2; std::filesystem::exists(folder); ++n)
    folder = "runs/" + text + "-" + algorithm + "-" + std::to_string(n);
  return folder;
}

OpenRun open_run(Simulation& simulation, const TrainOptions& options, const std::string& out, network::Ranks& ranks) {
  const std::string mine = record::folder_of_rank(out, ranks.rank()).string();
  const bool resume = options.engine.resume, here = std::filesystem::exists(mine + "/run.json");
  OpenRun owner;
  double begun = here ? 1 : 0;
  ranks.largest({&begun, 1});
  together(ranks, [&] {
    check_ledger_follows_rows(options, ranks);
    if (!resume) record::check_vacant(mine);
    if (resume && begun == 0) nothing_to_resume(out);
    if (!options.engine.ledger.empty()) owner.book = open_ledger(options.engine.ledger, ranks);
    if (!resume || !here) return;
    owner.lock = std::make_unique<record::Lock>(mine);
    owner.unfinished = find_unfinished(simulation, options, mine, owner.book.get());
  });
  for (const std::string& id : ranks.texts(owner.unfinished ? owner.unfinished->run_id : ""))
    if (owner.resumed_id.empty()) owner.resumed_id = id;
  owner.job_id = ranks.texts(ledger::random_hex(16)).front();
  if (resume && ranks.count() > 1) owner.job_id = agreed_past(owner, out, simulation.plan.sharing().on(), ranks);
  std::string warnings;
  if (owner.unfinished && !owner.unfinished->warning.empty()) warnings = owner.unfinished->warning + "\n";
  together(ranks, [&] {
    if (owner.book) {  // for all runs together, before anything starts
      const ledger::PlannedRun planned = planned_run(simulation, options, *owner.book, owner.resumed_id);
      owner.book->check_room(planned, static_cast<int>(options.engine.repeat));
      for (const auto& w : owner.book->warnings()) warnings += w + "\n";
      for (const auto& w : owner.book->warnings_about(planned)) warnings += w + "\n";
    }
    if (ranks.rank() != 0) return;
    if (!resume) record::create_folder(out);
    record::point_latest(out);
  });
  const auto all = ranks.texts(warnings);
  for (std::size_t r = 0; r < all.size(); ++r)
    for (const std::string& w : split_list(all[r], '\n'))
      if (!w.empty()) simulation.plan.warnings.push_back(all.size() > 1 ? "rank " + std::to_string(r) + ": " + w : w);
  return owner;
}

}  // namespace parley::run
