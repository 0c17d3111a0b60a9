#include "parley/party/join.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "parley/algorithm/nodes.h"
#include "parley/base/digest.h"
#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/base/text.h"
#include "parley/party/abandon.h"
#include "parley/party/exit_code.h"
#include "parley/party/final_documents.h"
#include "parley/party/listening.h"
#include "parley/party/noise_key_file.h"
#include "parley/party/participant.h"
#include "parley/party/parts_on_disk.h"
#include "parley/party/party_folder.h"
#include "parley/party/party_process.h"
#include "parley/problem/metrics.h"
#include "parley/record/beside.h"
#include "parley/record/record.h"
#include "parley/run/claim.h"
#include "parley/run/failure.h"
#include "parley/run/quality/quality.h"
#include "parley/study/agreement.h"

namespace parley::party {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::chrono::sys_seconds this_second() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class Joining {  // a party at work
 public:
  Joining(const JoinOptions& o, const JoinHooks& hooks)
      : options_(o),
        hooks_(hooks),
        participant_(participant_from(o)),
        held_out_(),
        rows_(split(own_rows(o, participant_.study, hooks.watch), held_out_)),
        noise_(participant_.study.seed) {
    folder_ = own_folder(o.out, participant_.hash, o.as);
    try {
      begin(o);
    } catch (...) {
      forget_what_is_over();
      throw;
    }
  }

  Joined run() {
    try {
      return take_part();
    } catch (...) {
      forget_what_is_over();
      throw;
    }
  }

 private:
  Joined take_part() {
    if (hooks_.on_start) hooks_.on_start(participant_.study, participant_.plan, participant_.hash, folder_.string());
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<mesh::Contact> roster;
    for (const study::Invited& p : participant_.study.parties)
      roster.push_back({.name = p.name, .address = p.address, .fingerprint = p.fingerprint});
    const Listening listening = listening_of(options_, participant_);
    if (listening.objection) throw Error(*listening.objection);
    if (!listening.warning.empty()) hooks_.report({listening.address + ": " + listening.warning, Level::warning});
    PartyProcess process(
        {.self = participant_.self,
         .listen = listening.address,
         .roster = roster,
         .deadline = participant_.study.deadline_seconds,
         .threads = options_.threads > 0 ? static_cast<int>(options_.threads) : cores,
         .noise = &noise_,
         .node = participant_.node,
         .report = hooks_.report,
         .progress =
             [this](const PartyInParts& p) {
               keep_its_day();
               show(p);
             },
         .settled = [this](const PartyInParts& p) { store(p, *p.ending()); },
         .stop = hooks_.stop},
        {.largest = protocol::message_cap(participant_.plan.plan.largest_size(participant_.dimension())) + 512},
        [this](Party* before, double now) { return make_part(before, now); });
    std::optional<protocol::Ending> ending;
    try {
      ending = process.run();
    } catch (...) {  // a round that could not be solved is marked in the ledger already
      if (parts_->in_place())
        parts_->finish(record_header(participant_, *parts_, run::reason_of(std::current_exception())), json());
      throw;
    }
    show(process.party());
    return finish(process, *ending);
  }

