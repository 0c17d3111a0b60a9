#include "parley/mesh/gate.h"

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
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "parley/mesh/gate_connection.h"
#include "parley/mesh/gate_crowd.h"
#include "parley/mesh/gate_listen.h"
#include "parley/mesh/gate_traffic.h"

namespace parley::mesh {
namespace {

using Clock = GateClock;

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
  // Of a handshake that has ended.
  struct Word {
    int place;
    std::string party;            // whose it is; empty: it was refused
    std::string about, sentence;  // why
  };

  explicit Loop(Setup setup)
      : setup_(std::move(setup)),
        most_(most_connections(setup_.limits)),
        listeners_(listening_at(setup_.listen)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (int place = places() - 1; place >= 0; --place) free_places_.push_back(place);
  }
  ~Loop() { close(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void open() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void close() {
    thread_.request_stop();
    wake();
    if (thread_.joinable()) thread_.join();
    connections_.clear();
    leaving_.clear();
    listeners_.clear();
  }

  int port() const { return listeners_.empty() ? 0 : port_of(listeners_.front().number()); }
  int places() const { return setup_.limits.strangers + 16; }

  void tell(Word word) {
    {
      const std::lock_guard lock(mutex_);
      words_.push_back(std::move(word));
    }
    wake();
  }

 private:
  using Here = ConnectionPlace;

  void wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_.number(), &one, sizeof one) < 0) {
    }  // then it wakes by itself
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> watched = {{.fd = wake_.number(), .events = POLLIN, .revents = 0}};
      const bool accepts = setup_.now() >= deaf_until_ && !free_places_.empty() &&
                           static_cast<int>(leaving_.size()) < setup_.limits.strangers;
      for (const Descriptor& l : listeners_)
        watched.push_back({.fd = accepts ? l.number() : -1, .events = POLLIN, .revents = 0});
      const std::size_t first = watched.size();
      const bool throttled = watch_connections(watched);
      for (const Leaving& l : leaving_) watched.push_back({.fd = l.inner.number(), .events = POLLIN, .revents = 0});
      ::poll(watched.data(), watched.size(), throttled ? 20 : 250);
      now_ = setup_.now();
      traffic_.tell_time(now_);
      std::vector<Here> all;
      for (auto c = connections_.begin(); c != connections_.end(); ++c) all.push_back(c);
      ++turn_;  // not always the same one first: they share what may be read
      for (std::size_t k = 0; k < all.size(); ++k) {
        const std::size_t i = (k + turn_) % all.size();
        const short outer = watched[first + 2 * i].revents, inner = watched[first + 2 * i + 1].revents;
        if (!traffic_.carry(*all[i], outer, inner) || traffic_.expired(*all[i])) let_go(all[i]);
      }
      hear_of_handshakes();  // trap: not before, since what was watched is matched by order
      give_back();
      crowd_out(strangers(), setup_.limits.strangers, "that have not finished a handshake");
      crowd_out(parties(), setup_.limits.parties, "of parties");
      for (std::size_t i = 0; accepts && i < listeners_.size(); ++i)
        if ((watched[1 + i].revents & POLLIN) != 0) welcome(listeners_[i].number());
    }
  }

  // True: somebody has to wait before more of it is read.
  bool watch_connections(std::vector<pollfd>& watched) const {
    bool throttled = false;
    for (const Connection& c : connections_) {
      const bool reads = c.ending || traffic_.may_read(c);
      throttled = throttled || !reads;
      watched.push_back({.fd = c.outer.number(),
                         .events = static_cast<short>((reads ? POLLIN : 0) | (c.out.empty() ? 0 : POLLOUT)),
                         .revents = 0});
      const int waits = (c.out.empty() ? POLLIN : 0) | (c.in.empty() ? 0 : POLLOUT);
      // Trap: poll reports a closed socket also to who asks for nothing, at once and again.
      watched.push_back(
          {.fd = c.ending || waits == 0 ? -1 : c.inner.number(), .events = static_cast<short>(waits), .revents = 0});
    }
    return throttled;
  }

  // Trap: who has left is found out before what was said of it is taken, and its place is free only after that: what is
  // said of a place is never taken for the next one's.
  void hear_of_handshakes() {
    std::vector<int> free;
    std::erase_if(leaving_, [&](const Leaving& l) {
      if (!has_left(l)) return false;
      if (l.place >= 0) free.push_back(l.place);
      return true;
    });
    std::uint64_t ignored = 0;
    if (::read(wake_.number(), &ignored, sizeof ignored) < 0) {
    }  // nobody has woken it
    std::vector<Word> words;
    {
      const std::lock_guard lock(mutex_);
      words.swap(words_);
    }
    for (const Word& word : words) {
      const auto of =
          word.place < 0 ? connections_.end() : std::ranges::find(connections_, word.place, &Connection::place);
      if (word.party.empty())
        report_refusal(word, of);
      else if (of != connections_.end())
        admit(of, word.party);
    }
    free_places_.insert(free_places_.end(), free.begin(), free.end());
  }

  void report_refusal(const Word& word, Here of) {
    if (of == connections_.end()) return setup_.report(word.about, word.sentence);
    setup_.report(word.about + (known_.contains(of->from) ? ", where a party has been" : ""),
                  word.sentence + " (a call from " + of->from + ")");
  }

  void admit(Here c, const std::string& party) {
    c->party = party;
    free_places_.push_back(std::exchange(c->place, -1));
    traffic_.meet(party);
    if (known_.size() < 256) known_.insert(c->from);
    std::vector<Here> same = parties();
    std::erase_if(same, [&](Here other) { return other->party != party; });
    while (static_cast<int>(same.size()) > setup_.limits.of_one_party) {
      const Here longest = longest_silent(same);
      setup_.report("too many of a party", party + " has more than " + std::to_string(setup_.limits.of_one_party) +
                                               " connections: the longest silent ones are closed");
      std::erase(same, longest);
      let_go(longest);
    }
  }

  // What has ended outside. Whoever was handed it lets go in its own time, and holds memory until then: while too many
  // of these are left, nobody is accepted.
  struct Leaving {
    Descriptor inner;
    Clock::time_point since;
    int place;
  };
  void let_go(Here c) {
    ::shutdown(c->inner.number(), SHUT_WR);
    leaving_.push_back({std::move(c->inner), now_, c->place});
    connections_.erase(c);
    ended_ = now_;
  }
  bool has_left(const Leaving& l) const {
    std::array<char, 4096> ignored{};
    long n = 1;
    while (n > 0) n = ::recv(l.inner.number(), ignored.data(), ignored.size(), MSG_DONTWAIT);
    return n == 0 || errno != EAGAIN || seconds_since(l.since, now_) >= setup_.limits.handshake + 1;
  }

  // What connections took goes back to the system, once a second until it is certain that all have been let go of; the C
  // library would keep it. On a busy machine whoever was handed a connection frees what it took long after it has left.
  void give_back() {
    if (!ended_ || seconds_since(given_back_, now_) < 1) return;
    given_back_ = now_;
    ::malloc_trim(0);
    if (leaving_.empty() && seconds_since(*ended_, now_) >= 30) ended_.reset();
  }

  std::vector<Here> strangers() { return those(true); }
  std::vector<Here> parties() { return those(false); }
  std::vector<Here> those(bool strange) {
    std::vector<Here> found;
    for (auto c = connections_.begin(); c != connections_.end(); ++c)
      if (c->is_stranger() == strange) found.push_back(c);
    return found;
  }

  void crowd_out(std::vector<Here> of, int most, const std::string& which) {
    while (static_cast<int>(of.size()) > most) drop(of, one_too_many(of, known_), which);
  }

  void drop(std::vector<Here>& of, Here one, const std::string& which) {
    setup_.report("crowd " + which, "too many connections " + which + ", most of them from " + one->from +
                                        ": the longest silent ones are closed");
    std::erase(of, one);
    let_go(one);
  }

  void welcome(int listener) {
    for (int n = 0; n < 16 && !free_places_.empty(); ++n) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      Descriptor outer(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!outer.open()) return unable(errno);
      const std::string from = address_of(address);
      std::vector<Here> same = strangers();
      if (static_cast<int>(connections_.size()) >= most_) {
        if (same.empty())
          return setup_.report("full", "a connection from " + from + " was turned away: parties hold all " +
                                           std::to_string(most_) + " that this process may have");
        crowd_out(same, static_cast<int>(same.size()) - 1, "that have not finished a handshake");
        same = strangers();
      }
      std::erase_if(same, [&](Here c) { return c->from != from; });
      while (static_cast<int>(same.size()) >= setup_.limits.of_one_address)
        drop(same, longest_silent(same), "that have not finished a handshake");
      std::array<int, 2> pair{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return unable(errno);
      // What waits between the two is read at once by whoever was busy, and takes a hundred times as much there.
      const int little = 1 << 13;
      ::setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
      const int place = free_places_.back();
      free_places_.pop_back();
      connections_.push_back({.outer = std::move(outer),
                              .inner = Descriptor(pair[0]),
                              .from = from,
                              .place = place,
                              .opened = now_,
                              .active = now_,
                              .taken = now_,
                              .own = ByteRate(setup_.limits.rate_of_stranger, setup_.limits.burst_of_stranger, now_)});
      setup_.hand_on(pair[1], place);
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
  std::set<std::string> known_;  // addresses from which a party has come
  std::size_t turn_ = 0;
  std::vector<int> free_places_;
  std::mutex mutex_;
  std::vector<Word> words_;                 // with mutex_
  std::optional<Clock::time_point> ended_;  // when connections last ended, and memory was not given back since
  Clock::time_point now_ = setup_.now(), deaf_until_ = now_, given_back_ = now_;
  GateTraffic traffic_{setup_.limits, setup_.report, now_};
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

void Gate::admitted(int place, const std::string& party) {
  loop_->tell({.place = place, .party = party, .about = "", .sentence = ""});
}

void Gate::refused(int place, const std::string& about, const std::string& why) {
  loop_->tell({.place = place, .party = "", .about = about, .sentence = why});
}

int Gate::port() const {
  return loop_->port();
}

int Gate::places() const {
  return loop_->places();
}

}  // namespace parley::mesh
