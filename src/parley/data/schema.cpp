#include "parley/data/schema.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema_texts.h"
#include "parley/data/toml_section.h"

namespace parley::data {
namespace {

// The words of the file, each written once: read and written from the same rows.
constexpr Word<Kind> kinds[]{{"numeric", Kind::numeric}, {"categorical", Kind::categorical}, {"drop", Kind::drop}};
constexpr Word<Transform> transforms[]{
    {"none", Transform::none}, {"log1p", Transform::log1p}, {"sqrt", Transform::sqrt}, {"bins", Transform::bins}};
constexpr Word<OutOfRange> ranges[]{{"clip", OutOfRange::clip}, {"error", OutOfRange::error}};
constexpr Word<Fold> folds[]{
    {"none", Fold::none}, {"letters", Fold::letters}, {"blanks", Fold::blanks}, {"both", Fold::both}};
constexpr Word<Scale> scales[]{{"clip", Scale::clip}, {"bound", Scale::bound}};
constexpr Word<Other> others[]{{"bucket", Other::bucket}, {"error", Other::error}, {"zero", Other::zero}};
constexpr Word<Missing> missing_number[]{{"low", Missing::low},
                                         {"middle", Missing::middle},
                                         {"high", Missing::high},
                                         {"error", Missing::error},
                                         {"zero", Missing::zero}};
constexpr Word<Missing> missing_category[]{
    {"other", Missing::other}, {"error", Missing::error}, {"category", Missing::category}, {"zero", Missing::zero}};

std::span<const Word<Missing>> missing_words(const Column& c) {
  if (c.kind == Kind::categorical) return missing_category;
  return std::span(missing_number).first(c.transform == Transform::bins ? 5 : 4);  // "zero" needs a bin to leave out
}

// t(low) < t(high), and the difference is finite: nothing is ever divided by 0 or infinity.
Bounds read_bounds(const Section& s, Transform t) {
  const auto pair = s.numbers("bounds");
  if (pair.size() != 2)
    s.fail("bounds",
           {.what = "'bounds' must be two numbers", .value = std::to_string(pair.size()), .allowed = "[low, high]"});
  const Bounds b{pair[0], pair[1]};
  const std::string value = "[" + number(b.low) + ", " + number(b.high) + "]";
  if (!(b.low < b.high)) s.fail("bounds", {.what = "'bounds' must have low < high", .value = value});
  if ((t == Transform::log1p || t == Transform::sqrt) && b.low < 0)
    s.fail("bounds", {.what = "transforms log1p and sqrt need low >= 0",
                      .value = value,
                      .fix = "use transform = \"none\" or \"bins\""});
  const double width = transformed(t, b.high) - transformed(t, b.low);
  if (!(width > 0) || !std::isfinite(width))
    s.fail("bounds", {.what = "'bounds' are too close or too far apart to scale by", .value = value});
  return b;
}

Label read_label(const Section& s) {
  s.only({"column", "positive", "negative", "classes", "bounds", "out_of_range"});
  Label label{.column = s.text("column")};
  if (s.has("classes")) {
    for (const char* key : {"positive", "negative", "bounds"})
      if (s.has(key))
        s.fail(key, {.what = in_quotes(key) + " and 'classes' exclude each other",
                     .fix = "classes for a class number, positive and negative for -1 and +1, bounds for regression"});
    s.only({"column", "classes"}, {"out_of_range"}, "without 'bounds'");
    label.classes = s.distinct_texts("classes");
    if (label.classes.size() < 2)
      s.fail("classes", {.what = "'classes' lists one value only", .allowed = "two or more different texts"});
    return label;
  }
  if (s.has("bounds")) {
    for (const char* key : {"positive", "negative"})
      if (s.has(key))
        s.fail(key, {.what = in_quotes(key) + " and 'bounds' exclude each other",
                     .fix = "bounds for regression, positive and negative for classification"});
    label.bounds = read_bounds(s, Transform::none);
    label.out_of_range = s.choice("out_of_range", ranges, OutOfRange::clip);
    return label;
  }
  s.only({"column", "positive", "negative"}, {"out_of_range"}, "without 'bounds'");
  label.positive = s.distinct_texts("positive");
  label.negative = s.distinct_texts("negative");
  for (const auto& value : label.negative)
    if (std::ranges::find(label.positive, value) != label.positive.end())
      s.fail("negative", {.what = "a value is both positive and negative", .value = in_quotes(value)});
  return label;
}

void read_numeric(const Section& s, Column& c) {
  c.transform = s.choice("transform", transforms, Transform::none);
  read_date(s, c);
  if (c.transform == Transform::bins) {
    s.only({"name", "kind", "bounds", "transform", "edges", "out_of_range", "missing", "date", "since"},
           {"categories", "other", "aliases"}, "for a numeric column");
    c.edges = s.numbers("edges");
    if (c.edges.empty()) s.fail("edges", {.what = "'edges' is empty", .allowed = "one number or more"});
    for (std::size_t i = 1; i < c.edges.size(); ++i)
      if (!(c.edges[i - 1] < c.edges[i]))
        s.fail("edges", {.what = "'edges' must increase strictly",
                         .value = number(c.edges[i]) + " after " + number(c.edges[i - 1])});
    if (s.has("bounds")) {
      c.bounds = read_bounds(s, c.transform);
      if (!(c.bounds->low < c.edges.front() && c.edges.back() < c.bounds->high))
        s.fail("edges", {.what = "'edges' must lie inside the bounds, or a bin is always empty"});
    } else if (s.has("out_of_range")) {
      s.fail("out_of_range", {.what = "'out_of_range' has no meaning for bins without 'bounds'",
                              .fix = "add bounds or remove the line"});
    }
  } else {
    s.only({"name", "kind", "bounds", "transform", "out_of_range", "missing", "date", "since"},
           {"categories", "other", "edges", "aliases"}, "for a numeric column without transform = \"bins\"");
    c.bounds = read_bounds(s, c.transform);
  }
  c.out_of_range = s.choice("out_of_range", ranges, OutOfRange::clip);
  c.missing = s.choice("missing", missing_words(c), Missing::error);
}

void read_categorical(const Section& s, Column& c, const std::vector<std::string>& marks) {
  s.only({"name", "kind", "categories", "other", "missing", "aliases", "date"},
         {"bounds", "transform", "edges", "out_of_range", "since"}, "for a categorical column");
  read_categories(s, c);
  c.other = s.choice("other", others, Other::error);
  c.missing = s.choice("missing", missing_words(c), Missing::error);
  if (c.other == Other::bucket && std::ranges::find(c.categories, "other") != c.categories.end())
    s.fail("categories",
           {.what = "the category 'other' and the bucket would both be the feature " + in_quotes(c.name + "=other"),
            .fix = "remove 'other' from the categories: unlisted values go to the bucket anyway"});
  if (c.missing == Missing::other && c.other == Other::error)
    s.fail("missing", {.what = "missing = \"other\" contradicts other = \"error\"",
                       .fix = "set other = \"bucket\" or missing = \"error\""});
  const auto mark = std::ranges::find_first_of(c.categories, marks);
  if (c.missing == Missing::category && mark == c.categories.end())
    s.fail("missing", {.what = "missing = \"category\" needs a missing mark among the categories",
                       .allowed = "'" + join(marks, "', '") + "'",
                       .fix = "list the mark, for example \"?\", in categories"});
  if (c.missing != Missing::category && mark != c.categories.end())
    s.fail(
        "categories",
        {.what = "a category is also a missing mark",
         .value = in_quotes(*mark),
         .fix = "set missing = \"category\" for this column, or take the mark out of the list 'missing' at the top"});
}

Column read_column(Section s, const std::vector<std::string>& marks) {
  const std::vector<std::string> all{"name",    "kind",       "bounds", "transform", "edges", "out_of_range",
                                     "missing", "categories", "other",  "aliases",   "date",  "since"};
  s.only(all);
  Column c{.name = s.text("name")};
  if (c.name.empty()) s.fail("name", {.what = "'name' is empty"});
  s.rename("column " + in_quotes(c.name) + ": ");
  s.text("kind");
  c.kind = s.choice("kind", kinds, Kind::drop);
  if (c.kind == Kind::numeric) read_numeric(s, c);
  if (c.kind == Kind::categorical) read_categorical(s, c, marks);
  if (c.kind == Kind::drop) s.only({"name", "kind"}, all, "for a dropped column");
  return c;
}

// Columns that always have exactly one of their features add up to the same constant: with the intercept, or with one
// another, they are collinear. All but one such sum lose their first feature, by the schema alone.
void choose_references(Schema& schema) {
  bool constant = schema.intercept;
  for (Column& c : schema.columns) {
    c.reference = constant && covers_all(c);
    constant = constant || covers_all(c);
  }
}

Schema read_schema(const toml::table& root, const std::string& file) {
  const Section top(root, file, "");
  top.only({"intercept", "missing", "scale", "fold", "person", "rows_per_person", "extra_rows", "label", "columns"});
  Schema schema;
  schema.intercept = top.truth("intercept", schema.intercept);
  if (top.has("missing")) schema.missing = top.texts("missing");
  schema.scale = top.choice("scale", scales, Scale::clip);

  schema.fold = top.choice("fold", folds, Fold::none);
  read_person(top, schema);

  const auto* label = top.find("label");
  if (label == nullptr || !label->is_table())
    top.fail("label",
             {.what = "the section [label] is missing", .fix = "add [label] with column, positive and negative"});
  schema.label = read_label(Section(*label->as_table(), file, "[label]: "));

  std::set<std::string> names{schema.label.column};
  if (const auto* columns = top.find("columns"); columns != nullptr) {
    if (!columns->is_array())
      top.fail("columns", {.what = "'columns' must be sections", .fix = "write [[columns]] above each column"});
    for (const auto& node : *columns->as_array()) {
      if (!node.is_table())
        top.fail("columns", {.what = "'columns' must be sections", .fix = "write [[columns]] above each column"});
      const Section s(*node.as_table(), file, "[[columns]]: ");
      schema.columns.push_back(read_column(s, schema.missing));
      const std::string& name = schema.columns.back().name;
      if (name == schema.label.column)
        s.fail(
            "name",
            {.what = "the label column may not be a feature", .value = in_quotes(name), .fix = "remove this section"});
      if (!names.insert(name).second) s.fail("name", {.what = "a column is listed twice", .value = in_quotes(name)});
    }
  }
  check_folded(top, schema);
  check_person(top, schema);
  if (schema.scale == Scale::bound) choose_references(schema);
  if (feature_names(schema).empty())
    top.fail("columns", {.what = "the schema makes no feature", .fix = "add a [[columns]] section"});
  return schema;
}

}  // namespace

Schema without_persons(Schema schema) {
  const std::string person = std::exchange(schema.unit, {}).person;
  if (!person.empty() && std::ranges::find(schema.columns, person, &Column::name) == schema.columns.end())
    schema.columns.push_back({.name = person, .kind = Kind::drop});
  return schema;
}

Schema parse_schema(std::string_view toml, const std::string& where) {
  return read_schema(parse_toml(toml, where), where);
}

namespace {

template <class Words, class E>
std::string word(const Words& words, E value) {
  const auto found = std::ranges::find(words, value, &Word<E>::value);
  expects(found != std::ranges::end(words), "a value that the schema file has a word for");
  return "\"" + std::string(found->text) + "\"";
}

// Trap: digits alone are a TOML integer, which ends at 2^63.
std::string toml_number(double value) {
  const std::string s = number(value);
  return s.find_first_of(".e") == std::string::npos && std::abs(value) > 1e15 ? s + ".0" : s;
}

std::string toml_bounds(const Bounds& b, OutOfRange policy) {
  return "bounds = [" + toml_number(b.low) + ", " + toml_number(b.high) + "]\nout_of_range = " + word(ranges, policy) +
         "\n";
}

}  // namespace

std::string to_toml(const Schema& schema) {
  std::string s = std::string("intercept = ") + (schema.intercept ? "true" : "false") + "\n";
  s += "missing = " + toml_list(schema.missing, toml_text) + "\n";
  if (schema.fold != Fold::none) s += "fold = " + word(folds, schema.fold) + "\n";
  if (schema.scale != Scale::clip) s += "scale = " + word(scales, schema.scale) + "\n";
  s += person_to_toml(schema);
  s += "\n[label]\ncolumn = " + toml_text(schema.label.column) + "\n";
  if (const auto& bounds = schema.label.bounds) {
    s += toml_bounds(*bounds, schema.label.out_of_range);
  } else if (!schema.label.classes.empty()) {
    s += "classes = " + toml_list(schema.label.classes, toml_text) + "\n";
  } else {
    s += "positive = " + toml_list(schema.label.positive, toml_text) + "\n";
    s += "negative = " + toml_list(schema.label.negative, toml_text) + "\n";
  }
  for (const auto& c : schema.columns) {
    s += "\n[[columns]]\nname = " + toml_text(c.name) + "\nkind = " + word(kinds, c.kind) + "\n";
    if (c.kind == Kind::numeric) {
      s += dates_to_toml(c) + "transform = " + word(transforms, c.transform) + "\n";
      if (!c.edges.empty()) s += "edges = " + toml_list(c.edges, toml_number) + "\n";
      if (c.bounds) s += toml_bounds(*c.bounds, c.out_of_range);
    }
    if (c.kind == Kind::categorical) {
      s += dates_to_toml(c) + categories_to_toml(c);
      s += "other = " + word(others, c.other) + "\n";
    }
    if (c.kind != Kind::drop) s += "missing = " + word(missing_words(c), c.missing) + "\n";
  }
  return s;
}

}  // namespace parley::data
