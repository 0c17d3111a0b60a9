// What several processes of one simulation must decide alike: a mistake that one of them finds ends all of them.
#pragma once
#include <functional>

#include "parley/base/error.h"
#include "parley/network/ranks.h"

namespace parley::network {

class Agreed : public Error {  // every process throws it; one of them need tell it
 public:
  using Error::Error;
};

// Runs work() in every process; where it fails with an Error in some, all throw the first failure, naming its rank.
// work() itself must not wait for other processes. One process: work().
void together(Ranks& ranks, const std::function<void()>& work);

}  // namespace parley::network
