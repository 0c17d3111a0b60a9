#include "parley/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley {
namespace {

using nlohmann::json;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class Integer>
Integer parse_integer(std::string_view text, const Option& option, const std::string& where) {
  Integer value{};
  const std::string_view digits = trim(text);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size())
    throw Error({.what = option.name + " is not a whole number",
                 .value = "'" + std::string(text) + "'",
                 .allowed = option.rule.text,
                 .where = where,
                 .fix = "write it in digits, such as 1000"});
  return value;
}

bool is_choice(const Rule& rule, const std::string& word) {
  return std::ranges::find(rule.choices, word) != rule.choices.end();
}

bool parse_bool(std::string_view text, const Option& option, const std::string& where) {
  if (text == "yes" || text == "true") return true;
  if (text == "no" || text == "false") return false;
  throw Error({.what = option.name + " is a yes/no option",
               .value = "'" + std::string(text) + "'",
               .allowed = "yes, no",
               .where = where,
               .fix = "write yes or no"});
}

}  // namespace

Rule above(double low) {
  return {.text = "> " + number(low), .holds = [=](double x) { return x > low; }};
}
Rule at_least(double low) {
  return {.text = ">= " + number(low), .holds = [=](double x) { return x >= low; }};
}
Rule between(double low, double high) {
  return {.text = "from " + number(low) + " to " + number(high),
          .holds = [=](double x) { return x >= low && x <= high; }};
}
Rule strictly_between(double low, double high) {
  return {.text = "> " + number(low) + " and < " + number(high),
          .holds = [=](double x) { return x > low && x < high; }};
}
Rule one_of(std::vector<std::string> choices) {
  return {.text = join(choices, ", "), .choices = std::move(choices)};
}
Rule any_text(std::string meaning, std::vector<std::string> known) {
  return {.text = std::move(meaning), .known = std::move(known)};
}

std::string option_type(const Option& option) {
  return std::visit(Overloaded{
                        [](bool*) { return "yes/no"; },
                        [](long*) { return "whole number"; },
                        [](double*) { return "number"; },
                        [&](std::string*) { return option.rule.choices.empty() ? "text" : "word"; },
                        [](std::vector<double>*) { return "number, or list"; },
                        [](std::vector<std::string>*) { return "text, or list"; },
                        [](std::optional<double>*) { return "number"; },
                        [](std::optional<std::uint64_t>*) { return "whole number"; },
                    },
                    option.target);
}

void set_option(const Option& option, std::string_view text, const std::string& where) {
  std::visit(Overloaded{
                 [&](bool* v) { *v = parse_bool(text, option, where); },
                 [&](long* v) { *v = parse_integer<long>(text, option, where); },
                 [&](double* v) { *v = parse_number(text, option.name, where); },
                 [&](std::string* v) { *v = std::string(text); },
                 [&](std::vector<double>* v) {
                   v->clear();
                   if (trim(text).empty() || trim(text) == "auto") return;  // unset: whoever reads it fills it in
                   for (const auto& part : split_list(text)) v->push_back(parse_number(part, option.name, where));
                 },
                 [&](std::vector<std::string>* v) { *v = split_list(text); },
                 [&](std::optional<double>* v) { *v = parse_number(text, option.name, where); },
                 [&](std::optional<std::uint64_t>* v) { *v = parse_integer<std::uint64_t>(text, option, where); },
             },
             option.target);
}

void set_option_json(const Option& option, const json& value, const std::string& where) {
  if (value.is_null()) {  // a record stores an unset optional as null
    std::visit(
        Overloaded{[](std::optional<double>* v) { v->reset(); }, [](std::optional<std::uint64_t>* v) { v->reset(); },
                   [&](auto*) {
                     throw Error({.what = option.name + " has no value", .where = where, .fix = "give it a value"});
                   }},
        option.target);
    return;
  }
  const auto word = [&](const json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
  std::string text;
  if (value.is_array()) {
    for (const auto& part : value) text += (text.empty() ? "" : ",") + word(part);
  } else {
    text = word(value);
  }
  set_option(option, text, where);
}

namespace {

bool is_own_word(const Rule& rule, const std::string& word) {
  if (word.empty() || is_choice(rule, word) || std::ranges::find(rule.known, word) != rule.known.end()) return true;
  return rule.words_too && std::ranges::all_of(split_list(word), [](const std::string& part) {
           double number = 0;
           const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), number);
           return code == std::errc{} && end == part.data() + part.size();
         });
}

}  // namespace

