#include "parley/party/participant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

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

}  // namespace
}  // namespace parley::party
