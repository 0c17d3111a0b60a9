#include "parley/run/quality/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "parley/data/schema.h"

namespace parley::run {

using nlohmann::json;

namespace {

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

}  // namespace

problem::Unit unit_of(const std::string& schema_toml) {
  if (schema_toml.empty()) return {};
  const auto bounds = data::parse_schema(schema_toml, "the schema").label.bounds;
  return bounds ? problem::Unit{.low = bounds->low, .high = bounds->high} : problem::Unit{};
}

problem::Measure measure_of(const std::string& schema_toml) {
  if (schema_toml.empty()) return {};
  const data::Schema schema = data::parse_schema(schema_toml, "the schema");
  return {.unit = unit_of(schema_toml), .several_rows = schema.unit.rows_per_person > 1};
}

std::vector<std::string> class_names(const std::string& schema_toml, const std::vector<std::string>& classes) {
  if (!classes.empty()) return classes;
  if (schema_toml.empty()) return {"-1", "1"};
  const data::Label label = data::parse_schema(schema_toml, "the schema").label;
  return {label.negative.empty() ? "-1" : label.negative[0], label.positive.empty() ? "1" : label.positive[0]};
}

std::optional<problem::Scored> scored_by_all(const data::Rows& test, const problem::Loss& loss, const Vector& f,
                                             network::Ranks& ranks) {
  problem::Scored mine = scored(test, loss, f);
  if (ranks.count() > 1) {
    std::vector<double> counts(static_cast<std::size_t>(ranks.count()));
    counts[static_cast<std::size_t>(ranks.rank())] = static_cast<double>(mine.count());
    ranks.sum(counts);
    std::size_t before = 0, all = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (static_cast<int>(r) < ranks.rank()) before += static_cast<std::size_t>(counts[r]);
      all += static_cast<std::size_t>(counts[r]);
    }
    const auto place = [&](std::vector<double>& values, std::size_t each) {
      std::vector<double> whole(all * each);
      std::ranges::copy(values, whole.begin() + static_cast<std::ptrdiff_t>(before * each));
      ranks.sum(whole);
      values = std::move(whole);
    };
    place(mine.label, 1);
    place(mine.score, static_cast<std::size_t>(loss.scores()));
  }
  if (mine.count() == 0) return std::nullopt;
  return mine;
}

json to_json(const problem::Quality& q, const std::vector<std::string>& classes) {
  json j = {{"test_rows", q.rows},
            {"baseline_error", q.baseline_error},
            {"verdict", q.verdict.text},
            {"verdict_tests",
             {{"no_better_than_guessing", q.verdict.no_better},
              {"level", problem::Verdict::level},
              {"p_error", q.verdict.p_error},
              {"p_order", or_null(q.verdict.p_order)}}}};
  if (q.mae) {
    j.update({{"mae", *q.mae}, {"rmse", q.error}, {"baseline_rmse", q.baseline_error}});
    j["r_squared"] = or_null(q.r_squared);
    return j;
  }
  j.update({{"auc", or_null(q.auc)},
            {"balanced_error", or_null(q.balanced_error)},
            {"baseline_balanced_error", or_null(q.baseline_balanced_error)},
            {"f1", or_null(q.f1)},
            {"log_loss", or_null(q.log_loss)},
            {"brier", or_null(q.brier)},
            {"confusion", {{"classes", classes}, {"rows", q.confusion}}},
            {"calibration", json::array()},
            {"roc", json::array()}});
  for (const problem::RocPoint& p : q.roc) j["roc"].push_back({p.false_alarms, p.found});
  for (const problem::Bin& b : q.calibration)
    j["calibration"].push_back({{"low", b.low},
                                {"high", b.high},
                                {"rows", b.rows},
                                {"predicted", b.rows > 0 ? json(b.predicted) : json()},
                                {"observed", b.rows > 0 ? json(b.observed) : json()}});
  return j;
}

json evaluation_json(const problem::Quality& q, const std::vector<std::string>& classes,
                     const std::vector<std::string>& model_not_private) {
  json j = to_json(q, classes);
  j["error"] = q.error;
  j["model_not_private"] = model_not_private;
  j["measured_on_rows"] = "private: no budget paid for these figures";
  return j;
}

std::vector<std::pair<std::string, std::string>> class_lines(const problem::Quality& q,
                                                             const std::vector<std::string>& classes) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t c = 0; c < q.confusion.size(); ++c) {
    const std::size_t all = std::accumulate(q.confusion[c].begin(), q.confusion[c].end(), std::size_t{0});
    std::size_t said = 0;
    for (const auto& row : q.confusion) said += row[c];
    lines.emplace_back("class " + classes[c], fmt::format("{} of {} rows found; {} other rows taken for it",
                                                          q.confusion[c][c], all, said - q.confusion[c][c]));
  }
  return lines;
}

}  // namespace parley::run
