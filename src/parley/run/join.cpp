#include "parley/run/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "parley/algorithm/nodes.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/metrics.h"
#include "parley/problem/solve.h"
#include "parley/record/record.h"
#include "parley/run/joint_model.h"
#include "parley/run/measure.h"
#include "parley/run/parts_on_disk.h"
#include "parley/run/party_process.h"
#include "parley/run/seat.h"
#include "parley/run/statement.h"

namespace parley::run {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json header(const Seat& seat, const PartsOnDisk& parts, const std::string& outcome) {
  json head = {{"format", "parley-party-1"},
               {"outcome", outcome},
               {"study", json::parse(seat.canonical)},
               {"study_hash", seat.hash},
               {"run_id", parts.part().agreed.run},
               {"party", seat.me().name},
               {"node", parts.self()},
               {"nodes", parts.part().plan.nodes.size()},
               {"released", {{"nodes", 1}, {"size", seat.dimension()}, {"first", parts.self()}}},
               {"privacy", privacy_json(seat.plan.plan, seat.stamps, seat.plan.plan.epsilon(), true)}};
  if (parts.part().number > 1) {
    head["part"] = json::parse(parts.part().agreed.configuration);
    head["parts"] = to_json(parts.told());
  }
  return head;
}

class Seated {  // a party at work
 public:
  Seated(const JoinOptions& o, const JoinHooks& hooks)
      : options_(o), hooks_(hooks), seat_(take_seat(o)), rows_(own_rows(o, seat_.study)), noise_(seat_.study.seed) {
    folder_ = o.out.empty() ? run_id(seat_.hash).substr(0, 16) + "-" + o.as : o.out;
    if (o.ledger.empty())
      throw Error(
          {.what = "a party needs its ledger: what it releases is charged and stored there before it leaves",
           .where = "option --ledger",
           .fix = "make one with 'parley ledger cap FILE --dataset " + o.as + " --epsilon …', then --ledger FILE"});
    book_ = std::make_shared<privacy::LedgerFile>(o.ledger);
    const privacy::PlannedRun plan = planned(o, seat_, rows_, *book_);
    if (!fs::exists(folder_ / "run.json")) book_->check_room(plan);
    for (const auto& text : book_->warnings()) hooks_.report("warning: " + text);
    for (const auto& text : book_->warnings_about(plan)) hooks_.report("warning: " + text);
    if (!fs::exists(folder_ / "run.json")) record::create_folder(folder_);
    lock_.emplace(folder_);
    std::vector<std::string> names;
    for (const Invited& p : seat_.study.parties) names.push_back(p.name);
    parts_.emplace(
        PartsOnDisk::Setup{.first = first_part(agreement(seat_.plan.plan, seat_.dimension(), seat_.plan.graph, names,
                                                         run_id(seat_.hash), seat_.canonical, seat_.hash),
                                               seat_.plan.setting, seat_.plan.plan),
                           .node = seat_.node,
                           .folder = folder_,
                           .book = book_,
                           .run = plan,
                           .header = [this](const PartsOnDisk& parts, const std::string& outcome) {
                             return header(seat_, parts, outcome);
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
    } catch (const problem::Uncertified&) {
      parts_->finish(header(seat_, *parts_, "uncertified"), json());
      throw;
    } catch (...) {
      parts_->finish(header(seat_, *parts_, "failed"), json());
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
      text += ", with noise for what is left of the plan (epsilon " + fmt::format("{:.4f}", parts_->spent()) + " of " +
              fmt::format("{:.4f}", seat_.schedule().epsilon) + " was spent)";
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
                [](const std::string& mine, const std::string& theirs) {
                  return difference(json::parse(mine), json::parse(theirs, nullptr, false), "the other");
                }};
  }

  // Each round, before it is sent; after a restart the old ones again.
  void add(const privacy::Paid& paid, const privacy::Inbox& inbox) {
    if (!seat_.trainer && seat_.plan.plan.star() && inbox.size() == 1 && inbox[0]->size() > 0)
      trainer_says_ = *inbox[0];
    round_ = paid.round();
    const record::Kept kept = parts_->kept();
    const Vector* value = paid.value().get();
    if (paid.round() >= kept.values) parts_->record().append_values({&value, 1});
    if (paid.round() < kept.lines) return;
    parts_->record().append_line({{"round", paid.round()},
                                  {"kind", paid.round() == 0                                         ? "start"
                                           : !seat_.trainer && schedule().touches_data(paid.round()) ? "data"
                                           : value->size() == 0                                      ? "silent"
                                                                                                     : "free"},
                                  {"epsilon", parts_->spent()}});
    if (first_round_ < 0) first_round_ = paid.round(), first_time_ = std::chrono::steady_clock::now();
  }

  void show(const PartyInParts& party) {
    if (!hooks_.on_progress) return;
    const auto peers = party.now().exchange().peers();
    const int rounds = static_cast<int>(schedule().rounds), before = parts_->part().before;
    double left = -1;
    if (round_ > first_round_ && first_round_ >= 0)
      left = std::chrono::duration<double>(std::chrono::steady_clock::now() - first_time_).count() /
             (round_ - first_round_) * (rounds - round_);
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
    const algorithm::Schedule& s = seat_.schedule();
    spent_ = {.epsilon = parts_->epsilon(whole), .delta = seat_.trainer ? 0 : s.delta};
    const PartsTold told = parts_->told();
    spent_.rounds = rounds_released(told);
    spent_.private_rounds = rounds_from_rows(told);
    if (told.size() > 1) spent_.parts = to_json(told);

    Vector weights = whole ? party.model() : party.own_iterate();
    if (!whole && trainer_says_.size() > 0) weights = trainer_says_;
    json model_text;
    if (weights.size() > 0 && ending.end != network::End::diverged) {
      model_text = model_json(weights, end_name(ending.end));
      write_file(folder_ / "own_model.json",
                 model_json(party.own_iterate(), "this party's own iterate").dump(1) + "\n");
    }
    const json statement = statement_json(seat_.study, seat_.plan, seat_.node, seat_.hash, ending, spent_);
    write_file(folder_ / "statement.json", signed_statement(statement, seat_.self).dump(1) + "\n");
    write_file(folder_ / "statement.txt", statement_text(statement));
    if (options_.local_metrics && !seat_.trainer && weights.size() > 0) write_metrics(weights, party.own_iterate());
    json head = header(seat_, *parts_, end_name(ending.end));
    head["outcome_in_words"] = ending.text;
    head["rounds_done"] = parts_->part().before + round_;
    parts_->finish(head, model_text);
    has_model_ = !model_text.is_null();
    stored_ = ending.end;
  }

  Joined finish(const PartyProcess& process, const network::Ending& ending) {
    if (stored_ != ending.end) store(process.party(), ending);
    Joined joined{.ending = ending,
                  .epsilon = spent_.epsilon,
                  .delta = spent_.delta,
                  .not_private = seat_.stamps,
                  .folder = folder_.string(),
                  .has_model = has_model_};
    if (!spent_.parts.is_null())
      joined.parts =
          in_words(spent_.parts, spent_.delta == 0 && spent_.epsilon > 0, ending.end == network::End::completed);
    const auto& t = process.seconds();
    joined.seconds = {t.solve + t.pay + t.wait, t.solve, t.pay, t.wait};
    return joined;
  }

  json model_json(const Vector& weights, const std::string& outcome) const {
    return joint_model_json(seat_.study, seat_.plan, weights, outcome);
  }

  // Privacy: computed on rows and never paid for; a file of this party's own.
  void write_metrics(const Vector& model, const Vector& own) const {
    const auto of = [&](const Vector& f) {
      return json{{"loss", problem::mean_loss(rows_.rows, problem_.loss, f)},
                  {"error", problem::test_error(rows_.rows, problem_.loss, f)}};
    };
    write_file(folder_ / "private_metrics.json",
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
  Spent spent_;
  std::optional<network::End> stored_;  // the ending that the record has
  bool has_model_ = false;
  int round_ = -1, first_round_ = -1;
  std::chrono::steady_clock::time_point first_time_;
};

}  // namespace

Joined join(const JoinOptions& options, const JoinHooks& hooks) {
  JoinOptions checked = options;
  validate_options(option_rows(checked));
  return Seated(options, hooks).run();
}

}  // namespace parley::run
