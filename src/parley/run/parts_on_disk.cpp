#include "parley/run/parts_on_disk.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/network/transcript.h"
#include "parley/run/measure.h"

namespace parley::run {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Trap: such a round must not be solved again until it goes well; that would choose the noise.
void check_outcome(const fs::path& folder) {
  const json before = json::parse(read_file(folder / "run.json", "the record"), nullptr, false);
  if (before.is_object() && before.value("outcome", "") == "uncertified")
    throw Error({.what =
                     "this party's part ended because a local minimum could not be certified: trying again with other "
                     "noise until it can be would choose the noise, and no bound covers that",
                 .where = folder.string(),
                 .fix = "agree on a new study with a larger tolerance; what this one spent stays spent"});
}

// An Error's lines as one sentence.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

}  // namespace

PartsOnDisk::PartsOnDisk(Setup setup) : setup_(std::move(setup)) {
  parts_.push_back(setup_.first);
  open();
}

fs::path PartsOnDisk::folder_of(const Part& part) const {
  return part.number == 1 ? setup_.folder : setup_.folder / ("part-" + std::to_string(part.number));
}

// Trap: once this party has signed what it released in a part, the rest of that part's plan is never charged; counted
// in full beside the part that follows, it could exceed a cap that both together keep.
privacy::PlannedRun PartsOnDisk::planned(const Part& part, bool closed) const {
  privacy::PlannedRun run = setup_.run;
  run.id = part.agreed.run;
  run.configuration = part.agreed.configuration_hash;
  privacy::PlannedRun::Account& account = run.accounts.front();
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
  const fs::path here = folder();
  const bool begun = fs::exists(here / "run.json");
  const bool closed = begun && network::has_stated_loss(here / "transcript");
  const privacy::PlannedRun run = planned(part(), closed);
  setup_.book->check_room(run);
  if (begun) check_outcome(here);
  if (!begun) record::create_folder(here);
  kept_.reset();
  if (begun) kept_ = record::read(here).kept();
  record_.reset();
  ledger_.reset();  // one run at a time
  ledger_.emplace(setup_.book, run);
  record_.emplace(here, setup_.header(*this, "running"), kept_);
}

network::Consent PartsOnDisk::consent(const network::Succession& next) const {
  try {
    const Part following = next_part(part(), next);
    setup_.book->check_room(planned(following, false));
    return {.agrees = true, .configuration = following.agreed.configuration_hash};
  } catch (const Error& e) {
    return {.reason = one_line(e.what())};
  }
}

const PartsOnDisk::Beginning& PartsOnDisk::next(Party& before) {
  const network::Succession agreed = *before.exchange().succession();
  Part following = next_part(part(), agreed);
  const Ended ended{.part = part(),
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

std::vector<privacy::Charge> PartsOnDisk::charged(std::size_t part) const {
  const Part& p = parts_[part];
  if (self_of(p) >= p.holders()) return {};
  return charges(p, self_of(p), std::max(0, part < released_.size() ? released_[part] : ledger_->last_round(self())));
}

double PartsOnDisk::spent() const {
  if (!holds_rows() || !part().plan.noisy()) return 0;
  if (parts_.size() == 1) return spent_epsilon(*ledger_, part().plan, self());
  privacy::Spend all(part().plan.nodes[static_cast<std::size_t>(self())].delta);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (const privacy::Charge& c : charged(p)) all.add(privacy::Price{c.epsilon, c.mu});
  return all.epsilon();
}

double PartsOnDisk::epsilon(bool whole) const {
  if (!holds_rows() || !part().plan.noisy()) return 0;
  const Part& first = parts_.front();
  const algorithm::Schedule& s = first.plan.nodes[static_cast<std::size_t>(self_of(first))];
  return s.delta == 0 || (whole && parts_.size() == 1) ? spent() : s.epsilon;
}

std::vector<PartsOnDisk::Told> PartsOnDisk::story() const {
  std::vector<Told> story;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    Told told{.number = part.number,
              .run = part.agreed.run,
              .folder = folder_of(part).lexically_relative(setup_.folder).string(),
              .parties = part.agreed.parties,
              .through = p < agreements_.size() ? agreements_[p].through : -1,
              .released = p < released_.size() ? released_[p]
                          : ledger_            ? ledger_->last_round(self())
                                               : -1};
    if (ledger_ && holds_rows()) {
      privacy::Spend spent(part.plan.nodes.front().delta);
      for (const privacy::Charge& c : charged(p)) spent.add(privacy::Price{c.epsilon, c.mu});
      told.private_rounds = static_cast<int>(charged(p).size());
      told.epsilon = part.plan.noisy() ? spent.epsilon() : 0;
    }
    story.push_back(std::move(told));
  }
  return story;
}

void PartsOnDisk::finish(const json& head, const json& model) {
  if (!record_) return;  // the part that is to follow could not be opened
  record_->finish(head, model);
  if (parts_.size() == 1) return;
  json whole = json::parse(read_file(setup_.folder / "run.json", "the record"));
  for (const char* key : {"outcome", "outcome_in_words", "rounds_done", "parts"})
    if (head.contains(key)) whole[key] = head[key];
  if (!model.is_null()) write_file(setup_.folder / "model.json", model.dump(1) + "\n");
  write_file(setup_.folder / "run.json", whole.dump(1) + "\n");
}

json to_json(const std::vector<PartsOnDisk::Told>& story) {
  json list = json::array();
  for (const auto& told : story)
    list.push_back({{"part", told.number},
                    {"run_id", told.run},
                    {"folder", told.folder},
                    {"parties", told.parties},
                    {"went_on_after_round", told.through < 0 ? json() : json(told.through)},
                    {"rounds_released", told.released + 1},
                    {"rounds_from_rows", told.private_rounds},
                    {"epsilon", told.epsilon}});
  return list;
}

}  // namespace parley::run
