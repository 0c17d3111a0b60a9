#include "parley/run/expectation.h"

#include <nlohmann/json.hpp>

#include "parley/algorithm/newton/newton_plan.h"

namespace parley::run {

using nlohmann::json;
namespace newton = algorithm::newton;

namespace {

json to_json(const newton::Forecast& f) {
  return {{"points", f.points}, {"points_low", f.low}, {"points_high", f.high}, {"guessing", f.guessing}};
}

}  // namespace

std::string in_words(const algorithm::Selected& s) {
  return s.by_planner() ? s.algorithm + ", chosen by the planner: " + s.because : s.algorithm;
}

json to_json(const algorithm::Selected& s) {
  return {{"algorithm", s.algorithm}, {"by", s.by_planner() ? "planner" : "given"}, {"because", s.because}};
}

json forecast_json(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  if (!known) return nullptr;
  const double nu = newton::noise_to_signal(*known);
  const newton::Forecast f = newton::forecast(nu);
  json j = to_json(f);
  j.update({{"noise_to_signal", nu},
            {"in_words", newton::in_words(f)},
            {"guessing_below_records", newton::guessing_below(*known)},
            {"guessing_in_words", newton::guessing_in_words(*known)},
            {"levers", json::array()}});
  for (const newton::Lever& lever : newton::levers(*known)) {
    json one = to_json(lever.then);
    one["lever"] = lever.what;
    j["levers"].push_back(one);
  }
  return j;
}

std::vector<std::pair<std::string, std::string>> forecast_lines(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  if (!known) return {};
  return {{"expect", newton::in_words(newton::forecast(newton::noise_to_signal(*known)))},
          {"limit", newton::guessing_in_words(*known)},
          {"would help", newton::levers_in_words(*known)}};
}

}  // namespace parley::run
