// report/party/read_party.h: the records of several parties of one run, held against each other. Signatures are for verify: here
// two transcripts that cannot both be true are enough to claim nothing.
#include <algorithm>
#include <set>

#include "parley/base/text.h"
#include "parley/protocol/compare/histories.h"
#include "parley/protocol/transcript.h"
#include "parley/record/files.h"
#include "parley/report/party/read_party.h"

namespace parley::report {
namespace {

using protocol::Kind;
using protocol::Message;
using protocol::Transcript;

// One transcript, as far as it has to be whole: what is missing in it may be what contradicts another.
class TranscriptOfOne {
 public:
  TranscriptOfOne(const Run& run, const Source& source, std::size_t part, int holder, protocol::Histories& into)
      : run_(run), source_(source), part_(part), holder_(holder), into_(into) {}

  // Of whom it keeps a message that contradicts what it has, its owner among them.
  const std::set<std::string>& accused() const { return accused_; }

  std::string read(std::map<int, std::string>& names) {  // why it cannot be compared; "": it was
    constexpr std::uintmax_t most = std::uintmax_t{1} << 30U;
    const auto content = record::read_bytes(source_.folder / "transcript", most);
    if (!content) return "it is missing, is no regular file, or is larger than 1 GiB";
    if (protocol::owner_in(source_.folder / "transcript").empty()) return "it does not say whose it is";
    Transcript::scan(*content, [&](Transcript::Entry kind, std::string_view bytes) { add(kind, bytes, names); });
    if (why_.empty()) check_whole();
    return why_;
  }

 private:
  void add(Transcript::Entry kind, std::string_view bytes, std::map<int, std::string>& names) {
    const auto parsed = protocol::decode(bytes);
    const auto* const m = std::get_if<Message>(&parsed);
    if (kind == Transcript::Entry::evidence && m != nullptr) accused_.insert(m->sender);
    if (!why_.empty() || kind == Transcript::Entry::evidence) return;
    if (m == nullptr || m->run != record::text_in(source_.run, "run_id") ||
        names.try_emplace(m->node, m->sender).first->second != m->sender) {
      why_ = "it holds something that is no message of this run";
      return;
    }
    if (m->kind == Kind::value || m->kind == Kind::silent) {
      auto& [rounds, head] = released_[m->sender];
      head = protocol::next_head(head, m->run, m->node, m->round, m->payload);
      if (m->round != rounds || m->head != head)
        why_ = "the values of " + protocol::printable(m->sender) + " in it do not follow each other";
      ++rounds;
    }
    into_.add(holder_, *m);
  }

  // It has what its owner recorded, and what that was computed from. A kill may leave a line whose value was not sent yet.
  void check_whole() {
    const std::string self = record::text_in(source_.run, "party");
    record::RoundLines lines(source_.folder);
    std::string text;
    nlohmann::json line;
    int recorded = 0;
    while (lines.there() && lines.next(text, line)) ++recorded;
    const int own = released_[self].first, unsent = record::text_in(source_.run, "outcome") == "completed" ? 0 : 1;
    if (own < recorded - unsent) why_ = "it lacks rounds of its owner's, which rounds.jsonl has";
    for (const auto& [a, b] : run_.edges)
      for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
        const std::string &who = run_.nodes[static_cast<std::size_t>(one)].name,
                          &neighbour = run_.nodes[static_cast<std::size_t>(other)].name;
        if (who == self && takes_part(neighbour) && released_[neighbour].first < own - 1)
          why_ = "it lacks rounds of " + neighbour + " that its owner's were computed from";
      }
  }

  bool takes_part(const std::string& name) const {
    if (part_ >= run_.parts.size()) return true;
    const std::vector<std::string>& there = run_.parts[part_].parties;
    return std::ranges::find(there, name) != there.end();
  }

  const Run& run_;
  const Source& source_;
  std::size_t part_;
  int holder_;
  protocol::Histories& into_;
  std::map<std::string, std::pair<int, Digest>> released_;  // by sender: how many rounds, and their head
  std::set<std::string> accused_;
  std::string why_;
};

}  // namespace

void compare_records(Run& run, const Sources& sources) {
  std::set<std::string> differing;
  std::size_t most = 0;
  for (const Source& s : sources) most = std::max(most, s.later.size());
  for (std::size_t part = 0; part <= most; ++part) {
    protocol::Histories histories;
    std::map<int, std::string> names;
    for (std::size_t holder = 0; holder < sources.size(); ++holder) {
      const Source* const source = part_of(sources[holder], part);
      if (source == nullptr) continue;
      TranscriptOfOne transcript(run, *source, part, static_cast<int>(holder), histories);
      const std::string why = transcript.read(names);
      for (const std::string& name : transcript.accused()) differing.insert(protocol::printable(name));
      if (sources.size() > 1 && !why.empty())
        run.void_claims.not_compared.push_back(protocol::printable(record::text_in(source->run, "party")) + ": " + why);
    }
    for (const protocol::Contradiction& one : histories.contradictions())
      differing.insert(protocol::printable(names.at(one.node)));
  }
  run.void_claims.differing.assign(differing.begin(), differing.end());
}

}  // namespace parley::report
