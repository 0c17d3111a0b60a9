// What passes a gate: how fast, for how long, and between whom.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "parley/mesh/gate.h"
#include "parley/mesh/gate_connection.h"

namespace parley::mesh {

class GateTraffic {
 public:
  using Report = decltype(Gate::Setup::report);
  GateTraffic(const Gate::Limits& limits, Report report, GateClock::time_point now)
      : limits_(limits),
        report_(std::move(report)),
        now_(now),
        all_parties_(limits.rate_of_all, limits.burst_of_all, now) {}

  void tell_time(GateClock::time_point now);
  void meet(const std::string& party) { shares_.try_emplace(party, limits_.rate, limits_.burst, now_); }

  // What poll has found on both sides of it. False: it is over.
  bool carry(Connection& c, short outer, short inner);
  bool may_read(const Connection& c) const;
  bool expired(const Connection& c) const;

 private:
  bool end(Connection& c, short outer);
  double allowed(const Connection& c) const;
  long read(Connection& c);
  bool tell_of_unanswered(const Connection& c) const;

  const Gate::Limits limits_;
  const Report report_;
  GateClock::time_point now_;
  std::map<std::string, ByteRate> shares_;  // of parties that have come
  ByteRate all_parties_;
};

}  // namespace parley::mesh
