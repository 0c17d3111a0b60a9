#include "parley/data/read/bytes.h"

#include <zlib.h>

#include <filesystem>

#include "parley/base/input_file.h"
#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/data/mutate_test.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

using testing::HasSubstr;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string all_of(const Bytes& bytes, std::size_t at_once = 1000) {
  std::string text, piece(at_once, '\0');
  for (std::size_t got = at_once; got == at_once;) {
    got = bytes.read(piece.data(), at_once);
    text.append(piece, 0, got);
  }
  return text;
}

std::string unpacked(const std::string& packed, std::size_t at_once = 1000) {
  return all_of(gzip_bytes(text_bytes(packed, "a.csv.gz")), at_once);
}

std::string lines(int count) {
  std::string text = "x,y\n";
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919 % 1000) + "," + std::to_string(i) + "\n";
  return text;
}

TEST(Gzip, UnpacksOneMemberOrSeveral) {
  const std::string text = lines(30000), more = lines(10);
  EXPECT_EQ(unpacked(gzipped(text)), text);
  EXPECT_EQ(unpacked(gzipped(text), 1), text);
  EXPECT_EQ(unpacked(gzipped(text) + gzipped(more)), text + more);
  EXPECT_EQ(unpacked(gzipped("")), "");
}

TEST(Gzip, DamageAndAnEarlyEndAreErrors) {
  const std::string packed = gzipped(lines(30000));
  EXPECT_THAT(message_of([&] { unpacked(packed.substr(0, packed.size() / 2)); }), HasSubstr("ends too early"));
  EXPECT_THAT(message_of([&] { unpacked(packed.substr(0, packed.size() - 1)); }), HasSubstr("ends too early"));
  std::string wrong = packed;
  wrong[packed.size() - 6] ^= 1;  // the check sum
  EXPECT_THAT(message_of([&] { unpacked(wrong); }), HasSubstr("damaged"));
  EXPECT_THAT(message_of([&] { unpacked(packed + "rest"); }), testing::AnyOf(HasSubstr("damaged"), HasSubstr("early")));
  auto random = repeatable_random(1952);
  const std::string small = gzipped(lines(50));
  int refused = 0;
  for (int i = 0; i < 3000; ++i)
    refused += message_of([&] { unpacked(mutated(small, "\x1F\x8B\x08", random)); }) == "(no Error)" ? 0 : 1;
  EXPECT_GT(refused, 2500);
}

TEST(Gzip, ABombIsRefusedBeforeItHasGrown) {
  const std::string bomb = gzipped(std::string(200 * mebibyte, 'a'));
  std::size_t made = 0;
  const Bytes bytes = gzip_bytes(text_bytes(bomb, "bomb.csv.gz"));
  std::string piece(mebibyte, '\0');
  EXPECT_THAT(message_of([&] {
                while (true) made += bytes.read(piece.data(), piece.size());
              }),
              HasSubstr("grows beyond all proportion"));
  EXPECT_LT(made, 80 * mebibyte);
}

TEST(FileBytes, KnowGzipByItsFirstBytesAndHowFarTheyAre) {
  const auto path = std::filesystem::temp_directory_path() / "parley_bytes_test.csv";
  const std::string text = lines(5000);
  for (const std::string& content : {text, gzipped(text)}) {
    write_file(path, content);
    const Bytes bytes = file_bytes(path);
    EXPECT_EQ(all_of(bytes), text);
    EXPECT_EQ(bytes.share(), 1);
    EXPECT_EQ(read_csv(path).cells.size(), 5000U);
  }
  write_file(path, "x");
  EXPECT_EQ(all_of(file_bytes(path)), "x") << "shorter than gzip's mark";
  std::filesystem::remove(path);
}

TEST(FileBytes, ASpreadsheetIsToldAsSuch) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "parley-sheet.csv";
  for (const std::string& text : {std::string("PK\x03\x04\x14\x00", 6), std::string("PK,age\n1,2\n")}) {
    write_file(path, text);
    const bool sheet = text[2] == '\x03';
    EXPECT_EQ(message_of([&] { file_bytes(path); }).find("this is a ZIP archive") != std::string::npos, sheet);
  }
  std::filesystem::remove(path);
}

TEST(OpenBytes, ADatabaseNeedsAQueryAndItsAddressHoldsNoPassword) {
  EXPECT_THAT(message_of([] { open_bytes("postgresql://me@host/db", " ; "); }), HasSubstr("option --query"));
  for (const char* address :
       {"postgresql://me:secret@host/db", "postgres://me@host/db?password=secret", "postgresql://me:se@cret@host/db"}) {
    const std::string message = message_of([&] { open_bytes(address, "SELECT 1"); });
    EXPECT_THAT(message, HasSubstr("holds a password")) << address;
    EXPECT_THAT(message, testing::Not(HasSubstr("secret"))) << address;
  }
  EXPECT_THAT(message_of([] { open_bytes("postgresql://me@127.0.0.1:1/db?connect_timeout=2", "SELECT a FROM t"); }),
              testing::AnyOf(HasSubstr("cannot be reached"), HasSubstr("built without PostgreSQL")));
}

TEST(OpenBytes, AQueryThatComputesOverRowsIsRefusedBeforeTheDatabaseIsAsked) {
  EXPECT_THAT(message_of([] {
                open_bytes("postgresql://me@127.0.0.1:1/db?connect_timeout=2", "SELECT avg(age) OVER () FROM t");
              }),
              HasSubstr("the query is not a plain one"));
}

}  // namespace
}  // namespace parley::data
