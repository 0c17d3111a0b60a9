#include "parley/run/join.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "parley/algorithm/nodes.h"
#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/problem/metrics.h"
#include "parley/record/record.h"
#include "parley/run/failure.h"
#include "parley/run/parts_on_disk.h"
#include "parley/run/party_folder.h"
#include "parley/run/party_papers.h"
#include "parley/run/party_process.h"
#include "parley/run/seat.h"

namespace parley::run {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Seated {  // a party at work
 public:
  Seated(const JoinOptions& o, const JoinHooks& hooks)
      : options_(o), hooks_(hooks), seat_(take_seat(o)), rows_(own_rows(o, seat_.study)), noise_(seat_.study.seed) {
    folder_ = o.out.empty() ? run_id(seat_.hash).substr(0, 16) + "-" + o.as : o.out;
    if (o.ledger.empty())
      throw Error({.what = "a party needs its ledger: what it releases is charged and stored there before it leaves",
                   .where = "option --ledger",
                   .fix = "make one with '" + cap_command(seat_, o.dataset) + "', then --ledger FILE"});
    book_ = std::make_shared<privacy::LedgerFile>(o.ledger);
    std::vector<std::string> names;
    for (const Invited& p : seat_.study.parties) names.push_back(p.name);
    Part first = first_part(agreement(seat_.plan.plan, seat_.dimension(), seat_.plan.graph, names, run_id(seat_.hash),
                                      seat_.canonical, seat_.hash),
                            seat_.plan.setting, seat_.plan.plan);
    // Before anything is written, in the ledger too.
    const bool begun = has_begun(folder_, seat_.hash, o.as, network::owner_of(first.agreed, seat_.node));
    const privacy::PlannedRun plan = planned(o, seat_, rows_, *book_);
    book_->check_not_failed(plan.id);
    if (!begun) refuse_without_transcript(*book_, plan, folder_);
    if (!begun) book_->check_room(plan);
    for (const auto& text : book_->warnings()) hooks_.report("warning: " + text);
    for (const auto& text : book_->warnings_about(plan)) hooks_.report("warning: " + text);
    if (!begun) record::create_folder(folder_);
    lock_.emplace(folder_);
    parts_.emplace(PartsOnDisk::Setup{.first = std::move(first),
                                      .node = seat_.node,
                                      .folder = folder_,
                                      .book = book_,
                                      .run = plan,
                                      .header = [this](const PartsOnDisk& parts, const std::string& outcome) {
                                        return record_header(seat_, parts, outcome);
                                      }});
  }

  Joined run() {
    if (hooks_.on_start) hooks_.on_start(seat_.study, seat_.plan, seat_.hash, folder_.string());
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<network::Contact> roster;
    for (const Invited& p : seat_.study.parties)
      roster.push_back({.name = p.name, .address = p.address, .fingerprint = p.fingerprint});
    const std::string port = seat_.me().address.substr(seat_.me().address.rfind(':'));
    PartyProcess process({.self = seat_.self,
                          .listen = options_.listen.empty() ? "0.0.0.0" + port : options_.listen,
                          .roster = roster,
                          .deadline = seat_.study.deadline_seconds,
                          .threads = options_.threads > 0 ? static_cast<int>(options_.threads) : cores,
                          .noise = &noise_,
                          .node = seat_.node,
                          .report = hooks_.report,
                          .progress = [this](const PartyInParts& p) { show(p); },
                          .completed = [this](const PartyInParts& p) { store(p, *p.ending()); },
                          .stop = hooks_.stop},
                         {.largest = network::message_cap(seat_.dimension()) + 512},
                         [this](Party* before, double now) { return make_part(before, now); });
    std::optional<network::Ending> ending;
    try {
      ending = process.run();
    } catch (...) {  // a round that could not be solved is marked in the ledger already
      parts_->finish(record_header(seat_, *parts_, reason_of(std::current_exception())), json());
      throw;
    }
    show(process.party());
    return finish(process, *ending);
  }

