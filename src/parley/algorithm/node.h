// A node is a pure state machine: inbox in, one release out. Clock, network, disk and threads belong to the caller,
// randomness is an argument. step() proposes a release and changes nothing; commit() advances the state from released
// values alone, so replaying the commits of a record rebuilds the state without data and without spending.
#pragma once
#include "parley/privacy/random.h"
#include "parley/privacy/release.h"

namespace parley::algorithm {

namespace newton {
struct Estimate;
}

class Node {
 public:
  virtual ~Node() = default;
  virtual int id() const = 0;
  virtual bool has_next() const = 0;
  // Privacy: the only function that may touch data; what it returns carries its charge.
  virtual privacy::Release step(const privacy::Inbox& inbox, privacy::Random& random) const = 0;
  virtual void commit(const privacy::Inbox& inbox, const Vector& released) = 0;
  virtual Vector iterate() const = 0;  // what it holds after the last commit: a function of released values
  // Of a run with intervals, after its last commit: what the final phase says of the coefficients. Else null.
  virtual const newton::Estimate* estimate() const { return nullptr; }
};

}  // namespace parley::algorithm
