// Of too many connections at a gate, which one is closed.
#pragma once
#include <list>
#include <set>
#include <string>
#include <vector>

#include "parley/mesh/gate_connection.h"

namespace parley::mesh {

using ConnectionPlace = std::list<Connection>::iterator;

// The longest silent one of an address that has the most; while there are others, none of an address from which a party
// has come before (`known`): a stranger with many addresses does not keep it out. Never of none.
ConnectionPlace one_too_many(const std::vector<ConnectionPlace>& of, const std::set<std::string>& known);

ConnectionPlace longest_silent(const std::vector<ConnectionPlace>& of);

}  // namespace parley::mesh
