// The traffic light: what a figure of privacy means, in a word, a shape and a colour.
#pragma once
#include <string>

namespace parley::report {

enum class Light { green, amber, red };

struct Verdict {
  Light light = Light::red;
  std::string word;      // GREEN, AMBER, RED, NOT PRIVATE
  std::string sentence;  // what it means and what to do
};

// ε as printed decides: at most 1 is green, at most 3 amber. Without a guarantee it is red, and where δ would allow a
// record to be published outright.
Verdict verdict_on(double epsilon, bool holds, bool publishing_allowed = false);
// Is a model better than guessing? `sentence`: as the exact tests have it.
Verdict verdict_on_worth(bool no_better, const std::string& sentence);
std::string name_of(Light light);  // of its class in the style sheet
std::string sign_of(Light light);  // SVG: each light has a shape of its own, so that colour is never needed

}  // namespace parley::report
