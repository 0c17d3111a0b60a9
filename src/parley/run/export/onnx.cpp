#include "parley/run/export/onnx.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/cell_number.h"
#include "parley/run/export/onnx_graph.h"

namespace parley::run {
namespace {

using data::Column;
using data::Kind;
using data::Transform;
using Value = OnnxGraph::Value;

constexpr double refused = std::numeric_limits<double>::quiet_NaN();  // and so is every sum that it enters

std::optional<double> as_number(const std::string& text) {
  double x = 0;
  return data::any_number(text, x) ? std::optional(x) : std::nullopt;
}

// Each column adds a row of weights × feature and its square: Scoring::row_of.
class Columns {
 public:
  Columns(const Scoring& s, OnnxGraph& g) : s_(s), g_(g) {}

  Value sum() {
    std::vector<Value> terms;
    for (const ScoredColumn& c : s_.columns) {
      if (c.column.kind == Kind::categorical)
        terms.push_back(c.column.codes ? code(c) : text(c));
      else
        terms.push_back(c.column.transform == Transform::bins ? bin(c) : scaled(c));
    }
    if (s_.schema.intercept) {
      std::vector<double> row(width(), 1);
      for (int k = 0; k < s_.scores(); ++k) row[static_cast<std::size_t>(k)] = s_.weight(k, s_.features() - 1);
      terms.push_back(g_.row(row));
    }
    Value sum = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) sum = g_.op("Add", {sum, terms[i]});
    return sum;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(s_.scores()) + 1; }

  std::vector<double> row_of(const ScoredColumn& c, const Fallback& f) const {
    return f.refused ? std::vector<double>(width(), refused) : s_.row_of(c, f.category);
  }

  // NaN, or a missing mark that is a number.
  Value missing(const Value& x) {
    Value is = g_.op("IsNaN", {x});
    for (const auto& mark : missing_marks(s_.schema))
      if (const auto number = as_number(mark)) is = g_.op("Or", {is, g_.op("Equal", {x, g_.scalar(*number)})});
    return is;
  }

  // refused where x is infinite or beyond bounds that do not clip, else 0.
  Value refusal(const Column& c, const Value& x) {
    const Value finite = g_.op("Mul", {x, g_.scalar(0)});  // ∞ · 0 = NaN
    if (!c.bounds || c.out_of_range == data::OutOfRange::clip) return finite;
    const Value outside =
        g_.op("Or", {g_.op("Less", {x, g_.scalar(c.bounds->low)}), g_.op("Greater", {x, g_.scalar(c.bounds->high)})});
    return g_.op("Where", {outside, g_.scalar(refused), finite});
  }

  // (t(x) − t(low)) / (t(high) − t(low)); with one bound for all rows twice that, less 1
  Value scaled(const ScoredColumn& c) {
    const data::Bounds b = c.column.bounds.value_or(data::Bounds{});
    const double low = data::transformed(c.column.transform, b.low),
                 width = data::transformed(c.column.transform, b.high) - low;
    const Value given = g_.input(c.column.name, Element::number, 1);
    const Fallback if_missing = when_missing(c.column, s_.schema);
    const Value x =
        g_.op("Where", {missing(given), g_.scalar(if_missing.refused ? refused : if_missing.number), given});
    Value t = g_.op("Min", {g_.op("Max", {x, g_.scalar(b.low)}), g_.scalar(b.high)});
    if (c.column.transform == Transform::log1p) t = g_.op("Log", {g_.op("Add", {t, g_.scalar(1)})});
    if (c.column.transform == Transform::sqrt) t = g_.op("Sqrt", {t});
    Value v = g_.op("Div", {g_.op("Sub", {t, g_.scalar(low)}), g_.scalar(width)});
    if (s_.schema.scale == data::Scale::bound) v = g_.op("Sub", {g_.op("Mul", {v, g_.scalar(2)}), g_.scalar(1)});
    v = g_.op("Add", {v, refusal(c.column, x)});
    std::vector<double> weights;
    for (int k = 0; k < s_.scores(); ++k) weights.push_back(s_.weight(k, c.first));
    return g_.op("Concat", {g_.op("MatMul", {v, g_.row(weights)}), g_.op("Mul", {v, v})}, "axis", 1);
  }

