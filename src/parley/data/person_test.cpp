// A person as the unit (docs/proofs/person.md, sections 1 and 3): counted while a file is read, never apart in a split,
// and what one person's rows hold moves nobody else.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "parley/base/message_test.h"
#include "parley/base/public_random.h"
#include "parley/base/text.h"
#include "parley/data/dealt_test.h"
#include "parley/data/encode.h"
#include "parley/data/read/check_csv.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/source.h"

namespace parley::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string visit_columns =
    "[label]\ncolumn = 'y'\npositive = ['yes']\nnegative = ['no']\n"
    "[[columns]]\nname = 'x'\nkind = 'numeric'\nbounds = [0, 1000000]\n";

Schema visits(const std::string& top = "person = 'id'\nrows_per_person = 2\n", const std::string& more = "") {
  return parse_schema(top + visit_columns + more, "s.toml");
}

Dataset load_visits(const std::string& text, const Schema& schema, int threads = 1, Watch watch = {}) {
  return load_csv(text_bytes(text, "v.csv"), schema, {.threads = threads, .watch = std::move(watch)});
}

TEST(PersonSchema, IsReadAndWrittenBack) {
  const Schema s = visits("person = 'id'\nrows_per_person = 4\nextra_rows = 'drop'\nfold = 'both'\n");
  EXPECT_EQ(s.unit, (Unit{.person = "id", .rows_per_person = 4}));
  EXPECT_EQ(s.extra_rows, ExtraRows::drop);
  EXPECT_EQ(parse_schema(to_toml(s), "again"), s);
  EXPECT_EQ(visits().extra_rows, ExtraRows::error);
  EXPECT_EQ(visits("").unit, Unit{});
  EXPECT_THAT(to_toml(visits("")), testing::Not(HasSubstr("person")));
  EXPECT_EQ(feature_names(visits("person = 'id'\nrows_per_person = 1\n", "[[columns]]\nname = 'id'\nkind = 'drop'\n")),
            (std::vector<std::string>{"x", "(intercept)"}));
}

TEST(PersonSchema, WhatDoesNotFitIsRefusedWithItsLine) {
  const auto said = [](const std::string& top, const std::string& more = "") {
    return message_of([&] { visits(top, more); });
  };
  EXPECT_THAT(said("person = 'id'\n"),
              AllOf(HasSubstr("'rows_per_person' is missing"), HasSubstr("from 1 to 1000000")));
  EXPECT_THAT(said("rows_per_person = 4\n"), AllOf(HasSubstr("s.toml:1"), HasSubstr("without 'person'")));
  EXPECT_THAT(said("extra_rows = 'drop'\n"), HasSubstr("without 'person'"));
  EXPECT_THAT(said("person = 'id'\nrows_per_person = 0\n"), AllOf(HasSubstr("s.toml:2"), HasSubstr("out of range")));
  EXPECT_THAT(said("person = 'id'\nrows_per_person = 2.5\n"), HasSubstr("must be a whole number"));
  EXPECT_THAT(said("person = 'id'\nrows_per_person = 2\nextra_rows = 'keep'\n"), HasSubstr("error, drop"));
  EXPECT_THAT(said("person = ''\nrows_per_person = 2\n"), HasSubstr("'person' is empty"));
  EXPECT_THAT(said("person = 'y'\nrows_per_person = 2\n"), HasSubstr("the label column cannot say whose a row is"));
  EXPECT_THAT(said("person = 'x'\nrows_per_person = 2\n"), HasSubstr("may not be a feature"));
}

TEST(LoadPersons, NumbersThemByFirstAppearanceAndRefusesARowTooManyWithItsLine) {
  const Dataset d = load_visits("id,x,y\nb,1,yes\na,2,no\nb,3,no\n", visits());
  EXPECT_THAT(d.person, ElementsAre(0, 1, 0));
  EXPECT_THAT(d.persons, ElementsAre("b", "a"));
  EXPECT_THAT(message_of([] { load_visits("id,x,y\na,1,yes\na,2,no\nb,1,no\na,3,no\na,4,no\n", visits()); }),
              AllOf(HasSubstr("v.csv:5: a person has more rows than the schema allows for"),
                    HasSubstr("row 3 with the same 'id'"), HasSubstr("rows_per_person = 2")));
  EXPECT_THAT(message_of([] { load_visits("id,x,y\na,1,yes\nNA,2,no\n", visits()); }),
              AllOf(HasSubstr("v.csv:3"), HasSubstr("person column 'id' is missing")));
  EXPECT_THAT(message_of([] { load_visits("x,y\n1,yes\n", visits()); }), HasSubstr("person column 'id' is not in"));
  EXPECT_EQ(load_visits("x,y\n1,yes\n", visits("")).person.size(), 0U);
}

