#include "liblinear.h"

#include <linear.h>

#include "parley/base/error.h"

namespace parley::bench {

Liblinear::Liblinear(const data::Rows& rows) : label_(rows.label), features_(static_cast<int>(rows.features)) {
  entries_.reserve(rows.value.size() + rows.count());
  for (std::size_t n = 0; n < rows.count(); ++n) {
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
      entries_.push_back({rows.column[k] + 1, rows.value[k]});
    entries_.push_back({-1, 0});
  }
  feature_node* at = entries_.data();
  for (std::size_t n = 0; n < rows.count(); ++n) {
    rows_.push_back(at);
    at += rows.start[n + 1] - rows.start[n] + 1;
  }
  set_print_string_function([](const char*) {});
}

Liblinear::~Liblinear() = default;

Liblinear::Fit Liblinear::fit(double c, double stop) const {
  auto* const self =
      const_cast<Liblinear*>(this);  // train() takes pointers to non-const and writes through none of them
  const ::problem rows{.l = static_cast<int>(label_.size()),
                       .n = features_,
                       .y = self->label_.data(),
                       .x = self->rows_.data(),
                       .bias = -1};
  ::parameter how{};
  how.solver_type = L2R_LR;
  how.eps = stop;
  how.C = c;
  expects(check_parameter(&rows, &how) == nullptr, "parameters that LIBLINEAR accepts");
  const Stopwatch watch;
  ::model* fitted = ::train(&rows, &how);
  Fit fit{.seconds = watch.read()};
  fit.w = Eigen::Map<const Vector>(fitted->w, features_) *
          fitted->label[0];  // w scores for the class that it numbered first
  free_and_destroy_model(&fitted);
  return fit;
}

}  // namespace parley::bench
