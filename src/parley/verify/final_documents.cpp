#include "parley/verify/final_documents.h"

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/protocol/last_words.h"
#include "parley/record/files.h"
#include "parley/record/record.h"
#include "parley/record/round.h"
#include "parley/record/void_claims.h"
#include "parley/study/model.h"
#include "parley/study/statement.h"

namespace parley::verify {
namespace {

using nlohmann::json;

std::string text_of(const std::filesystem::path& folder, const std::string& file) {
  constexpr std::uintmax_t most = 16U << 20U;
  return record::read_bytes(folder / file, most).value_or("");
}

class FinalDocumentsCheck {
 public:
  FinalDocumentsCheck(const WholeRecord& record, std::vector<std::string>& wrong)
      : record_(record),
        known_(record.last->known),
        t_(*record.record),
        replayed_(record.last->replayed),
        wrong_(wrong),
        rounds_(t_.rounds_of(t_.node)) {}

  void check() {
    if (!record_.ended()) return check_earlier_statement();
    if (claims_nothing()) return;
    if (record_.history.size() > 1) check_parts();
    check_rounds_done();
    check_statement();
    check_models();
  }

 private:
  bool whole() const { return record_.whole(); }
  // A party that has used no row yet, and that nobody has confirmed, writes none of them (party/final_documents.cpp).
  bool claims_nothing() const {
    return !whole() && !has_used_rows(record_.history) && !std::filesystem::exists(record_.folder / "statement.json") &&
           !std::filesystem::exists(record_.folder / "model.json");
  }
  void say(const std::string& text) { wrong_.push_back(known_.name(t_.node) + text); }
  json parsed(const std::string& file) const { return record::read_json(record_.folder / file); }

  // The first key in which a document differs from the one that follows.
  void compare(const std::string& file, const json& found, const json& expected) {
    if (!found.is_object()) return say(": " + file + " is missing or cannot be read");
    for (const auto& [key, value] : expected.items())
      if (!study::nearly_same(found.value(key, json()), value))
        return say(": " + study::difference_in(file, key, found.value(key, json()), value));
    for (const auto& [key, value] : found.items())
      if (!expected.contains(key))
        return say(": " + file + " has " + protocol::printable(key) + ", which no party writes");
  }

  // The record of the whole tells the parts as they were, and its end as that of the last one.
  void check_parts() {
    const json parts = json::parse(to_json(record_.history).dump());
    const std::string last = record::folder_of_part(known_.part.number) + "/run.json";
    for (const auto& [file, run] : {std::pair(std::string("run.json"), &record_.run), std::pair(last, &t_.run)})
      if (!study::nearly_same(run->value("parts", json()), parts))
        return say(": " + study::difference_in(file, "parts", {}, parts));
    for (const char* key : {"outcome", "outcome_in_words", "rounds_done"})
      if (record_.run.value(key, json()) != t_.run.value(key, json()))
        return say(": run.json has " + std::string(key) + " = " + study::shown(record_.run.value(key, json())) +
                   ", and " + last + " has " + study::shown(t_.run.value(key, json())));
  }

  void check_rounds_done() {
    const json found = t_.run.value("rounds_done", json());
    if (const int done = known_.part.before + rounds_ - 1; t_.intact && found != done)
      say(": " + study::difference_in("run.json", "rounds_done", found, done));
  }

  // Beside a record that has not ended lies that of an earlier process, or none. Read alone it claims what it says, so it may
  // not say less than was released since.
  void check_earlier_statement() {
    if (!std::filesystem::exists(record_.folder / "statement.json")) return;
    const json document = parsed("statement.json"), said = record::member(document, "statement");
    if (!study::statement_holds(document, *known_.study.parties[static_cast<std::size_t>(record_.node)].pinned))
      return say(
          ": the signature of the statement beside its unfinished record is not that of the certificate that the "
          "roster pins");
    const study::Spent spent = spent_in(record_.history, false, !said.contains("unconfirmed"));
    const auto below = [&](const char* key, double least) {
      const double found = record::number_in(said, key);
      return !(found >= least || study::nearly(found, least));
    };
    const bool priced = known_.plan.plan.noisy() && !known_.is_trainer(t_.node);
    if (below("rounds_released", spent.rounds) || (priced && below("epsilon", spent.epsilon)) ||
        (priced && known_.plan.plan.sharing().on() && below("epsilon_all_others", spent.epsilon_all_others)))
      say(": a statement of an earlier process lies beside its unfinished record, with epsilon = " +
          study::shown(said.value("epsilon", json())) + " for " + study::shown(said.value("rounds_released", json())) +
          " rounds, and " + std::to_string(spent.rounds) + " were released, which make " + number(spent.epsilon) +
          ": it claims too little");
  }