TEST(LoadPersons, FoldsTheirTextsAsTheSchemaSays) {
  const std::string text = "id,x,y\nAb,1,yes\nab ,2,no\nAB,3,no\n";
  EXPECT_EQ(load_visits(text, visits()).persons.size(), 3U);
  EXPECT_THAT(message_of([&] { load_visits(text, visits("person = 'id'\nrows_per_person = 2\nfold = 'both'\n")); }),
              HasSubstr("v.csv:4"));
}

TEST(LoadPersons, DropKeepsTheFirstRowsOfEachAndTellsItsOwner) {
  std::string told;
  const Schema schema = visits("person = 'id'\nrows_per_person = 2\nextra_rows = 'drop'\n");
  const Dataset d = load_visits("id,x,y\na,1,yes\na,2,no\nb,3,no\na,4,no\nb,5,yes\nb,6,no\na,7,no\n", schema, 1,
                                {.warn = [&](const std::string& text) { told += text; }});
  EXPECT_EQ(d.rows.count(), 4U);
  EXPECT_THAT(d.person, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(d.rows.label, ElementsAre(1, -1, -1, 1));
  EXPECT_THAT(told, HasSubstr("v.csv: 3 rows are left out, of 2 persons with more than 2 rows"));
}

// Several waves of blocks, persons spread over all of them.
std::string many_visits(int rows, int persons, const std::string& wrong = "", int at = -1) {
  PublicRandom random(5, PublicRandom::Purpose::rows);
  std::string text = "id,x,y\n";
  for (int n = 0; n < rows; ++n) {
    const auto who = std::to_string(random.below(static_cast<std::uint64_t>(persons)));
    text += n == at ? wrong : "person-" + who + "," + std::to_string(n) + ",yes\n";
  }
  return text;
}

TEST(LoadPersons, AnyNumberOfThreadsGivesTheSameRowsOrTheSameMistake) {
  const std::string text = many_visits(400000, 150000);
  const Schema drop = visits("person = 'id'\nrows_per_person = 2\nextra_rows = 'drop'\n"), refuse = visits();
  const Dataset one = load_visits(text, drop);
  EXPECT_LT(one.rows.count(), 320000U);
  std::map<std::uint32_t, int> rows;
  for (const auto who : one.person) EXPECT_LE(++rows[who], 2);
  for (const int threads : {2, 3, 7}) {
    const Dataset many = load_visits(text, drop, threads);
    EXPECT_EQ(many.person, one.person);
    EXPECT_EQ(many.persons, one.persons);
    EXPECT_EQ(many.rows.value, one.rows.value);
    EXPECT_EQ(many.rows.start, one.rows.start);
  }
  // A person's row too many against a bad cell behind it, and before it: the first in the file is told.
  for (const auto& [wrong, at] : std::vector<std::pair<std::string, int>>{{"person-0,bad,yes\n", 399990},
                                                                          {"person-0,bad,yes\n", 50000},
                                                                          {"person-0,bad,yes\n", 10},
                                                                          {"person-0,1\n", 250000}}) {
    const std::string damaged = many_visits(400000, 150000, wrong, at);
    const std::string first = message_of([&] { load_visits(damaged, refuse, 1); });
    EXPECT_THAT(first, HasSubstr(at == 10 ? "'bad'" : "a person has more rows"));
    for (const int threads : {2, 3, 7}) EXPECT_EQ(message_of([&] { load_visits(damaged, refuse, threads); }), first);
  }
}

TEST(CheckPersons, CountsWhoHasTooManyRowsAndWhere) {
  const std::string text = "id,x,y\na,1,yes\na,2,no\nb,3,no\na,4,no\n,5,yes\nb,6,no\na,7,no\n";
  const CheckedFile file = check_csv(text_bytes(text, "v.csv"), visits(), {});
  EXPECT_EQ(file.persons, 2U);
  EXPECT_EQ(file.persons_with_extra_rows, 1U);
  EXPECT_EQ(file.extra_rows, 2U);
  EXPECT_THAT(file.extra_lines, ElementsAre(5, 8));
  EXPECT_EQ(file.problems, 3U);
  EXPECT_THAT(file.listed[0].fields.what, HasSubstr("a person has more rows"));
  EXPECT_EQ(file.listed[0].times, 2U);
  EXPECT_THAT(file.listed[1].fields.what, HasSubstr("person column 'id' is missing"));
  const Schema drop = visits("person = 'id'\nrows_per_person = 2\nextra_rows = 'drop'\n");
  EXPECT_EQ(check_csv(text_bytes(text, "v.csv"), drop, {}).problems, 1U);
  EXPECT_EQ(check_csv(text_bytes(text, "v.csv"), drop, {}).extra_rows, 2U);
  const CheckedFile without = check_csv(text_bytes("x,y\n1,yes\n", "v.csv"), visits(), {});
  EXPECT_THAT(without.listed.at(0).fields.what, HasSubstr("person column 'id' is not in the table"));
}

TEST(LoadPersons, AWordForMissingIsNobodysName) {
  for (const std::string word :
       {"\" \"", "\"\"", "NA", "n/a", "N/A", "null", "NULL", "NaN", "-", ".", "?", "\" na \"", "None", "unknown"}) {
    const std::string text = "id,x,y\na,1,yes\n" + word + ",2,no\n";
    EXPECT_THAT(message_of([&] { load_visits(text, visits()); }),
                AllOf(HasSubstr("v.csv:3"), HasSubstr("person column 'id' is missing")))
        << word;
    EXPECT_EQ(check_csv(text_bytes(text, "v.csv"), visits(), {}).problems, 1U) << word;
  }
  const Schema marked = visits("person = 'id'\nrows_per_person = 2\nmissing = ['nobody']\n");
  EXPECT_THAT(message_of([&] { load_visits("id,x,y\n\" nobody \",1,yes\n", marked); }), HasSubstr("is missing"));
  EXPECT_EQ(load_visits("id,x,y\nnadia,1,yes\n0,2,no\n-1,2,no\n", visits()).persons.size(), 3U);
}

TEST(LoadPersons, TextsThatDifferInCapitalLettersOrBlanksAreToldToTheirOwner) {
  const std::string text = "id,x,y\nP7,1,yes\np7,2,no\n\"P7 \",3,no\nP7,4,no\nq,4,no\nr 1,4,no\nr  1,4,no\n";
  std::string told;
  const Watch watch{.warn = [&](const std::string& line) { told += line; }};
  load_visits(text, visits(), 1, watch);
  EXPECT_THAT(told, AllOf(HasSubstr("v.csv: 5 texts of persons in 'id' differ from another one only in capital letters "
                                    "or blanks"),
                          HasSubstr("fold = \"both\"")));
  EXPECT_EQ(check_csv(text_bytes(text, "v.csv"), visits(), {}).persons_spelt_alike, 5U);
  told.clear();
  load_visits(text, visits("person = 'id'\nrows_per_person = 4\nfold = 'both'\n"), 1, watch);
  EXPECT_EQ(told, "");
}

// ---- rows of one person stay together, and nobody else moves ----

// Rows of random persons; the value tells the row.
Dataset of_persons(std::size_t rows, std::uint32_t persons, PublicRandom& random) {
  Dataset all;
  all.name = "random";
  all.rows.features = 1;
  std::map<std::uint64_t, std::uint32_t> number;
  for (std::size_t n = 0; n < rows; ++n) {
    const auto drawn = random.below(persons);
    all.person.push_back(number.emplace(drawn, static_cast<std::uint32_t>(number.size())).first->second);
    all.rows.append(std::array<std::int32_t, 1>{0}, std::array<double, 1>{(static_cast<double>(n) + 1) / 1000},
                    random.below(2) == 0 ? 1 : -1);
    all.split_key.push_back(std::string(1, static_cast<char>('a' + random.below(9))));
  }
  return all;
}

SplitPlan plan_by(const std::string& how) {
  return {.how = how, .shares = how == "shares" ? std::vector<double>{4, 2, 1, 1, 3} : std::vector<double>{}};
}

TEST(SplitPersons, NoSplitTakesAPersonApart) {
  PublicRandom random(11, PublicRandom::Purpose::rows);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Dataset all = of_persons(300, 120, random);
    for (const std::string& how : words_of<Split>()) {
      std::map<std::uint32_t, std::set<std::size_t>> nodes;
      std::size_t dealt = 0;
      const auto parts = deal(all, 5, plan_by(how), seed);
      for (std::size_t node = 0; node < parts.size(); ++node)
        for (const std::size_t row : parts[node]) nodes[all.person[row]].insert(node), ++dealt;
      EXPECT_EQ(dealt, 300U);
      for (const auto& [person, at] : nodes) EXPECT_EQ(at.size(), 1U) << how;
    }
    for (const HeldOut& held : {hold_out(all, 0.2, seed, 30), hold_out_last(all, 0.2)}) {
      std::set<std::uint32_t> train(held.train.person.begin(), held.train.person.end());
      std::set<std::uint32_t> open(held.published.person.begin(), held.published.person.end());
      for (const auto who : held.test.person) EXPECT_FALSE(train.contains(who) || open.contains(who));
      for (const auto who : open) EXPECT_FALSE(train.contains(who));
      EXPECT_EQ(held.train.rows.count() + held.test.rows.count() + held.published.rows.count(), 300U);
      EXPECT_GE(held.test.rows.count(), 54U);  // round(0.2 · 270), or 60 where nothing is public
      EXPECT_LE(held.test.rows.count(), 75U);  // and at most one person more
      EXPECT_LE(held.published.rows.count(), 30U);
    }
  }
}

