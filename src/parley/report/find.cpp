#include "parley/report/find.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/error.h"
#include "parley/report/files.h"

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

Parts with_ranks(const fs::path& folder) {
  Parts parts = {{folder, read_json(folder / "run.json")}};
  std::error_code code;
  for (int rank = 1;; ++rank) {
    const fs::path inner = folder / ("rank-" + std::to_string(rank));
    if (!fs::is_directory(inner, code)) return parts;
    parts.push_back({inner, read_json(inner / "run.json")});
  }
}

std::string study_run(const json& run) {
  return text_in(run, "format") == "parley-party-1" ? text_in(run, "study_hash") + text_in(run, "run_id") : "";
}

}  // namespace

std::vector<Parts> find_runs(const std::vector<fs::path>& folders) {
  Search search;
  for (const fs::path& folder : folders) {
    std::error_code code;
    if (!fs::is_directory(folder, code))
      throw Error({.what = fs::exists(folder, code) ? "not a folder" : "no such folder",
                   .where = folder.string(),
                   .fix = "give the folder of a run (train --out, join --out), or one that holds such folders"});
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
  std::vector<Parts> runs;
  for (const fs::path& folder : search.found) {
    Parts parts = with_ranks(folder);
    const std::string id = study_run(parts[0].run);
    const auto same =
        std::ranges::find_if(runs, [&](const Parts& p) { return !id.empty() && study_run(p[0].run) == id; });
    if (same != runs.end())
      same->push_back(std::move(parts[0]));
    else
      runs.push_back(std::move(parts));
  }
  return runs;
}

}  // namespace parley::report
