#include "cli/study_abandon.h"

#include <fmt/core.h>

#include "parley/base/error.h"
#include "parley/party/abandon.h"

namespace parley::cli {

std::vector<Option> rows(AbandonOptions& o) {
  return {{"out", "", "the --out that join was given; default RUN-NAME", any_text("a folder"), &o.out, "abandon"}};
}

int abandon_study(const std::filesystem::path& file, const std::string& as, const AbandonOptions& o) {
  if (as.empty())
    throw Error({.what = "who abandons the run is missing",
                 .where = "option --as",
                 .fix = "e.g. parley study abandon " + file.string() + " --as hospital_b"});
  const party::Abandoned done = party::abandon(file.string(), as, o.out);
  fmt::print("{}: {} takes no further part in this run{}\n", done.folder.string(), as,
             done.before ? ", as was decided before" : "");
  for (const std::filesystem::path& secret : done.secrets)
    fmt::print("{}: the secret for shared noise was deleted\n", secret.string());
  fmt::print("What was released stays released and charged. Tell the others, who wait for this party.\n");
  return 0;
}

}  // namespace parley::cli
