// What people see: a progress line and aligned tables. Plain lines where there is no terminal.
#pragma once
#include <string>
#include <vector>

namespace parley::cli {

// A line on stderr that rewrites itself on a terminal, and is printed about ten times in all elsewhere.
class Progress {
 public:
  Progress(bool quiet, long steps);
  void show(long step, const std::string& text);
  void finish();

 private:
  bool quiet_, terminal_;
  long steps_, shown_ = -1;
  bool open_ = false;
};

// Columns padded to their widest cell (UTF-8 counted by characters); the first column left, the others right aligned.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

std::string bold(const std::string& text);   // on a terminal
std::string alarm(const std::string& text);  // bold red on a terminal

std::string percent(double share);  // "17.31 %"
std::string fixed(double value, int digits);
std::string epsilon_text(double epsilon);  // rounded up to 4 digits after the point
std::string grouped(long count);           // 40,000

}  // namespace parley::cli
