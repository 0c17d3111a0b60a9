#include "parley/mesh/gate.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "parley/base/error.h"
#include "parley/mesh/address.h"

namespace parley::mesh {
namespace {

// A gate on this machine; what it hands on is kept here.
class AtTheGate : public testing::Test {
 protected:
  void open(Gate::Limits limits) {
    gate_.emplace(Gate::Setup{.listen = "127.0.0.1:0",
                              .limits = limits,
                              .hand_on =
                                  [this](int socket, int place) {
                                    {
                                      const std::lock_guard lock(mutex_);
                                      inside_.emplace_back(socket);
                                      places_.push_back(place);
                                    }
                                    changed_.notify_all();
                                  },
                              .report =
                                  [this](const std::string& about, const std::string& sentence) {
                                    {
                                      const std::lock_guard lock(mutex_);
                                      kinds_.insert(about);
                                      log_ += sentence + "\n";
                                    }
                                    changed_.notify_all();
                                  },
                              .now =
                                  [this] {
                                    if (clock_ == 0) return std::chrono::steady_clock::now();
                                    return std::chrono::steady_clock::time_point(
                                        std::chrono::milliseconds(static_cast<long>(1000 * clock_)));
                                  }});
    gate_->open();
  }

  Descriptor connect(const std::string& from = "127.0.0.1") const {
    Descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    ::inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    ::bind(s.number(), reinterpret_cast<sockaddr*>(&own), sizeof own);
    sockaddr_in to{.sin_family = AF_INET,
                   .sin_port = htons(static_cast<std::uint16_t>(gate_->port())),
                   .sin_addr = {},
                   .sin_zero = {}};
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    EXPECT_EQ(::connect(s.number(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return s;
  }

  void await(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }
  void await_inside(std::size_t count) {
    await([&] { return inside_.size() == count; });
  }
  // A connection whose handshake has ended well. Nothing of its party's share is used yet.
  Descriptor arrives(const std::string& party, const std::string& from = "127.0.0.1") {
    Descriptor s = connect(from);
    std::unique_lock lock(mutex_);
    const std::size_t number = ++came_;
    changed_.wait(lock, [&] { return places_.size() == number; });
    const int place = places_.back();
    const Descriptor& inside = inside_.back();
    lock.unlock();
    gate_->admitted(place, party);
    say(inside, "x");
    EXPECT_EQ(hear(s, 1), "x");  // so the gate hears of it before it reads anything
    return s;
  }

  static void say(const Descriptor& s, const std::string& text) {
    ASSERT_EQ(::send(s.number(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<long>(text.size()));
  }
  // So many bytes, or what came before the other side closed.
  static std::string hear(const Descriptor& s, std::size_t most) {
    std::string text;
    while (text.size() < most) {
      pollfd wait{.fd = s.number(), .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, -1);
      std::array<char, 4096> bytes{};
      const long n = ::recv(s.number(), bytes.data(), std::min(bytes.size(), most - text.size()), 0);
      if (n <= 0) break;
      text.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return text;
  }
  static bool is_open(const Descriptor& s) {
    char byte = 0;
    return ::recv(s.number(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Descriptor> inside_;
  std::vector<int> places_;  // of each
  std::size_t came_ = 0;     // by arrives()
  std::string log_;
  std::set<std::string> kinds_;
  std::atomic<double> clock_ = 0;  // seconds; 0: the real one
  std::optional<Gate> gate_;       // last: its thread ends before what it uses
};

TEST_F(AtTheGate, BytesPassBothWaysAndEitherSideMayEnd) {
  open({.unanswered = 1e9, .rate_of_stranger = 1e9, .burst_of_stranger = 1e9});
  const Descriptor outside = connect();
  await_inside(1);
  const std::string much(300000, 'x');
  std::thread talk([&] { say(outside, much + "?"); });
  EXPECT_EQ(hear(inside_[0], much.size() + 1), much + "?");
  talk.join();
  say(inside_[0], "an answer");
  inside_.clear();  // what was said last still arrives
  EXPECT_EQ(hear(outside, 100), "an answer");
  Descriptor second = connect();
  await_inside(1);
  say(second, "!");
  second = Descriptor();
  EXPECT_EQ(hear(inside_[0], 100), "!");
}

// Its questions would be kept with the answers that it does not take.
TEST_F(AtTheGate, WhoDoesNotTakeItsAnswersIsNotHeardAndThenClosed) {
  clock_ = 1;
  open({});
  const Descriptor deaf = arrives("a"), other = arrives("b", "127.0.0.2");
  const std::string much(1 << 16, 'x');
  pollfd room{.fd = inside_[0].number(), .events = POLLOUT, .revents = 0};
  while (::poll(&room, 1, 200) == 1) ::send(room.fd, much.data(), much.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  say(deaf, "?");
  clock_ = 7;
  EXPECT_EQ(hear(inside_[0], 1), "");
  EXPECT_TRUE(is_open(other));
}

TEST_F(AtTheGate, OneAddressCannotCrowdOutAnother) {
  clock_ = 1;
  open({.strangers = 100, .of_one_address = 3});
  const Descriptor friendly = connect("127.0.0.2");
  std::vector<Descriptor> crowd;
  for (int i = 0; i < 10; ++i) crowd.push_back(connect());
  await_inside(11);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(hear(crowd[static_cast<std::size_t>(i)], 1), "") << i;
  for (int i = 7; i < 10; ++i) EXPECT_TRUE(is_open(crowd[static_cast<std::size_t>(i)])) << i;
  EXPECT_TRUE(is_open(friendly));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(
      log_, testing::HasSubstr("too many connections that have not finished a handshake, most of them from 127.0.0.1"));
}

TEST_F(AtTheGate, PartiesAreNotCrowdedOutByStrangersButHaveALimitToo) {
  clock_ = 1;
  open({.strangers = 2, .of_one_address = 2, .parties = 2});
  const Descriptor first = arrives("a");
  clock_ = 2;
  const Descriptor second = arrives("b");
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(connect());
  await([&] { return places_.size() == 7; });
  EXPECT_TRUE(is_open(first) && is_open(second));
  clock_ = 3;
  int place = 0;
  await([&] { return (place = places_.back()) >= 0; });
  gate_->admitted(place, "c");
  await([&] { return log_.find("too many connections of parties") != std::string::npos; });
  EXPECT_EQ(hear(first, 1), "");  // the longest silent
  EXPECT_TRUE(is_open(second));
}

TEST_F(AtTheGate, OfOnePartyTheLongestSilentConnectionsAreClosed) {
  clock_ = 1;
  open({.of_one_party = 2});
  const Descriptor other = arrives("b");
  std::vector<Descriptor> many;
  for (int i = 0; i < 4; ++i) {
    clock_ = 2 + i;
    many.push_back(arrives("a"));
  }
  EXPECT_EQ(hear(many[0], 1), "");
  EXPECT_EQ(hear(many[1], 1), "");
  EXPECT_TRUE(is_open(many[2]) && is_open(many[3]) && is_open(other));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(log_, testing::HasSubstr("a has more than 2 connections: the longest silent ones are closed"));
}

TEST_F(AtTheGate, WhatNeverHasAnAnswerIsNotReadForEver) {
  clock_ = 1;
  open({.unanswered = 5000, .rate = 1e9, .burst = 1e9});
  const Descriptor endless = arrives("a"), honest = arrives("b");
  for (int i = 0; i < 4; ++i) {  // three times as much in all, with answers
    say(honest, std::string(4000, 'x'));
    EXPECT_EQ(hear(inside_[1], 4000).size(), 4000U);
    say(inside_[1], "!");
    EXPECT_EQ(hear(honest, 1), "!");
  }
  say(endless, std::string(20000, 'x'));
  EXPECT_EQ(hear(endless, 1), "");
  EXPECT_TRUE(is_open(honest));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(log_, testing::HasSubstr("a has sent"));
  EXPECT_THAT(log_, testing::HasSubstr("bytes to which there is no answer: its connection is closed"));
}

TEST_F(AtTheGate, AStrangerIsLetGoWhenNoHandshakeCanLastAnyLonger) {
  clock_ = 1;
  open({.handshake = 5});
  const Descriptor party = arrives("a"), stranger = connect();
  await_inside(2);
  clock_ = 7.5;
  EXPECT_EQ(hear(stranger, 1), "");
  EXPECT_TRUE(is_open(party));
}

// What is said late of a connection that has ended is not taken for the next one's in its place.
TEST_F(AtTheGate, APlaceIsFreeWhenItsConnectionHasLeftOnBothSides) {
  clock_ = 1;
  open({.strangers = 1, .of_one_address = 1});
  for (int i = 0; i < 40; ++i) {  // more often than there are places
    const Descriptor s = connect();
    await_inside(1);
    const std::lock_guard lock(mutex_);
    inside_.clear();
  }
  std::set<int> places(places_.begin(), places_.end());
  EXPECT_LE(*places.rbegin(), gate_->places() - 1);
  EXPECT_EQ(*places.begin(), 0);
}

TEST_F(AtTheGate, ARefusalIsReportedWithTheAddressThatItCameFrom) {
  clock_ = 1;
  open({});
  const Descriptor party = arrives("a", "127.0.0.2"), again = connect("127.0.0.2"), stranger = connect("127.0.0.3");
  await_inside(3);
  for (const int place : places_) gate_->refused(place, "expired: a", "the certificate of 'a' expired");
  await([&] { return log_.find("expired (a call from 127.0.0.2)") != std::string::npos; });
  await([&] { return log_.find("expired (a call from 127.0.0.3)") != std::string::npos; });
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(kinds_.contains("expired: a, where a party has been"));  // not silenced by strangers elsewhere
  EXPECT_TRUE(kinds_.contains("expired: a"));
}

TEST_F(AtTheGate, AStrangerWithManyAddressesDoesNotKeepAPartyOut) {
  clock_ = 1;
  open({.handshake = 5, .strangers = 8, .of_one_address = 8});
  const Descriptor before = arrives("a", "127.0.0.9");
  const Descriptor again = connect("127.0.0.9");  // the longest silent of all who come
  await_inside(2);
  clock_ = 2;
  std::vector<Descriptor> crowd;
  for (int i = 0; i < 12; ++i) crowd.push_back(connect("127.0.1." + std::to_string(i + 1)));
  await_inside(14);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hear(crowd[static_cast<std::size_t>(i)], 1), "") << i;
  EXPECT_TRUE(is_open(again));
  EXPECT_TRUE(is_open(before));
}

TEST_F(AtTheGate, BytesAreReadNoFasterThanAllowed) {
  clock_ = 1;
  open({.rate_of_stranger = 1000, .burst_of_stranger = 5000});
  const Descriptor outside = connect();
  await_inside(1);
  say(outside, std::string(20000, 'x'));
  EXPECT_EQ(hear(inside_[0], 5000).size(), 5000U);
  const Descriptor other = connect();  // the gate has gone round once more
  await_inside(2);
  EXPECT_TRUE(is_open(inside_[0]));  // and nothing is there to read
  clock_ = 1.5;
  EXPECT_EQ(hear(inside_[0], 500).size(), 500U);
}

// Whoever is busy reads all that waits at once, and each reset stream in it takes memory a hundred times its bytes.
TEST_F(AtTheGate, LittleWaitsForWhoeverIsBusyInside) {
  open({.of_one_address = 64, .unanswered = 1e9, .rate_of_stranger = 1e9, .burst_of_stranger = 1e9});
  const Descriptor outside = connect();
  await_inside(1);
  std::thread talk([&] { say(outside, std::string(1 << 18, 'x')); });
  std::vector<Descriptor> others;
  for (std::size_t n = 2; n < 32; ++n) {  // the gate goes round again and again
    others.push_back(connect());
    await_inside(n);
  }
  int waiting = 0;
  ASSERT_EQ(::ioctl(inside_[0].number(), FIONREAD, &waiting), 0);
  EXPECT_GT(waiting, 0);
  EXPECT_LE(waiting, 1 << 14);
  hear(inside_[0], 1 << 18);
  talk.join();
}

TEST_F(AtTheGate, AllConnectionsOfOnePartyShareWhatIsReadOfIt) {
  clock_ = 1;
  open({.unanswered = 1e9, .rate = 1000, .burst = 5000});
  const Descriptor first = arrives("a"), second = arrives("a"), other = arrives("b");
  say(first, std::string(20000, 'x'));
  EXPECT_EQ(hear(inside_[0], 5000).size(), 5000U);
  say(second, std::string(20000, 'x'));
  say(other, std::string(1000, 'x'));
  EXPECT_EQ(hear(inside_[2], 1000).size(), 1000U);
  EXPECT_TRUE(is_open(inside_[0]) && is_open(inside_[1]));  // and nothing is there to read
}

TEST_F(AtTheGate, ThereIsALimitToWhatIsReadOfAllParties) {
  clock_ = 1;
  open({.unanswered = 1e9, .rate = 1000, .burst = 5000, .rate_of_all = 1000, .burst_of_all = 7000});
  const Descriptor first = arrives("a"), second = arrives("b"), third = connect();
  await_inside(3);
  say(first, std::string(20000, 'x'));
  EXPECT_EQ(hear(inside_[0], 5000).size(), 5000U);
  say(second, std::string(20000, 'x'));
  EXPECT_EQ(hear(inside_[1], 2000).size(), 2000U);
  say(third, "x");  // a stranger's share is its own
  EXPECT_EQ(hear(inside_[2], 1), "x");
  EXPECT_TRUE(is_open(inside_[0]) && is_open(inside_[1]));
}

TEST_F(AtTheGate, WhoSaysNothingForLongIsLetGo) {
  clock_ = 1;
  open({.idle = 300});
  const Descriptor silent = arrives("a"), other = arrives("b");
  clock_ = 200;
  say(other, "still here");
  EXPECT_EQ(hear(inside_[1], 10), "still here");
  clock_ = 301;
  EXPECT_EQ(hear(silent, 1), "");
  EXPECT_TRUE(is_open(other));
}

TEST_F(AtTheGate, ALackOfDescriptorsIsSaidAndDoesNotLast) {
  open({});
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int free = ::dup(0);
  ::close(free);
  const Descriptor outside(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit few{static_cast<rlim_t>(free) + 1, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  sockaddr_in to{.sin_family = AF_INET,
                 .sin_port = htons(static_cast<std::uint16_t>(gate_->port())),
                 .sin_addr = {},
                 .sin_zero = {}};
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  ASSERT_EQ(::connect(outside.number(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  await([&] { return log_.find("could not be taken: Too many open files") != std::string::npos; });
  ::setrlimit(RLIMIT_NOFILE, &before);
  await_inside(1);
}

TEST(Gate, AnAddressThatIsTakenOrAnotherMachinesIsRefused) {
  const auto gate_at = [](const std::string& address) {
    return std::make_unique<Gate>(Gate::Setup{
        .listen = address, .hand_on = [](int, int) {}, .report = [](const std::string&, const std::string&) {}});
  };
  const auto first = gate_at("127.0.0.1:0");
  const auto says = [](const std::string& text) { return testing::ThrowsMessage<Error>(testing::HasSubstr(text)); };
  EXPECT_THAT([&] { gate_at("127.0.0.1:" + std::to_string(first->port())); }, says("cannot listen for peers"));
  EXPECT_THAT([&] { gate_at("192.0.2.1:0"); }, says("cannot listen for peers"));
  EXPECT_THAT([&] { gate_at("nowhere"); }, says("no port in it"));
}

}  // namespace
}  // namespace parley::mesh