 private:
  PartyInParts::One make_part(Party* before, double now) {
    const PartsOnDisk::Beginning beginning = before != nullptr ? parts_->next(*before) : PartsOnDisk::Beginning{};
    if (before != nullptr) round_ = first_round_ = -1;
    const Part& part = parts_->part();
    const int self = parts_->self();
    const algorithm::Schedule& s = schedule();
    problem_ = {
        .rows = &rows_.rows, .loss = s.loss, .weight = s.weight, .regularization = s.regularization, .l1 = s.l1};
    Party::Parts parts{
        .node = seat_.trainer ? algorithm::make_trainer(part.plan, seat_.dimension(), beginning.start)
                              : algorithm::make_node(problem_, s, beginning.start),
        .pay = [this](privacy::Release release) { return parts_->ledger().pay(std::move(release)); },
        .stored = [this, self](int round) { return parts_->ledger().stored(self, round); },
        .fail =
            [this, self](int round, const std::string& reason) {
              parts_->ledger().fail({unreleased(self, round, seat_.trainer ? nullptr : &schedule())}, reason);
            },
        .counts = [part](int round) { return counts_in_final(part, round); },
        .earlier = beginning.earlier,
        .expected = beginning.expected,
        .on_round = [this](const privacy::Paid& paid, const privacy::Inbox& inbox) { add(paid, inbox); }};
    const network::Timing timing{
        .deadline = seat_.study.deadline_seconds,
        .wait = seat_.study.wait_seconds,
        // With the model stored, only whoever calls soon can still need this party.
        .first_wait = parts_->was_complete() ? 2 * seat_.study.deadline_seconds : seat_.study.wait_seconds};
    network::Exchange::Setup setup{.agreed = part.agreed,
                                   .self = self,
                                   .last_released = parts_->ledger().last_round(self),
                                   .keys = keys(part.nodes),
                                   .timing = timing,
                                   .now = now};
    if (seat_.study.on_loss == "continue")
      setup.consent = [this](const network::Succession& next) { return parts_->consent(next); };
    return {.party = std::make_unique<Party>(std::move(parts), std::move(setup),
                                             network::open_append_file(parts_->folder() / "transcript")),
            .run = part.agreed.run,
            .nodes = part.nodes,
            .begins = before == nullptr ? "" : beginning_in_words()};
  }

  std::string beginning_in_words() const {
    const Part& part = parts_->part();
    std::string text = "part " + std::to_string(part.number) + ": " + parley::join(part.agreed.parties, ", ") + "; " +
                       std::to_string(part.agreed.rounds) + " rounds are left";
    if (parts_->holds_rows() && part.plan.noisy())
      text += ", with noise for what is left of the plan (epsilon " + printed_epsilon(parts_->spent()) + " of " +
              printed_epsilon(seat_.schedule().epsilon) + " was spent)";
    return text + "; its record is in " + parts_->folder().string();
  }

  // Of this party, or of any provider for the trainer.
  const algorithm::Schedule& schedule() const {
    return parts_->part().plan.nodes[seat_.trainer ? 0 : static_cast<std::size_t>(parts_->self())];
  }

