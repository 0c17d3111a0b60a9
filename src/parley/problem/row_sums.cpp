#include "parley/problem/row_sums.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>

#include "parley/base/parallel.h"
#include "parley/problem/kernels.h"
#include "parley/problem/softmax.h"

namespace parley::problem {
namespace {

constexpr std::size_t chunk_rows = 8192, most_chunks = 16, lanes = 8;

struct Range {
  std::size_t first = 0, count = 0;
};

std::size_t chunks_of(std::size_t rows) {
  return std::clamp<std::size_t>(rows / chunk_rows, 1, most_chunks);
}

Range chunk_of(std::size_t rows, std::size_t chunk) {
  const std::size_t chunks = chunks_of(rows), first = rows * chunk / chunks;
  return {first, rows * (chunk + 1) / chunks - first};
}

// A block's gradient is zeroed and added as a whole, so its rows must have more entries than there are weights.
std::size_t block_rows(const Problem& p) {
  const std::size_t rows = std::max<std::size_t>(1, p.rows->count());
  const std::size_t entries = std::max<std::size_t>(1, p.rows->value.size() / rows);
  return std::clamp<std::size_t>(static_cast<std::size_t>(p.rows->features) / entries, 128, chunk_rows) / lanes * lanes;
}

struct Block {  // room for one, kept by each thread
  std::vector<double> score, slope, curvature;
  Vector gradient;
  void fit(std::size_t rows, Index dimension) {
    for (auto* v : {&score, &slope, &curvature})
      if (v->size() < rows) v->resize(rows);
    gradient.setZero(dimension);
  }
};

struct Chunk {
  double value = 0, slopes = 0;
  Vector gradient, lost;  // compensated
  Matrix lower;

