#include "parley/data/read/check_csv.h"

#include "parley/base/message_test.h"
#include "parley/data/encode.h"
#include "parley/data/mutate_test.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Schema& patients() {
  static const Schema schema = parse_schema(
      "[label]\ncolumn = 'readmitted'\npositive = ['yes']\nnegative = ['no']\n"
      "[[columns]]\nname = 'age'\nkind = 'numeric'\nbounds = [0, 110]\n"
      "[[columns]]\nname = 'bill'\nkind = 'numeric'\nbounds = [0, 1000]\nmissing = 'middle'\n"
      "[[columns]]\nname = 'ward'\nkind = 'categorical'\ncategories = ['surgery', 'medicine']\n",
      "s.toml");
  return schema;
}

CheckedFile checked(std::string_view text, const CsvLayout& layout = {}) {
  return check_csv(text_bytes(text, "mine.csv"), patients(), layout);
}

std::vector<std::string> sentences(const CheckedFile& file) {
  std::vector<std::string> list;
  for (const auto& p : file.listed) list.push_back(p.fields.sentence());
  return list;
}

TEST(CheckCsv, ListsEveryProblemWithColumnLineValueAndWhatToDo) {
  const CheckedFile file = checked(
      "age,bill,ward,readmitted\n39,,surgery,yes\nold,5000,Surgery,no\n?,1,medcine,maybe\n1,2,medicine\nold,7,surgery,"
      "no\n");
  EXPECT_EQ(file.rows, 5U);
  EXPECT_EQ(file.problems, 7U);
  EXPECT_TRUE(file.whole);
  EXPECT_THAT(
      sentences(file),
      ElementsAre(HasSubstr("mine.csv:3: column 'age' is not a number; got 'old'"),
                  HasSubstr("mine.csv:3: column 'ward' has a value that is not among its categories; got 'Surgery'"),
                  HasSubstr("mine.csv:4: column 'age' is missing; got '?'"),
                  HasSubstr("mine.csv:4: column 'ward' has a value that is not among its categories; got 'medcine'"),
                  HasSubstr("mine.csv:4: label is not binary"),
                  HasSubstr("mine.csv:5: the row has a wrong number of fields; got 3")));
  EXPECT_EQ(file.listed[0].times, 2U);
  EXPECT_THAT(file.listed[1].fields.fix, HasSubstr("did you mean 'surgery'?"));
  EXPECT_THAT(file.listed[3].fields.fix, HasSubstr("did you mean 'medicine'?"));
}

TEST(CheckCsv, SumsUpEachColumn) {
  const CheckedFile file = checked("age,bill,ward,readmitted\n39,,surgery,yes\n40,5000,surgery,no\n41,-1,x,no\n");
  ASSERT_EQ(file.columns.size(), 4U);
  EXPECT_EQ(file.columns[1].name, "bill");
  EXPECT_EQ(file.columns[1].kind, "numeric");
  EXPECT_EQ(file.columns[1].missing, 1U);
  EXPECT_EQ(file.columns[1].outside, 2U) << "clipped, which is no problem, but worth a look";
  EXPECT_EQ(file.columns[2].unlisted, 1U);
  EXPECT_EQ(file.columns[2].problems, 1U);
  EXPECT_EQ(file.columns[3].kind, "label");
  EXPECT_EQ(file.problems, 1U);
}

TEST(CheckCsv, ColumnsThatDifferAreToldTogetherAndTheRestIsStillChecked) {
  const CheckedFile file = checked("Age,ward,readmited,site\n39,x,yes,A\n");
  EXPECT_THAT(sentences(file), ElementsAre(HasSubstr("label column 'readmitted' is not in the table"),
                                           HasSubstr("column 'Age' is not in the schema"),
                                           HasSubstr("column 'site' is not in the schema"),
                                           HasSubstr("schema column 'age' is not in the table"),
                                           HasSubstr("schema column 'bill' is not in the table"),
                                           HasSubstr("mine.csv:2: column 'ward' has a value")));
  EXPECT_THAT(file.listed[0].fields.fix, HasSubstr("did you mean 'readmited'?"));
  EXPECT_THAT(file.listed[1].fields.fix, HasSubstr("did you mean 'age'?"));
}

TEST(CheckCsv, AFileThatCannotBeReadOnIsSaidToBeCheckedInPart) {
  const CheckedFile file = checked("age,bill,ward,readmitted\nold,1,surgery,yes\n1,2,\"surgery,no\n");
  EXPECT_FALSE(file.whole);
  EXPECT_THAT(sentences(file),
              ElementsAre(HasSubstr("mine.csv:2"), HasSubstr("mine.csv:3: a quoted field is never closed")));
  EXPECT_THAT(sentences(checked("")), ElementsAre(HasSubstr("the file is empty")));
}

TEST(CheckCsv, FindsAProblemExactlyWhereLoadingFails) {
  auto random = repeatable_random(15);
  const std::string good = "age,bill,ward,readmitted\n39,,surgery,yes\n40,5,medicine,no\n41,7,\"surgery\",no\n";
  int fine = 0, wrong = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutated(good, "\",\n1aey ", random);
    const bool loads =
        message_of([&] { load_csv(text_bytes(text, "mine.csv"), patients(), {.threads = 1}); }) == "(no Error)";
    ASSERT_EQ(checked(text).problems == 0, loads) << text;
    ++(loads ? fine : wrong);
  }
  EXPECT_GT(fine, 50);
  EXPECT_GT(wrong, 1000);
}

// Messages of `parley train` for the mistakes that people make first.
std::string column_failure(const std::string& header, char delimiter = ',') {
  const std::string text = header + "\n1,2,surgery,yes\n";
  return message_of(
      [&] { load_csv(text_bytes(text, "mine.csv"), patients(), {.layout = {.delimiter = delimiter}, .threads = 1}); });
}

TEST(ColumnMistakes, CapitalLettersAreSuspected) {
  EXPECT_THAT(column_failure("AGE,bill,ward,readmitted"),
              testing::AllOf(HasSubstr("column 'AGE' is not in the schema"), HasSubstr("did you mean 'age'?")));
}

TEST(ColumnMistakes, AnotherTableAndRowsWithoutAHeaderAreToldAsSuch) {
  for (const char* header : {"39,5000,surgery,yes", "month,amount", "[label]"})
    EXPECT_THAT(column_failure(header), testing::AllOf(HasSubstr("no column of this file is in the schema"),
                                                       HasSubstr("--header no"), HasSubstr("'age', 'bill', 'ward'")))
        << header;
  const CheckedFile file = checked("39,5000,surgery,yes\n40,1,surgery,no\n");
  EXPECT_THAT(sentences(file), ElementsAre(HasSubstr("no column of this file is in the schema")));
}

TEST(ColumnMistakes, AMisspeltLabelIsToldAsTheLabel) {
  EXPECT_THAT(column_failure("age,bill,ward,readmited"),
              testing::AllOf(HasSubstr("label column 'readmitted' is not in the table"),
                             HasSubstr("did you mean 'readmited'?")));
  EXPECT_THAT(column_failure("age,bill,ward,y"), HasSubstr("column 'y' is not in the schema"));
}

TEST(ColumnMistakes, AHeaderThatIsOneFieldSuspectsTheDelimiter) {
  EXPECT_THAT(column_failure("age;bill;ward;readmitted"), HasSubstr("give --delimiter semicolon"));
  EXPECT_THAT(column_failure("age,bill,ward,readmitted", ';'), HasSubstr("give --delimiter comma"));
}

}  // namespace
}  // namespace parley::data
