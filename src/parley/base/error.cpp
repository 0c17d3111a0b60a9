#include "parley/base/error.h"

#include <algorithm>

namespace parley {
namespace {

constexpr std::string_view to_do = "what to do: ";

std::string text_of(const std::vector<Error::Fields>& all) {
  std::string s;
  for (const auto& p : all) {
    s += (s.empty() ? "" : "\n") + p.sentence();
    if (!p.fix.empty()) s += "\n  " + std::string(to_do) + p.fix;
  }
  return s;
}

}  // namespace

std::string Error::Fields::sentence() const {
  std::string s = where.empty() ? what : where + ": " + what;
  if (!value.empty()) s += "; got " + value;
  if (!allowed.empty()) s += "; allowed: " + allowed;
  return s;
}

Error::Error(const Fields& fields) : Error(std::vector{fields}) {}
Error::Error(const std::vector<Fields>& all)
    : std::runtime_error(text_of(all)), fields_(std::make_shared<const std::vector<Fields>>(all)) {}

bool Error::is(ErrorCode code) const {
  return std::ranges::any_of(*fields_, [&](const Fields& p) { return p.code == code; });
}

std::string Error::brief() const {
  return fields_->empty() ? what() : fields_->front().sentence();
}

std::string Error::in_one_line() const {
  std::string s;
  for (const auto& p : *fields_) {
    s += (s.empty() ? "" : "; ") + p.sentence();
    if (!p.fix.empty()) s += "; " + std::string(to_do) + p.fix;
  }
  return s;
}

}  // namespace parley
