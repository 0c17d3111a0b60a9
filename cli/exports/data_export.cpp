// Privacy: writes private rows, as they are, for their owner alone.
#include "cli/exports/data_export.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/record.h"

namespace parley::cli {

int export_rows(const std::string& run_folder, const std::string& out, const Choice<run::RowsFormat>& format) {
  namespace fs = std::filesystem;
  if (out.empty())
    throw Error({.what = "it is not said where the rows go",
                 .where = "option --out",
                 .fix = "parley data export " + run_folder + " --out rows"});
  const run::RowsOfRun all = run::rows_of_run(run_folder);
  record::check_vacant(out);
  ::umask(077);
  fs::create_directories(out);
  const auto write = [&](const char* name, const auto& parts) {
    FileReplacement file(fs::path(out) / (name + std::string(".") + format.text));
    file.add(run::rows_head(all.holdings.feature_names, format));
    constexpr std::size_t some = 10'000;  // rows that are text at a time
    for (const auto& [party, rows] : parts)
      for (std::size_t n = 0; n < rows->count(); n += some)
        file.add(run::rows_text(*rows, n, std::min(some, rows->count() - n), party, format));
    file.done();
  };
  std::vector<std::pair<std::string, const data::Rows*>> train;
  for (std::size_t i = 0; i < all.holdings.nodes.size(); ++i)
    train.emplace_back(std::to_string(i), &all.holdings.nodes[i]);
  write("train", train);
  write("test", std::vector<std::pair<std::string, const data::Rows*>>{{"test", &all.holdings.test}});
  write_file(fs::path(out) / "about.json", all.about.dump(1) + "\n");
  fmt::print("Rows:  {0}/train.{1} ({2} of {3} parties), {0}/test.{1} ({4})\nAbout: {0}/about.json\n", out, format.text,
             grouped(static_cast<long>(all.holdings.training_rows())), train.size(),
             grouped(static_cast<long>(all.holdings.test.count())));
  fmt::print(stderr,
             "{}\n  They are readable by you alone (mode 600). What another algorithm makes of them is covered by no ε "
             "of parley.\n",
             alarm("WARNING: these files hold private rows, one line for each record.", stderr));
  return 0;
}

}  // namespace parley::cli
