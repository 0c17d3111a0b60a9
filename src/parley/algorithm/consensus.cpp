#include "parley/algorithm/consensus.h"

namespace parley::algorithm {
namespace {

Vector sum(const Inbox& f_j, Index size) {
  Vector total = Vector::Zero(size);
  for (const auto& f : f_j) total += *f;  // in node order
  return total;
}

double degree(const Inbox& f_j) {
  return static_cast<double>(f_j.size());
}

}  // namespace

problem::Proximal primal_terms(const State& s, const Inbox& f_j, double eta) {
  return {.linear = 2 * s.dual - eta * (degree(f_j) * s.f + sum(f_j, s.f.size())), .quadratic = 2 * eta * degree(f_j)};
}

Vector linear_pull(const State& s, const Inbox& f_j, double eta) {
  return 2 * s.dual + eta * (degree(f_j) * s.f - sum(f_j, s.f.size()));
}

Vector dual_update(const State& s, const Inbox& f_j, double theta) {
  return s.dual + theta / 2 * (degree(f_j) * s.f - sum(f_j, s.f.size()));
}

Vector recycled_gradient(const State& s, const Inbox& f_j, double eta, const Vector& f_new) {
  return -2 * s.dual - eta * (2 * degree(f_j) * f_new - degree(f_j) * s.f - sum(f_j, s.f.size()));
}

Vector recycled_step(const State& s, const Inbox& f_j, double eta, double gamma) {
  return s.f - (s.gradient + linear_pull(s, f_j, eta)) / (2 * eta * degree(f_j) + gamma);
}

}  // namespace parley::algorithm
