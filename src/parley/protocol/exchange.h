// A party's side of the protocol (docs/check/protocol.md): paid releases in, complete inboxes out, and in between messages
// that may be lost, late, doubled or hostile, peers that vanish and come back, and a process that may die anywhere.
// A pure state machine: whoever holds it carries its messages, tells it the time and gives it a disk. Not for two
// threads at once.
//   carrier   deliver(caller, bytes) → receipt;  answered(call, receipt), failed(call);  tick(now);  take() → actions
//   run       release(paid) → inbox() → release(paid) → … → finish(final iterate) → model()
// Nothing leaves but signed messages made from Paid values, and nothing is acknowledged before it is synced.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/log_line.h"
#include "parley/privacy/release.h"
#include "parley/protocol/agreement.h"
#include "parley/protocol/exchange_phase.h"
#include "parley/protocol/last_words.h"
#include "parley/protocol/link.h"
#include "parley/protocol/message.h"
#include "parley/protocol/noise_keys.h"
#include "parley/protocol/processes.h"
#include "parley/protocol/received.h"
#include "parley/protocol/survivors.h"
#include "parley/protocol/transcript.h"

namespace parley::protocol {

struct Send {
  std::uint64_t call = 0;  // to be named in answered() or failed()
  int peer = 0;
  std::string bytes;
};

struct Actions {
  std::vector<Send> sends;
  std::vector<LogLine> reports;  // for the party's log
};

inline constexpr const char* completed_in_words = "the run is complete";
inline constexpr const char* another_last_word = "another final iterate or seal of this party";

struct Ending {
  End end = End::completed;
  std::string text{};
  Reason reason = Reason::own;
  bool for_ever = false;    // after a loss: what is signed already leaves no way to go on with this party
  std::string passed_on{};  // peer_stopped: what the others are told, without "X says: " before each
  bool left_behind() const { return reason == Reason::left_behind; }
  bool past_unknown() const { return reason == Reason::past_unknown; }
};

// How it stands with a neighbour, for a progress line.
struct PeerState {
  int node = 0;
  bool answers = false;
  int stored = -1;  // its last round that is stored here
  int has = -1;     // this node's last round that it has stored
};

class Exchange {
 public:
  struct Setup {
    Agreement agreed;
    int self = 0;            // this party's node
    int last_released = -1;  // the last round of this node's in its ledger
    Keys keys;
    Process process;  // this one; its number is in the ledger, and no earlier one had it (R14)
    Timing timing{};
    double now = 0;
    // on-loss = "continue": what this party says to going on so. Empty: a loss ends the run.
    std::function<Consent(const Succession& next)> consent{};
    // Where noise is shared: this party's public key of this part, noise_key_bytes. Empty: there is none any more.
    std::string noise_key{};
    // R9: marks the ledger as proved to be old, by a message with this party's own signature; on disk when it returns,
    // and before the message is kept here or anybody hears of it. Called again for the same message by a later process.
    // Empty: nobody keeps marks.
    std::function<void(const std::string& what, std::string_view message)> accused{};
    // What stands in that mark: this party claims nothing and releases nothing new, whatever its transcript says.
    std::optional<std::string> accused_before{};
  };
  // Reads the transcript, or begins it. Error: it is damaged, another run's, or further than the ledger.
  Exchange(Setup setup, std::unique_ptr<AppendFile> transcript);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // ---- the carrier. Error: the transcript cannot be written; nothing may be answered or sent after that. ----
  Receipt deliver(const std::string& caller, std::string_view bytes);  // caller: the name in its certificate
  void answered(std::uint64_t call, const Receipt& receipt);
  void failed(std::uint64_t call);  // no answer, or none in time
  void tick(double now);            // at least four times in a deadline; never backwards
  Actions take();
  bool finished() const;  // nothing left to do for others either: the process may exit

  // ---- the run ----
  // This node's releases from round 0 on. After a restart the ledger's stored ones come first, and nothing is said to
  // peers before.
  void release(const privacy::Paid& paid);
  // The values of round 0, 1, … of those whom this node hears, one round at each call: stored here and synced. nullopt:
  // not yet. Where a new release follows from it, it is kept back until every neighbour has confirmed in this process that it has not
  // seen more of this node than its ledger holds (R7), and where noise is shared until everybody's key is here.
  std::optional<privacy::Inbox> inbox();
  // Whose value of round 0 stands at this place of the inbox begins this part with another one than it has released
  // before: both are signed, and the second is kept as evidence. The first is in the transcript of the part before.
  void contradicts_part_before(std::size_t place);
  void finish(const FinalIterate& mine);  // after the inbox of the last round
  void stop(End end, const std::string& text, Reason reason = Reason::own) { stop({end, text, reason}); }
  void stop(const Ending& ending);

