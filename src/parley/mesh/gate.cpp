#include "parley/mesh/gate.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "parley/base/error.h"
#include "parley/mesh/address.h"

namespace parley::mesh {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then, Clock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

// What was read on one side and not yet written on the other.
class Waiting {
 public:
  bool empty() const { return begin_ == end_; }
  void forget() { begin_ = end_ = 0; }

  // Bytes read, 0: the other side has closed, −1: nothing to read now. At most `most`.
  long fill(int socket, std::size_t most) {
    const long n = ::recv(socket, bytes_.data(), std::min(most, bytes_.size()), 0);
    if (n > 0) begin_ = 0, end_ = static_cast<std::size_t>(n);
    return n < 0 && !again() ? 0 : n;
  }

  bool drain(int socket) {  // false: nobody reads there any more
    const long n = ::send(socket, bytes_.data() + begin_, end_ - begin_, MSG_NOSIGNAL);
    if (n > 0) begin_ += static_cast<std::size_t>(n);
    return n >= 0 || again();
  }

 private:
  static bool again() { return errno == EAGAIN || errno == EINTR; }
  std::array<char, 1 << 14> bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

struct Connection {
  Descriptor outer, inner;  // to whoever connected; to whom it was handed on
  std::string from;         // its address, without the port
  Clock::time_point opened, active, filled;
  Clock::time_point taken;  // when nothing waited to be written to it the last time
  double allowed;           // bytes that may be read now
  bool ending = false;      // the inner side has closed: what it wrote last still goes out
  Waiting in{}, out{};
};

// Whose connections are counted together: an IPv4 address, or the first half of an IPv6 one, the rest of which is any
// host's to choose.
std::string address_of(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = &reinterpret_cast<const sockaddr_in&>(from).sin_addr;
  int family = AF_INET;
  in6_addr six{};
  if (from.ss_family == AF_INET6) {
    six = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&six) != 0;
    family = mapped ? AF_INET : AF_INET6;
    if (!mapped) std::memset(six.s6_addr + 8, 0, 8);
    bytes = mapped ? six.s6_addr + 12 : six.s6_addr;
  }
  return ::inet_ntop(family, bytes, text.data(), text.size()) != nullptr ? text.data() : "an unknown address";
}

int port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(own).sin_port);
}

void set_port(addrinfo& a, int port) {
  (a.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(a.ai_addr)->sin6_port
                           : reinterpret_cast<sockaddr_in*>(a.ai_addr)->sin_port) =
      htons(static_cast<std::uint16_t>(port));
}

[[noreturn]] void cannot_listen(const std::string& address, const std::string& why) {
  throw Error({.what = "cannot listen for peers (" + why + ")",
               .value = address,
               .where = "the party's address",
               .fix = "choose a free port of this machine (--listen HOST:PORT), or stop what uses it"});
}

