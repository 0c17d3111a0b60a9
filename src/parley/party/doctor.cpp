#include "parley/party/doctor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/ledger/error_codes.h"
#include "parley/party/abandon.h"
#include "parley/party/doctor_reach.h"
#include "parley/party/listening.h"
#include "parley/party/noise_key_file.h"
#include "parley/party/participant.h"
#include "parley/party/party_folder.h"
#include "parley/record/beside.h"
#include "parley/record/files.h"
#include "parley/run/claim.h"
#include "parley/study/approval/approval.h"

namespace parley::party {
namespace {

namespace fs = std::filesystem;
using identity::Certificate;
using identity::Time;
using identity::utc;
using std::chrono::hours;
using std::chrono::minutes;

constexpr long few_days = 14;

Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

long days_left(const Certificate& c) {
  return (c.not_after - now()) / hours(24);
}

class Doctor {
 public:
  Doctor(const JoinOptions& o, const std::function<void(const Check&)>& each) : o_(o), each_(each) {}

  std::vector<Check> run() {
    look("secret", [this] { sweep(); });
    look("study", [this] { look_at_study(); });
    look("approvals", [this] { look_at_approvals(); });
    look("certificates", [this] { look_at_certificates(); });
    look("clock", [this] { look_at_clock(); });
    if (o_.as.empty()) {
      say("party", Health::warning,
          "only what all parties share was looked at; give --as NAME, and the options of join");
      return std::move(checks_);
    }
    look("key", [this] { look_at_key(); });
    look("data", [this] { look_at_data(); });
    if (participant_ && has_key_) look("port", [this] { call(); });
    look("port", [this] { look_at_port(); });
    look("ledger", [this] { look_at_ledger(); });
    look("secret", [this] { look_at_secrets(); });
    look("disk", [this] { look_at_disk(); });
    look("peers", [this] { look_at_peers(); });
    return std::move(checks_);
  }

 private:
  void say(const std::string& about, Health health, const std::string& sentence) {
    checks_.push_back({about, health, sentence});
    each_(checks_.back());
  }
  void look(const std::string& about, const std::function<void()>& at) {
    try {
      at();
    } catch (const Error& e) {
      for (const Error::Fields& mistake : e.fields()) say(about, Health::failed, Error(mistake).in_one_line());
    } catch (const fs::filesystem_error& e) {
      say(about, Health::failed, std::string(e.what()) + "; check the path and its permissions");
    }
  }
  void skip(const std::string& about) {
    say(about, Health::warning, "not looked at: what it depends on has failed above");
  }

  void sweep() {
    for (const SweptKey& one : sweep_noise_keys(o_.out.empty() ? "." : o_.out, now()))
      say("secret", one.deleted ? Health::ok : Health::failed, in_words(one));
  }

  // Of this run. Where no noise is shared there is none, and nothing to say.
  void look_at_secrets() {
    if (!participant_) return skip("secret");
    refuse_abandoned(folder(), study::run_id(participant_->hash), nullptr);
    for (const fs::path& file : record::noise_key_files(folder())) {
      const auto day = noise_key_file_day(file);
      if (!day || !read_noise_key(file, now()))
        throw Error({.what = "the file with this party's secret for shared noise is damaged",
                     .where = file.string(),
                     .fix = "remove it and agree on a new study: what was spent stays spent"});
      say("secret", Health::ok,
          fmt::format("{} lies here until this run has ended, or until {}: whoever reads it, or a backup of it, counts "
                      "among the colluders. A run that is not to go on: 'parley study abandon {} --as {}'",
                      file.string(), utc(*day), o_.study, o_.as) +
              (o_.out.empty() ? "" : " --out " + o_.out));
    }
  }

  void look_at_study() {
    study_ = study::read_study(o_.study);
    study::StudyPlan plan = plan_of(*study_);
    hash_ = study::study_hash(canonical_json(*study_, plan));
    say("study", Health::ok,
        fmt::format("\"{}\", {} parties, hash {}", study_->title, study_->parties.size(), in_fours(hash_)));
    for (const std::string& reason : not_private(*study_, plan))
      say("study", Health::warning, "NOT PRIVATE: " + reason);
    if (const std::string text = run::too_large_epsilon(plan.plan); !text.empty()) say("study", Health::warning, text);
    for (const auto& [what, text] : run::forecast_lines(plan.plan)) say("forecast", Health::ok, what + ": " + text);
    for (const std::string& text : plan.plan.warnings) say("study", Health::warning, in_words_of(*study_, text));
    if (!o_.as.empty()) participant_.emplace(participant_of(*study_, std::move(plan), o_.as));
  }