  // Bin k holds e_k <= x < e_{k+1}: as many edges as x has reached.
  Value bin(const ScoredColumn& c) {
    const Value given = g_.input(c.column.name, Element::number, 1), is_missing = missing(given);
    const Value x = g_.op("Where", {is_missing, g_.scalar(c.column.edges[0]), given});
    const Value reached = g_.cast(g_.op("GreaterOrEqual", {x, g_.row(c.column.edges)}), Element::number);
    const std::vector<double> ones(c.column.edges.size(), 1);
    std::vector<double> table;
    const Value k = g_.op("MatMul", {reached, g_.constant(ones, {static_cast<Index>(ones.size()), 1})});
    for (int i = 0; i <= static_cast<int>(ones.size()); ++i)
      for (const double w : s_.row_of(c, i)) table.push_back(w);
    const Value found = g_.op("Add", {looked_up(table, g_.cast(k, Element::integer)), refusal(c.column, x)});
    return g_.op("Where", {is_missing, g_.row(row_of(c, when_missing(c.column, s_.schema))), found});
  }

  // Rows of a table; number: rows × 1.
  Value looked_up(const std::vector<double>& table, const Value& number) {
    const auto rows = static_cast<Index>(table.size() / width());
    const Value t = g_.constant(table, {rows, static_cast<Index>(width())});
    return g_.op("Gather", {t, g_.op("Squeeze", {number, g_.integers({1})})}, "axis", 0);
  }

  Value code(const ScoredColumn& c) {
    const CategoryTexts known = category_texts(c.column, s_.schema);
    for (const auto& [text, k] : known.texts)
      if (!as_number(text))
        throw Error(
            {.what = "column '" + c.column.name + "' has codes, which ONNX takes as numbers, and a text for one",
             .value = "'" + text + "'",
             .where = "option --onnx",
             .fix = "use --sql, or leave the alias out of the schema before training"});
    const Value x = g_.input(c.column.name, Element::number, 1), is_missing = missing(x);
    std::vector<double> codes, table;
    for (const auto& [number, k] : known.codes) {
      codes.push_back(number);
      for (const double w : s_.row_of(c, k)) table.push_back(w);
    }
    const auto count = static_cast<Index>(codes.size());
    const Value is = g_.cast(g_.op("Equal", {x, g_.row(codes)}), Element::number);
    const Value listed = g_.op("MatMul", {is, g_.constant(std::vector<double>(codes.size(), 1), {count, 1})});
    const Value found = g_.op("MatMul", {is, g_.constant(table, {count, static_cast<Index>(width())})});
    const Value unlisted = g_.row(row_of(c, when_unlisted(c.column)));
    const Value otherwise =
        g_.op("Where", {is_missing, g_.row(row_of(c, when_missing(c.column, s_.schema))), unlisted});
    const bool first = c.column.missing == data::Missing::error || c.column.missing == data::Missing::zero;
    const Value a_category = g_.op("Greater", {listed, g_.scalar(0)});
    return g_.op("Where",
                 {first ? g_.op("And", {a_category, g_.op("Not", {is_missing})}) : a_category, found, otherwise});
  }

  Value text(const ScoredColumn& c) {
    const CategoryTexts known = category_texts(c.column, s_.schema);
    const bool first = c.column.missing == data::Missing::error || c.column.missing == data::Missing::zero;
    const int categories = static_cast<int>(c.column.categories.size()), unlisted = categories,
              missing = categories + 1;
    std::vector<std::pair<std::string, int>> texts;
    const auto add_marks = [&] {
      for (const auto& mark : missing_marks(s_.schema)) add_text(texts, mark, missing);
    };
    if (first) add_marks();
    for (const auto& [text, k] : known.texts) add_text(texts, text, k);
    if (!first) add_marks();
    std::vector<double> table;
    for (int k = 0; k < categories; ++k)
      for (const double w : s_.row_of(c, k)) table.push_back(w);
    for (const Fallback& f : {when_unlisted(c.column), when_missing(c.column, s_.schema)})
      for (const double w : row_of(c, f)) table.push_back(w);
    return looked_up(table, g_.number_of(g_.input(c.column.name, Element::text, 1), texts, unlisted));
  }

  static void add_text(std::vector<std::pair<std::string, int>>& texts, const std::string& text, int k) {
    for (const auto& [known, number] : texts)
      if (known == text) return;
    texts.emplace_back(text, k);
  }