// At every address that the name stands for and this machine has, with one port.
std::vector<Descriptor> listening_at(const std::string& address) {
  const Resolved found = resolve(address, AI_PASSIVE);
  if (found.first == nullptr) cannot_listen(address, found.why);
  std::vector<Descriptor> all;
  std::string why;
  for (addrinfo* a = found.first.get(); a != nullptr; a = a->ai_next) {
    Descriptor s = socket_for(*a);
    const int yes = 1, no = 0;
    if (!all.empty()) set_port(*a, port_of(all.front().number()));
    if (s.open()) {
      ::setsockopt(s.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      if (a->ai_family == AF_INET6) ::setsockopt(s.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
      if (::bind(s.number(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(s.number(), SOMAXCONN) == 0) {
        all.push_back(std::move(s));
        continue;
      }
    }
    why = std::strerror(errno);
    if (errno == EADDRINUSE) cannot_listen(address, why);
  }
  if (all.empty()) cannot_listen(address, why);
  return all;
}

// Three descriptors for each connection, within what the system allows this process.
int most_connections(const Gate::Limits& limits) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const double room = (static_cast<double>(files.rlim_cur) - limits.descriptors_kept) / 3;
  return std::max(4, static_cast<int>(std::min<double>(limits.strangers + limits.parties, room)));
}

}  // namespace

class Gate::Loop {
 public:
  explicit Loop(Setup setup)
      : setup_(std::move(setup)),
        most_(most_connections(setup_.limits)),
        listeners_(listening_at(setup_.listen)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Loop() { close(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void open() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void close() {
    thread_.request_stop();
    const std::uint64_t one = 1;
    if (::write(wake_.number(), &one, sizeof one) < 0) {
    }  // then it wakes by itself
    if (thread_.joinable()) thread_.join();
    connections_.clear();
    leaving_.clear();
    listeners_.clear();
  }

  int port() const { return listeners_.empty() ? 0 : port_of(listeners_.front().number()); }

 private:
  using Place = std::list<Connection>::iterator;

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> watched = {{.fd = wake_.number(), .events = POLLIN, .revents = 0}};
      const bool accepts = setup_.now() >= deaf_until_ && static_cast<int>(leaving_.size()) < setup_.limits.strangers;
      for (const Descriptor& l : listeners_)
        watched.push_back({.fd = accepts ? l.number() : -1, .events = POLLIN, .revents = 0});
      const std::size_t first = watched.size();
      bool throttled = false;
      for (const Connection& c : connections_) {
        const bool reads = c.ending || may_read(c);
        throttled = throttled || !reads;
        watched.push_back({.fd = c.outer.number(),
                           .events = static_cast<short>((reads ? POLLIN : 0) | (c.out.empty() ? 0 : POLLOUT)),
                           .revents = 0});
        const int waits = (c.out.empty() ? POLLIN : 0) | (c.in.empty() ? 0 : POLLOUT);
        // Trap: poll reports a closed socket also to who asks for nothing, at once and again.
        watched.push_back(
            {.fd = c.ending || waits == 0 ? -1 : c.inner.number(), .events = static_cast<short>(waits), .revents = 0});
      }
      const std::size_t after = watched.size();
      for (const Leaving& l : leaving_) watched.push_back({.fd = l.inner.number(), .events = POLLIN, .revents = 0});
      ::poll(watched.data(), watched.size(), throttled ? 20 : 250);
      now_ = setup_.now();
      std::erase_if(leaving_, [this](const Leaving& l) { return has_left(l); });
      auto c = connections_.begin();
      for (std::size_t i = first; i < after; i += 2) {
        const auto here = c++;
        if (!carry(*here, watched[i].revents, watched[i + 1].revents) || expired(*here)) let_go(here);
      }
      for (const Place party : parties())
        if (known_.size() < 256) known_.insert(party->from);
      give_back();
      crowd_out(strangers(), setup_.limits.strangers, "that have not finished a handshake");
      crowd_out(parties(), setup_.limits.parties, "of parties");
      for (std::size_t i = 0; i < listeners_.size(); ++i)
        if ((watched[1 + i].revents & POLLIN) != 0) welcome(listeners_[i].number());
    }
  }

  // What has ended outside. Whoever was handed it lets go in its own time, and holds memory until then: while too many
  // of these are left, nobody is accepted.
  struct Leaving {
    Descriptor inner;
    Clock::time_point since;
  };
  void let_go(Place c) {
    ::shutdown(c->inner.number(), SHUT_WR);
    leaving_.push_back({std::move(c->inner), now_});
    connections_.erase(c);
    ended_ = now_;
  }
  bool has_left(const Leaving& l) const {
    std::array<char, 4096> ignored{};
    long n = 1;
    while (n > 0) n = ::recv(l.inner.number(), ignored.data(), ignored.size(), MSG_DONTWAIT);
    return n == 0 || errno != EAGAIN || seconds_since(l.since, now_) >= setup_.limits.handshake + 1;
  }

  // What connections took goes back to the system, once a second until all have been let go of; the C library would keep
  // it.
  void give_back() {
    if (!ended_ || seconds_since(given_back_, now_) < 1) return;
    given_back_ = now_;
    ::malloc_trim(0);
    if (leaving_.empty() && seconds_since(*ended_, now_) >= 1) ended_.reset();
  }

  // False: it is over.
  bool carry(Connection& c, short outer, short inner) {
    c.allowed = std::min(setup_.limits.burst, c.allowed + setup_.limits.rate * seconds_since(c.filled, now_));
    c.filled = now_;
    if (c.ending) return end(c, outer);
    if ((outer & (POLLHUP | POLLERR)) != 0) return false;
    if ((outer & POLLIN) != 0 && may_read(c)) {
      const long n = c.in.fill(c.outer.number(), static_cast<std::size_t>(c.allowed));
      if (n == 0) return false;
      if (n > 0) c.allowed -= static_cast<double>(n), c.active = now_;
    }
    if (!c.in.empty() && !c.in.drain(c.inner.number())) c.in.forget();
    if ((inner & (POLLIN | POLLHUP | POLLERR)) != 0 && c.out.empty()) {
      const long n = c.out.fill(c.inner.number(), 1 << 14);
      if (n == 0) c.ending = true, c.active = now_, ::shutdown(c.outer.number(), SHUT_WR);
      if (n > 0) c.active = now_;
    }
    if (!c.out.empty() && !c.out.drain(c.outer.number())) return false;
    if (c.out.empty()) c.taken = now_;
    return true;
  }

  // Who does not take its answers is not heard: what it asks would be kept for it.
  static bool may_read(const Connection& c) { return c.in.empty() && c.out.empty() && c.allowed >= 1; }

  // Trap: a socket that is closed with bytes unread takes back what was written to it last, and that is TLS's own word
  // for why it was refused. So what still comes is read and forgotten, for a second, and no faster than before.
  bool end(Connection& c, short outer) {
    if ((outer & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const long n = c.in.fill(c.outer.number(), static_cast<std::size_t>(c.allowed));
      if (n == 0) return false;
      c.allowed -= static_cast<double>(std::max(0L, n));
    }
    return c.allowed >= 1 && seconds_since(c.active, now_) < 1;
  }

  bool expired(const Connection& c) const {
    return seconds_since(c.active, now_) >= setup_.limits.idle || seconds_since(c.taken, now_) >= setup_.limits.unread;
  }
  bool is_stranger(const Connection& c) const {
    return c.ending || seconds_since(c.opened, now_) < setup_.limits.handshake + 1;
  }
  std::vector<Place> strangers() { return those(true); }
  std::vector<Place> parties() { return those(false); }
  std::vector<Place> those(bool strange) {
    std::vector<Place> found;
    for (auto c = connections_.begin(); c != connections_.end(); ++c)
      if (is_stranger(*c) == strange) found.push_back(c);
    return found;
  }

  // Of too many, the longest silent one goes, of an address that has the most; while there are others, none of an
  // address from which a party has come before: a stranger with many addresses does not keep it out.
  void crowd_out(std::vector<Place> of, int most, const std::string& which) {
    bool spared = std::ranges::any_of(of, [&](Place c) { return !known_.contains(c->from); });
    while (static_cast<int>(of.size()) > most) {
      std::map<std::string, int> count;
      for (const Place c : of)
        if (!spared || !known_.contains(c->from)) ++count[c->from];
      if (count.empty()) {  // none is left but of such addresses
        spared = false;
        continue;
      }
      const int largest = std::ranges::max_element(count, {}, [](const auto& n) { return n.second; })->second;
      std::erase_if(count, [=](const auto& n) { return n.second < largest; });
      const auto crowded = [&](Place c) { return count.contains(c->from); };
      const std::string crowd =
          (*std::ranges::min_element(of, {}, [&](Place c) { return std::pair(!crowded(c), c->active); }))->from;
      drop_silent(of, crowd, which);
    }
  }

  void drop_silent(std::vector<Place>& of, const std::string& from, const std::string& which) {
    auto longest = of.end();
    for (auto c = of.begin(); c != of.end(); ++c)
      if ((*c)->from == from && (longest == of.end() || (*c)->active < (*longest)->active)) longest = c;
    setup_.report("crowd " + which + from, "too many connections " + which + ", most of them from " + from +
                                               ": the longest silent ones are closed");
    let_go(*longest);
    of.erase(longest);
  }

  void welcome(int listener) {
    for (int n = 0; n < 16; ++n) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      Descriptor outer(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!outer.open()) return unable(errno);
      const std::string from = address_of(address);
      std::vector<Place> same = strangers();
      if (static_cast<int>(connections_.size()) >= most_) {
        if (same.empty())
          return setup_.report("full", "a connection from " + from + " was turned away: parties hold all " +
                                           std::to_string(most_) + " that this process may have");
        crowd_out(same, static_cast<int>(same.size()) - 1, "that have not finished a handshake");
        same = strangers();
      }
      std::erase_if(same, [&](Place c) { return c->from != from; });
      while (static_cast<int>(same.size()) >= setup_.limits.of_one_address)
        drop_silent(same, from, "that have not finished a handshake");
      std::array<int, 2> pair{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return unable(errno);
      connections_.push_back({.outer = std::move(outer),
                              .inner = Descriptor(pair[0]),
                              .from = from,
                              .opened = now_,
                              .active = now_,
                              .filled = now_,
                              .taken = now_,
                              .allowed = setup_.limits.burst});
      setup_.hand_on(pair[1]);
    }
  }

  // Whoever waits is taken up when descriptors are free again: nobody is deaf for good.
  void unable(int why) {
    if (why == EAGAIN || why == EINTR || why == ECONNABORTED) return;
    setup_.report("accept", std::string("a connection could not be taken: ") + std::strerror(why) +
                                "; trying again (is the limit of open files of this process too low?)");
    deaf_until_ = now_ + std::chrono::milliseconds(100);
  }

  const Setup setup_;
  const int most_;
  std::vector<Descriptor> listeners_;
  const Descriptor wake_;
  std::list<Connection> connections_;
  std::list<Leaving> leaving_;
  std::set<std::string> known_;             // addresses of connections that lasted
  std::optional<Clock::time_point> ended_;  // when connections last ended, and memory was not given back since
  Clock::time_point now_ = setup_.now(), deaf_until_ = now_, given_back_ = now_;
  std::jthread thread_;  // last: it is joined before anything that it uses goes
};

Gate::Gate(Setup setup) : loop_(std::make_unique<Loop>(std::move(setup))) {}
Gate::~Gate() = default;

void Gate::open() {
  loop_->open();
}

void Gate::close() {
  loop_->close();
}

int Gate::port() const {
  return loop_->port();
}

}  // namespace parley::mesh
