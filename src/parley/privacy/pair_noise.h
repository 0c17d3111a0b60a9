// The part of a party's noise that it shares with each other one (shared_noise.h):  Σ_{j≠i} ±z_ij,  + for i < j, − for i > j.
// z_ij is the ChaCha20 keystream under
//   SHA-256("parley pair stream 1" ‖ key of i and j ‖ round ‖ release ‖ bytes of the common point)
// turned into normals three words for two:  √(−2 ln U) (cos, sin)(2πV),  U of 128 bits, V of 64.
// Privacy: a stream serves one vector. Another round, another release of the round or another point is another stream, so
// that a process that starts again after a crash, at the same point, finds the same z, and at any other point another one.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "parley/base/vector.h"

namespace parley::privacy {

using PairKey = std::array<unsigned char, 32>;

// What names one vector of a round. Everybody computes the same.
struct PairIndex {
  int round = 0;
  int release = 0;                // which vector of the round
  const Vector* point = nullptr;  // the common released point, where there is one
};

class PairKeys {
 public:
  virtual ~PairKeys() = default;
  PairKeys() = default;
  PairKeys(const PairKeys&) = delete;
  PairKeys& operator=(const PairKeys&) = delete;
  virtual int parties() const = 0;
  virtual PairKey key(int i, int j) const = 0;  // the same as key(j, i)

  // Σ_{j≠i} ±z_ij
  Vector sum(int node, const PairIndex& index, Index dimension) const;
};

// All keys of a simulation, from one secret.
class SimulatedPairs final : public PairKeys {
 public:
  SimulatedPairs(int parties, const PairKey& secret) : parties_(parties), secret_(secret) {}
  ~SimulatedPairs() override;
  int parties() const override { return parties_; }
  PairKey key(int i, int j) const override;

 private:
  int parties_;
  PairKey secret_;
};

// Those of one party of a run between organisations, one for each other party, which alone has it too.
class AgreedPairs final : public PairKeys {
 public:
  AgreedPairs(int self, std::vector<PairKey> keys) : self_(self), keys_(std::move(keys)) {}  // its own place: unused
  ~AgreedPairs() override;
  int parties() const override { return static_cast<int>(keys_.size()); }
  PairKey key(int i, int j) const override;

 private:
  int self_;
  std::vector<PairKey> keys_;
};

// z of one pair, added to `sum` with this sign.
void add_pair_noise(Vector& sum, double sign, const PairKey& key, const PairIndex& index);

}  // namespace parley::privacy
