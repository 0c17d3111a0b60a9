#include "parley/party/participant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"

namespace parley::party {
namespace {

namespace fs = std::filesystem;

std::string schema_with_bound(int high) {
  return "[label]\ncolumn = \"y\"\npositive = [\"yes\"]\nnegative = [\"no\"]\n"
         "[[columns]]\nname = \"age\"\nkind = \"numeric\"\nbounds = [0, " +
         std::to_string(high) + "]\n";
}

// Bounds that nobody approved would clip and scale otherwise than the hash says.
TEST(OwnRows, AreEncodedByTheSchemaThatTheHashCoversAlsoWhereItsFileChangedSince) {
  const fs::path folder = fs::path(testing::TempDir()) / ("own_rows_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  write_file(folder / "mine.csv", "age,y\n10,yes\n90,no\n");
  write_file(folder / "schema.toml", schema_with_bound(100));
  study::Study study;
  study.file = folder / "study.toml";
  study.schema = "schema.toml";
  study.schema_toml = data::to_toml(data::parse_schema(schema_with_bound(100), "schema.toml"));
  study.parties = {{.name = "alpha", .address = {}, .fingerprint = {}, .certificate = {}, .records = 2}};
  JoinOptions o;
  o.as = "alpha";
  o.data = (folder / "mine.csv").string();
  const data::Dataset before = own_rows(o, study).trained;
  write_file(folder / "schema.toml", schema_with_bound(200));
  const data::Dataset after = own_rows(o, study).trained;
  EXPECT_EQ(after.rows.value, before.rows.value);
  EXPECT_EQ(after.schema_toml, study.schema_toml);
  fs::remove(folder / "schema.toml");
  EXPECT_EQ(own_rows(o, study).trained.rows.value, before.rows.value);
  study.schema_toml.clear();
  EXPECT_THAT(message_of([&] { own_rows(o, study); }), testing::HasSubstr("the schema of the study is missing"));
  fs::remove_all(folder);
}

// 7 rows of 4 persons: a third held out is the last persons whole, and the roster has what remains.
TEST(OwnRows, OfPersonsAreCountedLimitedAndHeldOutByPerson) {
  const fs::path folder = fs::path(testing::TempDir()) / ("own_persons_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  write_file(folder / "mine.csv", "id,age,y\na,10,yes\nb,20,no\nc,30,no\nb,40,yes\nd,50,no\nc,60,no\na,70,no\n");
  study::Study study;
  study.file = folder / "study.toml";
  study.schema = "schema.toml";
  study.schema_toml = "person = 'id'\nrows_per_person = 2\n" + schema_with_bound(100);
  study.parties = {{.name = "alpha", .address = {}, .fingerprint = {}, .certificate = {}, .records = 4}};
  JoinOptions o;
  o.as = "alpha";
  o.data = (folder / "mine.csv").string();
  o.test_share = 0.3;  // 2 rows asked for; c and d together have 3
  const OwnRows rows = own_rows(o, study);
  EXPECT_EQ(rows.trained.person, (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(rows.held_out.count(), 3U);
  study.parties[0].records = 5;
  EXPECT_THAT(message_of([&] { own_rows(o, study); }),
              testing::HasSubstr("4 rows without the 3 that --test-share holds"));
  study.schema_toml = "person = 'id'\nrows_per_person = 1\n" + schema_with_bound(100);
  EXPECT_THAT(message_of([&] { own_rows(o, study); }), testing::HasSubstr("mine.csv:5: a person has more rows"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace parley::party
