#include "parley/network/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "parley/base/error.h"

namespace parley::network {
namespace {

TEST(Ranks, OneProcessIsItsOwnSumAndLargest) {
  Ranks alone;
  std::vector<double> values = {1, -2};
  alone.sum(values);
  alone.largest(values);
  alone.in_turn(values, [&] { values[0] += 4; });
  EXPECT_EQ(values, (std::vector<double>{5, -2}));
  EXPECT_EQ(alone.texts("hello"), std::vector<std::string>{"hello"});
  EXPECT_GE(alone.cores(), 1);
}

TEST(Ranks, SeveralProcessesWithoutAnEngineForThemAreRefused) {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  EXPECT_EQ(launched().rank, 3);
  EXPECT_THAT([] { make_ranks("in-process"); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(testing::HasSubstr("started as 4 processes"), testing::HasSubstr("--engine mpi"))));
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(launched().count, 1);
  EXPECT_EQ(make_ranks("in-process")->count(), 1);
}

TEST(Ranks, AProgramBuiltWithoutMpiSaysWhatIsMissing) {  // this one is: CMakeLists.txt
  EXPECT_THAT([] { make_ranks("mpi"); }, testing::ThrowsMessage<Error>(testing::AllOf(
                                             testing::HasSubstr("built without MPI"), testing::HasSubstr("--engine"),
                                             testing::HasSubstr("libopenmpi-dev"))));
}

}  // namespace
}  // namespace parley::network
