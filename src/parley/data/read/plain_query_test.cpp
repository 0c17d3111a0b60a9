#include "parley/data/read/plain_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/base/message_test.h"

namespace parley::data {
namespace {

using testing::HasSubstr;

TEST(PlainQuery, ColumnsOfOneTableAndConditionsOnThemAreReadAndWrittenAnew) {
  const std::pair<const char*, const char*> pairs[] = {
      {"SELECT * FROM patients", "SELECT * FROM patients"},
      {"select\tage,job\r\nfrom  ward.patients", "select age , job from ward . patients"},
      {R"(SELECT "Größe ""cm""" AS size, größe, _a$1 FROM "Ward"."a;b(--")",
       R"(SELECT "Größe ""cm""" AS size , größe , _a$1 FROM "Ward" . "a;b(--")"},
      {"SELECT a FROM t WHERE age>=-40 AND NOT(job='nurse' OR job<>'O''Neill; --(')",
       "SELECT a FROM t WHERE age >= -40 AND NOT ( job = 'nurse' OR job <> 'O''Neill; --(' )"},
      {"SELECT a FROM t WHERE a BETWEEN 1.5 AND 2e-3 AND b NOT IN ('x', 2) OR c IS NOT NULL AND d = TRUE",
       "SELECT a FROM t WHERE a BETWEEN 1.5 AND 2e-3 AND b NOT IN ( 'x' , 2 ) OR c IS NOT NULL AND d = TRUE"}};
  for (const auto& [text, sent] : pairs) EXPECT_EQ(plain_query(text), sent);
}

// One record replaced would change other rows, how many there are, or their places.
TEST(PlainQuery, WhateverCouldComputeOverSeveralRowsIsRefused) {
  for (const char* text : {"SELECT avg(age) OVER () AS age FROM t",
                           "SELECT age - 1 AS age FROM t",
                           "SELECT rank() OVER (ORDER BY age) FROM t",
                           "SELECT count(*) FROM t",
                           "SELECT DISTINCT age FROM t",
                           "SELECT DISTINCT * FROM t",
                           "SELECT distinct FROM t",
                           "SELECT age FROM t GROUP BY age",
                           "SELECT age FROM t LIMIT 5",
                           "SELECT age FROM t OFFSET 5",
                           "SELECT age FROM t FETCH FIRST ROW ONLY",
                           "SELECT age FROM t ORDER BY age",
                           "SELECT age FROM t WHERE age > 1 ORDER BY age",
                           "SELECT age FROM t TABLESAMPLE SYSTEM (5)",
                           "SELECT age FROM t WINDOW w AS ()",
                           "SELECT age FROM t HAVING true",
                           "SELECT age FROM t UNION SELECT age FROM u",
                           "SELECT age FROM t, u",
                           "SELECT age FROM t JOIN u USING (id)",
                           "SELECT age FROM t NATURAL JOIN u",
                           "SELECT age FROM (SELECT age FROM t) AS u",
                           "SELECT age FROM rows_of(5)",
                           "SELECT (SELECT max(age) FROM t) FROM t",
                           "SELECT t.mean_age FROM t",  // a function of that name, where there is no such column
                           "SELECT age FROM t WHERE t.mean_age > 4",
                           "SELECT age FROM t WHERE age > (SELECT avg(age) FROM t)",
                           "SELECT age FROM t WHERE age IN (SELECT age FROM u)",
                           "SELECT age FROM t WHERE EXISTS (SELECT 1)",
                           "SELECT age FROM t WHERE age = f(1)",
                           "SELECT age FROM t WHERE f(age) = 1",
                           "SELECT age FROM t WHERE age = other",
                           "SELECT age FROM t WHERE age = ANY('{1}')",
                           "SELECT CASE WHEN age > 4 THEN 1 END FROM t",
                           "SELECT age::text FROM t",
                           "WITH u AS (SELECT age FROM t) SELECT age FROM u",
                           "TABLE t",
                           "VALUES (1)",
                           "SELECT 1",
                           "SELECT 'a' AS age FROM t",
                           "SELECT current_user FROM t",
                           "DELETE FROM t RETURNING age",
                           "SELECT age INTO u FROM t",
                           "SELECT age FROM t FOR UPDATE",
                           "SELECT age FROM ONLY t",
                           "SELECT age FROM a.b.t",
                           ""}) {
    const std::string message = message_of([&] { plain_query(text); });
    EXPECT_THAT(message, HasSubstr("the query is not a plain one")) << text;
    EXPECT_THAT(message, HasSubstr("option --query")) << text;
  }
}

// Nothing of the text may be read in another way by the server than here.
TEST(PlainQuery, TextsCommentsAndSignsThatTwoReadersCouldReadInTwoWaysAreRefused) {
  for (const char* text : {"SELECT age FROM t; DELETE FROM t",
                           "SELECT age FROM t;",
                           "SELECT age -- FROM u\nFROM t",
                           "SELECT age /**/ FROM t",
                           "SELECT age FROM t WHERE a = '\\' OR b = ' '",
                           "SELECT age FROM t WHERE a = E'\\''",
                           "SELECT age FROM t WHERE a = U&'x'",
                           "SELECT age FROM t WHERE a = $1",
                           "SELECT age FROM t WHERE a = $$x$$",
                           "SELECT age FROM t WHERE a = 'x",
                           "SELECT age FROM \"t",
                           "SELECT age FROM t WHERE a = 'x' 'y'",
                           "SELECT age FROM t WHERE a = 1e",
                           "SELECT age FROM t WHERE a = 1x",
                           "SELECT age FROM t WHERE a = 0x1F",
                           "SELECT age FROM t WHERE a = 1.",
                           "SELECT age FROM t WHERE a = --1",
                           "SELECT age FROM t WHERE a ~ 'x'",
                           "SELECT age FROM t WHERE a = NULL",
                           "SELECT age FROM t WHERE",
                           "SELECT age FROM t WHERE (a = 1",
                           "SELECT age FROM t WHERE a = 1)",
                           "SELECT age, FROM t",
                           "SELECT age b FROM t",
                           "SELECT age FROM t AS u",
                           "SELECT age) TO STDOUT; --"})
    EXPECT_THAT(message_of([&] { plain_query(text); }), HasSubstr("option --query")) << text;
  using namespace std::string_view_literals;
  EXPECT_THAT(message_of([] { plain_query("SELECT age FROM t WHERE a = 'x\0y'"sv); }), HasSubstr("option --query"));
  EXPECT_THAT(message_of([] { plain_query("SELECT a FROM t WHERE " + std::string(5000, '(')); }),
              HasSubstr("at most 50 parentheses"));
  EXPECT_THAT(message_of([] { plain_query("SELECT a FROM " + std::string(100'000, 't')); }), HasSubstr("too long"));
}

TEST(PlainQuery, TheMessageSaysWhatIsAllowedAndWhatToDo) {
  const std::string message = message_of([] { plain_query("SELECT age, avg(age) FROM t"); });
  for (const char* text : {"'('", "SELECT columns FROM table WHERE", "one row per record"})
    EXPECT_THAT(message, HasSubstr(text));
}

}  // namespace
}  // namespace parley::data
