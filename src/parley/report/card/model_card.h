// A model card: what somebody should know who finds a model and was not there. Markdown, from what was read for the audience,
// so that it shows nothing that the page of the same run would not.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parley/report/group.h"
#include "parley/report/report.h"

namespace parley::report {

// One group of one run that has begun.
std::string model_card(const std::vector<Group>& groups, const Options& options);

// What every card begins with: a file that does not is never overwritten.
inline constexpr std::string_view card_signature = "<!-- parley model card -->\n";

std::string markdown_text(const std::string& text);  // shows as it stands, on one line, in a table too

}  // namespace parley::report
