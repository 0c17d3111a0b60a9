#include "parley/run/verify_papers.h"

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/network/final_iterates.h"
#include "parley/run/joint_model.h"
#include "parley/run/statement.h"

namespace parley::run {
namespace {

using nlohmann::json;

std::string text_of(const Testimony& t, const char* file) {
  try {
    return read_file(t.folder / file, file);
  } catch (const Error&) {
    return "";
  }
}

json parsed(const Testimony& t, const char* file) {
  return shallow_json(text_of(t, file));
}

class Papers {
 public:
  Papers(const Basis& basis, const Testimony& t, const std::vector<Replayed>& replayed, std::vector<std::string>& wrong)
      : basis_(basis), t_(t), replayed_(replayed), wrong_(wrong), rounds_(t.rounds_of(t.node)) {}

  void check() {
    check_lines();
    if (!t_.ended()) return;
    check_statement();
    check_models();
  }

 private:
  bool whole() const { return t_.outcome() == "completed"; }
  void say(const std::string& text) { wrong_.push_back(basis_.name(t_.node) + text); }

  // The first key in which a paper differs from the one that follows.
  void compare(const char* file, const json& found, const json& expected) {
    if (!found.is_object()) return say(std::string(": ") + file + " is missing or cannot be read");
    for (const auto& [key, value] : expected.items())
      if (!nearly_same(found.value(key, json()), value))
        return say(": " + difference_in(file, key, found.value(key, json()), value));
    for (const auto& [key, value] : found.items())
      if (!expected.contains(key))
        return say(std::string(": ") + file + " has " + network::printable(key) + ", which no party writes");
  }

  void check_lines() {
    // A value is written before its line, so a kill may leave the last one without.
    if (t_.round_lines.size() + (t_.ended() ? 0 : 1) < t_.released.size())
      return say(": rounds.jsonl has " + std::to_string(t_.round_lines.size()) + " whole lines for " +
                 std::to_string(t_.released.size()) + " released rounds");
    double before = 0;
    for (int round = 0; round < static_cast<int>(t_.round_lines.size()); ++round) {
      const json line = shallow_json(t_.round_lines[static_cast<std::size_t>(round)]);
      const bool speaks = basis_.agreed.speaks(t_.node, round);
      const std::string kind = round == 0                            ? "start"
                               : basis_.touches_data(t_.node, round) ? "data"
                               : speaks                              ? "free"
                                                                     : "silent";
      const auto differs = [&](const std::string& what) {
        say(", round " + std::to_string(round) + ": rounds.jsonl " + what);
      };
      if (!line.is_object() || !line.value("epsilon", json()).is_number()) return differs("cannot be read");
      if (line.value("round", json()) != round || line.value("kind", json()) != kind)
        return differs("does not say that it is round " + std::to_string(round) + ", " + kind);
      // A restarted party counts what its ledger had by then, which may be more than this round.
      const double epsilon = line["epsilon"].get<double>(), through = found_epsilon(basis_, t_.node, round + 1, true);
      if ((epsilon < through && !nearly(epsilon, through)) || epsilon < before)
        return differs("has epsilon = " + number(epsilon) + ", and " + number(through) + " follows");
      before = epsilon;
    }
  }

  void check_statement() {
    const json paper = parsed(t_, "statement.json");
    const auto& pinned = *basis_.study.parties[static_cast<std::size_t>(t_.node)].pinned;
    if (!paper.is_object() || !paper.value("statement", json()).is_object())
      return say(": statement.json is missing or cannot be read");
    if (!statement_holds(paper, pinned))
      return say(": the signature of its statement is not that of the certificate that the roster pins");
    const json& said = paper["statement"];
    // In words it is free; a restarted party has it in the statement alone for a moment.
    const json words = t_.run.value("outcome_in_words", said.value("outcome_in_words", json()));
    network::Ending ending{.text = words.is_string() ? words.get<std::string>() : ""};
    for (int end = 0; end <= static_cast<int>(network::End::refused); ++end)
      if (end_name(static_cast<network::End>(end)) == t_.outcome()) ending.end = static_cast<network::End>(end);
    const bool trainer = basis_.is_trainer(t_.node);
    const Spent spent{.epsilon = found_epsilon(basis_, t_.node, rounds_, whole()),
                      .delta = trainer ? 0 : basis_.schedule(t_.node).delta,
                      .rounds = rounds_,
                      .private_rounds = rounds_from_rows(basis_, t_.node, rounds_)};
    const json expected =
        json::parse(statement_json(basis_.study, basis_.plan, t_.node, basis_.hash, ending, spent).dump());
    if (!nearly_same(said.value("epsilon", json()), expected.value("epsilon", json())))
      return say(": its statement says epsilon = " + shown(said.value("epsilon", json())) +
                 ", and the charges of the " + std::to_string(rounds_) + " rounds that it released make " +
                 shown(expected.value("epsilon", json())));
    const auto before = wrong_.size();
    compare("its statement", said, expected);
    if (wrong_.size() == before && text_of(t_, "statement.txt") != statement_text(expected))
      say(": statement.txt does not say what statement.json says");
  }