  void check_statement() {
    const json document = parsed("statement.json");
    const auto& pinned = *known_.study.parties[static_cast<std::size_t>(record_.node)].pinned;
    if (!document.is_object() || !document.value("statement", json()).is_object())
      return say(": statement.json is missing or cannot be read");
    if (!study::statement_holds(document, pinned))
      return say(": the signature of its statement is not that of the certificate that the roster pins");
    if (document.value("certificate", json()) != pinned.pem)
      return say(": statement.json holds another certificate than the one that the roster pins");
    const json& said = document["statement"];
    for (const auto& [key, value] : document.items())
      if (key != "statement" && key != "signature" && key != "certificate")
        return say(": statement.json has " + protocol::printable(key) + ", which no party writes");
    // In words it is one line of the party's; a restarted party has it in the statement alone for a moment.
    const json words = t_.run.value("outcome_in_words", said.value("outcome_in_words", json()));
    protocol::Ending ending{.text = words.is_string() ? words.get<std::string>() : ""};
    for (int end = 0; end <= static_cast<int>(protocol::End::contradicted); ++end)
      if (study::end_name(static_cast<protocol::End>(end)) == t_.outcome())
        ending.end = static_cast<protocol::End>(end);
    if (!is_plain_line(ending.text, 1000) ||
        (ending.end == protocol::End::completed && ending.text != protocol::completed_in_words))
      return say(": its statement tells the outcome in words that no party writes: '" +
                 protocol::printable(ending.text, 200) + "'");
    // To say that it is unconfirmed can only make its epsilon larger.
    const study::Spent spent = spent_in(record_.history, whole(), whole() || !said.contains("unconfirmed"));
    const json expected =
        json::parse(statement_json(known_.study, known_.plan, record_.node, known_.hash, ending, spent).dump());
    if (!study::nearly_same(said.value("epsilon", json()), expected.value("epsilon", json())))
      return say(": its statement says epsilon = " + study::shown(said.value("epsilon", json())) +
                 ", and the charges of the " + std::to_string(spent.rounds) + " rounds that it released make " +
                 study::shown(expected.value("epsilon", json())));
    const auto before = wrong_.size();
    compare("its statement", said, expected);
    if (wrong_.size() == before && text_of(record_.folder, "statement.txt") != study::statement_text(expected))
      say(": statement.txt does not say what statement.json says");
  }

  void check_models() {
    const Replayed& mine = replayed_[static_cast<std::size_t>(t_.node)];
    const bool followed = mine.rounds == rounds_ && mine.final_iterate.size() > 0 && t_.intact;
    if (whole()) check_finals();
    if (t_.outcome() == "diverged" || !followed || !has_learnt(record_.history)) return;
    check_model("own_model.json", mine.final_iterate, "this party's own iterate");
    if (whole() && !complete_) return;
    const Vector weights = whole()                           ? model_
                           : record_.trainer_said.size() > 0 ? record_.trainer_said
                                                             : mine.final_iterate;
    check_model("model.json", weights, t_.outcome(), whole() ? mine.estimate.get() : nullptr);
    if (record_.history.size() > 1)
      check_model(record::folder_of_part(known_.part.number) + "/model.json", weights, t_.outcome(),
                  whole() ? mine.estimate.get() : nullptr);
  }

  void check_finals() {
    protocol::FinalIterates finals(known_.agreed());
    complete_ = true;
    for (const int origin : known_.agreed().model_of) {
      const auto found = t_.finals.find(origin);
      if (found == t_.finals.end()) {
        complete_ = false;
        if (t_.intact) say(": the final iterate of " + known_.name(origin) + " is not in its transcript");
        continue;
      }
      finals.add(found->second, "");
      const Vector value = *protocol::vector_of(found->second.payload);
      const Replayed& followed = replayed_[static_cast<std::size_t>(origin)];
      const std::string which = ": the final iterate of " + known_.name(origin) + " in its transcript ";
      if (t_.rounds_of(origin) == known_.agreed().rounds + 1 && t_.values.at(origin).back().head != found->second.head)
        say(which + "claims other releases than those before it");
      else if (followed.rounds == known_.agreed().rounds + 1 && !study::same_bits(value, followed.final_iterate))
        say(which + "does not follow from what " + known_.name(origin) +
            " released: " + study::first_difference(value, followed.final_iterate));
    }
    if (complete_) model_ = finals.model();
    for (int node = 0; complete_ && node < known_.agreed().nodes(); ++node) {
      const auto seal = t_.seals.find(node);
      if (seal == t_.seals.end())
        say(": the seal of " + known_.name(node) + " is missing in its transcript, and without it no run is complete");
      else if (seal->second.payload != finals.digest())
        say(": the seal of " + known_.name(node) + " is of other final iterates than those in its transcript");
    }
  }

  void check_model(const std::string& file, const Vector& weights, const std::string& outcome,
                   const algorithm::newton::Estimate* estimate = nullptr) {
    const json found = parsed(file), expected = json::parse(model_json(known_.study, known_.plan, weights, outcome,
                                                                       record::void_claims(record_.run), estimate)
                                                                .dump());
    if (found.is_object() && found.value("weights", json()) != expected["weights"])
      return say(": the weights in " + file + " do not follow from the released values");
    compare(file, found, expected);
    const json table = record_.run.value("coefficients", json());
    if (file == "model.json" && !study::nearly_same(table, expected.value("coefficients", json())))
      say(": run.json has another table of coefficients than follows from the released values");
    if (estimate != nullptr && text_of(record_.folder, run::coefficients_file) != coefficients_csv_of(estimate))
      say(": " + std::string(run::coefficients_file) + " does not say what follows from the released values");
  }
  std::string coefficients_csv_of(const algorithm::newton::Estimate* estimate) const {
    return run::coefficients_csv(coefficients_of(known_.study, estimate),
                                 not_private(known_.study, known_.plan).empty());
  }

