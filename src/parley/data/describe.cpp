#include "parley/data/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/seen_column.h"
#include "parley/data/schema.h"
#include "parley/data/schema_texts.h"

namespace parley::data {
namespace {

// [min, max] outward to multiples of the power of ten below max − min: [17, 93] → [10, 100].
std::optional<Bounds> widened(const std::set<double>& numbers) {
  const double min = *numbers.begin(), max = *numbers.rbegin();
  const double step = std::pow(10, std::floor(std::log10(max - min)));
  Bounds b{std::floor(min / step) * step, std::ceil(max / step) * step};
  if (step < 1) {  // Trap: 3 · 0.1 is not 0.3, but 3 / 10 is.
    const double per_unit = std::round(1 / step);
    b = {std::floor(min * per_unit) / per_unit, std::ceil(max * per_unit) / per_unit};
  }
  if (!std::isfinite(b.low) || b.low > min) b.low = min;
  if (!std::isfinite(b.high) || b.high < max) b.high = max;
  if (!std::isfinite(b.high - b.low)) return std::nullopt;
  return Bounds{b.low + 0.0, b.high + 0.0};  // no "-0" in the file
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

// A column of the draft, and what a person must decide about it.
struct Guess {
  Column column;
  std::string dropped{};  // why
  std::vector<std::string> decide{};
};

void guess_number(Guess& g, const SeenColumn& seen) {
  const bool date = seen.dated();
  Column& c = g.column;
  c.bounds = widened(date ? seen.days : seen.numbers);
  if (!c.bounds) {
    g.dropped = "its numbers are too far apart to scale";
    return;
  }
  c.kind = Kind::numeric;
  c.missing = seen.missing() ? Missing::middle : Missing::error;
  if (date) {
    c.date = DatePart::days;
    c.since = SeenColumn::draft_since;
    g.decide.emplace_back("days since a public date, or date = \"year\", \"month\" or \"weekday\"?");
  }
  if (seen.may_number())
    g.decide.emplace_back("if these numbers tell persons or things apart: kind = \"drop\", and see 'person'.");
  g.decide.emplace_back("what are the smallest and the largest value that it can have? These are read off the rows.");
  if (const std::size_t wrong = date ? seen.no_dates : seen.no_numbers; wrong > 0)
    g.decide.push_back(
        fmt::format("{} of {} cells {} no {}, for example '{}': correct {}, or list the word under 'missing'.", wrong,
                    seen.cells, wrong == 1 ? "is" : "are", date ? "date" : "number",
                    date ? seen.first_no_date : seen.first_no_number, wrong == 1 ? "it" : "them"));
  if (seen.missing()) g.decide.emplace_back("a missing cell counts as the middle of the bounds: is that right?");
}

void guess_categories(Guess& g, const SeenColumn& seen) {
  Column& c = g.column;
  c.codes = seen.codes;
  for (const auto& value : seen.sorted()) {
    const std::string text = c.codes ? code_of(value).value_or(value) : value;
    if (std::ranges::find(c.categories, text) == c.categories.end()) c.categories.push_back(text);
  }
  std::erase(c.categories, "other");  // would collide with the bucket's feature, and lands there anyway
  if (c.categories.empty()) {
    g.dropped = "only 'other' and missing cells";
    return;
  }
  c.kind = Kind::categorical;
  c.other = Other::bucket;
  c.missing = Missing::other;
  if (c.codes)
    g.decide.emplace_back(
        "whole numbers, taken for codes of categories; if they count or measure: kind = \"numeric\", bounds");
  g.decide.emplace_back("are these all categories that can occur? Others go to the bucket.");
}

Guess guess(const SeenColumn& seen) {
  Guess g{.column = {.name = seen.name}};
  if (seen.constant()) {
    g.dropped = "the same in every row";
  } else if (seen.identifies()) {
    g.dropped = "looks like an identifier: " + std::to_string(seen.values.size()) + " values in " +
                std::to_string(seen.rows) + " rows";
  } else if (seen.dated() || seen.measured()) {
    guess_number(g, seen);
  } else {
    guess_categories(g, seen);
  }
  return g;
}

// The last column with two values and no missing cell; without one, the last that has classes or is measured.
std::size_t label_column(const Table& table, const std::vector<SeenColumn>& seen) {
  for (std::size_t i = seen.size(); i-- > 0;)
    if (seen[i].positive_and_negative() && !seen[i].missing()) return i;
  for (std::size_t i = seen.size(); i-- > 0;)
    if (seen[i].classes() || (seen[i].measured() && !seen[i].missing() && widened(seen[i].numbers))) return i;
  throw Error({.what = "no column can be the label",
               .allowed = "a column without missing cells that has two values, 3 to " +
                          std::to_string(SeenColumn::most_classes) + " that repeat, or more than " +
                          std::to_string(SeenColumn::many) + " numbers",
               .where = table.source,
               .fix = "name it with --label, write the schema by hand, or give a larger sample"});
}

std::size_t named_column(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  const std::string near = nearest(name, table.columns);
  throw Error({.what = "the label column '" + name + "' is not in the table",
               .allowed = join(table.columns, ", "),
               .where = "option --label",
               .fix = near.empty() ? "name a column of the header line" : "did you mean '" + near + "'?"});
}

Label guess_label(const SeenColumn& seen, const std::string& source) {
  Label label{.column = seen.name};
  if (const auto sides = seen.positive_and_negative()) {
    label.positive = sides->first;
    label.negative = sides->second;
  } else if (seen.measured() && widened(seen.numbers)) {
    label.bounds = widened(seen.numbers);
  } else if (seen.values.size() >= 3 && seen.values.size() <= SeenColumn::most_classes) {
    label.classes = seen.sorted();
  } else {
    throw Error({.what = "column '" + seen.name + "' cannot be the label: it has " +
                         std::to_string(seen.values.size()) + " different values",
                 .allowed = "two values, 3 to " + std::to_string(SeenColumn::most_classes) + " classes, or more than " +
                            std::to_string(SeenColumn::many) + " numbers",
                 .where = source,
                 .fix = "name another column with --label, or write the schema by hand"});
  }
  return label;
}

// The column whose equal texts are most likely one person's rows: named so, or else with the most different texts.
const SeenColumn* person_column(const std::vector<SeenColumn>& seen, std::size_t label) {
  const SeenColumn* best = nullptr;
  const auto rank = [](const SeenColumn& c) { return std::pair(c.named_person(), c.values.size()); };
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (i != label && seen[i].repeats() && (best == nullptr || rank(seen[i]) > rank(*best))) best = &seen[i];
  return best;
}

// Lines that parse_schema refuses until a number stands there: how many rows a person may have is nobody's guess.
std::string unit_to_decide(const SeenColumn& persons) {
  return fmt::format(
      "# Decide: for whom is the guarantee? Texts in '{}' repeat: {} in {} rows. If each is one person, then\n"
      "# rows_per_person is the most rows that one person may have: from the purpose of the table, not counted on "
      "rows.\n# If it tells no persons apart, delete the two lines: the guarantee is then for one row.\n"
      "person = {}\nrows_per_person = \"DECIDE\"\n",
      one_line(persons.name), persons.values.size(), persons.rows, toml_text(persons.name));
}

// Trap: a column that is different in every row makes a "person" of each row, however it is called.
std::string no_person_column(const std::vector<SeenColumn>& seen, std::size_t label) {
  std::string text;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (i != label && seen[i].one_per_row())
      text += "# '" + one_line(seen[i].name) + "' is different in every row: it cannot tell persons apart.\n";
  return text.empty() ? text
                      : text +
                            "# Decide: may a person have several rows? Then the table needs a column that is the same "
                            "in all of them,\n# named by 'person'. Without it the guarantee is for one row.\n";
}

// The schema, with what a person must decide above each column.
std::string with_comments(const Schema& schema, const std::vector<Guess>& guesses) {
  std::string text = to_toml(schema);
  for (const auto& g : guesses) {
    std::string lines;
    for (const auto& line : g.decide) lines += "# Decide: " + one_line(line) + "\n";
    text.insert(text.find("\n[[columns]]\nname = " + toml_text(g.column.name) + "\n") + 1, lines);
  }
  return text;
}

}  // namespace

std::string draft_schema(const Table& table, const std::string& label_name) {
  Schema schema;
  schema.fold = needs_folding(table) ? Fold::both : Fold::none;
  const std::vector<std::string> marks = missing_words(table, schema.missing);
  schema.missing.clear();
  for (const auto& mark : marks)  // "NA" and "na" are one after folding
    if (std::ranges::none_of(schema.missing,
                             [&](const std::string& m) { return folded(m, schema.fold) == folded(mark, schema.fold); }))
      schema.missing.push_back(mark);
  std::vector<SeenColumn> seen;
  seen.reserve(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) seen.emplace_back(table, i, schema.missing, schema.fold);
  const std::size_t label = label_name.empty() ? label_column(table, seen) : named_column(table, label_name);
  schema.label = guess_label(seen[label], table.source);

  std::string dropped;
  std::vector<Guess> guesses;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == label) continue;
    guesses.push_back(guess(seen[i]));
    schema.columns.push_back(guesses.back().column);
    if (const std::string& reason = guesses.back().dropped; !reason.empty())
      dropped += "# Dropped: " + one_line(table.columns[i]) + " (" + reason + ").\n";
  }
  const SeenColumn* persons = person_column(seen, label);
  const std::string unit = persons != nullptr ? unit_to_decide(*persons) : no_person_column(seen, label);
  if (seen[label].missing())
    dropped += fmt::format("# Decide: {} rows have no label: take them out, by a rule that is public.\n",
                           seen[label].rows - seen[label].cells);
  if (schema.fold != Fold::none)
    dropped += "# Decide: fold = \"both\": capital letters and blanks do not count when texts are compared.\n";
  const std::string file = one_line(table.source);
  return "# ============================================================================================\n"
         "# DRAFT. NOT FOR USE AS IT IS.\n"
         "# The bounds and categories below were read off the rows of " +
         file +
         ".\n"
         "# If these rows are private, this file is a leak: it shows their extremes and rare values, and\n"
         "# no privacy budget covers it. Do not send it to anyone. Replace every bound and category by\n"
         "# what is publicly known (a code book, a form, a law, physics) before use, then delete this.\n"
         "# ============================================================================================\n" +
         std::string(label_name.empty() ? "# Label: guessed to be '" : "# Label: '") + one_line(schema.label.column) +
         (schema.label.positive.empty() ? "'; check it.\n" : "'; check which value is positive (+1).\n") + dropped +
         "\n" + unit + with_comments(schema, guesses);
}

}  // namespace parley::data