  void begin(const JoinOptions& o) {
    if (o.ledger.empty())
      throw Error({.what = "a party needs its ledger: what it releases is charged and stored there before it leaves",
                   .where = "option --ledger",
                   .fix = "make one with '" + cap_command(participant_, o.dataset) + "', then --ledger FILE"});
    book_ = std::make_shared<ledger::LedgerFile>(o.ledger);
    std::vector<std::string> names;
    for (const study::Invited& p : participant_.study.parties) names.push_back(p.name);
    study::Part first = study::first_part(
        study::agreement(participant_.plan.plan, participant_.dimension(), participant_.plan.graph, names,
                         study::run_id(participant_.hash), participant_.canonical, participant_.hash),
        participant_.plan.setting, participant_.plan.plan);
    // Before anything is written, in the ledger too.
    const bool begun = has_begun(folder_, participant_.hash, o.as, protocol::owner_of(first.agreed, participant_.node));
    const ledger::PlannedRun plan = planned_run(o, participant_, rows_, *book_);
    book_->check_not_failed(plan.id);
    refuse_abandoned(folder_, plan.id, book_.get());
    if (!begun) check_name(folder_);
    if (!begun) refuse_without_transcript(*book_, plan, folder_);
    if (!begun) book_->check_room(plan);
    for (const auto& text : book_->warnings()) hooks_.report({text, Level::warning});
    for (const auto& text : book_->warnings_about(plan)) hooks_.report({text, Level::warning});
    if (!begun) record::create_folder(folder_);
    lock_.emplace(folder_);
    refuse_abandoned(folder_, plan.id, nullptr);  // meanwhile
    parts_.emplace(PartsOnDisk::Setup{.first = std::move(first),
                                      .node = participant_.node,
                                      .folder = folder_,
                                      .book = book_,
                                      .run = plan,
                                      .header = [this](const PartsOnDisk& parts, const std::string& outcome) {
                                        return record_header(participant_, parts, outcome);
                                      }});
    process_.incarnation = book_->begin_process(plan.id);
    privacy::os_entropy(process_.nonce);
    complete_before_ = parts_->was_complete();
  }

  static data::Dataset split(OwnRows own, data::Rows& held_out) {
    held_out = std::move(own.held_out);
    return std::move(own.trained);
  }

  PartyInParts::One make_part(Party* before, double now) {
    const PartsOnDisk::Beginning beginning = before != nullptr ? parts_->next(*before) : PartsOnDisk::Beginning{};
    if (before != nullptr) round_ = first_round_ = -1;
    const study::Part& part = parts_->part();
    const int self = parts_->self();
    const algorithm::Schedule& s = schedule();
    problem_ = problem_of(rows_.rows, s);
    Party::Own own{
        .node = participant_.trainer ? algorithm::make_trainer(part.plan, participant_.dimension(), beginning.start)
                                     : algorithm::make_node(problem_, s, beginning.start),
        .pay = [this](privacy::Release release) { return parts_->pay(std::move(release)); },
        .stored = [this, self](int round) { return parts_->ledger().stored(self, round); },
        .fail =
            [this, self](int round, const std::string& reason) {
              parts_->fail(run::unreleased(self, round, participant_.trainer ? nullptr : &schedule()), reason);
            },
        .check_in_place = [this] { parts_->check_in_place(); },
        .counts = [part](int round) { return counts_in_final(part, round); },
        .sums = part.plan.passed_on(),
        .earlier = beginning.earlier,
        .expected = beginning.expected,
        .on_round = [this](const privacy::Paid& paid, const privacy::Inbox& inbox) { add(paid, inbox); }};
    const protocol::Timing timing{.deadline = participant_.study.deadline_seconds,
                                  .wait = participant_.study.wait_seconds,
                                  // With the model stored, only whoever calls soon can still need this party.
                                  .first_wait = parts_->was_complete() ? 2 * participant_.study.deadline_seconds
                                                                       : participant_.study.wait_seconds};
    protocol::Exchange::Setup setup{.agreed = part.agreed,
                                    .self = self,
                                    .last_released = parts_->ledger().last_round(self),
                                    .keys = keys(part.nodes),
                                    .process = process_,
                                    .timing = timing,
                                    .now = now,
                                    .accused =
                                        [this](const std::string& what, std::string_view message) {
                                          book_->accuse(study::run_id(participant_.hash), what, sha256(message));
                                        },
                                    .accused_before = book_->proved_old_in(study::run_id(participant_.hash))};
    forget_noise_keys_before(part.number);
    if (part.agreed.shared_noise) {
      noise_key_ = noise_key_of_part(folder_, part.number, fs::exists(parts_->folder() / "transcript"), this_second());
      if (noise_key_) setup.noise_key = noise_key_->payload();
      if (parts_->holds_rows()) own.pairs = [this](const protocol::NoiseKeys& keys) { return pairs(keys); };
    }
    if (participant_.study.on_loss == study::OnLoss::go_on)
      setup.consent = [this](const protocol::Succession& next) { return parts_->consent(next); };
    auto party = std::make_unique<Party>(std::move(own), std::move(setup), parts_->open_transcript());
    if (part.agreed.shared_noise && !noise_key_ && !party->exchange().closed() &&
        party->exchange().released() < part.agreed.rounds)
      refuse_without_noise_key(folder_, part.number);
    return {.party = std::move(party),
            .run = part.agreed.run,
            .nodes = part.nodes,
            .begins = before == nullptr ? "" : beginning_in_words()};
  }

