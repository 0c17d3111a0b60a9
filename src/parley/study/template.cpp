// A study file as it is begun and as it grows.
#include <nlohmann/json.hpp>

#include "parley/base/text.h"
#include "parley/ledger/digest.h"
#include "parley/study/study.h"

namespace parley::study {
namespace {

std::string comment(const std::string& text) {
  constexpr std::size_t width = 110;
  std::string all, line = "#";
  for (const auto& word : split_list(text, ' ')) {
    if (line.size() + word.size() + 1 > width) {
      all += line + "\n";
      line = "#";
    }
    line += " " + word;
  }
  return all + line + "\n";
}

}  // namespace

std::string study_template() {
  Study s;
  s.title = "What this study is about";
  s.nonce = ledger::random_hex(16);
  s.schema = "schema.toml";
  s.graph.graph = "complete";
  s.algorithm.epsilon = {1};
  const std::vector<Option> rows = option_rows(s);
  std::string text =
      "# A study between parties that keep their data. Everything here is public, and every party's copy must mean "
      "the\n"
      "# same: before round 1 they compare its hash. 'parley study check' validates it and shows the plan.\n"
      "# What is left out has its default; 'parley options' lists every option.\n";
  const auto section = [&](const std::string& heading, const std::vector<std::string>& names) {
    text += "\n# --- " + heading + "\n";
    for (const auto& name : names) {
      const Option& row = find_option(rows, name, "");
      const nlohmann::json value = option_value(row);
      text += comment(in_words_of(s, row.help) + " [" + row.rule.text + "]");
      text +=
          (value.is_null() ? "# " + name + (name == "delta" ? " = 1e-6" : " = 1") : name + " = " + value.dump()) + "\n";
    }
  };
  section("the study", {"title", "nonce"});
  section("the data: one schema for all, sent with this file; for LIBSVM data write features = D instead", {"schema"});
  section("who talks to whom: \"complete\" is a full mesh; for a star algorithm write \"auto\"", {"graph"});
  section("the algorithm: what is auto or 0 follows from the budget and the sizes", {"algorithm", "rounds", "loss"});
  section("the budget: of the whole run, for every record of every party", {"epsilon", "delta"});
  section("deadlines", {"deadline-seconds", "wait-seconds", "on-loss"});
  section("tests only", {"seed"});
  text +=
      "\n# --- who takes part, in the order of node numbers. Each makes its key with 'parley keys new NAME' and sends\n"
      "# NAME.pem, its number of rows and its address: where it listens, as the others reach it. 'parley study "
      "invite'\n"
      "# adds its block here. The hash that 'parley study check' prints is then compared by telephone.\n";
  return text;
}

std::string with_party(std::string text, const Invited& p) {
  const auto quoted = [](const std::string& word) { return nlohmann::json(word).dump(); };
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += "\n[[party]]\nname = " + quoted(p.name) + "\naddress = " + quoted(p.address) +
          "\nfingerprint = " + quoted(p.fingerprint) + "\n";
  if (p.records != 0) text += "records = " + std::to_string(p.records) + "\n";
  if (p.trainer) text += "trainer = true\n";
  if (p.certificate.starts_with("-----BEGIN"))
    text += "certificate = '''\n" + p.certificate + "'''\n";
  else if (!p.certificate.empty())
    text += "certificate = " + quoted(p.certificate) + "\n";
  return text;
}

}  // namespace parley::study
