#include "parley/base/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string kind_of(const struct stat& facts) {
  if (S_ISDIR(facts.st_mode)) return "a directory";
  if (S_ISFIFO(facts.st_mode)) return "a pipe";
  if (S_ISSOCK(facts.st_mode)) return "a socket";
  return "a device";
}

[[noreturn]] void refuse(const fs::path& path, const std::string& what, const struct stat& facts) {
  throw Error({.what = what + " is " + kind_of(facts),
               .allowed = "a regular file",
               .where = path.string(),
               .fix = !S_ISDIR(facts.st_mode) ? "copy it to a file first, and name that"
                      : what == "the model"   ? "did you mean '" + (path / "model.json").string() + "'?"
                                              : "name a file inside it"});
}

// Of a file that is not there: the one beside it whose name is nearest.
std::string similar_file(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code code;
  for (auto at = fs::directory_iterator(folder, code); !code && at != fs::directory_iterator() && names.size() < 1000;
       at.increment(code))
    if (at->is_regular_file(code)) names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  const std::string near = nearest(path.filename().string(), names);
  return near.empty() ? "" : (path.parent_path() / near).string();
}

[[noreturn]] void unreadable(const fs::path& path, const std::string& what) {
  const int reason = errno;
  const std::string near = reason == ENOENT ? similar_file(path) : "";
  throw Error({.what = what + " cannot be read: " + std::strerror(reason),
               .where = path.string(),
               .fix = near.empty() ? "check the path and its permissions" : "did you mean '" + near + "'?"});
}

// Trap: to open a device may already do something, so it is looked at first; and once more when it is open, for it may
// have been replaced meanwhile.
int opened_number(const fs::path& path, const std::string& what) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) unreadable(path, what);
  if (!S_ISREG(facts.st_mode)) refuse(path, what, facts);
  return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

std::string in_words(std::uintmax_t bytes) {
  return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} bytes", bytes);
}

}  // namespace

InputFile::InputFile(const fs::path& path, std::string what)
    : path_(path), what_(std::move(what)), file_(opened_number(path, what_)) {
  struct stat facts{};
  if (!file_.open() || ::fstat(file_.number(), &facts) != 0) unreadable(path_, what_);
  if (!S_ISREG(facts.st_mode)) refuse(path_, what_, facts);
  size_ = static_cast<std::uintmax_t>(facts.st_size);
}

std::size_t InputFile::read(char* to, std::size_t most) {
  std::size_t done = 0;
  while (done < most) {
    const ssize_t got = ::read(file_.number(), to + done, most - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) unreadable(path_, what_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string InputFile::beginning(std::size_t most) {
  std::string text(most, '\0');
  text.resize(read(text.data(), most));
  return text;
}

std::string InputFile::rest(std::uintmax_t most) {
  const auto refuse_more = [&](std::uintmax_t size) {
    throw Error({.what = what_ + " is too large",
                 .value = in_words(size),
                 .allowed = "at most " + in_words(most),
                 .where = path_.string(),
                 .fix = "check that it is the right file"});
  };
  if (size_ > most) refuse_more(size_);
  std::string text;
  // It may grow while it is read, and files of the system say that they are empty: so to the end, not to size_.
  for (std::size_t chunk = static_cast<std::size_t>(size_) + 1;; chunk = mebibyte) {
    const std::size_t before = text.size();
    text.resize(before + chunk);
    const std::size_t got = read(text.data() + before, chunk);
    text.resize(before + got);
    if (text.size() > most) refuse_more(text.size());
    if (got < chunk) return text;
  }
}

std::optional<InputFile> opened(const fs::path& path) {
  try {
    return InputFile(path, "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

InputLines::InputLines(InputFile file, std::size_t longest, Ends ends)
    : file_(std::move(file)), longest_(longest), ends_(ends) {}

std::size_t InputLines::end_of_line() {
  const auto end = ends_ == Ends::lf ? buffer_.find('\n', searched_) : buffer_.find_first_of("\r\n", searched_);
  searched_ = end == std::string::npos ? buffer_.size() : end;
  if (end == std::string::npos || buffer_[end] == '\n') return end == std::string::npos ? end : end + 1;
  if (end + 1 == buffer_.size()) return ended_ ? end + 1 : std::string::npos;  // a \n may follow
  return end + (buffer_[end + 1] == '\n' ? 2 : 1);
}

std::optional<bool> InputLines::next(std::string_view& line) {
  std::size_t end = end_of_line();
  while (end == std::string::npos && !ended_ && buffer_.size() - at_ <= longest_) {
    buffer_.erase(0, at_);
    searched_ -= at_;
    at_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + mebibyte);
    const std::size_t got = file_.read(buffer_.data() + before, mebibyte);
    buffer_.resize(before + got);
    ended_ = got < mebibyte;
    end = end_of_line();
  }
  if (end == std::string::npos) end = buffer_.size();
  if (end - at_ > longest_) return std::nullopt;
  if (end == at_) return false;
  line = std::string_view(buffer_).substr(at_, end - at_);
  at_ = searched_ = end;
  return true;
}

std::string read_file(const fs::path& path, const std::string& what, std::uintmax_t most) {
  return InputFile(path, what).rest(most);
}

std::optional<std::string> read_bytes(const fs::path& path, std::uintmax_t most) {
  try {
    return read_file(path, "", most);
  } catch (const Error&) {
    return std::nullopt;
  }
}

json shallow_json(const std::string& text) {
  constexpr int deepest = 16;
  constexpr std::size_t most_values = 10'000'000;  // the nodes and edges of a million nodes in a ring
  int depth = 0;
  std::size_t values = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      const bool opens = c == '[' || c == '{';
      if (opens && ++depth > deepest) return {};
      if ((opens || c == ',') && ++values > most_values) return {};
      if (c == ']' || c == '}') --depth;
    }
  }
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  bool twice = false;
  const auto watch = [&](int /*depth*/, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) twice = true;
    if (event == json::parse_event_t::object_end) keys.pop_back();
    return true;
  };
  json value = json::parse(text, watch, false);
  return value.is_discarded() || twice ? json() : value;
}

}  // namespace parley
