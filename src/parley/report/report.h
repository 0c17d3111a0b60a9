// Records in, one HTML page out: self-contained (nothing is fetched; a strict content security policy), readable
// without its script, and the same figures as files for a paper. Sees no dataset.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/report/run.h"

namespace parley::report {

struct Options {
  Audience audience = Audience::anyone;
  std::string title;                                // "" : from the record
  std::string version;                              // of the program
  std::vector<std::vector<std::string>> budget{};   // of the owner's ledger: a table, its head first; owner only
  std::string budget_words{};                       // how it adds up
  std::vector<std::vector<std::string>> outside{};  // results of other programs: a table, its head first; owner only
  record::OptionRule shareable_option{};            // none: no option is shown to anyone
};

struct File {
  std::string name, content;
};

struct Report {
  std::string page;
  std::string card{};         // of one run that has begun; otherwise ""
  std::vector<File> figures;  // name.svg and name.csv of each
  int runs = 0;
  bool measured = false;               // it has losses or errors
  std::vector<std::string> choices{};  // of a comparison: the best at each ε, or that it is within scatter; owner only
};

// Of a study that has not begun (study/approval/planned.h): the page that officers approve.
Report make_plan_report(const nlohmann::json& record, const Options& options);
Report make_report(const std::vector<std::filesystem::path>& folders, const Options& options);

// What every page begins with: a file that does not is never overwritten.
inline constexpr std::string_view page_signature = "<!doctype html>\n<!-- parley report -->\n";
bool is_report(const std::filesystem::path& file);
bool is_model_card(const std::filesystem::path& file);
bool is_figure(const std::filesystem::path& file);  // an SVG or a CSV of a report

}  // namespace parley::report
