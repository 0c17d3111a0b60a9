#include "parley/report/drawing/escape.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/utf8.h"

namespace parley::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// How many bytes of text, from `at`, are one character that XML may hold and that a reader sees as what it is; 0: none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto [length, code] = utf8_at(text, at);
  const bool control = (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
  const bool turns_text_around = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || turns_text_around || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 0)
      out += replacement;
    else if (text[i] == '&')
      out += "&amp;";
    else if (text[i] == '<')
      out += "&lt;";
    else if (text[i] == '>')
      out += "&gt;";
    else if (text[i] == '"')
      out += "&quot;";
    else if (text[i] == '\'')
      out += "&#39;";
    else
      out += text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return out;
}

std::string script_json(const nlohmann::json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
    if (c == '<' || c == '>' || c == '&')  // only inside strings
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("-_.~,").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace parley::report