  // Without --require-approvals what is missing keeps nobody from starting.
  void look_at_approvals() {
    if (hash_.empty()) return skip("approvals");
    const study::Approvals all = study::read_approvals(*study_, hash_);
    for (const study::Approval& a : all.valid) say("approvals", Health::ok, study::in_words(a));
    for (const std::string& line : all.refused)
      say("approvals", o_.require_approvals ? Health::failed : Health::warning, line);
    if (all.missing.empty()) return;
    const std::string sentence =
        "no valid approval of " + parley::join(all.missing, ", ") + "; 'parley study sign' makes it";
    if (o_.require_approvals)
      say("approvals", Health::failed, sentence + ", and --require-approvals asks for it");
    else
      say("approvals", Health::ok, sentence + ". It is not required here (--require-approvals)");
  }

  void look_at_certificates() {
    if (!study_) return skip("certificates");
    for (const study::Invited& p : study_->parties) {
      const std::string about = "certificate of " + p.name;
      if (!p.pinned) {
        say(about, Health::failed,
            "it is not in the study, so its signatures cannot be checked; add certificate = … to its [[party]] block, "
            "as "
            "'parley study invite' does");
        continue;
      }
      if (const auto refusal = identity::check_certificate(*p.pinned, p.name, p.fingerprint, now()))
        say(about, Health::failed, refusal->sentence);
      else
        say(about, days_left(*p.pinned) < few_days ? Health::warning : Health::ok,
            fmt::format("valid until {}, {} days left", utc(p.pinned->not_after), days_left(*p.pinned)));
    }
  }

  // keys new dates a certificate back by an hour: who is before that hour's end is behind its maker.
  void look_at_clock() {
    const auto before = checks_.size();
    if (study_)
      for (const study::Invited& p : study_->parties)
        if (p.pinned && now() < p.pinned->not_before + hours(1) - minutes(5))
          say("clock", now() < p.pinned->not_before ? Health::failed : Health::warning,
              fmt::format("here it is {}, and the certificate of {} was made at {}; set the clock here, or there",
                          utc(now()), p.name, utc(p.pinned->not_before + hours(1))));
    for (const std::string& file : {o_.study, o_.data, o_.ledger}) {
      std::error_code code;
      const auto changed = fs::last_write_time(file, code);
      if (!code && changed > fs::file_time_type::clock::now() + minutes(5))
        say("clock", Health::failed,
            file + " was last changed in the future, so the clock has been set back; set it, then 'touch' the file");
    }
    timex state{};
    if (::adjtimex(&state) == TIME_ERROR && (state.status & STA_UNSYNC) != 0)
      say("clock", Health::warning, "the system does not keep it by a time service (NTP); certificates have dates");
    if (checks_.size() == before) say("clock", Health::ok, utc(now()) + ", plausible beside certificates and files");
  }

  void look_at_key() {
    const identity::Identity self = identity::read_identity(key_file(o_), certificate_file(o_));
    if (!study_) return skip("key");
    const study::Invited& me = study_->parties[static_cast<std::size_t>(study_->node_of(o_.as))];
    if (const auto refusal = identity::check_certificate(self.certificate, o_.as, me.fingerprint, now()))
      throw Error({.what = "the others would refuse this party: " + refusal->sentence,
                   .where = certificate_file(o_),
                   .fix = "use the key and certificate that the roster of the study pins"});
    say("key", Health::ok, key_file(o_) + " belongs to the certificate that the roster pins");
    has_key_ = true;
    if (participant_) participant_->self = self;
  }

  void look_at_data() {
    if (!study_) return skip("data");
    rows_ = own_rows(o_, *study_).trained;
    has_rows_ = true;
    say("data", Health::ok,
        o_.data.empty() ? "a trainer holds no rows"
                        : fmt::format("{}: {} rows, as the roster says", o_.data, rows_.rows.count()));
  }

  void call() { caller_ = std::make_unique<Caller>(*participant_); }

  void look_at_port() {
    if (!participant_) return skip("port");
    const Listening l = listening_of(o_, *participant_);
    if (!l.warning.empty()) return say("port", Health::warning, l.address + ": " + l.warning);
    if (!l.objection) return say("port", Health::ok, l.address + " is free");
    if (l.probed.result == mesh::Probed::Result::taken) {
      const std::string near = l.address.starts_with("0.0.0.0:") ? "127.0.0.1" + l.address.substr(7) : l.address;
      joined_ = caller_ && caller_->is_own_join(near);
      if (joined_) return say("port", Health::ok, l.address + " is held by this party's own join, which is running");
    }
    throw Error(*l.objection);
  }