  void check_models() {
    const Replayed& mine = replayed_[static_cast<std::size_t>(t_.node)];
    const bool followed = mine.rounds == rounds_ && rounds_ > 0 && t_.intact;
    if (whole()) check_finals();
    if (t_.outcome() == "diverged" || !followed) return;
    check_model("own_model.json", mine.final_iterate, "this party's own iterate");
    if (whole() && !complete_) return;
    check_model("model.json", whole() ? model_ : usable(mine), t_.outcome());
  }

  // Of a run that ended early: the trainer's last value that this party worked with, or its own iterate.
  Vector usable(const Replayed& mine) const {
    const int trainer = static_cast<int>(basis_.plan.plan.nodes.size());
    if (!basis_.plan.plan.star() || t_.node == trainer) return mine.final_iterate;
    for (int round = rounds_ - 2; round >= 0; --round)
      if (const auto& value = t_.values.at(trainer)[static_cast<std::size_t>(round)].value; value->size() > 0)
        return *value;
    return mine.final_iterate;
  }

  void check_finals() {
    network::FinalIterates finals(basis_.agreed);
    complete_ = true;
    for (const int origin : basis_.agreed.model_of) {
      const auto found = t_.finals.find(origin);
      if (found == t_.finals.end()) {
        complete_ = false;
        if (t_.intact) say(": the final iterate of " + basis_.name(origin) + " is not in its transcript");
        continue;
      }
      finals.add(found->second, "");
      const Vector value = *network::vector_of(found->second.payload);
      const Replayed& followed = replayed_[static_cast<std::size_t>(origin)];
      const std::string which = ": the final iterate of " + basis_.name(origin) + " in its transcript ";
      if (t_.rounds_of(origin) == basis_.agreed.rounds + 1 && t_.values.at(origin).back().head != found->second.head)
        say(which + "claims other releases than those before it");
      else if (followed.rounds == basis_.agreed.rounds + 1 && !same_bits(value, followed.final_iterate))
        say(which + "does not follow from what " + basis_.name(origin) +
            " released: " + first_difference(value, followed.final_iterate));
    }
    if (complete_) model_ = finals.model();
  }

  void check_model(const char* file, const Vector& weights, const std::string& outcome) {
    const json found = parsed(t_, file),
               expected = json::parse(joint_model_json(basis_.study, basis_.plan, weights, outcome).dump());
    if (found.is_object() && found.value("weights", json()) != expected["weights"])
      return say(std::string(": the weights in ") + file + " do not follow from the released values");
    compare(file, found, expected);
  }

  const Basis& basis_;
  const Testimony& t_;
  const std::vector<Replayed>& replayed_;
  std::vector<std::string>& wrong_;
  int rounds_;
  bool complete_ = false;
  Vector model_;
};

}  // namespace

void check_papers(const Basis& basis, const Testimony& t, const std::vector<Replayed>& replayed,
                  std::vector<std::string>& wrong) {
  Papers(basis, t, replayed, wrong).check();
}

std::optional<double> stated_epsilon(const Testimony& t) {
  const json paper = parsed(t, "statement.json");
  if (!paper.is_object() || !paper.value("statement", json()).is_object()) return std::nullopt;
  const json epsilon = paper["statement"].value("epsilon", json());
  return epsilon.is_number() ? std::optional(epsilon.get<double>()) : std::nullopt;
}

}  // namespace parley::run
