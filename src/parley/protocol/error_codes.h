// The codes of this folder's Errors that a caller decides on.
#pragma once
#include "parley/base/error.h"

namespace parley::protocol {

inline constexpr ErrorCode other_version{"other_version"};  // a transcript of another version of the protocol

}  // namespace parley::protocol
