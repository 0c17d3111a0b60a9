#include "parley/report/plain_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/text.h"

namespace parley::report {

using nlohmann::json;

std::string exact_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return number(value.get<double>());
  std::string all;
  if (!value.is_array() || value.size() > 1000) return all;
  for (const json& v : value) all += (all.empty() ? "" : ",") + exact_text(v);
  return all;
}

std::string plain_text(const json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get_ref<const std::string&>().empty() ? "–" : value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) {
    const std::string exact = number(value.get<double>());
    return exact.size() <= 10 ? exact : fmt::format("{:.7g}", value.get<double>());
  }
  if (!value.is_array()) return value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (value.empty()) return "–";
  std::vector<std::string> parts;
  constexpr std::size_t most = 6;
  for (const json& v : value) {
    if (parts.size() == most) {
      parts.push_back("… (" + std::to_string(value.size()) + " values)");
      break;
    }
    parts.push_back(plain_text(v));
  }
  return join(parts, ", ");
}

}  // namespace parley::report
