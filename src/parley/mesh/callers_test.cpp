#include "parley/mesh/callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "parley/identity/identity.h"
#include "parley/mesh/log_throttle.h"

namespace parley::mesh {
namespace {

using Clock = std::chrono::steady_clock;

const identity::Time today{std::chrono::sys_days{std::chrono::year{2027} / 1 / 15}};

std::string certificate_of(const std::string& name, long days = 365) {
  return identity::self_issue(identity::make_key(), name, {today - std::chrono::hours(24 * 30), days}).chain_pem();
}
Contact pinned(const std::string& name, const std::string& pem) {
  return {.name = name, .address = "", .fingerprint = identity::parse_certificate(pem, "").fingerprint};
}
std::string kind_of(const Callers::Judged& judged) {
  const auto* const wrong = std::get_if<Objection>(&judged);
  return wrong == nullptr ? "" : wrong->kind;
}

TEST(Callers, WhoOpensTooManyConnectionsIsRefusedUntilTimeHasPassed) {
  const std::string a = certificate_of("a"), b = certificate_of("b");
  Clock::time_point now{};
  Callers callers({pinned("a", a), pinned("b", b)}, [] { return today; }, [&] { return now; });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(std::get<std::string>(callers.admit(a)), "a");
  const auto ninth = callers.admit(a);
  ASSERT_TRUE(std::holds_alternative<Objection>(ninth));
  EXPECT_EQ(std::get<Objection>(ninth).sentence, "a opens too many connections");
  EXPECT_EQ(std::get<std::string>(callers.name_in(a)), "a") << "calls of those that it has are answered";
  EXPECT_EQ(kind_of(callers.admit(b)), "") << "each has its own";
  now += std::chrono::milliseconds(500);
  EXPECT_EQ(kind_of(callers.admit(a)), "");
  EXPECT_EQ(kind_of(callers.admit(a)), "too many: a");
}

TEST(Callers, AStrangerCannotMakeUpKindsOfRefusals) {
  const std::string a = certificate_of("a"), old = certificate_of("a", 1);
  identity::Time clock = today;
  Callers callers({pinned("a", a)}, [&] { return clock; });
  std::set<std::string> kinds;
  for (int i = 0; i < 40; ++i) {
    kinds.insert(kind_of(callers.name_in(certificate_of("x" + std::to_string(i)))));  // its own names,
    kinds.insert(kind_of(callers.name_in(certificate_of("a"))));                      // its own keys,
    kinds.insert(kind_of(callers.name_in("garbage " + std::to_string(i))));           // and no certificate at all
  }
  EXPECT_THAT(kinds,
              testing::UnorderedElementsAre("not in the roster", "not pinned: a", "no certificate that can be read"));
  Callers of_old({pinned("a", old)}, [&] { return clock; });
  const auto early = of_old.name_in(old);
  clock += std::chrono::minutes(7);  // the sentence says what time it is
  const auto late = of_old.name_in(old);
  EXPECT_NE(std::get<Objection>(early).sentence, std::get<Objection>(late).sentence);
  EXPECT_EQ(kind_of(early), "expired: a");
  EXPECT_EQ(kind_of(late), "expired: a");
}

TEST(LogThrottle, TheFirstTheTenthAndOneInTenMinutesAreWorthALine) {
  LogThrottle::Clock::time_point now{};
  LogThrottle throttle([&] { return now; });
  EXPECT_EQ(throttle.worth("kind", "first"), "first");
  for (int i = 2; i < 10; ++i) EXPECT_EQ(throttle.worth("kind", "again"), std::nullopt);
  EXPECT_EQ(throttle.worth("kind", "tenth"), "tenth (10 times)");
  EXPECT_EQ(throttle.worth("another kind", "first"), "first");
  EXPECT_EQ(throttle.worth("kind", "again"), std::nullopt);
  now += std::chrono::minutes(10);
  EXPECT_EQ(throttle.worth("kind", "a new caller"), "a new caller (12 times)") << "nobody is silenced for good";
  EXPECT_EQ(throttle.worth("kind", "again"), std::nullopt);
  for (int i = 0; i < 300; ++i) throttle.worth("kind " + std::to_string(i), "");
  EXPECT_EQ(throttle.worth("kind 300", "new"), "new");
}

}  // namespace
}  // namespace parley::mesh
