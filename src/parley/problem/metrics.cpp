#include "parley/problem/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "parley/problem/kernels.h"
#include "parley/problem/softmax.h"

namespace parley::problem {

namespace {

constexpr std::size_t block = 1024;

// body(first row, number of rows, their scores)
template <class Body>
void by_blocks(const data::Rows& rows, const Vector& f, const Body& body) {
  std::array<double, block> scores{};
  for (std::size_t first = 0; first < rows.count(); first += block) {
    const std::size_t count = std::min(block, rows.count() - first);
    kernel::scores(rows, first, count, f.data(), scores.data());
    body(first, count, scores.data());
  }
}

}  // namespace

double mean_loss(const data::Rows& rows, const Loss& loss, const Vector& f) {
  const auto count = static_cast<double>(rows.count());
  double sum = 0;
  if (loss.kind == LossKind::softmax) {
    const Problem p{.rows = &rows, .loss = loss, .weight = 1};
    Evaluation at;
    evaluate({&p, 1}, {.linear = Vector::Zero(f.size())}, f, at);
    return at.value / count;
  }
  std::array<double, block> slope{}, curvature{};
  by_blocks(rows, f, [&](std::size_t first, std::size_t n, const double* s) {
    if (loss.kind == LossKind::logistic && !loss.weighted())
      sum += kernel::logistic(s, rows.label.data() + first, n, 1, slope.data(), curvature.data()).value;
    else
      for (std::size_t i = 0; i < n; ++i) sum += loss.value(s[i], rows.label[first + i]);
  });
  return sum / count;
}

double test_errors(const data::Rows& rows, const Loss& loss, const Vector& f) {
  double sum = 0;
  if (loss.kind == LossKind::softmax) {
    for (std::size_t n = 0; n < rows.count(); ++n)
      sum += static_cast<double>(softmax_class(rows, n, f, static_cast<std::size_t>(loss.classes))) != rows.label[n];
  } else {
    by_blocks(rows, f, [&](std::size_t first, std::size_t count, const double* s) {
      for (std::size_t i = 0; i < count; ++i) {
        const double y = rows.label[first + i];
        sum += loss.classifies() ? ((s[i] > 0) != (y > 0) ? 1.0 : 0.0) : (s[i] - y) * (s[i] - y);
      }
    });
  }
  return sum;
}

double test_error_of(double errors, double rows, const Loss& loss, const Unit& unit) {
  return loss.classifies() ? errors / rows : unit.half_width() * std::sqrt(errors / rows);
}

std::vector<double> class_counts(const data::Rows& rows, const Loss& loss) {
  const bool many = loss.kind == LossKind::softmax;
  std::vector<double> counts(many ? static_cast<std::size_t>(loss.classes) : 2);
  for (const double y : rows.label) ++counts[many ? static_cast<std::size_t>(y) : y > 0 ? 1 : 0];
  return counts;
}

double test_error(const data::Rows& rows, const Loss& loss, const Vector& f, const Unit& unit) {
  return test_error_of(test_errors(rows, loss, f), static_cast<double>(rows.count()), loss, unit);
}

}  // namespace parley::problem
