#include "parley/study/party_record.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/protocol/inspection.h"
#include "parley/protocol/last_words.h"
#include "parley/protocol/processes.h"
#include "parley/protocol/transcript.h"
#include "parley/record/files.h"
#include "parley/record/record.h"
#include "parley/run/claim.h"
#include "parley/run/intervals/coefficients.h"
#include "parley/study/part_history.h"
#include "parley/study/void_epsilon.h"

namespace parley::study {
namespace {

using nlohmann::json;
using protocol::Kind;
using protocol::Message;
using protocol::Transcript;
namespace fs = std::filesystem;

// A copy of a transcript that Transcript may read and cut: the file stays as it is.
class Copy : public AppendFile {
 public:
  Copy(std::string name, std::string content, std::optional<std::uint64_t>& torn)
      : name_(std::move(name)), content_(std::move(content)), torn_(torn) {}
  std::string name() const override { return name_; }
  std::string read() override { return content_; }
  void append(std::string_view /*bytes*/) override {}
  void sync() override {}
  void cut_at(std::uint64_t size) override { torn_ = size; }

 private:
  std::string name_, content_;
  std::optional<std::uint64_t>& torn_;
};

// What the study allows a party to send and to store, four times over: memory follows the study, not the file.
std::uintmax_t largest_transcript(const ExpectedPart& known, int node) {
  const protocol::Agreement& agreed = known.agreed();
  const auto count = [](auto n) { return static_cast<std::uintmax_t>(n); };
  const std::uintmax_t neighbours = count(agreed.graph.neighbours(node).size()),
                       values = count(agreed.rounds + 1) * count(agreed.heard_by(node).size() + 1),
                       others = 4 * count(agreed.nodes());  // final iterates, seals, and what is said after a loss
  return 4 * (values + others) * (protocol::message_cap(agreed.largest_size) + 1024) +
         neighbours * protocol::most_processes * 1024 + mebibyte;  // and hellos
}

class Reader {
 public:
  Reader(const ExpectedPart& known, PartyRecord& t, std::vector<std::string>& wrong)
      : known_(known), t_(t), wrong_(wrong) {}

  void read(const fs::path& file) {
    std::optional<std::uint64_t> torn;
    const std::string owner = protocol::owner_of(known_.agreed(), t_.node);
    auto content = record::read_bytes(file, largest_transcript(known_, t_.node));
    if (!content) {
      t_.intact = false;
      return say("its transcript is missing, is no regular file, or is larger than the study allows");
    }
    try {
      const Transcript transcript(std::make_unique<Copy>(file.string(), std::move(*content), torn), owner,
                                  [this](Transcript::Entry kind, std::string_view bytes) { add(kind, bytes); });
    } catch (const Error& e) {
      t_.intact = false;
      say(e.brief() + last_);
    }
    if (torn && t_.ended()) {
      t_.intact = false;
      say("its transcript is broken at byte " + std::to_string(*torn) + last_);
    }
  }

 private:
  void say(const std::string& text) { wrong_.push_back(known_.name(t_.node) + ": " + text); }
  static bool speaks_of_loss(const Message& m) { return m.kind == Kind::loss || m.kind == Kind::consent; }

  // Everything that a receiver would have checked. A message of its own that it keeps as evidence is one that a neighbour
  // received.
  std::optional<std::string> objection(const Message& m, Transcript::Entry kind) const {
    const bool evidence = kind == Transcript::Entry::evidence, by_itself = m.sender == known_.name(t_.node);
    const bool own = kind == Transcript::Entry::sent || (evidence && by_itself);
    const int neighbour = known_.agreed().graph.neighbours(t_.node).front(), receiver = own ? neighbour : t_.node;
    const std::string& passed_on = known_.name(neighbour);  // these come from any neighbour
    const bool by_others = protocol::passed_on(m.kind, known_.agreed());
    const std::string& caller = own ? known_.name(t_.node) : by_others ? passed_on : m.sender;
    if (own && !by_itself) return "sender: it stands there as sent by " + known_.name(t_.node);
    // A copy that only leaves is known by its goodbye.
    if (!evidence && (m.kind == Kind::goodbye || (own && m.kind == Kind::hello)))
      return "kind: no transcript holds such a message";
    if (speaks_of_loss(m) && known_.study.on_loss != OnLoss::go_on) return "kind: in this study a loss ends the run";
    if (const auto wrong = protocol::inspect(m, caller, known_.agreed(), receiver, known_.keys))
      return std::string(protocol::field_of(wrong->verdict)) + ": " + wrong->detail;
    return std::nullopt;
  }