  const WholeRecord& record_;
  const study::ExpectedPart& known_;
  const study::PartyRecord& t_;
  const std::vector<Replayed>& replayed_;
  std::vector<std::string>& wrong_;
  int rounds_;
  bool complete_ = false;
  Vector model_;
};

}  // namespace

namespace {

// A restarted party counts what its ledger had by then, which may be more than this round; and it may add up in another
// order.
struct Range {
  double least, most, before;
};
bool fits(const json& line, const char* key, const Range& range) {
  if (!line.value(key, json()).is_number()) return false;
  const double epsilon = line[key].get<double>();
  const auto at_least = [&](double x) { return epsilon >= x || study::nearly(epsilon, x); };
  return at_least(range.least) && at_least(range.before) &&
         (epsilon <= range.most || study::nearly(epsilon, range.most));
}

}  // namespace

void check_lines(const SeenPart& part, const study::PartyRecord& t, const study::PartHistory& through,
                 std::vector<std::string>& wrong) {
  const study::ExpectedPart& known = part.known;
  const auto say = [&](const std::string& text) { wrong.push_back(known.name(t.node) + text); };
  // A value is written before its line, so a kill may leave the last one without.
  if (t.lines.size() + (t.ended() ? 0 : 1) < t.released.size())
    return say(": rounds.jsonl has " + std::to_string(t.lines.size()) + " whole lines for " +
               std::to_string(t.released.size()) + " released rounds");
  const bool is_private = not_private(known.study, known.plan).empty(), shared = known.plan.plan.sharing().on();
  algorithm::Cost before;
  study::PartHistory so_far = through;
  const algorithm::Cost most = epsilon_so_far(through);  // of all that it has released
  for (int round = 0; round < static_cast<int>(t.lines.size()); ++round) {
    const json& line = t.lines[static_cast<std::size_t>(round)];
    const std::string kind(record::name_of(record::kind_of({.round = round,
                                                            .touches_data = known.touches_data(t.node, round),
                                                            .silent = !known.agreed().speaks(t.node, round),
                                                            .star = known.part.plan.star()})));
    const auto differs = [&](const std::string& what) {
      say(", round " + std::to_string(round) + ": rounds.jsonl " + what);
    };
    if (!line.is_object() || !line.value("epsilon", json()).is_number()) return differs("cannot be read");
    const bool stamped = line.value("stamp", json()) == record::not_private_stamp;
    if (stamped == is_private)
      return differs(is_private ? "is stamped, and the study is private" : "lacks NOT PRIVATE");
    if (line.size() != 3u + (stamped ? 1 : 0) + (shared ? 1 : 0))
      return differs("has more than round, kind and epsilon: nothing else may be shared");
    if (line.value("round", json()) != round || line.value("kind", json()) != kind)
      return differs("does not say that it is round " + std::to_string(round) + ", " + kind);
    so_far.back().released = round;
    const algorithm::Cost follows = epsilon_so_far(so_far);
    if (!fits(line, "epsilon", {.least = follows.epsilon, .most = most.epsilon, .before = before.epsilon}) ||
        (shared && !fits(line, "epsilon_all_others",
                         {.least = follows.all_others, .most = most.all_others, .before = before.all_others})))
      return differs("has epsilon = " + number(line["epsilon"].get<double>()) + ", and " +
                     (most.epsilon > follows.epsilon ? number(follows.epsilon) + " to " : "") + number(most.epsilon) +
                     " follows");
    before.epsilon = std::max(before.epsilon, line["epsilon"].get<double>());
    if (shared) before.all_others = std::max(before.all_others, line["epsilon_all_others"].get<double>());
  }
}

// A kill may leave the last part ended, and the record of the whole not yet.
bool WholeRecord::ended() const {
  const std::string outcome = run.value("outcome", "");
  return record->ended() && outcome != "continued" && outcome != "running" && outcome != record::abandoned;
}

void check_final_documents(const WholeRecord& record, std::vector<std::string>& wrong) {
  FinalDocumentsCheck(record, wrong).check();
}

namespace {

json statement_in(const std::filesystem::path& folder) {
  return record::member(record::read_json(folder / "statement.json"), "statement");
}

}  // namespace

bool states_what_is_confirmed(const std::filesystem::path& folder) {
  const json said = statement_in(folder);
  return said.is_object() && !said.contains("unconfirmed");
}

std::optional<double> stated_epsilon(const std::filesystem::path& folder) {
  const json epsilon = record::member(statement_in(folder), "epsilon");
  return epsilon.is_number() ? std::optional(epsilon.get<double>()) : std::nullopt;
}

}  // namespace parley::verify
