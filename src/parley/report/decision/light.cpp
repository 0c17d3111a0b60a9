#include "parley/report/decision/light.h"

#include <cmath>

#include "parley/base/printed.h"

namespace parley::report {

Verdict verdict_on(double epsilon, bool holds, bool publishing_allowed) {
  if (!holds || !std::isfinite(epsilon) || epsilon < 0)
    return {Light::red, "NOT PRIVATE",
            "There is no guarantee. Do not share messages or model as if they were protected."};
  if (publishing_allowed)
    return {Light::red, "RED", "δ is so large that publishing a record outright would be allowed. Do not sign."};
  const double printed = printed_epsilon_value(epsilon);
  if (printed <= 1) return {Light::green, "GREEN", "ε is at most 1: strong protection."};
  if (printed <= 3)
    return {Light::amber, "AMBER", "ε is above 1 and at most 3: usable protection. Say why a smaller ε is not enough."};
  if (printed <= 10)
    return {Light::red, "RED", "ε is above 3: weak protection. Sign only if the records are hardly sensitive."};
  return {Light::red, "RED", "ε is above 10: no meaningful protection. Do not sign."};
}

Verdict verdict_on_worth(bool no_better, const std::string& sentence) {
  return {no_better ? Light::red : Light::green, no_better ? "NO BETTER" : "BETTER",
          sentence.empty() ? "" : "The model is " + sentence + "."};
}

std::string name_of(Light light) {
  return light == Light::green ? "green" : light == Light::amber ? "amber" : "red";
}

std::string sign_of(Light light) {
  const std::string begin = "<svg class=\"sign\" viewBox=\"0 0 48 48\" aria-hidden=\"true\">", end = "</svg>";
  switch (light) {
    case Light::green:
      return begin + "<circle cx=\"24\" cy=\"24\" r=\"22\"/><path d=\"M13 25l8 8 14-17\"/>" + end;
    case Light::amber:
      return begin + "<path class=\"body\" d=\"M24 3L46 44H2z\"/><path d=\"M24 17v13M24 36v2\"/>" + end;
    case Light::red:
      break;
  }
  return begin +
         "<path class=\"body\" d=\"M15 2h18l13 13v18L33 46H15L2 33V15z\"/><path d=\"M15 15l18 18M33 15L15 33\"/>" + end;
}

}  // namespace parley::report