  void add(Transcript::Entry kind, std::string_view bytes) {
    auto parsed = protocol::decode(bytes);
    const auto* m = std::get_if<Message>(&parsed);
    if (m == nullptr) {
      const auto& wrong = std::get<protocol::Finding>(parsed);
      t_.intact = false;
      return say((wrong.verdict == protocol::Verdict::unknown_version
                      ? "its transcript was written by another version of parley; protocol version " + wrong.detail
                      : "its transcript holds something that is no message") +
                 last_);
    }
    const std::string sender = protocol::printable(m->sender);
    const std::string what = m->kind == Kind::final_iterate ? "the final iterate of " + sender
                             : m->kind == Kind::seal        ? "the seal of " + sender
                             : m->kind == Kind::noise_key   ? "the key for shared noise of " + sender
                             : m->kind == Kind::loss        ? "the statement after a loss of " + sender
                             : m->kind == Kind::hello       ? "the hello of " + sender
                             : m->kind == Kind::goodbye     ? "the goodbye of " + sender
                             : m->kind == Kind::consent     ? "the consent of " + sender
                                                            : "round " + std::to_string(m->round) + " of " + sender;
    last_ = ", after " + what;
    const bool evidence = kind == Transcript::Entry::evidence;
    if (!evidence && broken_.contains(m->sender)) return;
    const auto refuse = [&](const std::string& why) {
      broken_.insert(m->sender);
      t_.intact = false;
      say("in its transcript " + what + " does not hold: " + why);
    };
    if (const auto why = objection(*m, kind)) return refuse(*why);
    ++t_.messages;
    if (evidence) return accuse(*m, what);
    if (const std::string why = out_of_order(*m, kind == Transcript::Entry::sent);
        !why.empty() && misplaced_.insert(m->sender).second)
      say("in its transcript " + what + " " + why);
    if (m->kind == Kind::final_iterate || m->kind == Kind::seal) {
      auto& last_words = m->kind == Kind::seal ? t_.seals : t_.finals;
      if (!last_words.emplace(m->node, *m).second) refuse("there are two of it");
      return;
    }
    if (m->kind == Kind::noise_key) {
      if (!t_.noise_keys.emplace(m->node, *m).second) refuse("there are two of it");
      return;
    }
    if (speaks_of_loss(*m)) return t_.after_loss.push_back(*m);
    if (m->kind == Kind::hello) return t_.hellos.push_back(*m);
    auto& heard = t_.values[m->node];
    const int next = static_cast<int>(heard.size());
    if (m->round != next)
      return refuse(m->round < next ? "there are two of it" : "round " + std::to_string(next) + " is missing");
    const auto head =
        protocol::next_head(next == 0 ? Digest{} : heard.back().head, m->run, m->node, m->round, m->payload);
    if (head != m->head) return refuse("head: it is not that of the values before it");
    heard.push_back({std::make_shared<const Vector>(*protocol::vector_of(m->payload)), head, m->process});
  }

  // A party stores what it receives before it computes from it, and takes a value only when it has released the round
  // that this one was computed from. It stores the hello of every neighbour before it releases more than its start.
  std::string out_of_order(const Message& m, bool own) const {
    const auto all_have = [&](int rounds) {
      return std::ranges::all_of(known_.agreed().heard_by(t_.node), [&](int j) { return t_.rounds_of(j) >= rounds; });
    };
    const int rounds = known_.agreed().rounds + 1;
    if (m.kind == Kind::value || m.kind == Kind::silent) {
      if (own && !all_have(m.round)) return "stands before values that it was computed from";
      if (!own && t_.rounds_of(t_.node) < m.round) return "stands before the value that it was computed from";
      if (const int j = own && m.round > 0 ? ungreeted() : -1; j >= 0)
        return "stands before the hello of " + known_.name(j);
      if (own && m.round > 0 && known_.agreed().shared_noise &&
          static_cast<int>(t_.noise_keys.size()) < known_.agreed().nodes())
        return "stands before a key that its noise needs";
    }
    if (own && m.kind == Kind::final_iterate && (t_.rounds_of(t_.node) < rounds || !all_have(rounds)))
      return "stands before the last round is complete";
    if (own && m.kind == Kind::seal && t_.finals.size() < known_.agreed().model_of.size())
      return "stands before a final iterate that it is of";
    return "";
  }

