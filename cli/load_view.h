// Rows while they are loaded: a line that rewrites itself, and what was assumed about the file.
#pragma once
#include <string>

#include "cli/terminal.h"
#include "parley/data/read/load_csv.h"

namespace parley::cli {

class LoadView {
 public:
  // logged: plain lines are those of a log.
  explicit LoadView(bool quiet, bool logged = false) : quiet_(quiet), logged_(logged), progress_(quiet, 100) {}
  data::Watch watch();  // this must outlive it

 private:
  void show(const data::Loaded& loaded);

  static constexpr std::size_t few = 200'000;  // rows that are loaded before anybody has read a line
  bool quiet_, logged_;
  Progress progress_;
};

}  // namespace parley::cli
