// One table of a TOML file: typed access whose every Error knows the file, the line and the section.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/toml.h"
#include "parley/base/word.h"

namespace parley::data {

inline std::string in_quotes(const std::string& text) {
  return "'" + text + "'";
}

class Section {
 public:
  // name stands before every message: "[label]: ", "column 'age': ", or "" at the top. The table must outlive this.
  Section(const toml::table& table, std::string file, std::string name);
  void rename(std::string name) { name_ = std::move(name); }

  bool has(const std::string& key) const { return table_->contains(key); }
  const toml::node* find(const std::string& key) const { return table_->get(key); }

  // Throws Error(p) at the line of the key, or of the section when the key is absent.
  [[noreturn]] void fail(const std::string& key, Error::Fields p) const;

  // Any key but the known ones is an Error; for those in elsewhere it says "has no meaning <why_not>".
  void only(const std::vector<std::string>& known, const std::vector<std::string>& elsewhere = {},
            const std::string& why_not = "") const;

  std::string text(const std::string& key) const;  // required
  bool truth(const std::string& key, bool fallback) const;
  long whole(const std::string& key, long low, long high) const;          // required
  std::vector<double> numbers(const std::string& key) const;              // required; finite
  std::vector<std::string> texts(const std::string& key) const;           // required
  std::vector<std::string> distinct_texts(const std::string& key) const;  // required; not empty, no repetition

  std::vector<std::pair<std::string, std::string>> pairs(const std::string& key) const;  // required; { "a" = "b" }

  // words: a range of Word<E>
  template <class Words, class E>
  E choice(const std::string& key, const Words& words, E fallback) const {
    if (!has(key)) return fallback;
    const std::string given = text(key);
    std::vector<std::string> allowed;
    for (const auto& word : words) {
      if (word.text == given) return word.value;
      allowed.emplace_back(word.text);
    }
    fail_choice(key, given, allowed);
  }

 private:
  std::string line_of(const toml::node& node) const;
  const toml::array& array(const std::string& key, const std::string& example) const;
  [[noreturn]] void fail_choice(const std::string& key, const std::string& given,
                                const std::vector<std::string>& allowed) const;

  const toml::table* table_;
  std::string file_;
  std::string name_;
};

}  // namespace parley::data
