#include "parley/verify/verify.h"

#include <algorithm>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/beside.h"
#include "parley/record/record.h"
#include "parley/run/claim.h"
#include "parley/verify/final_documents.h"
#include "parley/verify/ledger.h"
#include "parley/verify/part.h"

namespace parley::verify {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Verification {
 public:
  explicit Verification(const fs::path& study) {
    parts_.push_back(first_seen(study::expected_first_part(study)));
    const study::ExpectedPart& known = parts_.front().known;
    result_.title = known.study.title;
    result_.hash = known.hash;
    result_.noisy = known.plan.plan.noisy();
    result_.rows_per_person = known.plan.unit.rows_per_person;
    if (known.plan.plan.sharing().on()) result_.against = run::against_whom(known.plan.plan.sharing());
    result_.bound = known.plan.plan.verified_only() ? "numerically verified" : "proved";
    result_.not_private = not_private(known.study, known.plan);
    result_.delta = result_.noisy ? known.plan.plan.nodes.front().delta : 0;
  }

  Verified run(const VerifyOptions& o, const std::vector<std::string>& folders) {
    read_first(folders);
    while (check_newest()) read_newest();
    for (const SeenPart& part : parts_) tell(part);
    for (int node = 0; node < parts_.front().known.agreed().nodes(); ++node) sum_up(node);
    tell_several_parties();
    for (const std::string& file : o.ledger) check_ledger(parts_, file, result_);
    add_up();
    return std::move(result_);
  }

 private:
  const std::string& name(int node) const { return parts_.front().known.name(node); }

  // What was found in a later part says so.
  void keep(const SeenPart& part, const Findings& findings) {
    const int number = part.known.part.number;
    const std::string where = number == 1 ? "" : "part " + std::to_string(number) + ": ";
    for (const std::string& sentence : findings.wrong) result_.wrong.push_back(where + sentence);
    for (const std::string& sentence : findings.unchecked) result_.unchecked.push_back(where + sentence);
    result_.compared += findings.compared;
  }

  void read_first(const std::vector<std::string>& folders) {
    SeenPart& first = parts_.front();
    for (const std::string& folder : folders) {
      auto t = read_party_record(first.known, folder, result_.wrong);
      if (!t) continue;
      if (const study::PartyRecord* const other = first.own(t->node))
        throw record::two_records_of(name(t->node), folder, other->folder);
      tell_secrets(first.known.name(t->node), folder);
      first.records.push_back(std::move(*t));
    }
  }

  // A folder that was handed over has none beside it: what is found is on its owner's disk, or was given away with it.
  void tell_secrets(const std::string& who, const fs::path& folder) {
    for (const fs::path& file : record::noise_key_files(folder))
      result_.secrets.push_back(file.string() + ": the secret of " + who +
                                " for shared noise lies here; whoever reads it, or a backup of it, counts among the "
                                "colluders. If the run does not go on, 'parley study abandon' deletes it");
  }

  // False: no part follows. Otherwise it is the newest one, and its records are still to be read.
  bool check_newest() {
    SeenPart& part = parts_.back();
    Findings findings;
    check_part(part, findings);
    part.next = agreed_on(part, findings);
    const std::string next = "part " + std::to_string(part.known.part.number + 1);
    for (const study::PartyRecord& t : part.records) {
      result_.messages += t.messages;
      const std::string& who = part.known.name(t.node);
      const bool agreed = saw_agreement(part, t);
      if (t.went_on && !agreed && t.intact)
        findings.wrong.push_back(who + ": it has a record of " + next +
                                 ", and its transcript does not hold the consent of all who went on to it");
      if (agreed && !t.went_on && t.ended())
        findings.wrong.push_back(who + ": its record of " + next + " is missing, and all had agreed on it");
    }
    const bool recorded = std::ranges::any_of(part.records, &study::PartyRecord::went_on);
    if (part.next && !recorded)
      findings.unchecked.push_back(next + ": all survivors agreed on it, and none of these records holds it");
    std::optional<SeenPart> after;
    if (part.next && recorded) after = part_after(part, findings);
    if (recorded && !after)
      findings.unchecked.push_back(next + ": it does not follow from what was signed, so nothing in it was checked");
    keep(part, findings);
    if (after) parts_.push_back(std::move(*after));
    return after.has_value();
  }

  void read_newest() {
    const SeenPart& before = parts_[parts_.size() - 2];
    SeenPart& part = parts_.back();
    Findings findings;
    for (const study::PartyRecord& t : before.records) {
      if (!t.went_on) continue;
      const fs::path home = before.known.part.number == 1 ? t.folder : t.folder.parent_path();
      const int node = part.known.part.node_of(before.known.study_node(t.node));
      std::optional<study::PartyRecord> read;
      try {
        read = read_party_record(part.known, home / record::folder_of_part(part.known.part.number), findings.wrong);
      } catch (const Error& e) {
        findings.wrong.push_back(before.known.name(t.node) + ": " + e.brief());
      }
      if (!read) continue;
      check_accused_of_start(before, part, *read, findings);
      if (read->node == node)
        part.records.push_back(std::move(*read));
      else
        findings.wrong.push_back(before.known.name(t.node) + ": its record of this part is that of " +
                                 part.known.name(read->node));
    }
    keep(part, findings);
  }

