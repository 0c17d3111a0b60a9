#include "parley/report/find.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/error.h"
#include "parley/protocol/receipt.h"
#include "parley/record/files.h"
#include "parley/record/record.h"
#include "parley/record/void_claims.h"

namespace parley::report {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// run-2 before run-10.
bool before(const fs::path& a, const fs::path& b) {
  const std::string x = a.filename().string(), y = b.filename().string();
  std::size_t i = 0, j = 0;
  const auto digits = [](const std::string& s, std::size_t& at) {
    std::string run;
    while (at < s.size() && s[at] >= '0' && s[at] <= '9') run += s[at++];
    run.erase(0, std::min(run.find_first_not_of('0'), run.size()));
    return run;
  };
  while (i < x.size() && j < y.size()) {
    const std::string m = digits(x, i), n = digits(y, j);
    if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
    if (i >= x.size() || j >= y.size()) break;
    if (x[i] != y[j]) return x[i] < y[j];
    ++i;
    ++j;
  }
  return x.size() - i < y.size() - j;
}

class Search {
 public:
  std::vector<fs::path> found;

  void look(const fs::path& folder, int depth) {
    constexpr int deepest = 8;
    constexpr std::size_t most = 2000;
    std::error_code code;
    if (!seen_.insert(fs::weakly_canonical(folder, code).string()).second) return;
    if (fs::exists(folder / "run.json", code)) {
      found.push_back(folder);
      if (found.size() > most)
        throw Error({.what = "more than " + std::to_string(most) + " records",
                     .where = folder.string(),
                     .fix = "make a report of fewer folders"});
      return;
    }
    if (depth == deepest) return;
    std::vector<fs::path> folders;
    for (auto entry = fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, code);
         !code && entry != fs::directory_iterator(); entry.increment(code))
      if (entry->is_directory(code) && !entry->is_symlink(code) && !entry->path().filename().string().starts_with("."))
        folders.push_back(entry->path());
    std::ranges::sort(folders, before);
    for (const fs::path& inner : folders) look(inner, depth + 1);
  }

 private:
  std::set<std::string> seen_;  // a folder given twice counts once
};

// The options of a party's record: the study's, and what the planner made of those that were left open.
json options_of(const json& run, record::File file) {
  if (file == record::File::simulation) return record::member(run, "options");
  const json study = record::member(run, "study"), planned = record::member(study, "planned");
  json options = record::member(study, "options");
  if (options.is_object() && planned.is_object()) options.update(planned);
  return options;
}

std::string identity_of(const json& run, const json& options, record::File file) {
  if (file == record::File::party) return record::text_in(run, "study_hash");
  if (!options.is_object()) return "";
  json same = options;
  for (const std::string_view name : record::options_of_execution()) same.erase(std::string(name));
  for (const char* name : {"seed", "data-dir"}) same.erase(name);  // repeats, and machines, differ in them
  return same.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

Source source_from(const json& all, const fs::path& folder, const View& view) {
  const auto file = record::text_in(all, "format") == "parley-party-1" ? record::File::party : record::File::simulation;
  Source source{.folder = folder, .run = record::visible(file, all, view.audience, view.option)};
  const json options = options_of(all, file);
  source.identity = identity_of(all, options, file);
  source.options_hidden = static_cast<int>(options.size() - options_of(source.run, file).size());
  const json seed = record::member(file == record::File::party ? record::member(all, "study") : options, "seed");
  source.seeded = !seed.is_null();
  source.split = record::text_in(options, "split");
  return source;
}

namespace {

Source source_of(const fs::path& folder, const View& view) {
  return source_from(record::read_json(folder / "run.json"), folder, view);
}

std::string study_run(const json& run) {
  return record::text_in(run, "format") == "parley-party-1"
             ? record::text_in(run, "study_hash") + record::text_in(run, "run_id")
             : "";
}

Sources with_ranks(const fs::path& folder, const View& view) {
  Sources all = {source_of(folder, view)};
  constexpr int most = 100'000;
  std::error_code code;
  for (int rank = 1; rank < most; ++rank) {
    const fs::path inner = record::folder_of_rank(folder, rank);
    if (!fs::is_directory(inner, code)) break;
    all.push_back(source_of(inner, view));
  }
  if (study_run(all[0].run).empty()) return all;
  for (int part = 2; part < most; ++part) {  // each has lost somebody
    const fs::path inner = folder / record::folder_of_part(part);
    if (!fs::is_directory(inner, code)) break;
    Source later = source_of(inner, view);
    const auto same = [&](const char* key) {
      return record::member(later.run, key) == record::member(all[0].run, key);
    };
    if (study_run(later.run).empty() || !same("study_hash") || !same("party")) break;
    all[0].later.push_back(std::move(later));
  }
  return all;
}

}  // namespace

std::vector<Sources> find_runs(const std::vector<fs::path>& folders, const View& view) {
  Search search;
  for (const fs::path& folder : folders) {
    std::error_code code;
    if (!fs::is_directory(folder, code))
      throw Error(
          {.what = fs::exists(folder, code) ? "not a folder" : "no such folder",
           .where = folder.string(),
           .fix = "give the folder of a run (train --out, join --out), one that holds such folders, or a study.toml"});
    const std::size_t before_it = search.found.size();
    search.look(folder, 0);
    if (search.found.size() == before_it && folders.size() == 1)
      throw Error({.what = "no record of a run here (no run.json, also not in its folders)",
                   .where = folder.string(),
                   .fix = "give the folder of a run: the --out of train or join"});
  }
  if (search.found.empty())
    throw Error({.what = "no record of a run in any of the folders",
                 .where = "parley report",
                 .fix = "give the --out of train or join"});
  std::vector<Sources> runs;
  for (const fs::path& folder : search.found) {
    Sources sources = with_ranks(folder, view);
    const std::string id = study_run(sources[0].run);
    const auto same =
        std::ranges::find_if(runs, [&](const Sources& r) { return !id.empty() && study_run(r[0].run) == id; });
    if (same != runs.end()) {
      const std::string party = record::text_in(sources[0].run, "party");
      for (const Source& other : *same)
        if (record::text_in(other.run, "party") == party)
          throw record::two_records_of(protocol::printable(party), sources[0].folder, other.folder);
      same->push_back(std::move(sources[0]));
    } else
      runs.push_back(std::move(sources));
  }
  return runs;
}

}  // namespace parley::report
