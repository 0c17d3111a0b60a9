// Text → number, for a few short words that are looked up a hundred million times (categories, labels, missing marks).
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace parley::data {

class TextIndex {
 public:
  static constexpr std::int32_t absent = -1;

  // The first number of a text stays.
  void add(std::string_view text, std::int32_t number) {
    if (2 * (words_.size() + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(text)];
    if (slot.word != none) return;
    slot.word = static_cast<std::uint32_t>(words_.size());
    words_.emplace_back(text, number);
  }
  std::int32_t find(std::string_view text) const {
    if (words_.empty()) return absent;
    const Slot& slot = slots_[place_of(text)];
    return slot.word == none ? absent : words_[slot.word].number;
  }
  bool contains(std::string_view text) const { return find(text) != absent; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Word {
    Word(std::string_view t, std::int32_t n) : text(t), number(n) {}
    std::string text;
    std::int32_t number;
  };
  struct Slot {
    std::uint32_t word = none;
  };

  // Its first and last eight bytes and its length: enough to tell words of a schema apart, and no loop. The words are
  // the schema's, so nobody who sends rows can make them collide.
  static std::uint64_t hash(std::string_view text) {
    std::uint64_t first = 0, last = 0;
    if (text.size() >= 8) {
      std::memcpy(&first, text.data(), 8);
      std::memcpy(&last, text.data() + text.size() - 8, 8);
    } else {
      for (const char c : text) first = first << 8U | static_cast<unsigned char>(c);
    }
    const std::uint64_t h = (first ^ (last * 0x9E3779B97F4A7C15U) ^ text.size()) * 0xD6E8FEB86659FD93U;
    return h ^ h >> 32U;
  }
  // Where the text stands, or the free slot where it would.
  std::size_t place_of(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash(text) & mask;; i = (i + 1) & mask)
      if (slots_[i].word == none || words_[slots_[i].word].text == text) return i;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), {});
    for (std::size_t w = 0; w < words_.size(); ++w)
      slots_[place_of(words_[w].text)].word = static_cast<std::uint32_t>(w);
  }

  std::vector<Word> words_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace parley::data
