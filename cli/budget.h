// What a ledger says to an officer: the budget of each dataset, what is spent, what is left, and what one more run of
// ε = 1 would leave.
#pragma once
#include <string>
#include <vector>

#include "parley/ledger/ledger_file.h"

namespace parley::cli {

std::vector<std::vector<std::string>> budget_table(const ledger::LedgerFile& ledger);  // its head first

// What is left for a run after one more of ε = 1, by the same rule as the cap's; NaN: that run does not fit.
double left_after_one_more(const ledger::Cap& cap, ledger::Spend spent);

inline constexpr char budget_words[] =
    "Spent adds up over all runs on the same rows and is never given back. At δ = 0 it is the sum of the runs' ε. At "
    "δ > 0 the filter adds up the noise of all runs as if they were one (the squares of μ), so what is left for a run "
    "is more than budget minus spent.";

}  // namespace parley::cli
