// Text from files (names, options, stamps) into the places of a page. Each place has its own way out, so each has its
// own function (of a CSV file: base/csv.h); nothing of a record reaches a report without one of them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace parley::report {

// XML and HTML, as text and inside "…" or '…'. Control characters and broken UTF-8, which no XML can hold, become
// U+FFFD.
std::string escaped(std::string_view text);

// JSON for <script type="application/json">: no <, > or & inside, so nothing can end the element.
std::string script_json(const nlohmann::json& value);

// For the address of a data: URL.
std::string percent_encoded(std::string_view text);

}  // namespace parley::report
