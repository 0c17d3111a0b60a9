// What a crash leaves on a disk: files that must survive a power cut, and no core dump with secrets in it. What is
// written once and never changed (keys), and what tells a disk to keep what it has. write_file (text.h) replaces a file
// as a whole but syncs nothing; the transcript appends and syncs (base/append_file.h).
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace parley {

class Descriptor {  // of an open file, closed at the end
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

// A file or folder in use that somebody may remove or replace meanwhile. It is held open, so that nothing else can get
// its number.
class InUse {
 public:
  explicit InUse(std::filesystem::path path);
  const std::filesystem::path& path() const { return path_; }
  bool in_place() const;  // its path still leads to it

 private:
  std::filesystem::path path_;
  Descriptor held_;
};

std::string why_not_written(int reason);  // errno in words; of a limit on file sizes also which one

// All of it, however often the system stops half way. false: errno says why.
bool write_all(int descriptor, std::string_view bytes);

// A file that was not there, with this mode, synced. false: errno says why (EEXIST: there is one), and nothing is left
// of it.
bool create_file(const std::filesystem::path& file, std::string_view bytes, int mode);

// Its owner alone may read it; one that is there is overwritten. Error when it cannot be written.
void write_private_file(const std::filesystem::path& file, std::string_view text);

// A file that was just made is lost with its folder's entry, however often the file itself is synced. false: errno.
bool sync_folder_of(const std::filesystem::path& file);

// The files in it, and the folder itself. Error when the disk does not say that it has them.
void sync_files(const std::filesystem::path& folder);

// No core dump, and no debugger of the same user: called first by whoever reads or makes what nobody else may have (a
// private key, the secret that noise is made from, the key of a ledger's fingerprints). Trees with a sanitizer leave it
// out, because LeakSanitizer looks at its process as a debugger does.
void leave_no_core_dump();

}  // namespace parley
