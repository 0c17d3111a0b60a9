#include "parley/problem/metrics.h"

#include <cmath>

#include "parley/problem/softmax.h"

namespace parley::problem {

double mean_loss(const data::Rows& rows, const Loss& loss, const Vector& f) {
  double sum = 0;
  if (loss.kind == LossKind::softmax) {
    const Problem p{.rows = &rows, .loss = loss, .weight = 1};
    Evaluation at;
    evaluate({&p, 1}, {.linear = Vector::Zero(f.size())}, f, at);
    return at.value / static_cast<double>(rows.count());
  }
  for (std::size_t n = 0; n < rows.count(); ++n) sum += loss.value(score(rows, n, f), rows.label[n]);
  return sum / static_cast<double>(rows.count());
}

double test_error(const data::Rows& rows, const Loss& loss, const Vector& f) {
  double sum = 0;
  for (std::size_t n = 0; n < rows.count(); ++n) {
    if (loss.kind == LossKind::softmax) {
      const auto found = softmax_class(rows, n, f, static_cast<std::size_t>(loss.classes));
      sum += static_cast<double>(found) != rows.label[n] ? 1 : 0;
      continue;
    }
    const double s = score(rows, n, f), y = rows.label[n];
    sum += loss.classifies() ? ((s > 0) != (y > 0) ? 1.0 : 0.0) : (s - y) * (s - y);
  }
  const double mean = sum / static_cast<double>(rows.count());
  return loss.classifies() ? mean : std::sqrt(mean);
}

}  // namespace parley::problem