  void look_at_ledger() {
    if (o_.ledger.empty())
      throw Error(
          {.what = "a party needs its ledger",
           .where = "option --ledger",
           .fix = "make one with 'parley ledger cap FILE --dataset " + o_.as + " --epsilon …', then --ledger FILE"});
    std::optional<ledger::LedgerFile> book;
    try {
      book.emplace(o_.ledger);
    } catch (const Error& e) {
      if (!joined_ || !e.is(ledger::ledger_in_use)) throw;
      return say("ledger", Health::ok, o_.ledger + " is in use by this party's own join");
    }
    if (!participant_) return skip("ledger");
    const ledger::PlannedRun run = planned_run(o_, *participant_, rows_, *book);
    book->check_room(run);
    fresh_ = book->find_run(run.id) == nullptr;
    for (const auto& text : book->warnings()) say("ledger", Health::warning, text);
    if (has_rows_)
      for (const auto& text : book->warnings_about(run)) say("ledger", Health::warning, text);
    say("ledger", Health::ok,
        fmt::format("{}: its cap allows the whole run{}", o_.ledger,
                    fresh_       ? ""
                    : complete() ? ", which this party has completed"
                                 : ", which has begun; join goes on with it"));
  }

  fs::path folder() const { return own_folder(o_.out, participant_->hash, o_.as); }
  bool complete() const { return has_completed_model(folder()); }

  // A message is 8 bytes a coordinate and some hundred around them; a ledger's entry likewise.
  void look_at_disk() {
    if (!participant_) return skip("disk");
    const fs::path out = folder();
    const fs::path parent = fs::exists(out) ? out : fs::absolute(out).parent_path();
    const auto dimension = static_cast<double>(participant_->dimension());
    const double rounds = static_cast<double>(participant_->schedule().rounds) + 1, message = 8 * dimension + 1024,
                 more = 8 * (static_cast<double>(participant_->plan.plan.largest_size(participant_->dimension())) -
                             dimension),  // in the longest round
        heard = static_cast<double>(participant_->plan.heard_by(participant_->node).size()) + 1,
                 parties = static_cast<double>(participant_->study.parties.size());
    const double need = (rounds * message + more) * (heard + 2) + parties * message + (1 << 20);
    std::optional<dev_t> disk;  // record and ledger on one disk: said once
    for (const fs::path& place : {parent, fs::absolute(o_.ledger.empty() ? "." : o_.ledger).parent_path()}) {
      const std::string where = place.string();
      if (::access(place.c_str(), W_OK | X_OK) != 0)
        throw Error({.what = "nothing can be written here",
                     .where = where,
                     .fix = "make the folder, or check its permissions"});
      struct stat facts{};
      if (::stat(place.c_str(), &facts) == 0 && disk == facts.st_dev) continue;
      disk = facts.st_dev;
      const double room = static_cast<double>(fs::space(place).available);
      const std::string sizes =
          fmt::format("{}: {:.1f} MiB free, about {:.1f} MiB needed", where, room / (1 << 20), need / (1 << 20));
      if (room < need)
        say("disk", Health::failed, sizes + "; make room, or choose another place with --out and --ledger");
      else
        say("disk", room < 2 * need ? Health::warning : Health::ok, sizes);
    }
    if (fs::exists(out / "run.json")) {
      if (record::text_in(record::read_json(out / "run.json"), "study_hash") != participant_->hash)
        throw Error({.what = "the folder holds the record of another run",
                     .where = out.string(),
                     .fix = "choose another --out"});
    }
  }

  void look_at_peers() {
    if (!caller_) return skip("peers");
    for (const int node : participant_->plan.graph.neighbours(participant_->node)) {
      const Check c = caller_->neighbour(node, fresh_);
      say(c.about, c.health, c.sentence);
    }
  }

  const JoinOptions& o_;
  const std::function<void(const Check&)>& each_;
  std::vector<Check> checks_;
  std::optional<study::Study> study_;
  std::string hash_;  // once it has a plan
  std::optional<Participant> participant_;
  data::Dataset rows_;
  std::unique_ptr<Caller> caller_;
  bool has_key_ = false, has_rows_ = false;
  bool joined_ = false;  // this party's join is running
  bool fresh_ = false;   // it has not begun
};

}  // namespace

std::string name_of(Health health) {
  return health == Health::ok ? "ok" : health == Health::warning ? "warning" : "failed";
}

std::vector<Check> examine(const JoinOptions& options, const std::function<void(const Check&)>& each) {
  return Doctor(options, each).run();
}

}  // namespace parley::party
