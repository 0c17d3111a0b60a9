// The first screen: what an officer signs, in a light, a few figures and warnings. HTML, every text escaped.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/report/decision/light.h"
#include "parley/report/group.h"

namespace parley::report {

std::string lights_part(const std::vector<Group>& groups);    // with the warnings that every report carries
std::string odds_sentence(const std::vector<Group>& groups);  // "Whoever has to tell …"; "" without a guarantee
std::string light_part(const Verdict& verdict, const std::string& whom = "");
std::string card(const std::string& name, const std::string& value, const std::string& small,
                 std::optional<Light> light = {});
std::string decision_cards(const std::vector<Group>& groups);  // odds, spent and left, the model against guessing

// guessing.cpp: the model beside always saying the larger class, or the mean; nullopt where it was not measured.
struct Guessing {
  std::string value, words;
  std::optional<Light> light;  // by exact tests on these rows
};
std::optional<Guessing> against_guessing(const Group& group);
std::string guessing_card(const Group& group);  // the same in HTML; ""

// how_to_check.cpp: the noise that was used, and commands that compute ε again from it and not from a target.
struct Check {
  std::string noise, words;
  std::vector<std::string> commands;
};
Check how_to_check(const std::vector<Group>& groups);

// best_choice.cpp: the setting with the lowest error at each ε, or that the differences are within scatter. "" where
// nothing was measured, or there is nothing to compare.
std::vector<std::string> best_choices(const std::vector<Group>& groups);

}  // namespace parley::report
