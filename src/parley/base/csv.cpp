#include "parley/base/csv.h"

namespace parley {

std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool trimmed = !text.empty() && (blank(text.front()) || blank(text.back()));
  if (!trimmed && text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  return csv_quoted(text);
}

std::string spreadsheet_cell(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  const bool formula =
      first != std::string_view::npos && std::string_view("=+-@\t\r").find(text[first]) != std::string_view::npos;
  return csv_cell((formula ? "'" : "") + std::string(text));
}

}  // namespace parley