TEST(SplitPersons, RowsWithoutPersonsAreDealtAsBefore) {
  PublicRandom random(12, PublicRandom::Purpose::rows);
  Dataset each = of_persons(100, 1000000, random), none = each;
  for (std::uint32_t n = 0; n < 100; ++n) each.person[n] = n;  // a person for each row
  none.person.clear();
  for (const std::string& how : words_of<Split>())
    EXPECT_EQ(deal(each, 5, plan_by(how), 3), deal(none, 5, plan_by(how), 3)) << how;
  EXPECT_EQ(hold_out(each, 0.2, 3, 10).test.rows.value, hold_out(none, 0.2, 3, 10).test.rows.value);
  EXPECT_EQ(hold_out_last(each, 0.2).test.rows.value, hold_out_last(none, 0.2).test.rows.value);
}

TEST(SplitPersons, ReplacingWhatAPersonsRowsHoldMovesNoRow) {
  PublicRandom random(13, PublicRandom::Purpose::rows);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Dataset before = of_persons(200, 60, random);
    for (std::uint32_t who = 0; who < 40; ++who) {
      Dataset after = before;
      for (std::size_t row = 0; row < 200; ++row)
        if (before.person[row] == who) after.rows.label[row] = -before.rows.label[row], after.split_key[row] = "z";
      for (const std::string& how : words_of<Split>())
        if (const auto plan = plan_by(how); !reads_rows(plan.how)) {
          EXPECT_EQ(deal(before, 5, plan, seed), deal(after, 5, plan, seed)) << how;
        }
      EXPECT_EQ(hold_out(before, 0.3, seed, 20).train.rows.value, hold_out(after, 0.3, seed, 20).train.rows.value);
      EXPECT_EQ(hold_out_last(before, 0.3).train.rows.value, hold_out_last(after, 0.3).train.rows.value);
    }
  }
}

