// The value of a column in a query: encode.cpp's rules, in the same order.
#include "parley/base/text.h"
#include "parley/run/export/sql.h"

namespace parley::run {

using data::Column;
using data::Kind;
using data::Transform;

namespace {

std::string number_or_null(bool null, const std::string& value) {
  return null ? "NULL" : value;
}

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  parts.reserve(texts.size());
  for (const auto& text : texts) parts.push_back(sql_text(text));
  return "(" + join(parts, ", ") + ")";
}

class Cell {  // of the column with this number
 public:
  Cell(const Scoring& s, std::size_t i)
      : s_(s),
        c_(s.columns[i].column),
        t_("parley_t" + std::to_string(i)),
        x_("parley_x" + std::to_string(i)),
        marks_(missing_marks(s.schema)) {}

  std::string value() const {
    if (c_.kind == Kind::categorical) return category();
    return c_.transform == Transform::bins ? bin() : scaled();
  }

 private:
  std::string when_missing_then(const std::string& then) const {
    return marks_.empty() ? "" : "WHEN " + t_ + " IN " + list_of(marks_) + " THEN " + then + " ";
  }

  std::string outside() const {
    if (!c_.bounds || c_.out_of_range == data::OutOfRange::clip) return "";
    return "WHEN " + x_ + " < " + sql_number(c_.bounds->low) + " OR " + x_ + " > " + sql_number(c_.bounds->high) +
           " THEN NULL ";
  }

  std::string scaled() const {
    const data::Bounds b = c_.bounds.value_or(data::Bounds{});
    const double low = data::transformed(c_.transform, b.low), width = data::transformed(c_.transform, b.high) - low;
    const bool centred = s_.schema.scale == data::Scale::bound;
    const auto from_0 = [&](const std::string& t) {
      const std::string share = "(" + t + " - (" + sql_number(low) + ")) / " + sql_number(width);
      return centred ? "2.0 * (" + share + ") - 1.0" : share;
    };
    const auto constant = [&](double x) {
      const double share = (data::transformed(c_.transform, x) - low) / width;
      return sql_number(centred ? 2 * share - 1 : share);
    };
    const std::string& x = x_;
    const std::string t = c_.transform == Transform::log1p  ? "ln(1.0 + " + x + ")"
                          : c_.transform == Transform::sqrt ? "sqrt(" + x + ")"
                                                            : x;
    const Fallback missing = when_missing(c_, s_.schema);
    return "CAST(CASE " + when_missing_then(number_or_null(missing.refused, constant(missing.number))) + outside() +
           "WHEN " + x + " <= " + sql_number(b.low) + " THEN " + constant(b.low) + " WHEN " + x +
           " >= " + sql_number(b.high) + " THEN " + constant(b.high) + " ELSE " + from_0(t) +
           " END AS DOUBLE PRECISION)";
  }

  std::string bin() const {
    const Fallback missing = when_missing(c_, s_.schema);
    std::string text = "CASE " + when_missing_then(number_or_null(missing.refused, std::to_string(missing.category))) +
                       "WHEN " + x_ + " IS NULL THEN NULL " + outside();
    for (std::size_t k = 0; k < c_.edges.size(); ++k)
      text += "WHEN " + x_ + " < " + sql_number(c_.edges[k]) + " THEN " + std::to_string(k) + " ";
    return text + "ELSE " + std::to_string(c_.edges.size()) + " END";
  }

  std::string category() const {
    const CategoryTexts known = category_texts(c_, s_.schema);
    const Fallback missing = when_missing(c_, s_.schema), unlisted = when_unlisted(c_);
    const auto number_of = [](const Fallback& f) { return number_or_null(f.refused, std::to_string(f.category)); };
    const std::string of_missing = when_missing_then(number_of(missing));
    const bool first = c_.missing == data::Missing::error || c_.missing == data::Missing::zero;
    std::string text = "CASE " + (first ? of_missing : "");
    for (const auto& [word, k] : known.texts)
      text += "WHEN " + t_ + " = " + sql_text(word) + " THEN " + std::to_string(k) + " ";
    for (const auto& [code, k] : known.codes)
      text += "WHEN " + x_ + " = " + sql_number(code) + " THEN " + std::to_string(k) + " ";
    return text + (first ? "" : of_missing) + "ELSE " + number_of(unlisted) + " END";
  }

  const Scoring& s_;
  const Column& c_;
  std::string t_, x_;  // its text, its number
  std::vector<std::string> marks_;
};

}  // namespace

std::string sql_value(const Scoring& scoring, std::size_t column) {
  return Cell(scoring, column).value();
}

}  // namespace parley::run
