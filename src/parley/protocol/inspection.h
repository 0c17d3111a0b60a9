// What can be said about a message from itself, the caller and the agreement, whatever came before it. In this order:
// who calls, who sends, signature, configuration, run, round, turn, size, values.
#pragma once
#include <optional>
#include <string>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

bool flooded(Kind kind);  // its messages are passed on: whoever calls need not have signed them

// nullopt: nothing is wrong with it. A final iterate may come from any neighbour, everything else from its sender only.
std::optional<Finding> inspect(const Message& m, const std::string& caller, const Agreement& agreed, int self,
                               const Keys& keys);

}  // namespace parley::protocol
