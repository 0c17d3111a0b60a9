#include "parley/data/libsvm.h"

#include <cmath>
#include <random>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using testing::HasSubstr;

Rows rows_of(std::string_view text, Index features = 5) {
  return parse_libsvm(text, "a1a", features);
}
std::string rows_failure(std::string_view text, Index features = 5) {
  return message_of([&] { rows_of(text, features); });
}
long double norm(const Rows& rows, std::size_t n) {
  long double sum = 0;
  for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
    sum += static_cast<long double>(rows.value[k]) * rows.value[k];
  return std::sqrt(sum);
}

TEST(Libsvm, ReadsSparseRowsCountingFeaturesFromOne) {
  const Rows rows = rows_of("+1 1:0.5 5:-0.25 # the first\r\n\n# only a comment\n-1\n1.0\t2:0 3:1e-1 \n");
  EXPECT_EQ(rows.features, 5);
  EXPECT_EQ(rows.label, (std::vector<double>{1, -1, 1}));
  EXPECT_EQ(rows.start, (std::vector<std::size_t>{0, 2, 2, 3}));
  EXPECT_EQ(rows.column, (std::vector<std::int32_t>{0, 4, 2})) << "zeros are not stored";
  EXPECT_EQ(rows.value, (std::vector<double>{0.5, -0.25, 0.1}));
}

TEST(Libsvm, LabelsZeroAndOneBecomeMinusOneAndPlusOne) {
  EXPECT_EQ(rows_of("0 1:1\n1 1:1\n0\n").label, (std::vector<double>{-1, 1, -1}));
}

TEST(Libsvm, OtherLabelsAreAnErrorThatSaysWhatIsAllowed) {
  for (const char* label : {"2", "0.5", "-2", "nan", "inf", "yes", "1,2", "++1", "1:1"})
    EXPECT_THAT(
        rows_failure("1 1:1\n" + std::string(label) + " 1:1\n"),
        testing::AllOf(HasSubstr("a1a:2: the label is not binary; got '"), HasSubstr("allowed: -1 and +1, or 0 and 1")))
        << label;
  EXPECT_THAT(rows_failure("0 1:1\n1 1:1\n-1 1:1\n"),
              HasSubstr("a1a:3: labels 0 and -1 are mixed (line 1 has the other)"));
}

TEST(Libsvm, RowsAreClippedToNormOne) {
  const Rows rows = rows_of("1 1:3 2:4\n1 1:0.3 2:0.4\n1 1:1e308 2:-1e308 3:1e308\n");
  EXPECT_NEAR(rows.value[0], 0.6, 1e-15);
  EXPECT_NEAR(rows.value[1], 0.8, 1e-15);
  EXPECT_EQ(rows.value[2], 0.3);
  for (std::size_t n = 0; n < rows.count(); ++n) EXPECT_LE(norm(rows, n), 1.0L);
}

TEST(Libsvm, AnIndexBeyondTheAgreedNumberOfFeaturesIsAnError) {
  EXPECT_EQ(
      rows_failure("1 1:1\n1 5:1 6:1\n"),
      "a1a:2: the feature index is larger than the number of features, which is public knowledge and the same for all "
      "parties; "
      "got '6'; allowed: 1 to 5\n  what to do: if the agreed number is wrong, all parties set it with --features");
  EXPECT_THAT(rows_failure("1 99999999999999999999999:1\n"), HasSubstr("a1a:1: the feature index is larger"));
  EXPECT_THAT(rows_failure("1 1:1\n", 0), HasSubstr("option --features"));
  EXPECT_THAT(rows_failure("1 1:1\n", 3000000000), HasSubstr("option --features"));
}

TEST(Libsvm, IndicesMustBeWholePositiveAndStrictlyIncreasing) {
  for (const char* entry : {"0:1", "-1:1", "x:1", ":1", "1.5:1", "qid:3", "+1:1"})
    EXPECT_THAT(rows_failure("1\n1 " + std::string(entry)),
                HasSubstr("a1a:2: the feature index is not a whole number >= 1"))
        << entry;
  EXPECT_THAT(rows_failure("1 2:1 2:1"), HasSubstr("a1a:1: feature indices must increase strictly; got '2' after 2"));
  EXPECT_THAT(rows_failure("1 2:0 1:1"), HasSubstr("got '1' after 2"));
  EXPECT_THAT(rows_failure("1 2"), HasSubstr("a1a:1: an entry has no colon; got '2'"));
}

TEST(Libsvm, ValuesMustBeFiniteNumbers) {
  for (const char* value : {"nan", "inf", "-inf", "1e999", "", "x", "1:2", "0x10"})
    EXPECT_THAT(rows_failure("1\n1 3:" + std::string(value)),
                HasSubstr("a1a:2: the value of feature 3 is not a number"))
        << value;
}

TEST(Libsvm, AFileWithoutRowsIsAnError) {
  EXPECT_THAT(rows_failure(""), HasSubstr("a1a: the file has no rows"));
  EXPECT_THAT(rows_failure("# nothing\n\n"), HasSubstr("a1a: the file has no rows"));
}

TEST(Libsvm, ReadsFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / "parley_libsvm_test";
  write_file(path, "1 1:0.5\n");
  EXPECT_EQ(read_libsvm(path, 3).value, (std::vector<double>{0.5}));
  std::filesystem::remove(path);
  EXPECT_THAT(message_of([&] { read_libsvm(path, 3); }), HasSubstr(path.string()));
}

TEST(Libsvm, DamagedInputIsParsedOrRefusedButNothingElse) {
  auto random = repeatable_random(123);
  const std::string good = "+1 1:0.5 3:-1.25e3 5:1 # note\r\n-1 2:1 4:0.001\n\n+1\n-1 1:1 2:1 3:1 4:1 5:1\n";
  int parsed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    try {
      const Rows rows = rows_of(mutated(good, "0123456789:+-. \n\re#nif", random));
      ++parsed;
      for (std::size_t n = 0; n < rows.count(); ++n) ASSERT_LE(norm(rows, n), 1.0L);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace parley::data
