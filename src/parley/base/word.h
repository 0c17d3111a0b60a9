// A choice between words. The words of an enum stand once, beside it, and are found by its type:
//   enum class Direction { up, down };
//   constexpr Words<Direction, 2> words(Direction) { return {{{"up", Direction::up}, {"down", Direction::down}}}; }
// What may be typed, what the record says and what the code decides on all come from there. Where numbers may stand
// instead of a word, the last entry has the word "" and the enumerator that means them.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/options.h"
#include "parley/base/text.h"

namespace parley {

// Lists of words are constexpr: no order of initialisation to get wrong.
template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};
template <class Enum, std::size_t n>
using Words = std::array<Word<Enum>, n>;

template <class Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> list;
  for (const Word<Enum>& word : words(Enum{}))
    if (!word.text.empty()) list.emplace_back(word.text);
  return list;
}

// An option that is one of its enum's words. Kept as typed, because the record repeats it and validate_options tells
// all mistakes at once; read as the enum. Who reads an unknown word gets an Error, never a default.
template <class Enum>
struct Choice {
  std::string text;

  Choice(std::string typed) : text(std::move(typed)) {}
  Choice(const char* typed) : text(typed) {}
  Choice(Enum value) {
    for (const Word<Enum>& word : words(Enum{}))
      if (value == word.value) text = word.text;
  }

  operator Enum() const {
    for (const Word<Enum>& word : words(Enum{}))
      if (text == word.text || word.text.empty()) return word.value;
    const std::string near = nearest(text, words_of<Enum>());
    throw Error({.what = "unknown word",
                 .value = "'" + text + "'",
                 .allowed = join(words_of<Enum>(), ", "),
                 .fix = near.empty() ? "choose one of these" : "did you mean '" + near + "'?"});
  }
};

template <class Enum>
Rule one_of(const Choice<Enum>&) {
  return one_of(words_of<Enum>());
}

// numbers: how many of them may stand instead of a word, and of which size.
template <class Enum>
Rule one_of_or(const Choice<Enum>&, const std::string& numbers, Rule rule) {
  rule.choices = words_of<Enum>();
  rule.text = join(rule.choices, ", ") + ", or " + numbers + " " + rule.text;
  rule.words_too = true;
  return rule;
}

}  // namespace parley
