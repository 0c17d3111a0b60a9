#include "parley/study/model.h"

#include <nlohmann/json.hpp>

#include "parley/data/schema.h"
#include "parley/run/claim.h"
#include "parley/run/model.h"

namespace parley::study {
namespace {

std::vector<std::string> names_of_features(const Study& study, const StudyPlan& plan) {
  if (!study.schema_toml.empty()) return data::feature_names(data::parse_schema(study.schema_toml, study.schema));
  std::vector<std::string> names;
  for (long k = 1; k <= plan.setting.features; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace

nlohmann::json model_json(const Study& study, const StudyPlan& plan, const Vector& weights, const std::string& outcome,
                          const VoidClaims& claims, const algorithm::newton::Estimate* estimate) {
  const run::Model model{.weights = weights,
                         .feature_names = names_of_features(study, plan),
                         .loss = plan.plan.nodes.front().loss,
                         .schema_toml = study.schema_toml,
                         .not_private = not_private(study, plan, claims),
                         .classes = {}};
  nlohmann::json text = to_json(model, privacy_of_run(study, plan, claims));
  text["outcome"] = outcome;
  text["selection"] = run::to_json(plan.selected);
  if (const auto table = coefficients_of(study, estimate); !table.empty()) {
    text["coefficients"] = run::to_json(table);
    text["coefficients_assume"] = run::assumptions_of_intervals(plan.plan);
  }
  return text;
}

std::vector<run::Coefficient> coefficients_of(const Study& study, const algorithm::newton::Estimate* estimate) {
  if (estimate == nullptr) return {};
  return run::coefficients(*estimate, data::parse_schema(study.schema_toml, study.schema));
}

}  // namespace parley::study
