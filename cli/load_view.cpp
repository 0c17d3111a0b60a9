#include "cli/load_view.h"

#include <fmt/core.h>

#include <cmath>

namespace parley::cli {

data::Watch LoadView::watch() {
  data::Watch watch;
  watch.progress = [this](const data::Loaded& loaded) { show(loaded); };
  watch.note = [this](const std::string& text) {
    if (quiet_) return;
    if (logged_)
      write_log(text);
    else
      to_stderr("note: " + text + "\n");
  };
  watch.warn = [this](const std::string& text) {
    if (logged_)
      write_log({text, Level::warning});
    else
      to_stderr("warning: " + text + "\n");
  };
  return watch;
}

void LoadView::show(const data::Loaded& loaded) {
  if (loaded.rows < few) return;
  if (loaded.all) return progress_.clear();
  const std::string rows = grouped(static_cast<long>(loaded.rows));
  const std::string text = loaded.share > 0 ? fmt::format("loading {}: {} {:.0f} %, {} rows", loaded.name,
                                                          bar(loaded.share, 20), 100 * loaded.share, rows)
                                            : fmt::format("loading {}: {} rows", loaded.name, rows);
  progress_.show(std::lround(100 * loaded.share), {text}, logged_ ? log_line_now(text) : text);
}

}  // namespace parley::cli
