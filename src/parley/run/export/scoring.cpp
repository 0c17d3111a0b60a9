#include "parley/run/export/scoring.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema_texts.h"
#include "parley/run/quality/prediction.h"
#include "parley/run/quality/quality.h"

namespace parley::run {

using data::Column;
using data::Kind;
using data::Missing;

double Scoring::weight(int score, Index feature) const {
  return model.weights[static_cast<Index>(score) * features() + feature];
}

double Scoring::divisor() const {
  return schema.scale == data::Scale::bound ? data::divisor(schema) : 0;
}

bool Scoring::probabilities() const {
  return model.loss.kind == problem::LossKind::logistic || model.loss.kind == problem::LossKind::softmax;
}

std::vector<double> Scoring::row_of(const ScoredColumn& c, int k) const {
  std::vector<double> row(static_cast<std::size_t>(scores()) + 1);
  if (c.column.reference) --k;  // its first category has no feature
  if (k < 0) return row;
  for (int s = 0; s < scores(); ++s) row[static_cast<std::size_t>(s)] = weight(s, c.first + k);
  row.back() = 1;
  return row;
}

Scoring scoring_of(const Model& model) {
  Scoring s{.model = model, .schema = {}, .not_private = join(model.not_private, "; ")};
  if (model.loss.classifies()) s.classes = class_names(model.schema_toml, model.classes);
  s.unit = {.low = -1, .high = 1};
  if (model.schema_toml.empty()) {
    s.schema.intercept = false;
    return s;
  }
  s.schema = data::parse_schema(model.schema_toml, "the model's schema");
  if (data::feature_names(s.schema) != model.feature_names)
    throw Error({.what = "the model's features are not those of its schema",
                 .where = "parley export",
                 .fix = "give an unchanged model.json"});
  if (s.schema.label.bounds) s.unit = *s.schema.label.bounds;
  Index next = 0;
  for (const Column& c : s.schema.columns) {
    if (c.kind == Kind::drop) continue;
    s.columns.push_back({.column = c, .first = next});
    next += static_cast<Index>(data::feature_names(c).size());
  }
  return s;
}

std::vector<std::string> missing_marks(const data::Schema& schema) {
  std::vector<std::string> marks;
  for (const auto& mark : schema.missing) {
    std::string text = data::folded(mark, schema.fold);
    if (std::ranges::find(marks, text) == marks.end()) marks.push_back(std::move(text));
  }
  return marks;
}

CategoryTexts category_texts(const Column& column, const data::Schema& schema) {
  CategoryTexts all;
  const auto find = [&](const std::string& text) {
    const auto found = std::ranges::find(all.texts, text, &std::pair<std::string, int>::first);
    return found == all.texts.end() ? no_category : found->second;
  };
  const auto add = [&](const std::string& text, int k) {  // the first meaning of a text stays
    if (find(text) == no_category) all.texts.emplace_back(text, k);
  };
  for (std::size_t i = 0; i < column.categories.size(); ++i)
    add(data::folded(column.categories[i], schema.fold), static_cast<int>(i));
  for (const auto& [text, category] : column.aliases)
    add(data::folded(text, schema.fold), find(data::folded(category, schema.fold)));
  if (column.codes)
    for (const auto& [text, k] : all.texts)
      if (data::code_of(text) == text) all.codes.emplace_back(std::stod(text), k);
  for (const auto& mark : missing_marks(schema))
    if (const int k = find(mark); k != no_category && column.missing == Missing::category) {
      all.of_missing = k;
      break;
    }
  return all;
}

Fallback when_unlisted(const Column& c) {
  if (c.other == data::Other::error) return {.refused = true};
  if (c.other == data::Other::zero) return {};
  return {.category = static_cast<int>(c.categories.size())};
}

Fallback when_missing(const Column& c, const data::Schema& schema) {
  if (c.missing == Missing::error) return {.refused = true};
  if (c.missing == Missing::zero) return {};
  if (c.kind == Kind::categorical)
    return c.missing == Missing::category ? Fallback{.category = category_texts(c, schema).of_missing}
                                          : when_unlisted(c);
  const int bins = static_cast<int>(c.edges.size());
  const data::Bounds b = c.bounds.value_or(data::Bounds{});
  if (c.missing == Missing::low) return {.category = 0, .number = b.low};
  if (c.missing == Missing::high) return {.category = bins, .number = b.high};
  return {.category = bins / 2, .number = b.low / 2 + b.high / 2};
}

std::vector<std::string> words_of(const Scoring& s) {
  std::vector<std::string> words = {"A model of parley, loss " + problem::name_of(s.model.loss) + ", " +
                                    std::to_string(s.features()) + " features."};
  if (!s.not_private.empty()) words.push_back("NOT PRIVATE: " + s.not_private);
  if (s.model.outcome != "completed") words.push_back("It comes from a run that was " + s.model.outcome + ".");
  if (const std::string note = note_on_probabilities(s.model); !note.empty()) words.push_back("Note: " + note + ".");
  return words;
}

}  // namespace parley::run
