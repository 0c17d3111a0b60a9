// Three banks, one classifier, one budget: rows in memory, the guarantee, and what the model is worth.
#include <parley/parley.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

// Synthetic payments: amount, hour, payments of the day before; fraud is likelier for large ones at night.
parley::Rows bank(int number, std::size_t rows, const parley::Schema& schema) {
  std::mt19937_64 random(static_cast<unsigned>(number));
  std::uniform_real_distribution<double> amount(0, 1000), hour(0, 24), uniform(0, 1);
  std::poisson_distribution<int> before(3);
  std::vector<double> numbers, labels;
  for (std::size_t n = 0; n < rows; ++n) {
    const double a = amount(random), h = hour(random), b = before(random);
    numbers.insert(numbers.end(), {a, h, b});
    const double score = a / 200 + (h < 6 ? 2 : 0) - 3.5;
    labels.push_back(uniform(random) < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return parley::rows_of({.first = numbers.data(), .rows = rows, .columns = 3, .row_step = 3}, labels, schema,
                         "bank " + std::to_string(number));
}

}  // namespace

int main() {
  try {
    const parley::Schema schema =
        parley::schema_of({.columns = {{"amount", 0, 1000}, {"hour", 0, 24}, {"before", 0, 20}},
                           .label = "fraud",
                           .classes = {"no", "yes"}});
    const std::vector<parley::Rows> banks = {bank(1, 20000, schema), bank(2, 8000, schema), bank(3, 5000, schema)};
    const parley::Trained run = parley::train({{"epsilon", "1"}, {"delta", "1e-6"}}, banks);
    std::printf("%s: epsilon = %.4f, delta = %g, against %s\n", run.outcome.c_str(), run.guarantee.epsilon,
                run.guarantee.delta, run.guarantee.against.c_str());
    if (!run.model) return 3;
    std::printf("on rows of another bank: %s\n", run.model->evaluate(bank(4, 5000, schema)).c_str());
    return 0;
  } catch (const parley::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