  // A neighbour without a hello so far; −1: none. One whose message did not hold has been told already.
  int ungreeted() const {
    for (const int j : known_.agreed().graph.neighbours(t_.node))
      if (!broken_.contains(known_.name(j)) && std::ranges::find(t_.hellos, j, &Message::node) == t_.hellos.end())
        return j;
    return -1;
  }

  // What a party kept because it contradicts what it had: two signatures of one sender. Anybody may call any message
  // evidence, so it counts where this record holds what it excludes.
  void accuse(const Message& m, const std::string& what) {
    if (begins_part(m)) {  // verify holds it against the part before
      t_.accused_of_start.insert(m.node);
      return;
    }
    if (m.node != t_.node && !excluded(m))
      return say("what it keeps as evidence against " + m.sender + ", " + what +
                 ", contradicts nothing in this record");
    t_.accused.insert(m.node);
    if (m.node == t_.node) return say("it keeps a signature of its own that its ledger does not know of: " + what);
    wrong_.push_back(m.sender + " contradicted itself: " + known_.name(t_.node) + " was sent a second, different " +
                     (what.starts_with("the ") ? what.substr(4) : what) + ", signed");
  }

  bool begins_part(const Message& m) {
    const std::vector<Heard>& heard = t_.values[m.node];
    return known_.part.number > 1 && m.node != t_.node && (m.kind == Kind::value || m.kind == Kind::silent) &&
           m.round == 0 && !heard.empty() && heard.front().head == m.head && !second_process(m);
  }

  // By what its sender has signed and this record holds.
  bool excluded(const Message& m) {
    const std::vector<Heard>& heard = t_.values[m.node];
    const int last = static_cast<int>(heard.size()) - 1;
    const auto differs = [&](const Message& other) { return other.head != m.head || other.payload != m.payload; };
    if (speaks_of_loss(m))
      return std::ranges::any_of(t_.after_loss, [&](const Message& other) {
        return other.node == m.node && other.kind == m.kind && differs(other);
      });
    if (m.round >= 0 && m.round <= last && heard[static_cast<std::size_t>(m.round)].head != m.head) return true;
    if (second_process(m)) return true;
    if (m.kind == Kind::final_iterate || m.kind == Kind::seal) {
      const auto &same = m.kind == Kind::seal ? t_.seals : t_.finals,
                 &other = m.kind == Kind::seal ? t_.finals : t_.seals;
      return (same.contains(m.node) && differs(same.at(m.node))) ||
             (other.contains(m.node) && other.at(m.node).head != m.head) || does_not_follow(m, heard);
    }
    if (m.kind == Kind::noise_key) {
      const auto found = t_.noise_keys.find(m.node);
      return found != t_.noise_keys.end() && found->second.payload != m.payload;
    }
    if (m.kind == Kind::hello || m.kind == Kind::goodbye || m.round > last + 1) return false;
    if (m.round <= last)  // a liar may repeat the head with another value
      return protocol::payload_of(*heard[static_cast<std::size_t>(m.round)].value) != m.payload;
    if (protocol::next_head(last < 0 ? Digest{} : heard.back().head, m.run, m.node, m.round, m.payload) != m.head)
      return true;
    return m.round == known_.agreed().rounds && excluded_by_last_word(m, heard);
  }

  bool does_not_follow(const Message& m, const std::vector<Heard>& heard) const {
    const protocol::Agreement& agreed = known_.agreed();
    if (m.kind != Kind::final_iterate || !agreed.counts || static_cast<int>(heard.size()) <= agreed.rounds)
      return false;
    protocol::MeanOfReleases mean(agreed.counts);
    for (int round = 0; round <= agreed.rounds; ++round) mean.add(round, *heard[static_cast<std::size_t>(round)].value);
    return protocol::payload_of(mean.value()) != m.payload;
  }

  // A value of the last round whose sender's final iterate or seal came before it, and does not fit.
  bool excluded_by_last_word(const Message& m, std::vector<Heard> heard) const {
    for (const auto* words : {&t_.finals, &t_.seals})
      if (const auto found = words->find(m.node); found != words->end() && found->second.head != m.head) return true;
    const auto final_iterate = t_.finals.find(m.node);
    if (final_iterate == t_.finals.end()) return false;
    heard.push_back({std::make_shared<const Vector>(*protocol::vector_of(m.payload)), m.head, m.process});
    return does_not_follow(final_iterate->second, heard);
  }

