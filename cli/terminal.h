// What people see: a progress line and aligned tables. Plain lines where there is no terminal.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/log_line.h"
#include "parley/base/printed.h"

namespace parley::cli {

// A terminal or pipe that is gone ends no run: what cannot be written is dropped. false: some was.
bool to_stdout(std::string_view text);
bool to_stderr(std::string_view text);
void write_log(const LogLine& line);  // to stderr, with the time of now
std::string log_line_now(const LogLine& line);
// "parley: …", for whoever typed the command. After errors_are_logged() it is a line of a log like those before it.
void say_error(const std::string& text);
void errors_are_logged();

// A few lines on stderr that rewrite themselves on a terminal; elsewhere one plain line, about ten times in all.
class Progress {
 public:
  Progress(bool quiet, long steps);
  void show(long step, const std::string& text) { show(step, {text}, text); }
  void show(long step, const std::vector<std::string>& lines, const std::string& plain);
  void clear();   // before something else is printed
  void finish();  // the last lines stay

 private:
  bool quiet_, terminal_;
  long steps_, shown_ = -1, last_ = -1;
  std::size_t open_ = 0;  // lines on the terminal that the next ones replace
};

std::string bar(double share, int width);  // ████░░
// One block per value between the smallest and the largest, ▁▂▃▄▅▆▇█; of more than `width` values, means of neighbours.
std::string sparkline(const std::vector<double>& values, std::size_t width);
std::string clipped(const std::string& text, std::size_t width);  // to so many characters, with … at the end
std::string duration(double seconds);                             // "2 min 5 s"
std::string time_left(double seconds, double share_done);         // "2 min 5 s left"; "" while nothing can be said

// Columns padded to their widest cell (UTF-8 counted by characters); the first column left, the others right aligned.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

// On a terminal; `to` is where the text will be written.
std::string bold(const std::string& text);
std::string alarm(const std::string& text, std::FILE* to = stdout);  // bold red

// What must be read before everything else, in red on stderr, also with --quiet and --json; "": nothing.
void say_first(const std::string& text);

std::string percent(double share);  // "17.31 %"
std::string fixed(double value, int digits);

}  // namespace parley::cli
