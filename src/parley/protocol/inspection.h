// What can be said about a message from itself, the caller and the agreement, whatever came before it. In this order:
// who calls, who sends, signature, configuration, run, round, turn, size, values.
#pragma once
#include <optional>
#include <string>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

bool passed_on(Kind kind, const Agreement& agreed);  // by others too: whoever calls need not have signed such a message

// nullopt: nothing is wrong with it. What is passed on may come from any neighbour, the rest from its sender only.
std::optional<Finding> inspect(const Message& m, const std::string& caller, const Agreement& agreed, int self,
                               const Keys& keys);

}  // namespace parley::protocol