  // R14: two processes of one number, or a round of an older process that a newer one does not know of.
  bool second_process(const Message& m) {
    const auto same_number = [&](const protocol::Process& p) {
      return p.incarnation == m.process.incarnation && p != m.process;
    };
    const bool a_value = m.kind == Kind::value || m.kind == Kind::silent;
    return std::ranges::any_of(
               t_.hellos,
               [&](const Message& hello) {
                 return hello.node == m.node &&
                        (same_number(hello.process) ||
                         (a_value && hello.process.incarnation > m.process.incarnation && hello.round < m.round));
               }) ||
           std::ranges::any_of(t_.values[m.node], [&](const Heard& h) { return same_number(h.process); });
  }

  const ExpectedPart& known_;
  PartyRecord& t_;
  std::vector<std::string>& wrong_;
  std::set<std::string> broken_;     // senders: what follows one broken message says nothing more
  std::set<std::string> misplaced_;  // senders, of messages in a wrong order: told once
  std::string last_;
};

// What stands behind the last round that was read is nobody's, and would be given on with the record.
void check_ends(const std::string& who, const record::Record& r, const PartyRecord& t,
                std::vector<std::string>& wrong) {
  std::error_code code;
  const auto shape = record::shape_of(t.run);
  const auto values = fs::file_size(t.folder / "released.f64", code);
  if (!code && shape && values != shape->bytes(r.released.size()))
    wrong.push_back(who + ": released.f64 has " + std::to_string(values) + " bytes, and its rounds are " +
                    std::to_string(shape->bytes(r.released.size())));
  const auto lines = record::read_bytes(t.folder / "rounds.jsonl", (r.lines.size() + 2) * 4096);
  const auto whole = lines ? static_cast<std::size_t>(std::ranges::count(*lines, '\n')) : 0;
  if (!lines || whole != r.lines.size() || (!lines->empty() && lines->back() != '\n'))
    wrong.push_back(who + ": rounds.jsonl holds something else than a line for each round");
}

void check_bytes_of_lines(const std::string& who, const PartyRecord& t, std::vector<std::string>& wrong) {
  record::RoundLines file(t.folder);
  std::string text;
  json line;
  for (std::size_t round = 0; round < t.lines.size() && file.next(text, line); ++round)
    if (line.dump() != text)
      return wrong.push_back(who + ", round " + std::to_string(round) +
                             ": its line in rounds.jsonl is not byte for byte what the program writes");
}

void read_released(const ExpectedPart& known, PartyRecord& t, std::vector<std::string>& wrong) {
  const std::string& who = known.name(t.node);
  record::Record r;
  try {
    r = record::read(t.folder, static_cast<std::size_t>(known.agreed().rounds) + 2);
  } catch (const Error& e) {
    return wrong.push_back(who + ": " + e.brief());
  }
  const auto most = static_cast<std::size_t>(known.agreed().rounds) + 1;
  if (t.ended() && r.released.size() <= most) check_ends(who, r, t, wrong);
  if (r.released.size() > most) {
    wrong.push_back(who + ", round " + std::to_string(most) + ": in its record, and the study ends before it");
    r.released.resize(most);
    r.lines.resize(std::min(most, r.lines.size()));
  }
  t.lines = std::move(r.lines);
  check_bytes_of_lines(who, t, wrong);
  for (const auto& round : r.released) t.released.push_back(round.front());
  const int recorded = static_cast<int>(t.released.size()), sent = t.rounds_of(t.node);
  if (t.intact && (t.ended() ? recorded != sent : recorded < sent))
    wrong.push_back(who + ": released.f64 has " + std::to_string(recorded) + " rounds, and its transcript " +
                    std::to_string(sent));
  for (int round = 0; round < std::min(recorded, sent); ++round) {
    const Vector& sent_value = *t.values.at(t.node)[static_cast<std::size_t>(round)].value;
    const Vector& value = t.released[static_cast<std::size_t>(round)];
    if (same_bits(value, sent_value)) continue;
    wrong.push_back(who + ", round " + std::to_string(round) +
                    ": released.f64 differs from what it signed and sent: " + first_difference(value, sent_value));
    return;
  }
}

}  // namespace

bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

bool nearly_same(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) return nearly(a.get<double>(), b.get<double>());
  if (a.is_array() && b.is_array()) return std::ranges::equal(a, b, nearly_same);
  if (!a.is_object() || !b.is_object()) return a == b;
  return a.size() == b.size() && std::ranges::all_of(a.items(), [&](const auto& item) {
           return b.contains(item.key()) && nearly_same(item.value(), b.at(item.key()));
         });
}

