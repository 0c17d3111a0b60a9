#include "parley/run/fingerprint.h"

#include <string_view>

namespace parley::run {

std::string fingerprint_of(const std::vector<const data::Rows*>& all, const ledger::LedgerFile& book) {
  ledger::Fingerprint fingerprint = book.fingerprint();
  const auto bytes = [](const auto& v) {
    return std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
  };
  for (const data::Rows* rows : all)
    for (const std::string_view part : {bytes(rows->column), bytes(rows->value), bytes(rows->label)})
      fingerprint.add(part);
  return fingerprint.text();
}

}  // namespace parley::run
