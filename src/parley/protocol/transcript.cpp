#include "parley/protocol/transcript.h"

#include <cstring>
#include <optional>

#include "parley/base/error.h"
#include "parley/base/input_file.h"

namespace parley::protocol {
namespace {

constexpr std::string_view mark = "ptr1";
constexpr std::size_t before_message = 4 + 4 + 8 + 32 + 1, hash_size = 32, most_message = 1U << 30U;

std::uint64_t number_at(std::string_view bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])) << (8 * i);
  return value;
}

void put(std::string& out, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest hash_of(std::string_view front) {
  return sha256("parley transcript 1" + std::string(front));
}

struct Found {
  std::uint64_t synced = 0;
  std::string_view previous, message;
  Transcript::Entry kind{};
  Digest hash{};
  std::size_t size = 0;
};

// A whole entry at this place, whatever it is linked to.
std::optional<Found> entry_at(std::string_view content, std::size_t at) {
  const std::string_view rest = content.substr(at);
  if (rest.size() < before_message + hash_size || !rest.starts_with(mark)) return std::nullopt;
  const std::uint64_t length = number_at(rest, 4, 4);
  if (length > most_message || rest.size() - before_message - hash_size < length) return std::nullopt;
  Found e{.synced = number_at(rest, 8, 8),
          .previous = rest.substr(16, 32),
          .message = rest.substr(before_message, length),
          .kind = static_cast<Transcript::Entry>(rest[before_message - 1]),
          .size = before_message + length + hash_size};
  e.hash = hash_of(rest.substr(0, e.size - hash_size));
  if (bytes_of(e.hash) != rest.substr(e.size - hash_size, hash_size)) return std::nullopt;
  return e;
}

// Whether an entry after the damage says that what is damaged had been synced. Headers that overlap would have every
// byte hashed again and again: a file that asks for that is damaged too.
bool synced_past(std::string_view content, std::size_t damaged) {
  std::size_t work = 8 * content.size();
  for (auto at = content.find(mark, damaged + 1); at != std::string_view::npos; at = content.find(mark, at + 1)) {
    const std::string_view rest = content.substr(at);
    if (rest.size() < before_message || number_at(rest, 8, 8) <= damaged || number_at(rest, 8, 8) > at) continue;
    const std::size_t length = before_message + number_at(rest, 4, 4);
    if (length > rest.size()) continue;
    if (length > work) return true;
    work -= length;
    if (entry_at(content, at)) return true;
  }
  return false;
}

}  // namespace

Transcript::Transcript(std::unique_ptr<AppendFile> file, const std::string& owner, const Visit& each)
    : file_(std::move(file)) {
  const std::string content = file_->read();
  replay(content, owner, each);
  if (size_ < content.size()) file_->cut_at(size_);
  if (size_ == 0) append(Entry::owner, owner);
  sync();  // what a killed process wrote may be in memory only: it counts as stored from now on
}

void Transcript::replay(std::string_view content, const std::string& owner, const Visit& each) {
  const auto wrong = [&](const std::string& what, const std::string& fix) {
    return Error({.what = what, .where = file_->name(), .fix = fix});
  };
  while (size_ < content.size()) {
    const auto entry = entry_at(content, size_);
    if (!entry || entry->previous != bytes_of(head_)) {
      // A torn beginning holds less than the first entry; a longer file without one is somebody else's.
      if (size_ == 0 && content.size() > encoded(Entry::owner, owner).size())
        throw wrong("this is not a transcript of parley", "name another file");
      if (synced_past(content, size_))
        throw wrong("the transcript is damaged at byte " + std::to_string(size_),
                    "put back an intact copy of it; without one this run cannot go on, and what it spent stays spent");
      return;
    }
    if (size_ == 0 && (entry->kind != Entry::owner || entry->message != owner))
      throw wrong("this transcript belongs to another run, configuration or party",
                  "name the one of this run, or a new file for a new run");
    if (size_ > 0) each(entry->kind, entry->message);
    size_ += entry->size;
    head_ = entry->hash;
  }
}

void Transcript::scan(std::string_view content, const Visit& visit) {
  std::size_t at = 0;
  for (auto entry = entry_at(content, at); entry; entry = entry_at(content, at)) {
    if (at > 0) visit(entry->kind, entry->message);
    at += entry->size;
  }
}

void Transcript::each(const Visit& visit) {
  const std::string content = file_->read();
  scan(std::string_view(content).substr(0, size_), visit);
}

std::string Transcript::encoded(Entry kind, std::string_view message) const {
  std::string entry(mark);
  put(entry, message.size(), 4);
  put(entry, synced_, 8);
  entry += bytes_of(head_);
  entry += static_cast<char>(kind);
  entry += message;
  const Digest hash = hash_of(entry);
  entry += bytes_of(hash);
  return entry;
}

void Transcript::check_writable() const {
  if (failed_)
    throw Error({.what = "the transcript could not be written a moment ago",
                 .where = file_->name(),
                 .fix = "start this party again when the disk is well; nothing was acknowledged or sent since"});
}

void Transcript::append(Entry kind, std::string_view message) {
  expects(message.size() <= most_message, "a message of at most 1 GiB");
  check_writable();
  const std::string entry = encoded(kind, message);
  failed_ = true;  // until it is written
  file_->append(entry);
  failed_ = false;
  size_ += entry.size();
  std::memcpy(head_.data(), entry.data() + entry.size() - hash_size, hash_size);
}

void Transcript::sync() {
  check_writable();
  failed_ = true;  // a failed sync may have dropped the pages: trying again would only seem to help
  file_->sync();
  failed_ = false;
  synced_ = size_;
}

std::string owner_in(const std::filesystem::path& transcript) {
  constexpr std::size_t longest = 4096;
  auto in = opened(transcript);
  const std::string start = in ? in->beginning(before_message + longest + hash_size) : "";
  if (start.size() < before_message || !start.starts_with(mark)) return "";
  const std::uint64_t size = number_at(start, 4, 4);
  return size <= longest && before_message + size + hash_size <= start.size() ? start.substr(before_message, size) : "";
}

}  // namespace parley::protocol
