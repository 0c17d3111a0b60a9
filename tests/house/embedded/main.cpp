#include <string>

#include "parley/base/error.h"
#include "parley/base/vector.h"

// Ends with 0 when parley's headers and its library serve a program outside its tree.
int main() {
  const parley::Vector ones = parley::Vector::Ones(3);
  const parley::Error error({.what = "the sum", .value = std::to_string(ones.sum())});
  return std::string(error.what()).find("the sum") == std::string::npos;
}
