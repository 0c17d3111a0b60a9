#include "cli/budget.h"

#include <cmath>
#include <limits>

#include "cli/terminal.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"

namespace parley::cli {
namespace {

// Rounded down: what is left must not be overstated.
std::string left(double epsilon) {
  return fixed(std::floor(epsilon * 1e4) / 1e4, 4);
}

}  // namespace

double left_after_one_more(const ledger::Cap& cap, ledger::Spend spent) {
  spent.add(cap.delta > 0 ? ledger::Price{.mu = privacy::gdp_mu(1, cap.delta)} : ledger::Price{.epsilon = 1});
  // A run that is planned for ε = 1 costs a little less than that, so it fits where nothing but rounding is missing.
  if (spent.total() > ledger::limit_of(cap) * (1 + 1e-12)) return std::numeric_limits<double>::quiet_NaN();
  return spent.total() >= ledger::limit_of(cap) ? 0 : ledger::left_under(cap, spent);
}

std::vector<std::vector<std::string>> budget_table(const ledger::LedgerFile& ledger) {
  std::vector<std::vector<std::string>> rows = {
      {"dataset", "budget ε", "δ", "spent ε", "left for a run", "after one more run of ε = 1"}};
  for (const auto& [name, d] : ledger.datasets()) {
    const ledger::Spend spent = ledger.spent(name);
    if (!d.cap.limited()) {
      rows.push_back(
          {name, "unlimited", number(d.cap.delta), printed_epsilon(spent.epsilon()), "unlimited", "unlimited"});
      continue;
    }
    const double after = left_after_one_more(d.cap, spent);
    rows.push_back({name, number(d.cap.epsilon), number(d.cap.delta), printed_epsilon(spent.epsilon()),
                    left(ledger::left_under(d.cap, spent)),
                    std::isnan(after) ? "it does not fit" : left(after) + " is left"});
  }
  return rows;
}

}  // namespace parley::cli
