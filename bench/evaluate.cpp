// One evaluation of the local objective, for counting instructions (instructions.sh):
//   bench_evaluate gradient|hessian adult|census|dense    prints rows, features and entries
#include <cstdio>
#include <exception>
#include <string>

#include "parley/problem/objective.h"
#include "rows.h"

int main(int argc, char** argv) {
  using namespace parley;
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_evaluate gradient|hessian adult|census|dense\n");
    return 2;
  }
  try {
    const std::string what = argv[1], data = argv[2];
    if (data == "adult" && !bench::has_adult()) return 3;
    const data::Rows rows = data == "adult"    ? bench::adult(8000)
                            : data == "census" ? bench::census(8000)
                                               : bench::dense(8000, 100);
    const problem::Problem p{
        .rows = &rows, .loss = {}, .weight = bench::loss_weight / 8000, .regularization = bench::regularization / 5};
    problem::Evaluation at;
    Matrix lower;
    const Vector f = Vector::Constant(p.dimension(), 0.1), zero = Vector::Zero(p.dimension());
    problem::evaluate({&p, 1}, {.linear = zero}, f, at, what == "hessian" ? &lower : nullptr);
    std::printf("%zu %ld %zu\n", rows.count(), static_cast<long>(rows.features), rows.value.size());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
