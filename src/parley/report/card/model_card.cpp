#include "parley/report/card/model_card.h"

#include <fmt/format.h>

#include <cmath>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/report/decision/decision.h"
#include "parley/report/words.h"

namespace parley::report {

std::string markdown_text(const std::string& text) {
  static const std::string marks = "\\`*_{}[]<>#|~!&$";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (marks.find(c) != std::string::npos) out += '\\';
    out += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return out;
}

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string table_of(const std::string& first, const std::string& second, const Rows& rows) {
  std::string out = "| " + first + " | " + second + " |\n|---|---|\n";
  for (const auto& [name, value] : rows)
    if (!value.empty()) out += "| " + markdown_text(name) + " | " + markdown_text(value) + " |\n";
  return out + "\n";
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    if (!line.empty()) out += "- " + markdown_text(line) + "\n";
  return out + "\n";
}

std::string section(const std::string& title, const std::string& text) {
  return "## " + title + "\n\n" + text;
}

std::string purpose(const Run& run) {
  std::string out;
  if (!run.title.empty()) out += "From the study: " + markdown_text(run.title) + "\n\n";
  return out +
         "To be filled in by whoever publishes the model: what it is for, who may use it, and what it must not be used "
         "for.\n\n";
}

std::string data_of(const Run& run) {
  double records = 0;
  Rows parties;
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const Node& n = run.nodes[i];
    if (n.trainer) continue;
    records += std::isfinite(n.records) ? n.records : 0;
    parties.emplace_back(n.name.empty() ? "node " + std::to_string(i) : n.name, count_text(n.records));
  }
  const auto used = [&](const char* name) {
    const std::string value = run.option(name);
    return value == "not used" ? "" : value;
  };
  std::string out =
      table_of("data", "",
               {{"records", count_text(records)},
                {run.party ? "parties" : "nodes of a simulation on one machine", std::to_string(parties.size())},
                {"features", std::isfinite(run.features) ? count_text(run.features) : ""},
                {"source", run.data},
                {"schema", used("schema")},
                {"unit of the guarantee", record::unit_in_words(run.guarantee.rows_per_person)},
                {"study, by its hash", run.study_hash}});
  constexpr std::size_t most = 50;
  if (parties.size() <= most) out += table_of(run.party ? "party" : "node", "records", parties);
  return out +
         "Cells became features by a public schema: bounds and categories that were written down without looking at "
         "private rows. model.json carries it.\n\n";
}

std::string privacy_of(const std::vector<Group>& groups) {
  const Run& run = groups[0].first();
  std::string out;
  for (const std::string& stamp : stamps(groups)) out += "**" + markdown_text(stamp) + "**\n\n";
  if (run.void_claims.any())
    return out +
           "No ε is stated here: a party may have released more than is known. What holds for another party stands in "
           "that party's own signed statement.\n\n";
  out += markdown_text(guarantee_sentence(groups)) + "\n\n";
  if (!run.guarantee.holds)  // no figure of a claim that does not hold
    return out + "Do not share the model as if it were protected.\n\n";
  const Verdict verdict = verdict_on(run.covered_epsilon(), true, publishing_allowed(groups));
  out += table_of(
      "privacy", "",
      {{"light", verdict.word + ": " + verdict.sentence},
       {"ε of the whole run", printed_epsilon(run.covered_epsilon())},
       {"δ", number(run.guarantee.delta)},
       {"against", std::isfinite(run.guarantee.epsilon_colluders)
                       ? "all other parties together"
                       : "everybody who sees every message, all other parties together among them"},
       {"ε against " + run.guarantee.colluders,
        std::isfinite(run.guarantee.epsilon_colluders) ? printed_epsilon(run.guarantee.epsilon_colluders) : ""},
       {"bound", run.guarantee.bound},
       {"theorem", run.guarantee.theorem},
       {"adjacency", record::name_of(run.guarantee.adjacency)}});
  return out + markdown_text(odds_sentence(groups)) + "\n\n";
}

std::string quality_of(const Group& g, Audience audience) {
  const Run& run = g.first();
  std::string out;
  if (!run.expected.forecast.empty())
    out += "Expected before any record was read: " + markdown_text(run.expected.forecast) + "\n\n";
  if (audience != Audience::owner)
    return out +
           "Accuracy is left out: it was measured on private data and the privacy guarantee does not cover it. Measure "
           "the model on public rows with 'parley evaluate', and write the result here.\n\n";
  const auto said = against_guessing(g);
  if (!said) return out + "Not measured: no rows were held out.\n\n";
  const double pooled = run.metrics.test_error_pooled;
  return out +
         table_of("quality", "",
                  {{"against guessing", said->value},
                   {"in words", said->words},
                   {"without privacy, on all rows together", std::isfinite(pooled) ? error_text(run, pooled) : ""}}) +
         "These figures were measured on rows, and no budget paid for them: keep this card with the rows.\n\n";
}

std::string limits_of(const std::vector<Group>& groups) {
  const Run& run = groups[0].first();
  std::vector<std::string> lines = {epsilon_warning(groups), delta_warning(groups)};
  if (!run.completed())
    lines.push_back("The run did not complete (" + (run.outcome.empty() ? "unknown" : run.outcome) + ").");
  for (const std::string& fault : run.faults) lines.push_back("The record has a fault: " + fault);
  lines.insert(lines.end(),
               {"Not examined: whether errors differ between groups of people.",
                "A prediction is a statement about rows like those of the data above, and about no other."});
  std::string out = list_of(lines);
  if (run.guarantee.holds)  // the last paragraph says what is not covered
    out += markdown_text(in_plain_words(groups).back()) + "\n\n";
  return out + "### What the guarantee rests on\n\n" + list_of(assumptions(groups));
}

}  // namespace

std::string model_card(const std::vector<Group>& groups, const Options& options) {
  const Run& run = groups[0].first();
  std::string out(card_signature);
  out += "# Model card: " + markdown_text(options.title) + "\n\n";
  if (options.audience == Audience::owner) out += "**Private: keep this card where the rows are kept.**\n\n";
  const Rows model = {{"algorithm", run.option("algorithm")},
                      {"loss", run.option("loss")},
                      {"rounds", run.planned_rounds() > 0 ? std::to_string(run.planned_rounds()) : ""},
                      {"outcome", run.outcome.empty() ? "unknown" : run.outcome},
                      {"made by", "parley " + options.version}};
  out += table_of("model", "", model);
  return out + section("Purpose", purpose(run)) + section("Data", data_of(run)) +
         section("Privacy", privacy_of(groups)) + section("Quality", quality_of(groups[0], options.audience)) +
         section("Limits", limits_of(groups));
}

}  // namespace parley::report
