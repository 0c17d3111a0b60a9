#include "parley/report/escape.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace parley::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// How many bytes of text, from `at`, are one character that XML may hold; 0: none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  unsigned code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  constexpr unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool turns_text_around = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) || code == 0xFFFE ||
      code == 0xFFFF || (code >= 0x80 && code < 0xA0) || turns_text_around)
    return 0;
  return length;
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

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  if (const auto first = cell.find_first_not_of(" "); first != std::string::npos)
    if (std::string_view("=+-@\t\r").find(cell[first]) != std::string_view::npos) cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
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