  void tell(const SeenPart& part) {
    const study::Part& p = part.known.part;
    result_.parts.push_back(
        {.number = p.number,
         .run = p.agreed.run,
         .parties = p.agreed.parties,
         .after_round = p.number == 1 ? -1 : parts_[static_cast<std::size_t>(p.number) - 2].next->through,
         .rounds = p.agreed.rounds});
  }

  // A party of the study through all parts: what it cost, and what it wrote about it.
  void sum_up(int node) {
    const study::PartyRecord* const first = parts_.front().own(node);
    WholeRecord record{.folder = first != nullptr ? first->folder : fs::path(), .run = {}, .node = node};
    if (first != nullptr) record.run = first->run;
    VerifiedParty party{.name = name(node), .folder = record.folder.string(), .parts = 0, .delta = result_.delta};
    party.trainer = parts_.front().known.is_trainer(node);
    bool whole = false;
    for (const SeenPart& part : parts_) {
      const int self = part.known.part.node_of(node);
      const study::PartyRecord* const t = self < 0 ? nullptr : part.own(self);
      // Its record is written before the value is sent: a kill may leave one more there than in any transcript.
      const int rounds =
          self < 0 ? 0 : std::max(part.rounds(self), t == nullptr ? 0 : static_cast<int>(t->released.size()));
      if (self < 0 || (part.known.part.number > 1 && t == nullptr && rounds == 0)) continue;
      record.history.push_back({.part = &part.known.part,
                                .self = self,
                                .released = rounds - 1,
                                .through = part.next && t != nullptr && t->went_on ? part.next->through : -1});
      party.contradicted = party.contradicted || part.contradicted.contains(self);
      party.recomputed += part.replayed[static_cast<std::size_t>(self)].recomputed;
      whole = t != nullptr ? t->outcome() == "completed" : rounds == part.known.agreed().rounds + 1;
      if (t == nullptr) continue;
      party.outcome = t->outcome();
      note_void_claims(t->run);
      record.last = &part;
      record.record = t;
      note_trainer(part, *t, record);
      Findings findings;
      check_lines(part, *t, record.history, findings.wrong);
      keep(part, findings);
    }
    party.parts = static_cast<int>(record.history.size());
    party.rounds = rounds_released(record.history);
    party.rounds_from_rows = rounds_from_rows(record.history);
    const algorithm::Cost cost = epsilon_of(record.history, whole);
    party.epsilon = cost.epsilon;
    party.epsilon_all_others = cost.all_others;
    party.delta = delta_of(record.history);
    if (first != nullptr) party.stated = stated_epsilon(first->folder);
    check_sum(node, record.history);
    check_contradicted(record);
    // Where it may have released more than these records hold, no more is claimed than that it may have cost what was
    // planned: a later part that does not follow was not looked at, and a record that ends early may have been cut.
    const bool followed = record.record == nullptr || !record.record->went_on;
    const bool unseen = !whole && !sure_of_all(record);
    if (unseen && record.record != nullptr && record.record->ended() && result_.noisy && !party.trainer)
      result_.unchecked.push_back(
          name(node) + ": whether it has released more than its record holds; counted with what was planned");
    if ((!followed || unseen) && result_.noisy && !party.trainer) {
      const algorithm::Schedule& planned = parts_.front().known.plan.plan.nodes[static_cast<std::size_t>(node)];
      party.epsilon = std::max(party.epsilon, planned.epsilon);
      party.epsilon_all_others = std::max(party.epsilon_all_others, planned.epsilon_all_others);
      party.delta = result_.delta;
    }
    if (followed && record.record != nullptr) check_final_documents(record, result_.wrong);
    result_.parties.push_back(std::move(party));
  }

  // What a record says of others counts as in a report, until these records show who it was.
  void note_void_claims(const json& run) {
    for (const record::VoidClaim& one : record::void_claims(run)) {
      if (one.why == record::VoidClaim::Why::forgotten)
        forgotten_.insert(one.party);
      else
        doubted_.insert(one.party);
    }
  }