  Phase phase() const { return phase_; }
  // Nothing new is released any more: the run has ended, or this party has signed what it has released in it.
  // Trap: what an earlier process has signed holds in the phase recovering too.
  bool closed() const { return ended(phase_) || survivors_.stated(self_); }
  const Survivors& survivors() const { return survivors_; }
  const std::optional<Succession>& succession() const { return succession_; }  // after End::continued
  // The stored values of those whom this node hears, in node order, of the rounds of which all are stored.
  std::vector<privacy::Inbox> history();

  const std::optional<Ending>& ending() const { return ending_; }  // completed: model() is there
  // Who has contradicted itself, in a sentence; the message is in the transcript. A model that was complete before
  // stands.
  const std::optional<std::string>& contradiction() const { return contradiction_; }
  int contradicted_by() const { return contradicted_by_; }  // its node; −1: nobody
  // Privacy: false: this node may have released more than its ledger holds. A ledger that was lost or put back shows
  // nothing of it; every neighbour's word does, or that nothing can have been released since.
  bool past_confirmed() const;
  // A signature of this party's shows that its ledger does not know all that it has released: from now on it claims
  // nothing, also where the run was complete.
  void withdraw(const std::string& text);
  Vector model() const { return finals_.model(); }
  int released() const { return static_cast<int>(heads_.size()) - 1; }  // the last round, −1: none
  std::vector<PeerState> peers() const;
  const std::string& heard(std::size_t j) const {
    return agreed_.name(agreed_.heard_by(self_)[j]);
  }  // by place in an inbox
  int stored(int node) const { return received_.hears(node) ? received_.seen(node).round : -1; }  // its last round here
  const NoiseKeys& noise_keys() const { return noise_keys_; }
  bool has_final(int origin) const { return finals_.has(origin); }

 private:
  const std::string& name(int node) const { return agreed_.name(node); }
  Link& link_to(int node);
  const Link& link_to(int node) const;
  Link* link_with(std::uint64_t call);

  void replay(Transcript::Entry kind, std::string_view bytes);
  void happens(Event event) { phase_ = next(phase_, event); }
  void end(Event event, Ending ending);
  void end_early(Event event, const Ending& ending);  // and say so, with a goodbye to all
  void take_up_decisions();                           // of earlier processes, once the ledger's releases have been told
  bool was_completed() const;
  void go_on(const Succession& next);
  Message made(Kind kind, int round, std::string payload) const;  // and signed
  Message unsigned_message(Kind kind, int round, std::string payload) const;
  std::string hello_to(const Link& link) const;
  std::string proof_for(const Link& link) const;

  Receipt judged(const std::string& caller, std::string_view bytes);
  Receipt on_hello(const Message& m, std::string_view bytes);
  Receipt on_value(const Message& m, std::string_view bytes, Link& from);
  Finding judge_value(const Message& m, const Link& from) const;
  bool is_neighbour(int node) const;
  void pass_on(const Message& m, std::string_view bytes);
  bool has(const Link& link, const PassedOn::Key& key) const;
  void watch_passed_on();
  bool shows_contradiction(const std::string& by, std::string_view proof);  // of a value that is stored here
  Finding judge_hello(const Message& m, std::string_view bytes, int at_least);
  std::optional<Receipt> against_rival(const Message& m);
  bool shows_divergence(std::string_view proof);
  Finding judge_last_word(const Message& m) const;
  void add_last_word(const Message& m, std::string_view bytes);
  Receipt on_last_word(const Message& m, std::string_view bytes, Link& from);  // a final iterate or a seal
  void give_noise_key(const std::string& own);
  Receipt on_noise_key(const Message& m, std::string_view bytes, Link& from);
  void settle_noise_keys(Link& link) const;
  Receipt on_goodbye(const Message& m, std::string_view bytes);
  void take_leave(const Message& m, const Goodbye& goodbye);
  Receipt on_survivors(const Message& m, std::string_view bytes, Link& from);
  Receipt contradicted(const Message& m, const Finding& finding, std::string_view bytes);
  std::optional<Finding> not_open(const Message& m, const std::string& caller) const;
  void meet(const Message& hello, std::string_view bytes);
  bool is_known(const Seen& seen) const;  // false: more of this node than its ledger holds, or something else
  std::string proof_against(int node) const;
  bool is_left_behind(std::string_view proof) const;  // by the signatures of those who go on
  bool accused_by(const std::string& who, std::string_view proof);
  std::string unknown_here(const Message& own) const;  // what this party has signed, and its ledger does not know; ""
  void accept_accusation(const std::string& who, const std::string& has, std::string_view bytes);
  static bool tells_of_ledger(std::string_view bytes);
  void check_complete();
  void seal();
  int last_word_key(const Message& m) const { return m.kind == Kind::seal ? agreed_.nodes() + m.node : m.node; }
  bool lacks_last_word(const Link& link) const;
  void check_confirmed();
  void lose(int node, const std::string& text, Reason reason, const std::string& passed_on = "");
  void state_loss(std::vector<int> lost);
  void settle();  // what follows from the statements and consents that are here
  void sign_and_store(Message m);
  Digest values_before(int round) const;

