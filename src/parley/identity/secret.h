// What is left in memory of a private key: the bytes of its text are overwritten when nobody needs them any more, and
// a process that has held one leaves no core dump (base/durable.h). OpenSSL overwrites its own copies when a key is
// freed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace parley::identity {

void overwrite(std::string& text);  // with zeros, also where an optimiser sees that nobody reads them

// Moved, never copied. Trap: a short std::string would leave its bytes behind when it is moved.
class Secret {
 public:
  explicit Secret(std::string text);  // what it was given is overwritten
  ~Secret();
  Secret(Secret&&) = default;
  Secret& operator=(Secret&& other) noexcept {
    bytes_.swap(other.bytes_);  // which overwrites what was here
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

}  // namespace parley::identity