  // Privacy: a run that can never go on keeps no secret. In a handler, of the failure at hand.
  void forget_what_is_over() {
    bool over = parts_ && parts_->failed();
    try {
      throw;
    } catch (const Error& e) {
      over = over || exit_of(e) == Exit::never_again;
    } catch (...) {  // NOLINT(bugprone-empty-catch): a bug, say; its caller throws it on
    }
    if (over) forget_noise_keys();
  }

  // Privacy: a part that follows needs none of them, whether or not it shares noise itself.
  void forget_noise_keys_before(int part) {
    noise_key_.reset();
    for (int earlier = 1; earlier < part; ++earlier) delete_in_words(record::noise_key_file(folder_, earlier));
  }

  // Its day comes for a run that is under way too: this process has it in memory, and no later one finds it.
  void keep_its_day() {
    if (!noise_key_ || noise_key_over_ || this_second() < noise_key_->deleted_at) return;
    noise_key_over_ = true;
    delete_in_words(record::noise_key_file(folder_, parts_->part().number));
  }

  void delete_in_words(const fs::path& file) {
    delete_noise_key(file);
    if (std::error_code unknown; fs::exists(fs::symlink_status(file, unknown)))
      hooks_.report(
          {in_words(SweptKey{.file = file, .why = "this part does not need it", .deleted = false}), Level::warning});
  }

  void forget_noise_keys() {
    try {
      delete_noise_keys(folder_);
    } catch (const Error& e) {
      hooks_.report({e.in_one_line(), Level::warning});
    }
  }

  // In a seeded run from the seed, as in a simulation: the same bits, and no privacy.
  std::shared_ptr<const privacy::PairKeys> pairs(const protocol::NoiseKeys& keys) const {
    const study::Part& part = parts_->part();
    if (noise_.is_private()) return pairs_of(*noise_key_, keys, part.agreed, parts_->self(), part.holders());
    return std::make_shared<const privacy::SimulatedPairs>(part.holders(), noise_.secret_for_pairs(part.number));
  }

  std::string beginning_in_words() const {
    const study::Part& part = parts_->part();
    std::string text = "part " + std::to_string(part.number) + ": " + parley::join(part.agreed.parties, ", ") + "; " +
                       std::to_string(part.agreed.rounds) + " rounds are left";
    if (part.agreed.rounds > 0 && parts_->holds_rows() && part.plan.noisy())
      text += ", with noise for what is left of the plan (" + spent("epsilon") + " was spent)";
    return text + "; its record is in " + parts_->folder().string();
  }

  std::string spent(const std::string& symbol) const {
    const algorithm::Schedule& planned = participant_.schedule();
    return run::spent_of_planned(symbol, parts_->spent(),
                                 {.epsilon = planned.epsilon, .all_others = planned.epsilon_all_others},
                                 planned.sharing);
  }

  // Of this party, or of any provider for the trainer.
  const algorithm::Schedule& schedule() const {
    return parts_->part().plan.nodes[participant_.trainer ? 0 : static_cast<std::size_t>(parts_->self())];
  }

