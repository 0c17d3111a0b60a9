#include "parley/report/report.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "cli/budget.h"
#include "cli/commands.h"
#include "cli/shareable_options.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/files.h"
#include "parley/study/approval/planned.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string out = "report.html", card, figures, title, ledger;
};

std::vector<Option> rows(ReportOptions& o) {
  return {{"out", "", "the page; an older report there is replaced, any other file is not", any_text("a file"), &o.out,
           "Options"},
          {"card", "", "also a model card of one run, in Markdown: purpose, data, privacy, quality, limits",
           any_text("a file"), &o.card, "Options"},
          {"figures", "", "also each chart as SVG and CSV, for a paper, into this folder", any_text("a folder"),
           &o.figures, "Options"},
          {"ledger", "", "with --private: what the owner's ledger has spent and has left, over all runs",
           any_text("a file"), &o.ledger, "Options"},
          {"title", "", "title of the page; default: from the record", any_text("words"), &o.title, "Options"}};
}

// What is there and was not made by this command stays: everything is looked at before anything is written.
void check_replaceable(const fs::path& file, bool ours, const std::string& option) {
  std::error_code code;
  if (!fs::exists(file, code) || ours) return;
  throw Error(
      {.what = fs::is_directory(file, code) ? "this is a folder" : "the file exists and is not part of a report",
       .where = file.string(),
       .fix = "choose another " + option + ", or remove it"});
}

bool is_file(const fs::path& file, const std::string& extension) {
  std::error_code code;
  return file.extension() == extension && fs::is_regular_file(file, code);
}

// The output of 'parley plan --json', kept in a file. Made by anybody: what it says is read as a record is.
report::Report report_of_plan(const fs::path& file, report::Options options) {
  const nlohmann::json record = record::member(record::read_json(file), "record");
  if (record::text_in(record, "outcome") != "planned")
    throw Error({.what = "this is not a folder, and not a plan",
                 .allowed = "what 'parley plan --json' prints, or the folder of a run",
                 .where = file.string(),
                 .fix = "parley plan --epsilon 1 --nodes 3 --records 4000 --features 11 --json > plan.json"});
  options.audience = report::Audience::anyone;
  return report::make_plan_report(record, options);
}

report::Report report_of_study(const fs::path& file, report::Options options) {
  const study::Study s = study::read_study(file);
  options.audience = report::Audience::anyone;  // every party has the study: there is nothing private in it
  return report::make_plan_report(study::planned_record(s, study::plan_of(s)), options);
}

int run_report(const Arguments& arguments) {
  ReportOptions o;
  set_from(arguments, rows(o));
  if (arguments.words.empty())
    throw Error(
        {.what = "the folder of a run is missing",
         .where = "parley report",
         .fix = "parley report runs/demo; the folder is the --out of train or join, or one that holds several"});
  const bool owner = arguments.has("private");
  check_replaceable(o.out, report::is_report(o.out), "--out");
  if (!o.card.empty()) check_replaceable(o.card, report::is_model_card(o.card), "--card");
  report::Options options{.audience = owner ? report::Audience::owner : report::Audience::anyone,
                          .title = o.title,
                          .version = PARLEY_VERSION,
                          .shareable_option = shareable_options()};
  if (!o.ledger.empty()) {
    if (!owner)
      throw Error({.what = "what a ledger says is its owner's",
                   .where = "option --ledger",
                   .fix = "add --private, or leave --ledger out"});
    options.budget = budget_table(ledger::LedgerFile(o.ledger, ledger::LedgerFile::Open::to_read));
    options.budget_words = budget_words;
  }
  const std::string& first = arguments.words[0];
  const bool alone = arguments.words.size() == 1, study = alone && is_file(first, ".toml"),
             planned = study || (alone && is_file(first, ".json"));
  const report::Report made = study ? report_of_study(first, options)
                              : planned
                                  ? report_of_plan(first, options)
                                  : report::make_report({arguments.words.begin(), arguments.words.end()}, options);
  if (!o.card.empty() && made.card.empty())
    throw Error({.what = "a model card is of one run that has begun",
                 .value = planned ? "a plan" : std::to_string(made.runs) + " runs",
                 .where = "option --card",
                 .fix = planned ? "run it first" : "name the folder of the run whose model is used"});
  if (owner) ::umask(077);  // as private as the rows
  if (!o.figures.empty()) {
    for (const report::File& f : made.figures)
      check_replaceable(fs::path(o.figures) / f.name, report::is_figure(fs::path(o.figures) / f.name), "--figures");
    std::error_code code;
    fs::create_directories(o.figures, code);
    if (code)
      throw Error({.what = "cannot make the folder: " + code.message(),
                   .where = o.figures,
                   .fix = "choose a writable --figures"});
  }
  write_file(o.out, made.page);
  if (!o.card.empty()) write_file(o.card, made.card);
  for (const report::File& f : made.figures)
    if (!o.figures.empty()) write_file(fs::path(o.figures) / f.name, f.content);
  fmt::print("Report: {} ({} {}; {})\n", o.out, made.runs, made.runs == 1 ? "run" : "runs",
             planned ? "a plan: public parameters, for approval before the run"
             : owner ? made.measured ? "private: it has losses, errors and names of files"
                                     : "private: it has names of files and all else that is in the record"
                     : "shareable: public parameters and released values only; --private adds losses and errors");
  if (!o.card.empty()) fmt::print("Card:   {} ({})\n", o.card, owner ? "private" : "shareable");
  if (!o.figures.empty()) fmt::print("Figures: {} ({} files)\n", o.figures, made.figures.size());
  return 0;
}

}  // namespace

Command report_command() {
  static ReportOptions defaults;
  return {
      .name = "report",
      .summary =
          "a page that shows runs, or a study or plan before its run: the guarantee, privacy spent, convergence, nodes",
      .words = "DIR… | STUDY.toml | PLAN.json",
      .own = rows(defaults),
      .flags = {"private"},
      .examples =
          "  parley report runs/demo                                  # report.html, made to be shared\n"
          "  parley report runs/demo --private --out private.html     # with losses and errors, for the owner of "
          "the rows\n"
          "  parley report runs/comparison --private --figures figs   # every setting below, error against "
          "epsilon, SVG files\n"
          "  parley report runs/demo --card model-card.md             # Markdown beside the model\n"
          "  parley report study.toml --out plan.html                 # before the run: what officers approve\n"
          "  parley report plan.json --out plan.html                  # of 'parley plan … --json > plan.json'\n"
          "  parley report a/ b/ c/ --title \"Three hospitals\"         # parties of one study, as one run\n",
      .run = run_report};
}

}  // namespace parley::cli