  network::Keys keys(const std::vector<int>& nodes) const {
    return {.sign = [this](std::string_view bytes) { return network::sign(seat_.self.key, bytes); },
            .verify =
                [this, nodes](int node, std::string_view bytes, std::string_view signature) {
                  const auto party = static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)]);
                  return network::verify(bytes, signature, *seat_.study.parties[party].pinned);
                },
            .difference =
                [](const std::string& mine, const std::string& theirs, const std::string& who) {
                  return difference(json::parse(mine), json::parse(theirs, nullptr, false), who);
                }};
  }

  // Each round, before it is sent; after a restart the old ones again.
  void add(const privacy::Paid& paid, const privacy::Inbox& inbox) {
    if (!seat_.trainer && seat_.plan.plan.star() && paid.round() > 1 && inbox[0]->size() > 0)
      trainer_says_ = *inbox[0];  // its round 0 is the start
    round_ = paid.round();
    const record::Kept kept = parts_->kept();
    const Vector* value = paid.value().get();
    if (paid.round() >= kept.values) parts_->record().append_values({&value, 1});
    if (paid.round() < kept.lines) return;
    parts_->record().append_line(parts_->line_of(paid.round(), value->size() == 0));
    if (paid.round() == 0) return;  // then it waits for everybody
    last_time_ = std::chrono::steady_clock::now();
    if (first_round_ < 0) first_round_ = paid.round(), first_time_ = last_time_;
  }

  void show(const PartyInParts& party) {
    if (!hooks_.on_progress) return;
    const auto peers = party.now().exchange().peers();
    const int rounds = static_cast<int>(schedule().rounds), before = parts_->part().before;
    double left = -1;
    if (round_ > first_round_ && first_round_ >= 0)
      left =
          std::chrono::duration<double>(last_time_ - first_time_).count() / (round_ - first_round_) * (rounds - round_);
    hooks_.on_progress({.round = before + round_,
                        .rounds = before + rounds,
                        .peers = static_cast<int>(peers.size()),
                        .answering = static_cast<int>(std::ranges::count(peers, true, &network::PeerState::answers)),
                        .epsilon = parts_->spent(),
                        .budget = seat_.trainer ? 0 : seat_.schedule().epsilon,
                        .seconds_left = left});
  }

  // Model, statement and record: the moment the run is complete, or at the end of one that is not.
  void store(const PartyInParts& party, const network::Ending& ending) {
    const bool whole = ending.end == network::End::completed;
    const Vector own = party.own_iterate();
    const Vector model = whole ? party.model() : trainer_says_.size() > 0 ? trainer_says_ : own;
    written_ = write_papers(seat_, *parts_, folder_,
                            {.ending = ending,
                             .past_confirmed = party.now().exchange().past_confirmed(),
                             .rounds_done = round_,
                             .model = model,
                             .own = own});
    stored_ = ending.end;
    if (options_.local_metrics && !seat_.trainer && written_.spent && written_.model) write_metrics(model, own);
  }

  Joined finish(const PartyProcess& process, const network::Ending& ending) {
    if (stored_ != ending.end) store(process.party(), ending);
    Joined joined{.ending = ending,
                  .not_private = seat_.stamps,
                  .folder = folder_.string(),
                  .has_model = written_.model,
                  .has_statement = fs::exists(folder_ / "statement.json"),
                  .contradiction = process.party().now().exchange().contradiction(),
                  .private_metrics = fs::exists(metrics_file()) ? metrics_file() : ""};
    if (written_.spent) {
      joined.epsilon = written_.spent->epsilon;
      joined.delta = written_.spent->delta;
      if (const json& parts = written_.spent->parts; !parts.is_null())
        joined.parts = in_words(parts, joined.delta == 0 && joined.epsilon > 0, ending.end == network::End::completed);
    }
    joined.rounds_from_rows = rounds_from_rows(parts_->told());
    const auto& t = process.seconds();
    joined.seconds = {t.solve + t.pay + t.wait, t.solve, t.pay, t.wait};
    return joined;
  }

  // Beside the folder, which others may be given as a whole.
  std::string metrics_file() const { return (folder_ / "").parent_path().string() + ".private_metrics.json"; }

  // Privacy: computed on rows and never paid for; a file of this party's own, and for nobody else's eyes.
  void write_metrics(const Vector& model, const Vector& own) const {
    const auto of = [&](const Vector& f) {
      return json{{"loss", problem::mean_loss(rows_.rows, problem_.loss, f)},
                  {"error", problem::test_error(rows_.rows, problem_.loss, f)}};
    };
    write_private_file(metrics_file(),
                       json{{"private", "measured on this party's rows and not paid for: never share this file"},
                            {"rows", rows_.rows.count()},
                            {"model", of(model)},
                            {"own_iterate", of(own)}}
                               .dump(1) +
                           "\n");
  }

  const JoinOptions& options_;
  const JoinHooks& hooks_;
  Seat seat_;
  data::Dataset rows_;
  privacy::NoiseSource noise_;
  problem::Problem problem_;
  fs::path folder_;
  std::shared_ptr<privacy::LedgerFile> book_;
  std::optional<record::Lock> lock_;
  std::optional<PartsOnDisk> parts_;
  Vector trainer_says_;
  std::optional<network::End> stored_;  // the ending that the record has
  PapersWritten written_;
  int round_ = -1, first_round_ = -1;
  std::chrono::steady_clock::time_point first_time_, last_time_;  // of those rounds
};

// Strangers may hold connections open: peers must still find a descriptor (docs/reliability.md).
void allow_many_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Joined join(const JoinOptions& options, const JoinHooks& hooks) {
  JoinOptions checked = options;
  validate_options(option_rows(checked));
  allow_many_connections();
  return Seated(options, hooks).run();
}

}  // namespace parley::run
