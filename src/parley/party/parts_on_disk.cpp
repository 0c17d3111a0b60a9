#include "parley/party/parts_on_disk.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/ledger/error_codes.h"
#include "parley/party/party_folder.h"
#include "parley/protocol/transcript.h"
#include "parley/record/files.h"
#include "parley/record/round.h"
#include "parley/record/void_claims.h"

namespace parley::party {

using nlohmann::json;
namespace fs = std::filesystem;

PartsOnDisk::PartsOnDisk(Setup setup)
    : setup_(std::move(setup)),
      contradicted_before_(record::contradicted_in(record::read_json(setup_.folder / "run.json"))),
      voided_before_(record::voided_by(record::read_json(setup_.folder / "run.json"))) {
  parts_.push_back(setup_.first);
  open();
}

fs::path PartsOnDisk::folder_of(const study::Part& part) const {
  return part.number == 1 ? setup_.folder : setup_.folder / record::folder_of_part(part.number);
}

// Trap: once this party has signed what it released in a part, the rest of that part's plan is never charged; counted
// in full beside the part that follows, it could exceed a cap that both together keep.
ledger::PlannedRun PartsOnDisk::planned_run(const study::Part& part, bool closed) const {
  ledger::PlannedRun run = setup_.run;
  run.id = part.agreed.run;
  run.folder = folder_of(part);
  run.configuration = part.agreed.configuration_hash;
  ledger::PlannedRun::Account& account = run.accounts.front();
  account.node = self_of(part);
  account.planned.clear();
  if (account.node >= part.holders()) return run;
  long through = -1;
  if (const auto* there = setup_.book->find_run(run.id); closed && there != nullptr)
    through = std::max(0, there->accounts.at(account.node).last_round);
  account.planned = charges(part, account.node, closed ? std::max(0L, through) : -1);
  return run;
}

void PartsOnDisk::open() {
  record_.reset();  // of the part before: nothing more is written there, whatever fails here
  ledger_.reset();  // one run at a time
  const fs::path here = folder();
  const ledger::PlannedRun run = planned_run(part(), protocol::has_stated_loss(here / "transcript"));
  setup_.book->check_room(run);
  refuse_uncertified(here);
  was_complete_ = has_completed_model(here);
  std::error_code told_by_the_writer;
  fs::create_directories(here, told_by_the_writer);
  ledger_.emplace(setup_.book, run);
  const json head = setup_.header(*this, was_complete_ ? "completed" : "running");
  const auto value = [this](int round) { return *ledger_->stored(self(), round)->value(); };
  kept_ = record::rewrite(here, ledger_->last_round(self()) + 1, head.at("released").at("size").get<Index>(), value,
                          [&](int round) { return line_of(round, value(round).size() == 0); });
  record_.emplace(here, head, kept_);
}

std::unique_ptr<AppendFile> PartsOnDisk::open_transcript() {
  auto transcript = open_append_file(folder() / "transcript");
  in_use_.clear();
  for (const fs::path& path : {setup_.folder, folder(), folder() / "transcript", setup_.book->file()})
    in_use_.emplace_back(path);
  return transcript;
}

bool PartsOnDisk::in_place() const {
  return std::ranges::all_of(in_use_, &InUse::in_place);
}

// Trap: whoever has a file open may write to it after it was removed, and would go on spending on a run that no restart
// can go on with.
void PartsOnDisk::check_in_place() const {
  const auto gone = std::ranges::find(in_use_, false, &InUse::in_place);
  if (gone == in_use_.end()) return;
  throw Error({.what = "a file of this run was removed or replaced while it was under way",
               .value = gone->path().string(),
               .allowed = "record and ledger as they were when this process started",
               .where = setup_.folder.string(),
               .fix = "nothing further was charged or released. Put it back as it was and start again; if it is lost, "
                      "agree on a new study: what was spent stays spent"});
}

// Privacy: the statement of an earlier end tells of fewer rounds than this party is about to pay for. It goes first,
// whatever becomes of this process.
void PartsOnDisk::withdraw_statement() {
  if (statement_withdrawn_) return;
  for (const char* name : {"statement.json", "statement.txt"}) {
    const fs::path file = setup_.folder / name;
    std::error_code code;
    if (!fs::remove(file, code) && !code) continue;
    if (code || !sync_folder_of(file))
      throw Error({.what = "this party's statement of an earlier end cannot be removed: " + code.message(),
                   .where = file.string(),
                   .fix = "nothing further was charged or released; remove it, and start again"});
  }
  statement_withdrawn_ = true;
}

std::optional<privacy::Paid> PartsOnDisk::pay(privacy::Release release) {
  withdraw_statement();
  return ledger_->pay(std::move(release));
}

void PartsOnDisk::fail(privacy::Release unreleased, const std::string& reason) {
  std::exception_ptr stays;
  try {
    withdraw_statement();
  } catch (const Error&) {
    stays = std::current_exception();
  }
  ledger_->fail({std::move(unreleased)}, reason);  // whatever else fails: without the mark noise could be chosen
  if (stays) std::rethrow_exception(stays);
}

json PartsOnDisk::line_of(int round, bool silent) const {
  study::PartHistory through = history();
  through.back().released = round;
  const record::Turn turn{
      .round = round,
      .touches_data = holds_rows() && part().plan.nodes[static_cast<std::size_t>(self())].touches_data(round),
      .silent = silent,
      .star = part().plan.star()};
  const algorithm::Cost cost = epsilon_so_far(through);
  json line = record::round_line(round, record::kind_of(turn), cost.epsilon, setup_.run.not_private.empty());
  if (part().plan.sharing().on() || setup_.first.plan.sharing().on()) line["epsilon_all_others"] = cost.all_others;
  return line;
}

protocol::Consent PartsOnDisk::consent(const protocol::Succession& next) const {
  try {
    const study::Part following = next_part(part(), next);
    try {
      setup_.book->check_room(planned_run(following, false));
    } catch (const Error& e) {  // its text is for the owner: file, cap and what else was spent
      return {.reason = e.is(ledger::over_cap) ? "the rest of the run does not fit under the cap in its ledger"
                                               : "its ledger refuses the rest of the run"};
    }
    return {.agrees = true, .configuration = following.agreed.configuration_hash};
  } catch (const Error& e) {
    return {.reason = e.in_one_line()};
  }
}

const PartsOnDisk::Beginning& PartsOnDisk::next(Party& before) {
  const protocol::Succession agreed = *before.exchange().succession();
  study::Part following = next_part(part(), agreed);
  const study::Ended ended{.part = part(),
                           .next = agreed,
                           .self = self(),
                           .start = beginning_.start,
                           .own = before.own_values(agreed.through),
                           .inboxes = before.inboxes()};
  Beginning beginning{.start = start_after(following, ended),
                      .earlier = before.final_through(agreed.through),
                      .expected = expected_after(following, ended)};
  released_.push_back(ledger_->last_round(self()));
  record_->finish(setup_.header(*this, "continued"), json());
  agreements_.push_back(agreed);
  parts_.push_back(std::move(following));
  beginning_ = std::move(beginning);
  open();
  return beginning_;
}

study::PartHistory PartsOnDisk::history() const {
  study::PartHistory told;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    told.push_back({.part = &parts_[p],
                    .self = self_of(parts_[p]),
                    .released = p < released_.size() ? released_[p]
                                : ledger_            ? ledger_->last_round(self())
                                                     : -1,
                    .through = p < agreements_.size() ? agreements_[p].through : -1});
  return told;
}

algorithm::Cost PartsOnDisk::spent() const {
  return epsilon_so_far(history());
}

void PartsOnDisk::finish(const json& head, const json& model) {
  if (!record_) return;  // the part that is to follow could not be opened
  record_->finish(head, model);
  sync_files(folder());
  if (parts_.size() == 1) return;
  json changes = json::object();
  for (const char* key :
       {"outcome", "outcome_in_words", "rounds_done", "parts", "ledger_head", record::contradicted_parties})
    if (head.contains(key)) changes[key] = head[key];
  for (const char* key : {"privacy", "node_facts", record::void_before})
    if (head.contains(key)) changes[key] = head[key];
  record::amend(setup_.folder, changes, model);
  sync_files(setup_.folder);
  if (record::void_claims(head).empty()) return;
  for (const study::Part& part : std::span(parts_).subspan(1, parts_.size() - 2)) {
    record::amend(folder_of(part), {{"privacy", head["privacy"]}, {"node_facts", head["node_facts"]}}, json());
    sync_files(folder_of(part));
  }
}

}  // namespace parley::party
