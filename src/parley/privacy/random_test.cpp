// A copy of the process (a fork here; a restored snapshot is the same to it) must not draw the noise of the original.
#include "parley/privacy/random.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <vector>

namespace parley::privacy {
namespace {

constexpr int coordinates = 20;

// What the two copies of this process draw, the child's first.
std::pair<std::vector<double>, std::vector<double>> in_two_copies(const std::function<Vector()>& draw) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Vector mine = draw();
    const auto size = static_cast<ssize_t>(sizeof(double) * coordinates);
    ::_exit(mine.size() == coordinates && ::write(ends[1], mine.data(), sizeof(double) * coordinates) == size ? 0 : 1);
  }
  ::close(ends[1]);
  std::vector<double> theirs(coordinates);
  EXPECT_EQ(::read(ends[0], theirs.data(), sizeof(double) * coordinates),
            static_cast<ssize_t>(sizeof(double) * coordinates));
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const Vector mine = draw();
  return {theirs, {mine.begin(), mine.end()}};
}

bool share_a_coordinate(const std::pair<std::vector<double>, std::vector<double>>& both) {
  for (int k = 0; k < coordinates; ++k)
    if (both.first[static_cast<std::size_t>(k)] == both.second[static_cast<std::size_t>(k)]) return true;
  return false;
}

void frozen(std::span<unsigned char> bytes) {  // a generator whose state was copied with the process
  std::ranges::fill(bytes, static_cast<unsigned char>(7));
}

void none(std::span<unsigned char>) {
  throw NoEntropy({.what = "no randomness from the operating system"});
}

TEST(CopiedProcess, DrawsOtherNoiseFromASourceMadeBefore) {
  const NoiseSource source(std::nullopt);
  EXPECT_FALSE(share_a_coordinate(in_two_copies([&] {
    Random random = source.stream(1, 2);
    return gamma_norm_vector(coordinates, 1, random);
  })));
}

TEST(CopiedProcess, DrawsOtherNoiseFromAStreamMadeBeforeAndNotYetUsed) {
  const NoiseSource source(std::nullopt);
  Random of_a_run = source.stream(1, 2), alone = Random::secret();
  EXPECT_FALSE(share_a_coordinate(in_two_copies([&] { return gaussian_vector(coordinates, 1, of_a_run); })));
  EXPECT_FALSE(share_a_coordinate(in_two_copies([&] { return gaussian_vector(coordinates, 1, alone); })));
}

// The broken twin: without fresh entropy the two tests above would see equal noise, so they can fail.
TEST(CopiedProcess, WouldRepeatItsNoiseIfTheEntropyWereNotFresh) {
  const NoiseSource source(std::nullopt, frozen);
  const auto both = in_two_copies([&] {
    Random random = source.stream(1, 2);
    return gamma_norm_vector(coordinates, 1, random);
  });
  EXPECT_EQ(both.first, both.second);
}

// The order of R1 closes this: the inputs of a round are fixed before its first draw, so both copies compute one value.
TEST(CopiedProcess, InMidStreamBothGoOnAlike) {
  Random random = NoiseSource(std::nullopt).stream(1, 2);
  random.bits();
  const auto both = in_two_copies([&] { return gaussian_vector(coordinates, 1, random); });
  EXPECT_EQ(both.first, both.second);
}

#ifndef PARLEY_SANITIZED
TEST(NoiseSource, OfASecretLeavesNoCoreDump) {
  ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
  const NoiseSource seeded(7);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1) << "a seed is no secret";
  const NoiseSource secret(std::nullopt);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
}
#endif

TEST(Entropy, IsNeverTheSameTwiceAndFillsEverything) {
  std::vector<unsigned char> a(64), b(64);
  os_entropy(a);
  os_entropy(b);
  EXPECT_NE(a, b);
  EXPECT_GT(std::ranges::count_if(a, [](unsigned char byte) { return byte != 0; }), 32);
}

TEST(Entropy, AnErrorOrTooFewBytesIsNoEntropy) {
  std::vector<unsigned char> bytes(32);
  const auto fill = [&](long (*call)(void*, std::size_t, unsigned)) { fill_from(call, bytes); };
  EXPECT_THROW(fill([](void*, std::size_t, unsigned) -> long { return errno = ENOSYS, -1; }), NoEntropy);
  EXPECT_THROW(fill([](void*, std::size_t, unsigned) -> long { return errno = EINTR, -1; }), NoEntropy);
  EXPECT_THROW(fill([](void*, std::size_t, unsigned) -> long { return 0; }), NoEntropy);
  EXPECT_THROW(fill([](void*, std::size_t size, unsigned) { return static_cast<long>(size) - 1; }), NoEntropy);
  static int calls = 0;
  EXPECT_NO_THROW(fill([](void*, std::size_t size, unsigned) -> long {
    if (++calls < 3) return errno = EINTR, -1;
    return static_cast<long>(size);
  }));
}

TEST(Entropy, WithoutItThereIsNoSourceAndNoDraw) {
  EXPECT_THROW(NoiseSource(std::nullopt, none), NoEntropy);
  EXPECT_NO_THROW(NoiseSource(7, none)) << "a seeded run asks for none";
  static bool dry = false;
  const NoiseSource source(std::nullopt, [](std::span<unsigned char> bytes) {
    if (dry) none(bytes);
    os_entropy(bytes);
  });
  dry = true;
  Random random = source.stream(0, 1);
  EXPECT_THROW(gaussian_vector(coordinates, 1, random), NoEntropy);
  EXPECT_THROW(random.bits(), NoEntropy) << "and none later either";
}

// Bits of a seeded run stay what they were in every version: records and models of experiments depend on them.
TEST(SeededBits, AreThoseOfEarlierVersions) {
  Random random = NoiseSource(7).stream(3, 4);
  const std::vector<std::uint64_t> first = {random.bits(), random.bits(), random.bits()};
  EXPECT_THAT(first, testing::ElementsAre(0x010d2b2f486b031fU, 0x42c4b27ccd8ee56cU, 0xc2144239d07c68d4U));
}

}  // namespace
}  // namespace parley::privacy