std::string difference_in(const std::string& file, const std::string& key, const json& found, const json& expected) {
  if (expected.is_structured()) return file + " has another " + key + " than follows";
  return file + " has " + key + " = " + shown(found) + ", and " + shown(expected) + " follows";
}

std::string shown(const json& value) {
  if (value.is_structured()) return "something else";
  if (value.is_null()) return "nothing";
  return protocol::printable(value.dump(-1, ' ', true, json::error_handler_t::replace), 80);
}

bool same_bits(const Vector& a, const Vector& b) {
  return protocol::payload_of(a) == protocol::payload_of(b);
}

std::string first_difference(const Vector& found, const Vector& expected) {
  if (found.size() != expected.size())
    return std::to_string(found.size()) + " coordinates instead of " + std::to_string(expected.size());
  for (Index i = 0; i < found.size(); ++i)
    if (!same_bits(found.segment(i, 1), expected.segment(i, 1)))
      return "coordinate " + std::to_string(i) + " is " + number(found[i]) + " instead of " + number(expected[i]);
  return "nothing";
}

bool PartyRecord::ended() const {
  const std::string all = run.value("outcome", "");
  return all != "running" && all != "failed" && all != "uncertified" && all != "continued" &&
         all != record::abandoned && !past_unknown();
}

json expected_header(const ExpectedPart& known, int node, const std::vector<record::VoidClaim>& claims) {
  json shape = run::released_json(known.part.plan, known.dimension, 1);
  shape["first"] = node;
  json head = {{"study_hash", known.hash},
               {"run_id", known.agreed().run},
               {"selection", run::to_json(known.plan.selected)},
               {"node", node},
               {"nodes", known.part.plan.nodes.size()},
               {"released", shape}};
  head.update(privacy_facts(known.study, known.plan, claims));
  if (const json forecast = run::forecast_json(known.plan.plan); !forecast.is_null()) head["forecast"] = forecast;
  if (known.part.number > 1) head["part"] = json::parse(known.agreed().configuration);
  return head;
}

