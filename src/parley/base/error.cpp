#include "parley/base/error.h"

namespace parley {
namespace {

std::string sentence(const Error::Parts& p) {
  std::string s = p.where.empty() ? p.what : p.where + ": " + p.what;
  if (!p.value.empty()) s += "; got " + p.value;
  if (!p.allowed.empty()) s += "; allowed: " + p.allowed;
  if (!p.fix.empty()) s += "\n  what to do: " + p.fix;
  return s;
}

std::string sentences(const std::vector<Error::Parts>& all) {
  std::string s;
  for (const auto& p : all) s += (s.empty() ? "" : "\n") + sentence(p);
  return s;
}

}  // namespace

Error::Error(const Parts& parts) : std::runtime_error(sentence(parts)) {}
Error::Error(const std::vector<Parts>& all) : std::runtime_error(sentences(all)) {}

}  // namespace parley
