#include "parley/ledger/newest_head.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/input_file.h"

namespace parley::ledger {

namespace {

constexpr std::size_t sector = 512;

std::optional<Digest> digest_from(const std::string& text) {
  const auto bytes = from_hex(text);
  Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::ranges::copy(*bytes, digest.begin());
  return digest;
}

// Of fixed width, so that it is always overwritten as a whole.
std::string text_of(const NewestHead::Content& content) {
  char entries[32];
  std::snprintf(entries, sizeof entries, "%020lld", static_cast<long long>(content.head.entries));
  std::string text =
      "parley ledger memory 1: shows whether the ledger beside it is an old copy. Not a lock:\n"
      "never remove it, and copy it with the ledger.\n";
  text +=
      "ledger " + hex(content.ledger) + "\n" + "entries " + entries + "\n" + "head " + hex(content.head.hash) + "\n";
  text += "checksum " + hex(sha256(text)) + "\n";
  return text;
}

[[noreturn]] void cannot_write(const std::filesystem::path& path) {
  throw Error({.what = "cannot write the memory of the ledger: " + std::string(std::strerror(errno)),
               .where = path.string(),
               .fix = "nothing was released; check free space and permissions"});
}

}  // namespace

NewestHead::~NewestHead() {
  if (file_) ::fdatasync(file_->number());
}

bool NewestHead::there() const {
  std::error_code code;
  return std::filesystem::exists(std::filesystem::symlink_status(path_, code));
}

std::optional<NewestHead::Content> NewestHead::read() const {
  const std::string text = read_bytes(path_, sector).value_or("");
  const auto after = [&](const std::string& word) {
    const auto at = text.find("\n" + word + " ");
    if (at == std::string::npos) return std::string();
    const auto begin = at + word.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto ledger = digest_from(after("ledger")), hash = digest_from(after("head"));
  Content content;
  if (!ledger || !hash || !(std::istringstream(after("entries")) >> content.head.entries)) return std::nullopt;
  content.ledger = *ledger;
  content.head.hash = *hash;
  return text == text_of(content) ? std::optional(content) : std::nullopt;
}

void NewestHead::create(const Content& content) {
  const std::string text = text_of(content);
  expects(text.size() < sector, "a memory within one sector");
  const std::filesystem::path draft = path_.string() + ".part";
  ::unlink(draft.c_str());
  failpoint("before the memory is made");
  if (!create_file(draft, text, 0600)) cannot_write(path_);
  failpoint("before the memory has its name");
  if (::rename(draft.c_str(), path_.c_str()) != 0 || !sync_folder_of(path_)) cannot_write(path_);
  failpoint("after the memory is made");
  file_.reset();
  update(content);
}

void NewestHead::update(const Content& content) {
  if (!file_) file_ = std::make_unique<Descriptor>(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string text = text_of(content);
  if (!file_->open() || ::pwrite(file_->number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    cannot_write(path_);
}

void NewestHead::sync() {
  expects(kept(), "a memory that this process keeps");
  if (::fdatasync(file_->number()) != 0) cannot_write(path_);
}

std::optional<Head> memory_in_lock(const std::filesystem::path& ledger) {
  std::istringstream in(read_bytes(ledger.string() + ".lock", mebibyte).value_or(""));
  std::optional<Head> newest;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    long pid = 0;
    long long entries = 0;
    std::string hash;
    if (!(words >> pid >> entries >> hash)) continue;
    char text[128];
    std::snprintf(text, sizeof text, "%10ld %20lld %s", pid, entries, hash.c_str());
    const auto digest = digest_from(hash);
    if (!digest || line != text + (" " + hex(sha256(text)).substr(0, 16))) continue;
    if (!newest || entries > newest->entries) newest = {.entries = entries, .hash = *digest};
  }
  return newest;
}

}  // namespace parley::ledger