TEST(LoadPersons, ReplacingWhatAPersonsRowsHoldKeepsTheRowsOfEverybodyElse) {
  const Schema drop = visits("person = 'id'\nrows_per_person = 2\nextra_rows = 'drop'\n");
  const auto lines = split_list(many_visits(300, 80), '\n');
  const auto others = [&](const std::vector<std::string>& with, const std::string& who) {
    const Dataset d = load_visits(join(with, "\n") + "\n", drop);
    std::vector<double> values;
    for (std::size_t n = 0; n < d.rows.count(); ++n)
      if (d.persons[d.person[n]] != who) values.push_back(d.rows.value[d.rows.start[n]]);
    return values;
  };
  for (int person = 0; person < 80; ++person) {
    const std::string who = "person-" + std::to_string(person);
    auto replaced = lines;
    for (std::string& line : replaced)
      if (line.starts_with(who + ",")) line = who + ",999999,no";
    EXPECT_EQ(others(replaced, who), others(lines, who));
  }
}

TEST(PersonsDistinctTest, APersonInTwoFilesIsRefused) {
  std::string name = (std::filesystem::temp_directory_path() / "parley_person_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder = name;
  const auto put = [&](const std::string& file, const std::string& text) {
    write_file(folder / file, text);
    return (folder / file).string();
  };
  Options o{
      .data = {put("a.csv", "id,x,y\na,1,yes\na,2,no\nb,3,no\n"), put("b.csv", "id,x,y\nc,1,yes\nb,2,no\na,4,no\n")},
      .schema = put("s.toml", "person = 'id'\nrows_per_person = 2\n" + visit_columns),
      .test_share = 0};
  EXPECT_THAT(message_of([&] { load(o); }),
              AllOf(HasSubstr("2 persons of node 1 also have rows at another node"), HasSubstr("b.csv")));
  put("b.csv", "id,x,y\nc,1,yes\nd,2,no\nd,5,no\n");
  EXPECT_EQ(load(o).records, (std::vector<double>{3, 3}));
  put("b.csv", "id,x,y\nA,1,yes\nd,2,no\nd,5,no\n");
  std::string told;
  load(o, {}, {.warn = [&](const std::string& text) { told += text; }});
  EXPECT_THAT(told, HasSubstr("all files: 2 texts of persons in 'id' differ from another one only in capital"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace parley::data