  void on_greeting(Link& link, const Link::Call& call, const Receipt& receipt);
  void on_refusal(Link& link, const Receipt& receipt);
  void heard(Link& link);
  void watch(Link& link);
  std::string awaited_from(const Link& link) const;  // in words; "": nothing
  int waits_for(const Link& asking) const;           // another neighbour than this one; −1: nobody
  void watch_last_words();
  double last_word_patience() const { return timing_.wait + 8 * timing_.deadline; }
  void give_up_last_words(const std::string& missing);
  std::vector<int> keep_back_last_words() const;  // who does, as far as is known here; ascending
  bool keeps_back(int node) const;
  std::string missing_last_words() const;  // whose
  void pump();
  bool next_message(const Link& link, Link::Call& call, std::string& bytes) const;
  bool done_with(const Link& link) const;
  int has(const Link& link) const;  // the last round of this node's that the neighbour has stored, as far as is known
  void report(LogLine line) { actions_.reports.push_back(std::move(line)); }
  void warn_of(Link& link, Told what, const std::string& text);
  void warn(const std::string& peer, const std::string& text) { report({text, Level::warning, peer}); }
  void report_refusal(const std::string& caller, const Receipt& receipt);

  Agreement agreed_;
  int self_, last_released_;
  Keys keys_;
  Process process_;
  Timing timing_;
  double now_, ended_;
  std::function<Consent(const Succession&)> consent_;
  Received received_;
  Processes processes_;
  std::string diverged_with_;          // the value at the bound by which the run diverged
  std::map<int, std::string> rivals_;  // by node: a hello of a process with the known one's number, which is behind
  PassedOn passed_on_;
  NoiseKeys noise_keys_;
  FinalIterates finals_;
  Seals seals_;
  Survivors survivors_;
  std::optional<Succession> succession_;
  double patience_from_;                  // for statements, then for consents
  double last_word_at_;                   // when the last one came
  double passed_on_at_;                   // when the last was released, or none was awaited through others
  bool last_words_awaited_ = false;       // that was reported
  std::optional<double> disagreement_;    // since when there are seals that differ
  std::vector<Digest> recorded_;          // heads of own releases in the transcript
  std::vector<Digest> heads_;             // of those that were paid, as release() was told
  std::map<int, std::string> envelopes_;  // own signed messages: a neighbour may lack the last two
  std::vector<Link> links_;               // by node number
  int inboxes_ = 0;                       // handed out
  Phase phase_ = Phase::recovering;
  std::optional<Ending> ending_;
  std::optional<std::string> contradiction_;
  int contradicted_by_ = -1;  // the node that signed it
  std::string evidence_;      // its message
  std::function<void(const std::string& what, std::string_view message)> mark_accused_;
  std::optional<std::string> accused_;                    // withdraw()
  std::string accusation_;                                // the message, where an earlier process kept it
  std::vector<std::array<long, verdict_count>> refused_;  // by node, unknown callers last
  std::uint64_t calls_ = 0;
  Actions actions_;
  std::unique_ptr<Transcript> transcript_;
};

}  // namespace parley::protocol
