#include "parley/data/source.h"

#include <algorithm>
#include <filesystem>

#include "parley/base/message_test.h"
#include "parley/base/text.h"

namespace parley::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "parley_source_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    put("s.toml",
        "[label]\ncolumn = 'y'\nclasses = ['a', 'b', 'c']\n[[columns]]\nname = 'x'\nkind = 'numeric'\n"
        "bounds = [0, 100]\n");
  }
  void TearDown() override { fs::remove_all(base_); }
  std::string put(const std::string& name, const std::string& text) const {
    write_file(base_ / name, text);
    return (base_ / name).string();
  }
  // Rows first, …, first + count − 1 of an endless table.
  std::string table(const std::string& name, int first, int count) const {
    std::string text = "x,y\n";
    for (int n = first; n < first + count; ++n)
      text += std::to_string(n) + "," + std::string(1, static_cast<char>('a' + n % 3)) + "\n";
    return put(name, text);
  }
  Options options(std::vector<std::string> data) const {
    return {.data = std::move(data), .schema = (base_ / "s.toml").string(), .nodes = 0, .test_share = 0.2};
  }
  fs::path base_;
};

TEST_F(Files, TheClassesOfTheSchemaReachTheHoldings) {
  Options o = options({table("a.csv", 0, 30), table("b.csv", 30, 20)});
  const Holdings h = load(o);
  EXPECT_THAT(h.classes, testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(h.nodes.size(), 2U);
  EXPECT_EQ(h.published.count(), 0U);
  EXPECT_EQ(h.published.features, h.test.features);
  o.split = "label-skewed";
  o.data = {table("a.csv", 0, 30)};
  EXPECT_EQ(load(o).nodes.size(), 5U);
}

TEST_F(Files, PublicRowsComeFromAFileOrOutOfTheData) {
  Options o = options({table("a.csv", 0, 50)});
  o.public_data = table("p.csv", 50, 7);
  EXPECT_EQ(load(o).published.count(), 7U);
  EXPECT_EQ(load(o).training_rows(), 40U);
  o.public_data.clear();
  o.public_rows = 10;
  const Holdings h = load(o);
  EXPECT_EQ(h.published.count(), 10U);
  EXPECT_EQ(h.test.count(), 8U);
  EXPECT_EQ(h.training_rows(), 32U);
}

TEST_F(Files, OptionsForPublicRowsThatWouldNotBeUsedAreRefused) {
  Options o = options({table("a.csv", 0, 50)});
  o.public_data = table("p.csv", 50, 7);
  o.public_rows = 3;
  EXPECT_THAT(message_of([&] { load(o); }), HasSubstr("--public-rows would not be used"));
  o.public_data.clear();
  o.data.push_back(table("b.csv", 0, 50));
  EXPECT_THAT(message_of([&] { load(o); }), HasSubstr("--public-data"));
  EXPECT_THAT(message_of([] { load({.public_data = "p.csv"}); }), HasSubstr("take rows out of it with --public-rows"));
  o = options({table("a.csv", 0, 50)});
  o.public_data = "/nowhere/p.csv";
  EXPECT_THAT(message_of([&] { load(o); }), AllOf(HasSubstr("option --public-data"), HasSubstr("does not exist")));
  o.public_data = put("q.csv", "x,y\n1,d\n");
  EXPECT_THAT(message_of([&] { load(o); }), HasSubstr("not among its classes"));
}

TEST_F(Files, TheSameFileAtTwoNodesIsRefusedHoweverItIsNamed) {
  const std::string a = table("a.csv", 0, 30), b = table("b.csv", 30, 30);
  fs::create_symlink("a.csv", base_ / "link.csv");
  fs::create_hard_link(a, base_ / "hard.csv");
  const fs::path round_about = fs::path("..") / base_.filename() / "a.csv";
  for (const fs::path& name :
       {fs::path("a.csv"), fs::path("./a.csv"), round_about, fs::path("link.csv"), fs::path("hard.csv")}) {
    const std::string again = (base_ / name).string();
    EXPECT_THAT(message_of([&] { load(options({a, b, again})); }),
                AllOf(HasSubstr("nodes 0 and 2 have the same file"), HasSubstr("'" + a + "' and '" + again + "'"),
                      HasSubstr("option --data")))
        << name;
  }
  for (const std::string built_in : {"census", "adult"})
    EXPECT_THAT(message_of([&] { load({.data = {built_in, built_in}}); }),
                HasSubstr("nodes 0 and 1 have the same file"));
  EXPECT_EQ(load(options({a, b})).nodes.size(), 2U);
}

TEST_F(Files, OneNameAtTwoNodesIsRefusedAlsoByAProcessThatDoesNotSeeTheFile) {
  const Options o = options({table("a.csv", 0, 30), "/elsewhere/own.csv", "/elsewhere/./own.csv"});
  EXPECT_THAT(message_of([&] { load(o, {.process = 0, .processes = 3}); }),
              HasSubstr("nodes 1 and 2 have the same file"));
}

TEST_F(Files, StandardInputIsForOneProcessAlone) {
  EXPECT_THAT(message_of([&] { load(options({"-"}), {.process = 0, .processes = 2}); }),
              HasSubstr("several processes cannot share standard input"));
}

TEST_F(Files, ACopyIsRefusedByItsRows) {
  const std::string a = table("a.csv", 0, 30), b = table("b.csv", 30, 30), copy = table("copy.csv", 0, 30);
  std::string text = read_file(a, "it");
  text.replace(text.find("\n7,b") + 1, 3, "7.0,b");
  const std::string retyped = put("retyped.csv", text);
  std::vector<std::string> lines = split_list(read_file(a, "it"), '\n');
  std::reverse(lines.begin() + 1, lines.begin() + 25);
  std::swap(lines[3], lines[27]);
  const std::string shuffled = put("shuffled.csv", join(lines, "\n") + "\n");
  for (const std::string& other : {copy, retyped, shuffled})
    EXPECT_THAT(message_of([&] { load(options({a, b, other})); }),
                AllOf(HasSubstr("nodes 0 and 2 hold the same rows"), HasSubstr("'" + a + "' and '" + other + "'")));
  EXPECT_EQ(load(options({a, b, table("almost.csv", 0, 31)})).nodes.size(), 3U);
  // Another process's rows are not compared: no digest of rows leaves a process.
  EXPECT_EQ(load(options({a, copy}), {.process = 0, .processes = 2}).nodes.size(), 1U);
}

TEST_F(Files, AFileToTrainOnIsNoFileToTestOnAndTakesNoNumberOfSyntheticRows) {
  Options o = options({table("a.csv", 0, 50), table("b.csv", 50, 70)});
  o.test_data = o.data[1];
  EXPECT_THAT(message_of([&] { load(o); }),
              AllOf(HasSubstr("tested on the rows that it was trained on"), HasSubstr("option --test-data")));
  o.test_data = table("c.csv", 200, 20);
  EXPECT_EQ(load(o).test.count(), 20U);
  o.rows = 30;
  EXPECT_THAT(message_of([&] { load(o); }), HasSubstr("--rows would not be used"));
}

TEST_F(Files, AFileToTrainOnCannotBeDeclaredPublic) {
  Options o = options({table("a.csv", 0, 50)});
  fs::create_symlink("a.csv", base_ / "link.csv");
  o.public_data = (base_ / "link.csv").string();
  EXPECT_THAT(message_of([&] { load(o); }), AllOf(HasSubstr("rows to train on"), HasSubstr("option --public-data")));
}

TEST(Source, RowsDeclaredPublicAreTakenOutOfBuiltInDataToo) {
  const Holdings none = load({.rows = 1000, .test_share = 0.1}),
                 some = load({.rows = 1000, .test_share = 0.1, .public_rows = 100});
  EXPECT_EQ(none.test.count(), 100U);
  EXPECT_EQ(some.test.count(), 90U);
  EXPECT_EQ(some.published.count(), 100U);
  EXPECT_EQ(some.training_rows(), 810U);
}

}  // namespace
}  // namespace parley::data
