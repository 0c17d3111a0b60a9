// The wire format of protocol buffers, written: as much of it as an ONNX file has.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley::run {

class Protobuf {
 public:
  Protobuf& number(int field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Protobuf& bytes(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Protobuf& message(int field, const Protobuf& value) { return bytes(field, value.text_); }
  const std::string& text() const { return text_; }

 private:
  void tag(int field, unsigned wire_type) { varint(static_cast<std::uint64_t>(field) << 3U | wire_type); }
  void varint(std::uint64_t value) {  // seven bits at a time, the lowest first
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

// Eight bytes, the lowest first, as tensors have them.
inline void add_little_endian(std::string& to, std::uint64_t bits) {
  for (unsigned i = 0; i < 64; i += 8) to += static_cast<char>(bits >> i & 0xFFU);
}
inline void add_little_endian(std::string& to, double value) {
  add_little_endian(to, std::bit_cast<std::uint64_t>(value));
}

}  // namespace parley::run
