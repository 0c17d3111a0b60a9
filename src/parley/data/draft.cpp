#include "parley/data/draft.h"

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::data {

bool is_draft(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
    if (line.starts_with("DRAFT")) return true;
  }
  return false;
}

std::string read_schema(const std::filesystem::path& file, std::size_t most_bytes) {
  std::string text = read_file(file, "the schema", most_bytes);
  if (is_draft(text))
    throw Error({.what = "this schema is a draft: its bounds and categories were read off rows, and nobody has decided "
                         "on them",
                 .value = "the comment line that begins with DRAFT",
                 .allowed = "bounds and categories that are publicly known",
                 .where = file.string(),
                 .fix = "replace what was measured by what is publicly known, then delete the lines down to the second "
                        "bar"});
  return text;
}

}  // namespace parley::data
