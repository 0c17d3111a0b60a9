// The study file: its keys, how it is read, and how it is begun and grows.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/base/toml.h"
#include "parley/data/draft.h"
#include "parley/data/schema.h"
#include "parley/run/config.h"
#include "parley/study/mistakes.h"
#include "parley/study/study.h"

namespace parley::study {
namespace {

using nlohmann::json;

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

// The row of another struct under our own member: declared once, there.
Option like(const std::vector<Option>& rows, const std::string& name, OptionTarget target) {
  Option row = find_option(rows, name, "");
  row.target = target;
  row.group = "study";
  return row;
}

struct Reader {
  Study study;
  Mistakes wrong;
  std::vector<PartyLines> party_lines{};

  std::string at(int line) const { return study.file.string() + ":" + std::to_string(line); }

  void option(const std::string& key, const toml::node& node, const std::vector<Option>& rows) {
    const int line = line_of(node);
    wrong.attempt(line, [&] {
      const Option& row = find_option(rows, key, at(line));
      if (const auto [before, first] = study.lines.emplace(key, line); !first)
        throw Error({.what = key + " is given twice, also in line " + std::to_string(before->second),
                     .where = at(line),
                     .fix = "remove one of them"});
      set_option_json(row, toml_value(node, at(line)), at(line));
    });
  }

  void options(const toml::table& table, const std::vector<Option>& rows, bool top) {
    std::set<std::string> groups;
    for (const Option& row : rows) groups.insert(row.group);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const auto* group = node.as_table();
      if (top && name == "party")
        roster(node);
      else if (group == nullptr)
        option(name, node, rows);
      else if (!top || !groups.contains(name))
        wrong.add(line_of(node), {.what = "unknown table [" + name + "]",
                                  .allowed = join({groups.begin(), groups.end()}, ", "),
                                  .where = at(line_of(node)),
                                  .fix = "tables only group options; any option may also stand outside"});
      else
        options(*group, rows, false);
    }
  }

  void roster(const toml::node& node) {
    const auto* blocks = node.as_array();
    for (std::size_t i = 0; blocks != nullptr && i < blocks->size(); ++i)
      if (const auto* block = blocks->get(i)->as_table()) {
        party(*block);
      } else {
        blocks = nullptr;
        break;
      }
    if (blocks == nullptr)
      wrong.add(line_of(node), {.what = "the roster is a list of blocks",
                                .where = at(line_of(node)),
                                .fix = "write [[party]] above each party's lines"});
  }

  void party(const toml::table& block) {
    Invited p;
    PartyLines lines{{"", line_of(block)}};
    const auto rows = option_rows(p);
    std::vector<std::string> of_study;
    for (const Option& row : option_rows(study)) of_study.push_back(row.name);
    for (const auto& [key, node] : block) {
      const int line = line_of(node);
      lines[std::string(key.str())] = line;
      wrong.attempt(line, [&, name = std::string(key.str()), &value = node] {
        if (std::ranges::find(of_study, name) != of_study.end())
          throw Error({.what = name + " is the study's, and stands among a party's lines",
                       .where = at(line),
                       .fix = "move it above the first [[party]]"});
        set_option_json(find_option(rows, name, at(line)), toml_value(value, at(line)), at(line));
      });
    }
    party_lines.push_back(std::move(lines));
    study.parties.push_back(std::move(p));
  }
};

void check_study(Reader& reader) {
  Study& s = reader.study;
  const auto line = [&](const char* key) { return s.lines.contains(key) ? s.lines.at(key) : 0; };
  for (const Option& row : option_rows(s)) try {
      validate_options({row});
    } catch (const Error& e) {
      reader.wrong.all.emplace_back(line(row.name.c_str()), in_words_of(s, e));
    }
  const auto bad = [&](const char* key, const std::string& what, const std::string& fix) {
    reader.wrong.add(line(key), {.what = what, .where = in_words_of(s, std::string("option --") + key), .fix = fix});
  };
  if (!is_hex(s.nonce, 32))
    bad("nonce", "the nonce is not 32 hexadecimal digits, or missing",
        "begin with 'parley study new', which makes one; all parties have the same");
  if (!is_plain_line(s.title, 200)) bad("title", "the title is not one line of at most 200 bytes", "shorten it");
  if (s.wait_seconds < s.deadline_seconds)
    bad("wait-seconds", "wait-seconds is below deadline-seconds: a silent peer would be given up before it is late",
        "raise it");
  if (!s.schema.empty() && s.features != 0)
    bad("features", "schema and features exclude each other", "schema for CSV data, features for LIBSVM data");
  if (s.schema.empty()) return;
  reader.wrong.attempt(line("schema"), [&] {
    const std::filesystem::path schema = file_beside(s.file, s.schema, reader.at(line("schema")));
    std::error_code ignored;
    if (std::filesystem::exists(schema, ignored))
      s.schema_toml = data::to_toml(data::parse_schema(data::read_schema(schema, mebibyte), schema.string()));
  });
}

}  // namespace

std::vector<Option> option_rows(Study& s) {
  run::EngineOptions engine;
  data::Options source;
  std::vector<Option> rows = {
      {"title", "", "what the study is about, for people", any_text("a line"), &s.title, "study"},
      {"nonce", "", "random, made by 'parley study new': no two studies have the same", any_text("32 digits"), &s.nonce,
       "study"},
      {"deadline-seconds", "", "after this long without an answer a call is given up and tried again",
       between(0.05, 3600), &s.deadline_seconds, "study", Shown::to_anyone},
      {"wait-seconds", "", "how long everybody waits for a peer that went silent", between(0.05, 2592000),
       &s.wait_seconds, "study", Shown::to_anyone},
      {"on-loss", "",
       "after that: stop with a usable model, or let the others continue where the new plan fits every budget",
       one_of(s.on_loss), &s.on_loss.text, "study", Shown::to_anyone},
      like(option_rows(engine), "seed", &s.seed),
      like(data::option_rows(source), "schema", &s.schema),
      like(data::option_rows(source), "features", &s.features)};
  for (const auto& part : {network::option_rows(s.graph), algorithm::option_rows(s.algorithm)})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

Study parse_study(std::string_view text, const std::filesystem::path& file) {
  Reader reader{.study = {.file = file}, .wrong = {}};
  const toml::table root = parse_toml(text, file.string());
  reader.options(root, option_rows(reader.study), true);
  check_roster(reader.study, reader.party_lines, reader.wrong);
  check_study(reader);
  reader.wrong.tell();
  std::vector<Invited> ordered;
  for (const bool trainer : {false, true})
    for (Invited& p : reader.study.parties)
      if (p.trainer == trainer) ordered.push_back(std::move(p));
  reader.study.parties = std::move(ordered);
  return std::move(reader.study);
}

Study read_study(const std::filesystem::path& file) {
  return parse_study(read_file(file, "the study", largest_study), file);
}

}  // namespace parley::study