  protocol::Keys keys(const std::vector<int>& nodes) const {
    return {.sign = [this](std::string_view bytes) { return identity::sign(participant_.self.key, bytes); },
            .verify =
                [this, nodes](int node, std::string_view bytes, std::string_view signature) {
                  const auto party = static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)]);
                  return identity::verify(bytes, signature, *participant_.study.parties[party].pinned);
                },
            .difference =
                [](const std::string& mine, const std::string& theirs, const std::string& who) {
                  return study::difference(json::parse(mine), shallow_json(theirs), who);
                }};
  }

  // Each round, before it is sent; after a restart the old ones again.
  void add(const privacy::Paid& paid, const privacy::Inbox& inbox) {
    if (!participant_.trainer && participant_.plan.plan.star() && paid.round() > 1 && inbox[0]->size() > 0)
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
                        .answering = static_cast<int>(std::ranges::count(peers, true, &protocol::PeerState::answers)),
                        .epsilon = participant_.trainer || participant_.schedule().epsilon <= 0 ? "" : spent("ε"),
                        .stamped = !participant_.stamps.empty(),
                        .seconds_left = left});
  }

  // Model, statement and record: the moment the run is complete, or at the end of one that is not.
  void store(const PartyInParts& party, const protocol::Ending& ending) {
    const bool whole = ending.end == protocol::End::completed;
    const Vector own = party.own_iterate();
    const Vector model = whole ? party.model() : trainer_says_.size() > 0 ? trainer_says_ : own;
    stored_contradicted_ = party.contradicted();
    written_ = write_final_documents(participant_, *parts_, folder_,
                                     {.ending = ending,
                                      .contradicted = stored_contradicted_,
                                      .past_confirmed = party.now().exchange().past_confirmed(),
                                      .rounds_done = round_,
                                      .model = model,
                                      .own = own,
                                      .estimate = whole ? party.estimate() : nullptr});
    stored_ = ending.end;
    // Whoever was interrupted, has lost a peer, or may have a larger cap, can go on with it; not after a statement.
    const protocol::Survivors& after_loss = party.now().exchange().survivors();
    if (whole || exit_of(ending, false) == Exit::never_again || after_loss.stated(parts_->self()) ||
        (after_loss.begun() && ending.end == protocol::End::peer_lost))
      forget_noise_keys();
    metrics_of_.reset();
    if (options_.local_metrics && !participant_.trainer && written_.spent && written_.model) metrics_of_ = {model, own};
  }

  // Privacy: of rows, so only when nobody waits for this party any longer, and whatever becomes of them stops nothing.
  void write_metrics_in_words() {
    if (!metrics_of_) return;
    try {
      write_metrics(metrics_of_->first, metrics_of_->second);
    } catch (const std::exception& e) {
      hooks_.report({std::string("the private metrics were not written: ") + e.what(), Level::warning});
    }
  }

  Joined finish(const PartyProcess& process, const protocol::Ending& ending) {
    if (stored_ != ending.end || stored_contradicted_ != process.party().contradicted()) store(process.party(), ending);
    write_metrics_in_words();
    Joined joined{.ending = ending,
                  .rows_per_person = participant_.plan.unit.rows_per_person,
                  .not_private = participant_.stamps,
                  .folder = folder_.string(),
                  .has_model = written_.model,
                  .has_statement = fs::exists(folder_ / "statement.json"),
                  .complete_before = complete_before_,
                  .contradiction = process.party().now().exchange().contradiction(),
                  .metrics_held_out = held_out_.count() > 0,
                  .private_metrics = fs::exists(metrics_file()) ? metrics_file() : ""};
    if (written_.spent) {
      joined.epsilon = written_.spent->epsilon;
      joined.delta = written_.spent->delta;
      joined.epsilon_all_others = written_.spent->epsilon_all_others;
      joined.several_parties = run::several_parties_in_words(participant_.plan.plan);
      if (const privacy::Sharing& sharing = participant_.plan.plan.sharing(); sharing.on())
        joined.against = run::against_whom(sharing);
      if (const json& parts = written_.spent->parts; !parts.is_null())
        joined.parts =
            study::in_words(parts, joined.delta == 0 && joined.epsilon > 0, ending.end == protocol::End::completed);
    }
    joined.rounds_from_rows = rounds_from_rows(parts_->history());
    const auto& t = process.seconds();
    joined.seconds = {t.solve + t.pay + t.wait, t.solve, t.pay, t.wait};
    return joined;
  }

  // Beside the folder, which others may be given as a whole.
  std::string metrics_file() const { return record::beside(folder_, ".private_metrics.json").string(); }

  // Privacy: computed on rows and never paid for; a file of this party's own, and for nobody else's eyes.
  void write_metrics(const Vector& model, const Vector& own) const {
    const bool held_out = held_out_.count() > 0;
    const data::Rows& rows = held_out ? held_out_ : rows_.rows;
    const std::string& schema = participant_.study.schema_toml;
    const auto of = [&](const Vector& f) {
      const problem::Quality q = problem::quality(scored(rows, problem_.loss, f), run::measure_of(schema));
      json j = run::to_json(q, run::class_names(schema, rows_.classes));
      j.update({{"loss", problem::mean_loss(rows, problem_.loss, f)}, {"error", q.error}});
      return j;
    };
    write_private_file(
        metrics_file(),
        json{{"private", "measured on this party's rows and not paid for: never share this file"},
             {"rows", rows.count()},
             {"held_out", held_out},
             {"rows_were", held_out ? "held out: the model has not seen them"
                                    : "trained on: new rows may fare worse (--test-share holds rows out)"},
             {"model", of(model)},
             {"own_iterate", of(own)}}
                .dump(1) +
            "\n");
  }

  const JoinOptions& options_;
  const JoinHooks& hooks_;
  Participant participant_;
  data::Rows held_out_;  // before rows_, which fills it
  data::Dataset rows_;
  privacy::NoiseSource noise_;
  problem::Problem problem_;
  fs::path folder_;
  std::shared_ptr<ledger::LedgerFile> book_;
  std::optional<record::Lock> lock_;
  std::optional<PartsOnDisk> parts_;
  protocol::Process process_;          // this one
  std::optional<NoiseKey> noise_key_;  // of the part that is under way
  bool noise_key_over_ = false;        // its day has come
  Vector trainer_says_;
  std::optional<protocol::End> stored_;  // the ending that the record has
  std::set<int> stored_contradicted_;    // and whom it names
  DocumentsWritten written_;
  std::optional<std::pair<Vector, Vector>> metrics_of_;  // the model, and this party's own iterate
  bool complete_before_ = false;                         // an earlier process had the model
  int round_ = -1, first_round_ = -1;
  std::chrono::steady_clock::time_point first_time_, last_time_;  // of those rounds
};

// Before anything can refuse the start: a party that is never started properly again deletes its secrets all the same.
void sweep(const JoinOptions& options, const JoinHooks& hooks) {
  for (const SweptKey& one : sweep_noise_keys(options.out.empty() ? "." : options.out, this_second()))
    hooks.report({in_words(one), one.deleted ? Level::info : Level::warning});
}

// Strangers may hold connections open: peers must still find a descriptor (docs/check/strangers.md).
void allow_many_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Joined join(const JoinOptions& options, const JoinHooks& hooks) {
  sweep(options, hooks);
  JoinOptions checked = options;
  validate_options(option_rows(checked));
  allow_many_connections();
  ::mallopt(M_ARENA_MAX, 2);  // a heap for each of gRPC's threads would keep what a flood took
  return Joining(options, hooks).run();
}

}  // namespace parley::party
