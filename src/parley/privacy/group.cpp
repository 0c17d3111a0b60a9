#include "parley/privacy/group.h"

#include "parley/base/error.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {

double for_group(double price, long rows) {
  expects(rows >= 1 && rows <= most_rows_per_person, "a group of at least one row");
  return rows == 1 ? price : round_up(static_cast<long double>(price) * static_cast<long double>(rows));
}

Charge for_person(Charge charge, long rows) {
  if (rows == 0) return charge;
  charge.epsilon = for_group(charge.epsilon, rows);
  charge.mu = for_group(charge.mu, rows);
  if (charge.mu_colluders) charge.mu_colluders = for_group(*charge.mu_colluders, rows);
  charge.parameters.emplace_back("rows_per_person", static_cast<double>(rows));
  return charge;
}

}  // namespace parley::privacy
