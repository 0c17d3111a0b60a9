#include "parley/study/statement.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"

namespace parley::study {
namespace {

using nlohmann::json;

std::string weights_in_words(const problem::Loss& loss) {
  std::vector<std::string> weights;
  for (const double weight : loss.class_weights) weights.push_back(number(weight));
  return join(weights, ", ");
}

// What the figures rest on, of what this study does.
json assumptions(const Study& study, const algorithm::Plan& plan, const algorithm::Schedule& s, bool in_parts) {
  const std::string several = run::several_parties_in_words(plan);
  json list = json::array(
      {"every row has norm at most 1 after the public schema (enforced: rows are clipped)",
       "bounds and categories of the schema were written down without looking at the private rows (no "
       "program can check this)",
       "each row was computed from one record alone, also where it came through a view or a file (a query of "
       "parley's own computes nothing, enforced; beyond it no program can check this)",
       "no row of this party is held by another party too, and none is held twice (no program can "
       "check this: the parties agree on it before the study)"});
  if (s.rows_per_person > 0) {
    list.push_back("no person has more than " + std::to_string(s.rows_per_person) +
                   (s.rows_per_person == 1 ? " row" : " rows") +
                   " among the rows of this party, a person being who has one text in the schema's person column "
                   "(enforced: further rows are refused or left out); that nobody has two such texts no program can "
                   "check");
  }
  if (s.rows_per_person > 0 || s.sharing.on())
    list.push_back(std::string("a person with rows at several parties is not covered by ") +
                   (s.sharing.on() ? "either" : "this") + " figure: there the costs add up");
  if (s.loss.weighted())
    list.push_back("records count by their class, with the weights " + weights_in_words(s.loss) +
                   " in the order of the classes; these, and a share of the classes that they follow from, were chosen "
                   "without looking at the rows (no program can check this)");
  if (s.sums)
    list.push_back(
        "no row's gradient is longer than the planned bound (enforced: cut where the plan says so; elsewhere the loss "
        "and the public bounds of rows and label bound it)");
  else if (!s.algorithm.linear)
    list.push_back(
        "each local minimum was certified to the planned tolerance (enforced: otherwise nothing is released)");
  list.push_back(
      std::string(s.sums ? "bounds, noise" : "penalties, noise") +
      " and the number of rounds were fixed before rows were read (the study file)" +
      (in_parts
           ? "; of a later part by the study and by what the survivors signed after the loss, which rounds they had "
             "released and whom they had lost (enforced: nobody goes on before all have signed the same)"
           : ""));
  const bool noisy = s.noise != algorithm::Noise::none;
  if (noisy)
    list.push_back(study.seed ? "noise came from the public seed of the study: whoever knows the study can subtract it"
                              : "noise came from the operating system's generator through ChaCha20 and was not kept");
  if (s.sharing.on()) {
    const std::string streams = s.sums ? "part, round and point" : "part and round";
    for (
        const std::string& one :
        {std::string(
             "no more parties pool what they know than the study allows for, and whoever reads the disk or memory of a "
             "party during the run counts among them (no program can check this; the larger epsilon does not need it)"),
         std::string("X25519 is not broken, also later by whoever has kept the messages (the larger epsilon does not "
                     "need it)"),
         "no row was released before every party's signed key was here (enforced), and each stream that two parties "
         "share served one vector (enforced: it is bound to " +
             streams + ", and a round is released once)"})
      list.push_back(one);
  }
  if (!several.empty() && !study.seed)
    list.push_back("each figure is for rows at this party alone. " + several +
                   " (the planned run; that nobody has rows at several parties no program can check)");
  list.push_back("each round was released once, and charged and stored before it left (the ledger)");
  if (noisy)
    list.push_back(
        "noise in floating point; released values are rounded to a public grid (docs/proofs/floating-point.md)");
  return list;
}

}  // namespace

std::string end_name(protocol::End end) {
  switch (end) {
    case protocol::End::completed:
      return "completed";
    case protocol::End::interrupted:
      return "interrupted";
    case protocol::End::budget_exhausted:
      return "budget_exhausted";
    case protocol::End::diverged:
      return "diverged";
    case protocol::End::peer_lost:
      return "peer_lost";
    case protocol::End::equivocation:
      return "equivocation";
    case protocol::End::refused:
      return "refused";
    case protocol::End::contradicted:
      return "contradicted";
    case protocol::End::continued:
      return "continued";
  }
  return "";
}

Spent spent_in(const PartHistory& history, bool whole, bool confirmed) {
  const algorithm::Cost cost = epsilon_of(history, whole, confirmed);
  Spent spent{.epsilon = cost.epsilon,
              .delta = delta_of(history, confirmed),
              .epsilon_all_others = cost.all_others,
              .rounds = rounds_released(history),
              .values = values_released(history),
              .private_rounds = rounds_from_rows(history),
              .confirmed = confirmed};
  if (history.size() > 1) spent.parts = to_json(history);
  return spent;
}

json statement_json(const Study& study, const StudyPlan& plan, int node, const std::string& hash,
                    const protocol::Ending& ending, const Spent& spent) {
  const Invited& me = study.parties[static_cast<std::size_t>(node)];
  const auto stamps = not_private(study, plan);
  const bool noisy = plan.plan.noisy() && !me.trainer;
  const algorithm::Schedule& s = plan.plan.nodes[static_cast<std::size_t>(me.trainer ? 0 : node)];
  json others = json::array();
  for (const int j : plan.heard_by(node)) others.push_back(study.parties[static_cast<std::size_t>(j)].name);
  json j = {{"format", "parley-statement-1"},
            {"party", me.name},
            {"study", study.title},
            {"study_hash", hash},
            {"run", run_id(hash)},
            {"algorithm", s.algorithm.name},
            {"outcome", end_name(ending.end)},
            {"outcome_in_words", ending.text},
            {"sent_to", others},
            {"rounds_released", spent.rounds},
            {"values_released", spent.values},
            {"rounds_from_rows", spent.private_rounds},
            {"numbers_per_round", plan.dimension()},
            {"private", stamps.empty()},
            {"stamp", stamps.empty() ? "" : "NOT PRIVATE: " + join(stamps, "; ")}};
  if (const Index first = plan.plan.size(0, 1, plan.dimension()); first > plan.dimension())
    j["numbers_in_round_1"] = first;
  if (s.sums && s.sums->final.steps() > 0) j["numbers_in_final_round"] = s.sums->layout(s.sums->rounds).size();
  if (!spent.parts.is_null()) j["parts"] = spent.parts;
  if (!spent.confirmed)
    j["unconfirmed"] =
        "counted by this party's ledger alone: since it was started last, not every neighbour has confirmed that it "
        "has "
        "seen no more; so epsilon is the planned one";
  if (me.trainer) {
    j["bound"] = "the trainer holds no rows; what it released follows from what it received";
    return j;
  }
  j["records_disclosed"] = me.records;
  j["unit"] = record::unit_in_words(s.rows_per_person);
  j["adjacency"] = record::meaning_in_statement(s.rows_per_person);
  if (s.rows_per_person > 0) j["rows_per_person"] = s.rows_per_person;
  if (s.loss.weighted()) j["class_weights"] = s.loss.class_weights;
  j["epsilon"] = noisy ? json(spent.epsilon) : json();
  j["delta"] = noisy ? json(spent.delta) : json();
  j["epsilon_planned"] = noisy ? json(s.epsilon) : json();
  if (s.sharing.on()) {
    j["against"] = run::against_whom(s.sharing);
    j["epsilon_all_others"] = spent.epsilon_all_others;
    j["epsilon_all_others_planned"] = s.epsilon_all_others;
  }
  j["theorem"] =
      noisy ? s.theorem +
                  (spent.parts.is_null() ? "" : "; its parts together: docs/proofs/run-in-parts.md, proposition 9")
            : "none: there is no noise";
  j["bound"] = !stamps.empty() ? "none: not private" : plan.plan.verified_only() ? "numerically verified" : "proved";
  j["assumptions"] = assumptions(study, plan.plan, s, !spent.parts.is_null());
  j["not_verifiable_from_outside"] =
      "Other parties can check that what follows from released values does follow, and that epsilon is what the "
      "planned charges of these rounds make (parley verify). They cannot see from outside that this party added its "
      "noise, read the rows it says, counts them rightly, or what its ledger holds.";
  return j;
}

std::string statement_text(const json& j) {
  const auto text = [&](const char* key) { return j.value(key, json()).is_null() ? "-" : j[key].get<std::string>(); };
  std::string out = "Statement of " + text("party") + " on the study \"" + text("study") + "\"\n";
  out += "study " + text("study_hash") + "\n\n";
  if (!text("stamp").empty() && text("stamp") != "-") out += text("stamp") + "\n\n";
  out += fmt::format("Outcome: {} ({}).\n", text("outcome"), text("outcome_in_words"));
  const int values = j.at("values_released").get<int>();
  std::vector<std::string> longer;
  for (const auto& [key, round] : {std::pair{"numbers_in_round_1", "round 1"}, {"numbers_in_final_round", "the last"}})
    if (j.contains(key)) longer.push_back(fmt::format("{} in {}", j[key].get<long>(), round));
  const std::string first = longer.empty() ? "" : " (" + join(longer, ", ") + ")";
  out += fmt::format("Released: {} value{} of {} numbers{} by {}, {} of them computed from rows, to {}.\n", values,
                     values == 1 ? "" : "s", j.at("numbers_per_round").get<long>(), first, text("algorithm"),
                     j.at("rounds_from_rows").get<int>(), join(j.at("sent_to").get<std::vector<std::string>>(), ", "));
  if (j.contains("unconfirmed")) out += "  " + text("unconfirmed") + ".\n";
  if (j.contains("parts"))
    for (const auto& line : in_words(j["parts"], j.value("delta", json()) == 0, text("outcome") == "completed"))
      out += "  " + line + "\n";
  if (!j.contains("adjacency")) return out + text("bound") + ".\n";
  if (j["epsilon"].is_null()) {
    out += "There is no bound: the study has no noise.\n";
  } else if (!j.at("private").get<bool>()) {
    out += fmt::format(
        "There is no bound: the run is not private. With secret noise, the same run would cost epsilon = {}, delta = "
        "{}.\n",
        printed_epsilon(j["epsilon"].get<double>()), number(j["delta"].get<double>()));
  } else {
    const auto claim = [&](const std::string& who, const char* epsilon, const char* planned) {
      return fmt::format("{} has learnt at most epsilon = {}, delta = {} about any one {}\nof {} ({}; planned: {}).\n",
                         who, printed_epsilon(j[epsilon].get<double>()), number(j["delta"].get<double>()),
                         j.value("unit", "record"), text("party"), text("bound"),
                         printed_epsilon(j[planned].get<double>()));
    };
    if (!j.contains("epsilon_all_others")) {
      out += claim("Whoever saw all of it, and every other message of the run,", "epsilon", "epsilon_planned");
    } else {
      out += "Noise that cancels between the parties. The smaller figure holds against " + text("against") +
             ";\nthe larger against everybody else together.\n";
      out += claim("Whoever of these", "epsilon", "epsilon_planned");
      out += claim("All other parties together", "epsilon_all_others", "epsilon_all_others_planned");
    }
    out += "By: " + text("theorem") + ".\n";
  }
  out += fmt::format("Adjacency: {}. Disclosed: {} records.\n\nAssumptions:\n", text("adjacency"),
                     j.at("records_disclosed").get<long>());
  for (const auto& line : j.at("assumptions")) out += "  - " + line.get<std::string>() + "\n";
  return out + "\n" + text("not_verifiable_from_outside") + "\n";
}

json signed_statement(const json& statement, const identity::Identity& self) {
  return {{"statement", statement},
          {"signature", hex(identity::sign(self.key, statement.dump()))},
          {"certificate", self.certificate.pem}};
}

bool statement_holds(const json& signed_one, const identity::Certificate& signer) {
  if (!signed_one.is_object() || !signed_one.contains("statement") ||
      !signed_one.value("signature", json()).is_string())
    return false;
  const auto signature = from_hex(signed_one["signature"].get<std::string>());
  return signature && identity::verify(signed_one["statement"].dump(), *signature, signer);
}

}  // namespace parley::study