  // The largest of those who have a bound. Where somebody has told two things and nobody knows who, that is nobody.
  void add_up() {
    const bool proved = std::ranges::any_of(result_.parties, &VerifiedParty::contradicted);
    const bool anybody = !proved && std::ranges::any_of(doubted_, [&](const std::string& named) {
      return std::ranges::find(result_.parties, named, &VerifiedParty::name) == result_.parties.end();
    });
    for (VerifiedParty& party : result_.parties) {
      party.past_unknown = party.past_unknown || forgotten_.contains(party.name);
      party.doubted = !party.contradicted && (anybody || doubted_.contains(party.name));
      if (party.claims_nothing()) continue;
      result_.epsilon = std::max(result_.epsilon, party.epsilon);
      result_.epsilon_all_others = std::max(result_.epsilon_all_others, party.epsilon_all_others);
    }
  }

  // Of a run that ended early: its owner is sure of it, and the records of all who received something of it are here.
  bool sure_of_all(const WholeRecord& record) const {
    if (record.record == nullptr || !record.record->ended() || !states_what_is_confirmed(record.folder)) return false;
    return std::ranges::all_of(record.history, [&](const study::ReleasedPart& one) {
      const SeenPart& part = parts_[static_cast<std::size_t>(one.part->number) - 1];
      return std::ranges::all_of(part.known.agreed().heard_by(one.self),
                                 [&](int j) { return part.own(j) != nullptr && part.own(j)->intact; });
    });
  }

  // As planned, which covers all parts together (docs/proofs/run-in-parts.md, proposition 9). Not told where a party is
  // found to have spent more than that.
  void tell_several_parties() {
    const algorithm::Plan& plan = parts_.front().known.plan.plan;
    if (result_.not_private.empty() && result_.epsilon <= plan.epsilon() &&
        result_.epsilon_all_others <= plan.epsilon_all_others())
      result_.several_parties = run::several_parties_in_words(plan);
  }

  // Whom its record names as contradicted: those against whom a transcript of it holds evidence. A kill may leave the
  // evidence of a moment ago alone, unless the record is the last word on a run that this evidence ended.
  void check_contradicted(const WholeRecord& record) {
    if (record.record == nullptr) return;
    std::set<std::string> named = record::contradicted_in(record.run), proved;
    for (const SeenPart& part : parts_) {
      const study::PartyRecord* const t = part.own(part.known.part.node_of(record.node));
      if (t == nullptr) continue;
      named.merge(record::contradicted_in(t->run));
      for (const int accused : t->accused)
        if (accused != t->node) proved.insert(part.known.name(accused));
    }
    const bool all_named = !record.ended() || record.record->outcome() != "equivocation" ||
                           std::ranges::includes(record::contradicted_in(record.run), proved);
    if (!all_named || !std::ranges::includes(proved, named))
      result_.wrong.push_back(name(record.node) + ": run.json has another " + record::contradicted_parties +
                              " than follows from the evidence in its transcript");
  }

  // docs/proofs/run-in-parts.md, proposition 9: all parts together cost at most what the study planned for the whole
  // run.
  void check_sum(int node, const study::PartHistory& history) {
    if (history.size() < 2 || !result_.noisy || parts_.front().known.is_trainer(node)) return;
    const study::Part& whole = parts_.front().known.part;
    const auto within = [&](const study::Part::Account& account, privacy::Against whom) {
      return spend_of(history, whom).total() <= account.allowance[static_cast<std::size_t>(node)];
    };
    if (within(whole.colluders, privacy::Against::colluders) && within(whole.anybody, privacy::Against::anybody))
      return;
    result_.wrong.push_back(name(node) + ": its parts together cost more than the study planned for the whole run");
  }

  // The value of the trainer's that a provider worked with last.
  static void note_trainer(const SeenPart& part, const study::PartyRecord& t, WholeRecord& record) {
    const int trainer = part.known.part.holders(), rounds = t.rounds_of(t.node);
    if (!part.known.part.plan.star() || t.node == trainer) return;
    for (int round = 1; round < std::min(rounds - 1, t.rounds_of(trainer)); ++round)  // 0 is the start
      if (const auto& value = t.values.at(trainer)[static_cast<std::size_t>(round)].value; value->size() > 0)
        record.trainer_said = *value;
  }

  std::vector<SeenPart> parts_;
  std::set<std::string> forgotten_, doubted_;  // parties, as their records and those of others say; "": some party
  Verified result_;
};

}  // namespace

std::vector<Option> option_rows(VerifyOptions& o) {
  return {{"study", "", "the study file that the parties agreed on, with their certificates", any_text("a file"),
           &o.study, "verify"},
          {"ledger", "", "a party's own ledger, or several: its charges are compared with the record",
           any_text("files"), &o.ledger, "verify"}};
}

Verified verify(const VerifyOptions& options, const std::vector<std::string>& records) {
  return Verification(options.study).run(options, records);
}

const std::vector<std::string>& beyond_verification() {
  static const std::vector<std::string> sentences = {
      "that a party added the noise that its charges are for: a value computed from rows looks like any other",
      "that a party computed it from the rows, and as many of them, as it says",
      "that a party kept no second copy of its rows, its noise or its ledger"};
  return sentences;
}

}  // namespace parley::verify