  void add(const Vector& g) {  // Kahan
    for (Index j = 0; j < g.size(); ++j) {
      const double term = g[j] - lost[j], next = gradient[j] + term;
      lost[j] = (next - gradient[j]) - term;
      gradient[j] = next;
    }
  }
};

// What the kernel gave without class weights, with them.
void weigh_classes(const Problem& p, const double* y, std::size_t count, Block& b, kernel::LossSums& sums) {
  sums.value = 0;
  sums.slopes *= p.loss.largest_weight();
  for (std::size_t n = 0; n < count; ++n) {
    const double weight = p.loss.weight_of(y[n]);
    sums.value += p.loss.value(b.score[n], y[n]);
    b.slope[n] *= weight;
    b.curvature[n] *= weight;
  }
}

kernel::LossSums scalar_block(const Problem& p, Range r, const Vector& f, Block& b) {
  kernel::scores(*p.rows, r.first, r.count, f.data(), b.score.data());
  const double* const y = p.rows->label.data() + r.first;
  kernel::LossSums sums;
  if (p.loss.kind == LossKind::logistic) {
    sums = kernel::logistic(b.score.data(), y, r.count, p.weight, b.slope.data(), b.curvature.data());
    if (p.loss.cap < 1)
      for (std::size_t n = 0; n < r.count; ++n)
        b.slope[n] = std::clamp(b.slope[n], -p.weight * p.loss.cap, p.weight * p.loss.cap);
    if (p.loss.weighted()) weigh_classes(p, y, r.count, b, sums);
  } else {
    for (std::size_t n = 0; n < r.count; ++n) {
      const double slope = p.loss.slope(b.score[n], y[n]);
      sums.value += p.loss.value(b.score[n], y[n]);
      sums.slopes += std::abs(slope);
      b.slope[n] = p.weight * slope;
      b.curvature[n] = p.weight * p.loss.curvature(b.score[n], y[n]);
    }
  }
  kernel::add_gradient(*p.rows, r.first, r.count, b.slope.data(), b.gradient.data());
  return sums;
}

void sum_chunk(const Problem& p, Range chunk, const Vector& f, double* curvature, bool hessian, Chunk& to) {
  thread_local Block b;
  const std::size_t step = block_rows(p);
  to.value = to.slopes = 0;
  to.gradient.setZero(f.size());
  to.lost.setZero(f.size());
  if (hessian) to.lower.setZero(p.features(), p.features());
  for (std::size_t begin = 0; begin < chunk.count; begin += step) {
    const Range r{chunk.first + begin, std::min(step, chunk.count - begin)};
    b.fit(step + lanes, f.size());
    kernel::LossSums sums;
    if (p.loss.kind == LossKind::softmax) {
      sums = softmax_block(p, r.first, r.count, f, curvature, b.gradient);
    } else {
      sums = scalar_block(p, r, f, b);
      std::copy_n(b.curvature.data(), r.count, curvature + r.first);
      if (hessian) kernel::add_outer_products(*p.rows, r.first, r.count, b.curvature.data(), to.lower.data());
    }
    to.value += sums.value;
    to.slopes += sums.slopes;
    to.add(b.gradient);
  }
}

std::vector<Chunk>& chunk_room(std::size_t count) {
  thread_local std::vector<Chunk> room;
  if (room.size() < count) room.resize(count);
  return room;
}

std::atomic<std::uint64_t> passes{0}, bytes_read{0};

void count_pass(const data::Rows& rows) {
  const std::size_t entry = sizeof(double) + (rows.full() ? 0 : sizeof(std::int32_t)),
                    row = sizeof(double) + (rows.full() ? 0 : sizeof(std::size_t));
  passes.fetch_add(1, std::memory_order_relaxed);
  bytes_read.fetch_add(rows.value.size() * entry + rows.count() * row, std::memory_order_relaxed);
}

}  // namespace

Passes passes_so_far() {
  return {passes.load(), bytes_read.load()};
}

void sum_rows(const Problem& p, const Vector& f, RowSums& out, double* curvature, Matrix* lower) {
  const std::size_t rows = p.rows->count(), chunks = chunks_of(rows);
  std::vector<Chunk>& room = chunk_room(chunks);
  count_pass(*p.rows);
  const auto body = [&](int i) {
    const auto c = static_cast<std::size_t>(i);
    sum_chunk(p, chunk_of(rows, c), f, curvature, lower != nullptr, room[c]);
  };
  parallel_for(static_cast<int>(chunks), spare_threads(), std::ref(body));  // no copy, no allocation
  for (std::size_t c = 1; c < chunks; ++c) {
    room[0].value += room[c].value;
    room[0].slopes += room[c].slopes;
    room[0].add(room[c].gradient);
    if (lower != nullptr) room[0].lower += room[c].lower;
  }
  out.value = room[0].value;
  out.slopes = room[0].slopes;
  out.gradient = room[0].gradient;
  if (lower != nullptr) *lower = room[0].lower;
}

void add_outer_products(const data::Rows& rows, const double* c, Matrix& lower) {
  const std::size_t chunks = chunks_of(rows.count());
  std::vector<Chunk>& room = chunk_room(chunks);
  count_pass(rows);
  const auto body = [&](int i) {
    const Range r = chunk_of(rows.count(), static_cast<std::size_t>(i));
    Matrix& h = room[static_cast<std::size_t>(i)].lower;
    h.setZero(rows.features, rows.features);
    kernel::add_outer_products(rows, r.first, r.count, c + r.first, h.data());
  };
  parallel_for(static_cast<int>(chunks), spare_threads(), std::ref(body));  // no copy, no allocation
  for (std::size_t i = 0; i < chunks; ++i) lower += room[i].lower;
}

void add_hessian_times(const data::Rows& rows, const double* c, const Vector& v, Vector& out) {
  constexpr std::size_t block = 128;
  const std::size_t chunks = chunks_of(rows.count());
  std::vector<Chunk>& room = chunk_room(chunks);
  count_pass(rows);
  const auto body = [&](int i) {
    const Range r = chunk_of(rows.count(), static_cast<std::size_t>(i));
    Vector& sum = room[static_cast<std::size_t>(i)].gradient;
    sum.setZero(v.size());
    std::array<double, block> s{};
    for (std::size_t n = 0; n < r.count; n += block) {
      const std::size_t count = std::min(block, r.count - n);
      kernel::scores(rows, r.first + n, count, v.data(), s.data());
      for (std::size_t k = 0; k < count; ++k) s[k] *= c[r.first + n + k];
      kernel::add_gradient(rows, r.first + n, count, s.data(), sum.data());
    }
  };
  parallel_for(static_cast<int>(chunks), spare_threads(), std::ref(body));  // no copy, no allocation
  for (std::size_t i = 0; i < chunks; ++i) out += room[i].gradient;
}

Matrix second_moments(const data::Rows& rows) {
  const std::vector<double> ones(rows.count(), 1.0);
  Matrix lower = Matrix::Zero(rows.features, rows.features);
  add_outer_products(rows, ones.data(), lower);
  return lower;
}

Vector squares(const data::Rows& rows) {
  count_pass(rows);
  Vector sum = Vector::Zero(rows.features);
  for (std::size_t n = 0; n < rows.count(); ++n)
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
      sum[rows.column[k]] += rows.value[k] * rows.value[k];
  return sum;
}

// Any order of n additions: (n − 1)u Σ|terms| in each entry, so in Frobenius norm that times Σ‖x xᵀ‖ ≤ n; u for each
// product and for the √2 of packing. The 1 % more covers O((n u)²).
double moment_rounding(double records) {
  return 1.01 * (records + 8) * 0x1p-53 * records;
}

// A block's plain sum of n terms: (n − 1)u Σ|terms|, and u for each product; Kahan over blocks and chunks, each with
// its own compensation: 2u and 2u. The 1 % more covers O((n u)²) and the rounding of `slopes`.
double summation_error(const Problem& p) {
  return 1.01 * (static_cast<double>(block_rows(p)) + 8) * 0x1p-53;
}

double worst_summation_error(double features) {  // rows with one entry each make the longest blocks
  return 1.01 * (std::clamp(features, 128.0, static_cast<double>(chunk_rows)) + 8) * 0x1p-53;
}

}  // namespace parley::problem
