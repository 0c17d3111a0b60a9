// Results as Markdown, for docs/results/results.md and for reading.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/experiment/outcome.h"

namespace parley::experiment {
namespace {

using nlohmann::json;

std::string text(const json& j, const char* key) {
  return j.at(key).get<std::string>();
}

std::string cell(std::string t) {  // a bar would end a Markdown cell
  for (std::size_t at = 0; (at = t.find('|', at)) != std::string::npos; at += 2) t.insert(at, "\\");
  return t;
}

std::string percent_range(const json& s) {
  if (s.at("mean").is_null()) return "none";
  const auto show = [&](const char* key) { return fmt::format("{:.2f}", 100 * s.at(key).get<double>()); };
  return show("min") == show("max") ? show("mean") + " %"
                                    : show("mean") + " % (" + show("min") + " to " + show("max") + ")";
}

std::string loss_range(const json& s) {
  if (s.at("mean").is_null()) return "none";
  const auto show = [&](const char* key) { return fmt::format("{:.4g}", s.at(key).get<double>()); };
  return show("min") == show("max") ? show("mean") : show("mean") + " (" + show("min") + " to " + show("max") + ")";
}

std::string number_or(const json& j, const std::string& otherwise) {
  return j.is_null() ? otherwise : fmt::format("{:.4g}", j.get<double>());
}

std::string epsilon_or(const json& j, const std::string& otherwise) {
  return j.is_null() ? otherwise : printed_epsilon(j.get<double>());
}

std::string runs_table(const json& r) {
  std::string out =
      "| run | ε proved | ε as printed | δ | noise | nodes | runs | training loss (range) | test error (range) | not "
      "private |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const json& m : r.at("runs"))
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} % |\n", cell(text(m, "name")),
                       epsilon_or(m.at("epsilon"), "none"),
                       epsilon_or(m.at("epsilon_paper"), m.contains("epsilon_paper_absent") ? "absent" : "none"),
                       m.at("delta").is_null() ? "–" : number(m.at("delta").get<double>()),
                       number_or(m.at("noise_level"), "none"), m.at("nodes").get<int>(), m.at("runs").get<int>(),
                       loss_range(m.at("train_loss")), percent_range(m.at("test_error")),
                       100 * m.at("test_error_nonprivate").get<double>());
  return out;
}

std::string section(const json& r) {
  std::string out =
      fmt::format("### {} {}: {} (`{}`)\n\n", text(r, "paper"), text(r, "figure"), text(r, "title"), text(r, "name"));
  out += "**Claim.** " + text(r, "claim") + "\n\n**Verdict: " + text(r, "verdict") + "**" +
         (r.at("quick").get<bool>() ? " (--quick: too short to judge the paper by)" : "") + "\n\n";
  for (const json& j : r.at("judgements"))
    out += fmt::format("- {}*{}*: **{}**. {}.\n", text(j, "counts_for") == "claim" ? "" : "(beside the claim) ",
                       text(j, "says"), text(j, "finding"), text(j, "measured"));
  out += "\n";
  for (const json& file : r.at("charts"))
    out += fmt::format("![{} {}]({})\n", text(r, "paper"), text(r, "figure"), file.get<std::string>());
  out += "\n<details><summary>Runs and choices</summary>\n\n" + runs_table(r) + "\n";
  for (const json& note : r.at("notes")) out += "- " + note.get<std::string>() + "\n";
  const auto as_dealt = [](const json& m) {
    return m.value("adjacency", json()) == record::name_of(record::Adjacency::as_dealt);
  };
  if (std::ranges::any_of(r.at("runs"), as_dealt))
    out += "- ε " + record::name_of(record::Adjacency::as_dealt) + ": " +
           record::meaning_of(record::Adjacency::as_dealt) + "\n";
  for (const json& why : r.at("not_private")) out += "- NOT PRIVATE: " + why.get<std::string>() + "\n";
  return out + "\n</details>\n\n";
}

}  // namespace

std::string index(const std::vector<json>& results) {
  std::string out = "| experiment | what it shows | verdict | parts that hold |\n|---|---|---|---|\n";
  for (const json& r : results) {
    long hold = 0, all = 0;
    for (const json& j : r.at("judgements")) {
      if (text(j, "counts_for") != "claim") continue;
      ++all;
      hold += text(j, "finding") == "holds" ? 1 : 0;
    }
    out += fmt::format("| {} {} (`{}`) | {} | {} | {} of {} |\n", text(r, "paper"), text(r, "figure"), text(r, "name"),
                       cell(text(r, "title")), text(r, "verdict"), hold, all);
  }
  out += "\n";
  for (const json& r : results) out += section(r);
  return out;
}

}  // namespace parley::experiment
