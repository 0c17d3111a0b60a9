#include "parley/run/intervals/coefficients.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::run {

using nlohmann::json;

namespace {

constexpr double quantile = 1.959963984540054;  // of the normal, at 97.5 %
constexpr auto unidentified = "not identified at this budget";

std::string name_of(const data::Column& c) {
  if (c.transform == data::Transform::log1p) return "log1p(" + c.name + ")";
  if (c.transform == data::Transform::sqrt) return "sqrt(" + c.name + ")";
  return c.name;
}

struct Wanted {  // constant + kᵀf
  std::string name;
  Vector k;
  double constant = 0;
};

// A number is (2(t − low)/w − 1)/R of a row, a flag 1/R. So kᵀf is the score's change for one unit; the intercept is the
// score where all numbers and flags are 0.
std::vector<Wanted> wanted(const data::Schema& schema, Index features) {
  const double r = data::divisor(schema);
  std::vector<Wanted> all;
  Vector at_zero = Vector::Zero(features);
  Index at = 0;
  for (const data::Column& c : schema.columns)
    for (const std::string& name : data::feature_names(c)) {
      const bool number = c.kind == data::Kind::numeric && c.transform != data::Transform::bins;
      Wanted one{.name = number ? name_of(c) : name, .k = Vector::Zero(features)};
      if (number) {
        const data::Bounds b = c.bounds.value();
        const double low = data::transformed(c.transform, b.low), w = data::transformed(c.transform, b.high) - low;
        one.k[at] = 2 / (w * r);
        at_zero[at] = -(2 * low / w + 1) / r;
      } else {
        one.k[at] = 1 / r;
      }
      ++at;
      all.push_back(std::move(one));
    }
  if (schema.intercept) {
    at_zero[at++] = 1 / r;
    all.push_back({.name = "(intercept)", .k = at_zero});
  }
  expects(at == features, "a coefficient for every feature");
  return all;
}

}  // namespace

void check_intervals(const algorithm::Options& o, const std::string& schema_toml) {
  if (!o.intervals) return;
  const data::Scale scale =
      schema_toml.empty() ? data::Scale::clip : data::parse_schema(schema_toml, "the schema").scale;
  if (scale == data::Scale::bound) return;
  throw Error(
      {.what = "coefficients with intervals need features that are linear in the record: every row divided by "
               "one public number, not by its own norm",
       .value = schema_toml.empty() ? "data without a schema" : "scale = \"clip\"",
       .allowed = "a schema with scale = \"bound\"",
       .where = "option --intervals",
       .fix = "write scale = \"bound\" at the top of the schema (docs/use/intervals.md), or leave --intervals out"});
}

std::vector<Coefficient> coefficients(const algorithm::newton::Estimate& e, const data::Schema& schema) {
  std::vector<Coefficient> table;
  const auto& label = schema.label.bounds;
  const double unit = label ? (label->high - label->low) / 2 : 1;  // of the label, by a unit of the score
  for (const Wanted& w : wanted(schema, e.value.size())) {
    const algorithm::newton::Combination c = combination(e, w.k * unit);
    const double shift = label && w.name == "(intercept)" ? label->low + unit : 0;
    Coefficient one{.name = w.name,
                    .estimate = c.value + shift,
                    .standard_error = c.standard_error,
                    .sampling_error = c.sampling_error,
                    .identified = c.identified};
    one.low = one.estimate - quantile * one.standard_error;
    one.high = one.estimate + quantile * one.standard_error;
    one.p_value = std::erfc(std::abs(one.estimate) / one.standard_error / std::numbers::sqrt2);
    table.push_back(one);
  }
  return table;
}

std::string assumptions_of_intervals(const algorithm::Plan& plan) {
  const algorithm::Schedule& first = plan.nodes.front();
  std::string text =
      "95 % intervals that count which records there are and the privacy noise. They assume that every "
      "party followed the protocol, that records are independent, and ";
  text += first.loss.kind == problem::LossKind::squared
              ? "that the linear model is right, with errors of equal spread."
              : "nothing of the model: where it is wrong, they are for the logistic model that comes closest.";
  if (first.group() > 1)
    text +=
        " Several rows of one person are not independent records: standard errors are then too small, and intervals "
        "and p-values too sure.";
  return text;
}

json to_json(const std::vector<Coefficient>& table) {
  json list = json::array();
  for (const Coefficient& c : table) {
    const auto or_null = [&](double x) { return c.identified ? json(x) : json(); };
    list.push_back({{"name", c.name},
                    {"estimate", or_null(c.estimate)},
                    {"standard_error", or_null(c.standard_error)},
                    {"standard_error_sampling", or_null(c.sampling_error)},
                    {"low", or_null(c.low)},
                    {"high", or_null(c.high)},
                    {"p_value", or_null(c.p_value)},
                    {"identified", c.identified}});
  }
  return list;
}

std::string coefficients_csv(const std::vector<Coefficient>& table, bool is_private) {
  std::string csv = "name,estimate,standard_error,standard_error_sampling,low,high,p_value,identified,stamp\n";
  const std::string stamp = is_private ? "" : "NOT PRIVATE";
  for (const Coefficient& c : table) {
    csv += csv_cell(c.name);
    for (const double x : {c.estimate, c.standard_error, c.sampling_error, c.low, c.high, c.p_value})
      csv += "," + (c.identified ? number(x) : "");
    csv += (c.identified ? ",yes," : ",no,") + stamp + "\n";
  }
  return csv;
}

std::vector<std::vector<std::string>> coefficients_table(const json& list) {
  std::vector<std::vector<std::string>> rows = {
      {"coefficient", "estimate", "standard error", "of it sampling", "95 % interval", "p-value"}};
  if (!list.is_array()) return {};
  for (const json& c : list) {
    const auto text = [&](const char* key) {
      return c.value(key, json()).is_number() ? fmt::format("{:.4g}", c[key].get<double>()) : std::string("-");
    };
    const std::string name = c.value("name", "");
    if (!c.value("identified", false)) {
      rows.push_back({name, unidentified, "", "", "", ""});
      continue;
    }
    const double p = c.value("p_value", 1.0);
    rows.push_back({name, text("estimate"), text("standard_error"), text("standard_error_sampling"),
                    text("low") + " to " + text("high"), p < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", p)});
  }
  return rows;
}

}  // namespace parley::run