namespace {

// A part that others followed ends before a claim is void; what the record of the whole says of it came later. A kill may
// leave it as it was.
std::vector<record::VoidClaim> void_claims_of(const ExpectedPart& known, const PartyRecord& t) {
  auto claims = record::void_claims(t.run);
  if (known.part.number == 1 || !claims.empty()) return claims;
  auto of_the_whole = record::void_claims(record::read_run(t.folder.parent_path()));
  const bool withdrawn =
      nearly_same(record::member(t.run, "privacy"), privacy_of_run(known.study, known.plan, of_the_whole));
  return withdrawn ? of_the_whole : claims;
}

// Keys of run.json that do not follow from the study (party/final_documents.cpp).
bool written_beside(const std::string& key) {
  static const std::set<std::string> keys = {"coefficients",
                                             "format",
                                             "outcome",
                                             "outcome_in_words",
                                             "study",
                                             "party",
                                             "rounds_done",
                                             "parts",
                                             "ledger_head",
                                             record::contradicted_parties,
                                             record::void_before};
  return keys.contains(key);
}

// One without a run.json is not read: a kill may leave it, with nothing whole in it.
bool is_folder_of_part(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return false;
  return fs::exists(folder / "run.json", code) ||
         std::ranges::all_of(fs::directory_iterator(folder, code), record::half_written);
}

// What a party writes beside run.json in this part. The statement, its own model and the table are of the whole run.
bool is_file_of_record(const ExpectedPart& known, const PartyRecord& t, const std::string& name) {
  static const std::set<std::string> of_a_part = {"run.json", "rounds.jsonl", "released.f64", "transcript",
                                                  "model.json"},
                                     of_the_whole = {"own_model.json", "statement.json", "statement.txt"};
  const bool first = known.part.number == 1;
  if (name == run::coefficients_file)  // written before run.json says that the run is complete
    return first && known.study.algorithm.intervals && (t.outcome() == "completed" || !t.ended());
  return of_a_part.contains(name) || (first && of_the_whole.contains(name));
}

// A record is given to others as a whole: whatever else lies in it would go with it.
void check_files(const ExpectedPart& known, const PartyRecord& t, std::vector<std::string>& wrong) {
  std::set<std::string> parts;  // 2, 3, … without a gap: no other is read
  for (int part = 2; known.part.number == 1 && is_folder_of_part(t.folder / record::folder_of_part(part)); ++part)
    parts.insert(record::folder_of_part(part));
  std::error_code code;
  std::vector<std::string> others;
  for (auto at = fs::directory_iterator(t.folder, code); !code && at != fs::directory_iterator(); at.increment(code)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    const bool folder = at->is_directory(unknown);
    if (at->path().extension() == ".part" && !folder && !t.ended()) continue;  // left by a kill in mid-write
    if (folder ? !parts.contains(name) : !is_file_of_record(known, t, name)) others.push_back(name);
  }
  std::ranges::sort(others);
  for (const std::string& name : others)
    wrong.push_back(known.name(t.node) + ": its record holds " + protocol::printable(name) +
                    ", which no party writes there");
}

// Other spacing, a key that stands twice or bytes behind the end could hold what no reader shows.
void check_bytes(const std::string& who, const PartyRecord& t, std::vector<std::string>& wrong) {
  for (const char* name : {"run.json", "model.json", "own_model.json", "statement.json"}) {
    std::error_code code;
    if (!fs::exists(t.folder / name, code)) continue;  // what must be there is missed where it is compared
    const auto bytes = record::read_bytes(t.folder / name, largest_record);
    const json document = bytes ? shallow_json(*bytes) : json();
    const std::string written = document.dump(1) + "\n", which = who + ": " + name;
    if (document.is_null())
      wrong.push_back(which + " cannot be read as the program writes it");
    else if (*bytes != written)
      wrong.push_back(which + " is not byte for byte what the program writes: it differs from byte " +
                      std::to_string(std::ranges::mismatch(*bytes, written).in1 - bytes->begin()));
  }
}

}  // namespace

std::optional<PartyRecord> read_party_record(const ExpectedPart& known, const fs::path& folder,
                                             std::vector<std::string>& wrong) {
  const auto no_record = [&](const std::string& what) {
    return Error({.what = what, .where = folder.string(), .fix = "give the folder that 'parley join --out' left"});
  };
  PartyRecord t{.folder = folder, .run = record::read_run(folder)};
  if (!t.run.is_object() || t.run.value("format", json()) != "parley-party-1" ||
      !t.run.value("party", json()).is_string() || !t.run.value("outcome", json()).is_string())
    throw no_record("this is not the record of a party");
  const auto node = known.agreed().node_of(t.run["party"]);
  if (!node)
    throw no_record("this is the record of " + protocol::printable(t.run["party"].get<std::string>()) +
                    ", who does not take part");
  t.node = *node;
  const fs::path next = known.part.number == 1 ? folder : folder.parent_path();
  t.went_on = fs::exists(next / record::folder_of_part(known.part.number + 1) / "run.json");
  if (const std::string other = difference(known.canonical, t.run.value("study", json()), known.name(t.node));
      !other.empty()) {
    wrong.push_back(known.name(t.node) + ": its record is of another study: " + other);
    return std::nullopt;
  }
  const auto before = wrong.size();
  const auto claims = void_claims_of(known, t);
  const json header = expected_header(known, t.node, claims);
  check_files(known, t, wrong);
  for (const auto& [key, value] : t.run.items())
    if (!header.contains(key) && !written_beside(key))
      wrong.push_back(known.name(t.node) + ": run.json has " + protocol::printable(key) + ", which no party writes");
  std::vector<std::string> numbers;  // trap: a record that says whose claims are void must be read for that
  for (const auto& [key, value] : header.items())
    if (!nearly_same(t.run.value(key, json()), value))
      (claims.empty() || (key != "privacy" && key != "node_facts") ? wrong : numbers)
          .push_back(known.name(t.node) + ": " + difference_in("run.json", key, t.run.value(key, json()), value));
  if (wrong.size() > before) return std::nullopt;
  wrong.insert(wrong.end(), numbers.begin(), numbers.end());
  check_bytes(known.name(t.node), t, wrong);
  Reader(known, t, wrong).read(folder / "transcript");
  read_released(known, t, wrong);
  return t;
}

}  // namespace parley::study
