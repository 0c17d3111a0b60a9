// What a party has received and sent in a run, in the order in which it was stored: whole signed messages, hence
// released values and nothing else. Append-only and hash-chained.
//   entry = "ptr1" ‖ |message| 4 ‖ synced 8 ‖ previous 32 ‖ kind 1 ‖ message ‖ hash 32
//   hash  = SHA-256("parley transcript 1" ‖ everything before it),  previous = hash of the entry before
// synced is how much of the file was on the disk when the entry was written. A kill or a power cut may tear what was
// not: such an end is cut off at the next opening. Damage in front of what a later entry calls synced is no torn end.
// Privacy: no noise, gradient or solver state is ever in it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "parley/base/append_file.h"
#include "parley/base/digest.h"

namespace parley::protocol {

class Transcript {
 public:
  enum class Entry : std::uint8_t { owner = 1, received, sent, evidence };
  using Visit = std::function<void(Entry kind, std::string_view message)>;

  // Opens or begins it and shows every stored message, in order. Error: it belongs to another owner (party, run and
  // configuration in one text), it is damaged, or the file cannot be written.
  Transcript(std::unique_ptr<AppendFile> file, const std::string& owner, const Visit& each);

  // Error when it cannot be written; nothing may be appended after that until the file is opened again.
  void append(Entry kind, std::string_view message);
  void sync();                                                     // what was appended survives everything
  static void scan(std::string_view content, const Visit& visit);  // whole entries from the front
  void each(const Visit& visit);                                   // every stored message again, in order

  std::string name() const { return file_->name(); }
  const Digest& head() const { return head_; }

 private:
  std::string encoded(Entry kind, std::string_view message) const;
  void check_writable() const;
  void replay(std::string_view content, const std::string& owner, const Visit& each);

  std::unique_ptr<AppendFile> file_;
  Digest head_{};
  std::uint64_t size_ = 0, synced_ = 0;
  bool failed_ = false;
};

// What its first entry says, without a look at the rest; "": there is none.
std::string owner_in(const std::filesystem::path& transcript);

// Of a party that is not running: has it signed what it has released, after a loss? Then it releases nothing more
// there.
bool has_stated_loss(const std::filesystem::path& transcript);

}  // namespace parley::protocol
