#include "parley/mesh/courier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "parley/base/error.h"

namespace parley::mesh {
namespace {

const identity::Time begin{std::chrono::sys_days{std::chrono::year{2027} / 1 / 15}};

// Two couriers on this machine, a and b, each with a clock that the test sets.
class Couriers : public testing::Test {
 protected:
  struct Side {
    std::unique_ptr<Courier> courier;
    identity::Time clock = begin;
    int delivered = 0;
    std::string log;
  };

  void SetUp() override {
    // Of b not valid before `begin`; of a an hour earlier, like every certificate that is made at `begin`.
    const identity::Identity a = made("a", begin), b = made("b", begin + std::chrono::hours(1));
    valid_from_ = b.certificate.not_before;
    try {
      open(b_, b, {{"a", "127.0.0.1:1", a.certificate.fingerprint}, {"b", "127.0.0.1:0", b.certificate.fingerprint}});
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();  // built without gRPC
    }
    open(a_, a,
         {{"a", "127.0.0.1:0", a.certificate.fingerprint},
          {"b", "127.0.0.1:" + std::to_string(b_.courier->port()), b.certificate.fingerprint}});
  }
  void TearDown() override {
    for (Side* side : {&a_, &b_})
      if (side->courier) side->courier->close();
  }

  static identity::Identity made(const std::string& name, identity::Time from) {
    const identity::PrivateKey key = identity::make_key();
    return {key, identity::self_issue(key, name, {from})};
  }

  void open(Side& side, const identity::Identity& self, std::vector<Contact> roster) {
    side.courier =
        make_courier({.self = self,
                      .listen = "127.0.0.1:0",
                      .roster = std::move(roster),
                      .largest = largest,
                      .now =
                          [&] {
                            const std::lock_guard lock(mutex_);
                            return side.clock;
                          },
                      .deliver =
                          [&](const std::string&, std::string_view message) {
                            const std::lock_guard lock(mutex_);
                            bytes_ += message.size();
                            ++side.delivered;
                            return protocol::Receipt{};
                          },
                      .answered = [&](std::uint64_t call, const protocol::Receipt&) { end(call, ""); },
                      .failed = [&](std::uint64_t call, const CallFailure& failure, bool) { end(call, failure.why); },
                      .report =
                          [&](const std::string& sentence) {
                            const std::lock_guard lock(mutex_);
                            side.log += sentence + "\n";
                          }});
    side.courier->open();
  }

  void end(std::uint64_t call, const std::string& failure) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = call;
      failure_ = failure;
    }
    ended_one_.notify_all();
  }

  void set_clock(Side& side, identity::Time to) {
    const std::lock_guard lock(mutex_);
    side.clock = to;
  }

  // A message of a's to b: why it was not carried, or "".
  std::string call(std::string message = "message") {
    const std::uint64_t number = ++calls_;
    a_.courier->send(number, 1, std::move(message));
    std::unique_lock lock(mutex_);
    ended_one_.wait(lock, [&] { return ended_ == number; });
    return failure_;
  }

  // Again and again: gRPC waits a little before it connects anew.
  std::string call_until(const std::function<bool(const std::string& failure)>& enough) {
    std::string failure = call();
    for (int i = 0; i < 1000 && !enough(failure); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      failure = call();
    }
    return failure;
  }

  std::string log_of(const Side& side) {
    const std::lock_guard lock(mutex_);
    return side.log;
  }

  int delivered() {
    const std::lock_guard lock(mutex_);
    return b_.delivered;
  }

  std::mutex mutex_;
  std::condition_variable ended_one_;
  Side a_, b_;
  identity::Time valid_from_;
  std::uint64_t calls_ = 0, ended_ = 0;
  std::size_t bytes_ = 0;  // delivered
  static constexpr std::size_t largest = std::size_t{37} << 20;
  std::string failure_;
};

TEST_F(Couriers, WhoAnswersUnderACertificateIsCalledFromTheSecondOnThatItNames) {
  set_clock(a_, valid_from_ - std::chrono::seconds(1));
  EXPECT_THAT(call_until([](const std::string& f) { return f.find("valid from") != std::string::npos; }),
              testing::HasSubstr("the certificate of 'b' is valid from"));
  EXPECT_EQ(delivered(), 0);
  set_clock(a_, valid_from_);
  EXPECT_EQ(call_until([](const std::string& f) { return f.empty(); }), "");
  EXPECT_EQ(delivered(), 1);
}

TEST_F(Couriers, WhoCallsUnderACertificateIsHeardFromTheSecondOnThatItNames) {
  const identity::Time a_valid_from = begin - std::chrono::hours(1);
  set_clock(b_, a_valid_from - std::chrono::seconds(1));
  EXPECT_THAT(call_until([](const std::string& f) { return f.find("handshake") != std::string::npos; }),
              testing::HasSubstr("refused in the handshake"));
  EXPECT_THAT(log_of(b_), testing::HasSubstr("a caller was refused: the certificate of 'a' is valid from"));
  EXPECT_EQ(delivered(), 0);
  set_clock(b_, a_valid_from);
  EXPECT_EQ(call_until([](const std::string& f) { return f.empty(); }), "");
  EXPECT_EQ(delivered(), 1);
}

// What a study needs is no flood: newton's second moments are of many mebibytes, and small ones follow one another.
TEST_F(Couriers, MessagesOfTheStudysSizePassTheGate) {
  const std::size_t many = std::size_t{36} << 20;
  EXPECT_EQ(call(std::string(many, 'x')), "");
  EXPECT_EQ(call(std::string(many, 'x')), "");
  for (int i = 0; i < 200; ++i) EXPECT_EQ(call(), "");
  EXPECT_EQ(delivered(), 202);
  EXPECT_GT(bytes_, 2 * many);
  EXPECT_EQ(log_of(b_), "");
}

}  // namespace
}  // namespace parley::mesh