bool may_be_shown(const std::vector<Option>& options, const std::string& name, const json& value) {
  const auto row = std::ranges::find(options, name, &Option::name);
  if (row == options.end() || row->shown != Shown::to_anyone) return false;
  const auto plain = [&](const json& v) {
    return v.is_string() ? is_own_word(row->rule, v.get<std::string>())
                         : v.is_number() || v.is_boolean() || v.is_null();
  };
  return value.is_array() ? std::ranges::all_of(value, plain) : plain(value);
}

json option_value(const Option& option) {
  return std::visit(Overloaded{[](std::optional<double>* v) { return *v ? json(**v) : json(); },
                               [](std::optional<std::uint64_t>* v) { return *v ? json(**v) : json(); },
                               [](std::vector<double>* v) { return v->size() == 1 ? json(v->front()) : json(*v); },
                               [](std::vector<std::string>* v) { return v->size() == 1 ? json(v->front()) : json(*v); },
                               [](auto* v) { return json(*v); }},
                    option.target);
}

namespace {

// 0,5 is read as 0 and 5.
bool decimal_comma(const Option& option, const std::string& value) {
  const auto* const* list = std::get_if<std::vector<double>*>(&option.target);
  return list != nullptr && (*list)->size() == 2 && value == "0";
}

}  // namespace

void validate_options(const std::vector<Option>& options) {
  std::vector<Error::Fields> violations;
  for (const Option& option : options) {
    const auto violated = [&](const std::string& value) {
      const bool words = !option.rule.choices.empty();
      std::string fix =
          words ? "choose one of these" : "give --" + option.name + " a value that is " + option.rule.text;
      if (const auto near = words ? nearest(value, option.rule.choices) : ""; !near.empty())
        fix = "did you mean '" + near + "'?";
      if (decimal_comma(option, value)) fix = "a comma separates values; a decimal number has a point, such as 0.5";
      violations.push_back({.what = option.name + " = " + value + " but must be " + option.rule.text,
                            .where = "option --" + option.name,
                            .fix = fix});
    };
    const auto check = [&](double x) {
      if (!std::isfinite(x) || (option.rule.holds && !option.rule.holds(x))) violated(number(x));
    };
    const auto check_word = [&](const std::string& word) {
      if (option.rule.choices.empty() || is_choice(option.rule, word)) return;
      if (!option.rule.words_too) return violated(word);
      try {  // a word or numbers, e.g. --dual-step
        for (const auto& part : split_list(word)) check(parse_number(part, option.name, ""));
      } catch (const Error&) {
        violated(word);
      }
    };
    std::visit(Overloaded{[](bool*) {}, [&](long* v) { check(static_cast<double>(*v)); }, [&](double* v) { check(*v); },
                          [&](std::string* v) { check_word(*v); },
                          [&](std::vector<double>* v) {
                            for (const double x : *v) check(x);
                          },
                          [&](std::vector<std::string>* v) {
                            for (const auto& x : *v) check_word(x);
                          },
                          [&](std::optional<double>* v) {
                            if (*v) check(**v);
                          },
                          [](std::optional<std::uint64_t>*) {}},
               option.target);
  }
  if (!violations.empty()) throw Error(violations);
}

const Option& find_option(const std::vector<Option>& options, const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    if (option.name == name) return option;
    names.push_back(option.name);
  }
  const std::string near = nearest(name, names);
  throw Error({.what = "unknown option '" + name + "'",
               .where = where,
               .fix = near.empty() ? "'parley options' lists them all" : "did you mean '" + near + "'?"});
}

}  // namespace parley
