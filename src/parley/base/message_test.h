// The text of the Error that a call throws, for tests of what a user gets to read.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parley/base/error.h"

namespace parley {

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "(no Error)";
}

}  // namespace parley
