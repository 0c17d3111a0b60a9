#include "parley/report/shareable.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/text.h"

namespace parley::report {
namespace {

using nlohmann::json;

// Public by docs/privacy.md ("public, not protected"): what fixes the algorithm, the noise, the graph and the sizes.
// Not here, on purpose: data, data-dir, schema, test-data, public-data, ledger, dataset, out (places and names),
// split-column (a column of somebody's table).
const std::set<std::string>& public_options() {
  static const std::set<std::string> names = {"algorithm",
                                              "average",
                                              "bound",
                                              "damping",
                                              "damping-growth",
                                              "delta",
                                              "diameter",
                                              "dual-step",
                                              "edge-probability",
                                              "engine",
                                              "epsilon",
                                              "features",
                                              "graph",
                                              "graph-seed",
                                              "iteration-delta",
                                              "iteration-epsilon",
                                              "l1-share",
                                              "loss",
                                              "loss-weight",
                                              "loss-width",
                                              "metrics",
                                              "nodes",
                                              "noise",
                                              "noise-on",
                                              "noise-rate",
                                              "noise-rate-growth",
                                              "noise-scale",
                                              "penalty",
                                              "penalty-growth",
                                              "penalty-growth-rounds",
                                              "preprocessing",
                                              "public-rows",
                                              "regularization",
                                              "regularizer",
                                              "release-bound",
                                              "repeat",
                                              "rewiring",
                                              "ring-neighbours",
                                              "rounds",
                                              "rows",
                                              "seed",
                                              "sensitivity",
                                              "solution-bound",
                                              "split",
                                              "split-exponent",
                                              "split-seed",
                                              "split-shares",
                                              "start",
                                              "step-size",
                                              "test-share",
                                              "tolerance",
                                              "weighting",
                                              "deadline-seconds",
                                              "wait-seconds",
                                              "on-loss"};
  return names;
}

// The choices of those options. A word that is none of them may be a file's name.
bool public_word(const std::string& word) {
  static const std::set<std::string> words = {
      "admm",        "dvp",      "pvp",      "m-admm",   "pp",      "r-admm",      "mr-admm",   "linear-admm",
      "star-admm",   "star-pvp", "dp-admm",  "auto",     "yes",     "no",          "proved",    "verified",
      "paper",       "worst",    "at-point", "common",   "penalty", "in-process",  "mpi",       "ring",
      "path",        "star",     "complete", "grid",     "random",  "small-world", "logistic",  "huber-hinge",
      "hinge",       "huber",    "softmax",  "every",    "last",    "none",        "gamma",     "gaussian",
      "objective",   "output",   "gradient", "public",   "compact", "integer",     "l2",        "l1",
      "elastic-net", "even",     "power",    "shares",   "column",  "zero",        "equal",     "rows",
      "stop",        "continue", "unequal",  "by-label", "sorted",  "fixed",       "decreasing"};
  return words.contains(word);
}

bool public_value(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty() || public_word(value.get<std::string>());
  if (value.is_array())
    return std::ranges::all_of(value,
                               [](const json& v) { return v.is_number() || (v.is_string() && public_value(v)); });
  return value.is_null() || value.is_boolean() || value.is_number();
}

}  // namespace

std::string plain_text(const json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get_ref<const std::string&>().empty() ? "–" : value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) {
    const std::string exact = number(value.get<double>());
    return exact.size() <= 10 ? exact : fmt::format("{:.7g}", value.get<double>());
  }
  if (!value.is_array()) return value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (value.empty()) return "–";
  std::vector<std::string> parts;
  constexpr std::size_t most = 6;
  for (const json& v : value) {
    if (parts.size() == most) {
      parts.push_back("… (" + std::to_string(value.size()) + " values)");
      break;
    }
    parts.push_back(plain_text(v));
  }
  return join(parts, ", ");
}

std::optional<std::string> shown_option(const std::string& name, const json& value, Audience audience) {
  if (audience == Audience::anyone && (!public_options().contains(name) || !public_value(value))) return std::nullopt;
  return plain_text(value);
}

std::string shown_data(const std::string& name, Audience audience) {
  return audience == Audience::owner || name == "census" || name == "adult" ? name : "";
}

}  // namespace parley::report
