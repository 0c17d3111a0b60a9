// A file that only grows. The disk behind it is injected, so that a test can lose what was not synced.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace parley {

// Every function throws Error naming the file when it cannot do what it says.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual std::string name() const = 0;
  virtual std::string read() = 0;  // all of it
  virtual void append(std::string_view bytes) = 0;
  virtual void sync() = 0;                      // what was appended is on the disk, whatever happens next
  virtual void cut_at(std::uint64_t size) = 0;  // and synced
};

// On a disk, mode 0600, created when missing. Error when another process has it open.
std::unique_ptr<AppendFile> open_append_file(const std::filesystem::path& path);

}  // namespace parley
