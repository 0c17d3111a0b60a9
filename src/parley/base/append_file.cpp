#include "parley/base/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/input_file.h"

namespace parley {
namespace {

class DiskFile : public AppendFile {
 public:
  explicit DiskFile(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (!file_.open()) fail("cannot open");
    if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) fail("another process uses it, or it cannot be locked");
    if (!sync_folder_of(path)) fail("cannot sync its folder");
  }

  std::string name() const override { return path_.string(); }
  std::string read() override {
    return InputFile(path_, "the transcript").rest(std::numeric_limits<std::uintmax_t>::max());
  }

  void append(std::string_view bytes) override {
    failpoint("before an append to the transcript");
    if (!write_all(file_.number(), bytes)) fail("cannot write");
    failpoint("after an append to the transcript");
  }
  void sync() override {
    if (::fdatasync(file_.number()) != 0) fail("cannot sync");
    failpoint("after a sync of the transcript");
  }
  void cut_at(std::uint64_t size) override {
    if (::ftruncate(file_.number(), static_cast<off_t>(size)) != 0) fail("cannot cut off a torn end");
    sync();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(
        {.what = what + ": " + why_not_written(errno),
         .where = path_.string(),
         .fix = "nothing was acknowledged or sent; check free space, permissions and the disk, then start again"});
  }

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace

std::unique_ptr<AppendFile> open_append_file(const std::filesystem::path& path) {
  return std::make_unique<DiskFile>(path);
}

}  // namespace parley