  const Scoring& s_;
  OnnxGraph& g_;
};

// The scores and |x|² of LIBSVM rows.
Value of_features(const Scoring& s, OnnxGraph& g) {
  const Value x = g.input("features", Element::number, s.features());
  std::vector<double> weights;
  for (Index i = 0; i < s.features(); ++i)
    for (int k = 0; k < s.scores(); ++k) weights.push_back(s.weight(k, i));
  const Value squares = g.constant(std::vector<double>(static_cast<std::size_t>(s.features()), 1), {s.features(), 1});
  return g.op("Concat",
              {g.op("MatMul", {x, g.constant(weights, {s.features(), s.scores()})}),
               g.op("MatMul", {g.op("Mul", {x, x}), squares})},
              "axis", 1);
}

// What ONNX cannot say, and a name that two tensors would have.
void check(const Scoring& s) {
  const auto refuse = [](const std::string& what) {
    throw Error({.what = what,
                 .where = "option --onnx",
                 .fix = "use --sql, or prepare the rows before and train with a schema that has no such rule"});
  };
  for (const ScoredColumn& c : s.columns) {
    if (c.column.date != data::DatePart::none)
      refuse("column '" + c.column.name + "' holds dates, which ONNX does not know");
    if (c.column.kind == Kind::categorical && !c.column.codes && s.schema.fold != data::Fold::none)
      refuse("the schema folds texts, for which ONNX has no operator");
    for (const char* taken : {"score", "probability", "prediction", "class"})
      if (c.column.name == taken) refuse("column '" + c.column.name + "' has the name of a result");
    if (c.column.name.starts_with("parley:")) refuse("column '" + c.column.name + "' has a name that parley uses");
  }
}

// The class that is said: of the largest score, or of a score above 0. −1, which has no text: the row was refused.
Value class_number(const Scoring& s, OnnxGraph& g, const Value& scores) {
  const Value nobody = g.op("IsNaN", {g.op("Gather", {scores, g.integers({0})}, "axis", 1)});
  const Value k = s.scores() == 1 ? g.cast(g.op("Greater", {scores, g.scalar(0)}), Element::integer)
                                  : g.op("ArgMax", {scores}, "axis", 1);
  return g.op("Where", {nobody, g.integers({-1}), k});
}

}  // namespace

std::string onnx_model(const Scoring& s, const std::string& version) {
  check(s);
  OnnxGraph g;
  const Value sums = s.has_columns() ? Columns(s, g).sum() : of_features(s, g);
  std::vector<std::int64_t> places;
  for (int k = 0; k < s.scores(); ++k) places.push_back(k);
  Value divisor;
  if (s.divisor() > 0) {
    divisor = g.scalar(s.divisor());
  } else {
    const Value square = g.op("Gather", {sums, g.integers({s.scores()})}, "axis", 1);
    divisor = g.op("Max", {g.op("Sqrt", {square}), g.scalar(1)});
  }
  const Value scores = g.op("Div", {g.op("Gather", {sums, g.integers(places)}, "axis", 1), divisor});
  g.output("score", scores, Element::number, s.scores());
  if (s.model.loss.kind == problem::LossKind::softmax)
    g.output("probability", g.op("Softmax", {scores}, "axis", 1), Element::number, s.scores());
  else if (s.probabilities())
    g.output("probability", g.op("Sigmoid", {scores}), Element::number, 1);
  if (s.classes.empty()) {
    const Value share = g.op("Div", {g.op("Add", {scores, g.scalar(1)}), g.scalar(2)});
    g.output("prediction",
             g.op("Add", {g.op("Mul", {share, g.scalar(s.unit.high - s.unit.low)}), g.scalar(s.unit.low)}),
             Element::number, 1);
  } else {
    g.output("class", g.text_of(class_number(s, g, scores), s.classes), Element::text, 1);
  }
  std::vector<std::pair<std::string, std::string>> notes = {{"loss", problem::name_of(s.model.loss)}};
  if (!s.classes.empty()) notes.emplace_back("classes", nlohmann::json(s.classes).dump());
  if (!s.model.schema_toml.empty()) notes.emplace_back("schema", s.model.schema_toml);
  if (!s.not_private.empty()) notes.emplace_back("not_private", s.not_private);
  return g.model(join(words_of(s), " "), version, notes);
}

}  // namespace parley::run
