#include "parley/mesh/gate_traffic.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

namespace parley::mesh {

void GateTraffic::tell_time(GateClock::time_point now) {
  now_ = now;
  all_parties_.refill(now_);
  for (auto& [party, share] : shares_) share.refill(now_);
}

bool GateTraffic::carry(Connection& c, short outer, short inner) {
  c.own.refill(now_);
  if (c.ending) return end(c, outer);
  if ((outer & (POLLHUP | POLLERR)) != 0) return false;
  if ((outer & POLLIN) != 0 && may_read(c)) {
    const long n = read(c);
    if (n == 0) return false;
    if (n > 0) c.unanswered += static_cast<double>(n), c.active = now_;
  }
  if (!c.in.empty() && c.in.drain(c.inner.number()) < 0) c.in.forget();
  if ((inner & (POLLIN | POLLHUP | POLLERR)) != 0 && c.out.empty()) {
    const long n = c.out.fill(c.inner.number(), 1 << 14);
    if (n == 0) c.ending = true, c.active = now_, ::shutdown(c.outer.number(), SHUT_WR);
    if (n > 0) c.active = now_;
  }
  if (!c.out.empty()) {
    const long n = c.out.drain(c.outer.number());
    if (n < 0) return false;
    if (n > 0) c.unanswered = 0;
  }
  if (c.out.empty()) c.taken = now_;
  return c.unanswered <= limits_.unanswered || tell_of_unanswered(c);
}

bool GateTraffic::tell_of_unanswered(const Connection& c) const {
  report_("unanswered", (c.party.empty() ? c.from : c.party) + " has sent " +
                            std::to_string(static_cast<long>(c.unanswered)) +
                            " bytes to which there is no answer: its connection is closed");
  return false;
}

double GateTraffic::allowed(const Connection& c) const {
  return c.party.empty() ? c.own.left() : std::min(shares_.at(c.party).left(), all_parties_.left());
}

long GateTraffic::read(Connection& c) {
  const long n = c.in.fill(c.outer.number(), static_cast<std::size_t>(allowed(c)));
  if (n <= 0) return n;
  if (c.party.empty()) {
    c.own.take(n);
  } else {
    shares_.at(c.party).take(n);
    all_parties_.take(n);
  }
  return n;
}

// Who does not take its answers is not heard: what it asks would be kept for it.
bool GateTraffic::may_read(const Connection& c) const {
  return c.in.empty() && c.out.empty() && allowed(c) >= 1;
}

// Trap: a socket that is closed with bytes unread takes back what was written to it last, and that is TLS's own word
// for why it was refused. So what still comes is read and forgotten, for a second, and no faster than before.
bool GateTraffic::end(Connection& c, short outer) {
  if ((outer & (POLLIN | POLLHUP | POLLERR)) != 0 && read(c) == 0) return false;
  return allowed(c) >= 1 && seconds_since(c.active, now_) < 1;
}

bool GateTraffic::expired(const Connection& c) const {
  return seconds_since(c.active, now_) >= limits_.idle || seconds_since(c.taken, now_) >= limits_.unread ||
         (c.party.empty() && seconds_since(c.opened, now_) >= limits_.handshake + 1);
}

}  // namespace parley::mesh
