#include "parley/problem/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors wider than the baseline's are passed to inlined functions only

namespace parley::problem::kernel {
namespace {

using Lanes =
    double __attribute__((vector_size(64)));  // eight doubles: one register of AVX-512, two of AVX2, four of SSE2
using Bits = std::int64_t __attribute__((vector_size(64)));
constexpr std::size_t width = 8;

[[gnu::always_inline]] inline Lanes load(const double* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

[[gnu::always_inline]] inline void store(double* p, const Lanes& v) {
  std::memcpy(p, &v, sizeof v);
}

[[gnu::always_inline]] inline double sum(const Lanes& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// e^x for −708 ≤ x ≤ 0: x = k ln 2 + r with |r| ≤ ½ ln 2, Taylor's polynomial of degree 13 in r (its rest is below
// u/20), times 2^k by adding k to the exponent. Error below 2u relative (kernels_test.cpp), and never above 1.
[[gnu::always_inline]] inline Lanes exponential(const Lanes& x) {
  constexpr double shift = 0x1.8p52;  // adding it leaves k in the low bits
  const Lanes shifted = x * 0x1.71547652b82fep0 + shift, k = shifted - shift;
  const Lanes r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  Lanes p = r * (1.0 / 6227020800) + 1.0 / 479001600;
  for (const double c : {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                         1.0 / 24, 1.0 / 6, 0.5})
    p = p * r + c;
  p = (p * r) * r + r + 1.0;
  Bits bits, power;
  std::memcpy(&bits, &p, sizeof p);
  std::memcpy(&power, &shifted, sizeof power);
  bits += power << 52;
  std::memcpy(&p, &bits, sizeof p);
  return p > 1.0 ? Lanes{} + 1.0 : p;
}

// The scores of four full rows at once: their sums need not wait for each other.
[[gnu::always_inline]] inline void full_scores(const double* x, std::size_t d, const double* f, double* out) {
  Lanes s0{}, s1{}, s2{}, s3{};
  const double *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
  std::size_t j = 0;
  for (; j + width <= d; j += width) {
    const Lanes w = load(f + j);
    s0 += load(x + j) * w;
    s1 += load(x1 + j) * w;
    s2 += load(x2 + j) * w;
    s3 += load(x3 + j) * w;
  }
  double t0 = sum(s0), t1 = sum(s1), t2 = sum(s2), t3 = sum(s3);
  for (; j < d; ++j) {
    t0 += x[j] * f[j];
    t1 += x1[j] * f[j];
    t2 += x2[j] * f[j];
    t3 += x3[j] * f[j];
  }
  out[0] = t0;
  out[1] = t1;
  out[2] = t2;
  out[3] = t3;
}

[[gnu::always_inline]] inline double full_score(const double* x, std::size_t d, const double* f) {
  Lanes s{};
  std::size_t j = 0;
  for (; j + width <= d; j += width) s += load(x + j) * load(f + j);
  double total = sum(s);
  for (; j < d; ++j) total += x[j] * f[j];
  return total;
}

}  // namespace

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void scores(const data::Rows& rows,
                                                                                  std::size_t first, std::size_t count,
                                                                                  const double* f, double* out) {
  if (rows.full()) {
    const auto d = static_cast<std::size_t>(rows.features);
    const double* x = rows.value.data() + first * d;
    std::size_t n = 0;
    for (; n + 4 <= count; n += 4, x += 4 * d) full_scores(x, d, f, out + n);
    for (; n < count; ++n, x += d) out[n] = full_score(x, d, f);
    return;
  }
  for (std::size_t n = 0; n < count; ++n) {  // four sums, so that additions need not wait for each other
    const double* x = rows.value.data() + rows.start[first + n];
    const double* const end = rows.value.data() + rows.start[first + n + 1];
    if (end - x == rows.features) {  // Privacy: a full row has the same score whether or not other rows are full
      out[n] = full_score(x, static_cast<std::size_t>(rows.features), f);
      continue;
    }
    const std::int32_t* c = rows.column.data() + rows.start[first + n];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; end - x >= 4; x += 4, c += 4) {
      s0 += x[0] * f[c[0]];
      s1 += x[1] * f[c[1]];
      s2 += x[2] * f[c[2]];
      s3 += x[3] * f[c[3]];
    }
    for (; x != end; ++x, ++c) s0 += *x * f[*c];
    out[n] = (s0 + s1) + (s2 + s3);
  }
}

// With z = y s and e = e^−|z|:  L = max(−z, 0) + ln(1 + e),  |L'| = 1/(1 + e) or e/(1 + e),  L'' = e/(1 + e)².
// Σ ln(1 + e) by logarithms of products: 512 factors in [1, 2] stay below 2⁵¹².
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] LossSums logistic(
    const double* s, const double* y, std::size_t count, double weight, double* slope, double* curvature) {
  Lanes linear{}, product = Lanes{} + 1.0, slopes{};
  double logs = 0;
  const auto flush = [&] {
    for (std::size_t i = 0; i < width; ++i) logs += std::log(product[i]);
    product = Lanes{} + 1.0;
  };
  for (std::size_t n = 0; n < count; n += width) {
    Lanes label, z;
    if (n + width <= count) {
      label = load(y + n);
      z = label * load(s + n);
    } else {  // lanes past the end are far on the right side: they add nothing
      label = Lanes{} + 1.0;
      z = Lanes{} + 800.0;
      for (std::size_t i = 0; n + i < count; ++i) label[i] = y[n + i], z[i] = y[n + i] * s[n + i];
    }
    const Lanes away = z < 0.0 ? z : -z;  // −|z|
    const Lanes e = exponential(away < -708.0 ? Lanes{} - 708.0 : away), inverse = 1.0 / (1.0 + e);
    const Lanes size = z < 0.0 ? inverse : e * inverse;  // |L'|
    linear += z < 0.0 ? -z : Lanes{};
    product *= 1.0 + e;
    slopes += size;
    store(slope + n, -weight * (label * size));
    store(curvature + n, weight * ((e * inverse) * inverse));
    if ((n / width) % 512 == 511) flush();
  }
  flush();
  return {.value = sum(linear) + logs, .slopes = sum(slopes)};
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void add_gradient(
    const data::Rows& rows, std::size_t first, std::size_t count, const double* slope, double* gradient) {
  if (!rows.full()) {
    for (std::size_t n = 0; n < count; ++n) {
      const double* x = rows.value.data() + rows.start[first + n];
      const double* const end = rows.value.data() + rows.start[first + n + 1];
      const std::int32_t* c = rows.column.data() + rows.start[first + n];
      const double s = slope[n];
      for (; end - x >= 4; x += 4, c += 4) {  // a row's columns differ, so the four may be read before any is written
        const double g0 = gradient[c[0]] + s * x[0], g1 = gradient[c[1]] + s * x[1];
        const double g2 = gradient[c[2]] + s * x[2], g3 = gradient[c[3]] + s * x[3];
        gradient[c[0]] = g0;
        gradient[c[1]] = g1;
        gradient[c[2]] = g2;
        gradient[c[3]] = g3;
      }
      for (; x != end; ++x, ++c) gradient[*c] += s * *x;
    }
    return;
  }
  const auto d = static_cast<std::size_t>(rows.features);
  const double* x = rows.value.data() + first * d;
  std::size_t n = 0;
  for (; n + 4 <= count; n += 4, x += 4 * d) {  // four rows share the loads and stores of the gradient
    const double *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
    std::size_t j = 0;
    for (; j + width <= d; j += width)
      store(gradient + j, (((load(gradient + j) + slope[n] * load(x + j)) + slope[n + 1] * load(x1 + j)) +
                           slope[n + 2] * load(x2 + j)) +
                              slope[n + 3] * load(x3 + j));
    for (; j < d; ++j)
      gradient[j] =
          (((gradient[j] + slope[n] * x[j]) + slope[n + 1] * x1[j]) + slope[n + 2] * x2[j]) + slope[n + 3] * x3[j];
  }
  for (; n < count; ++n, x += d)
    for (std::size_t j = 0; j < d; ++j) gradient[j] += slope[n] * x[j];
}

namespace {

// entries²/2 scattered additions per row; four columns at a time share the loads of x and of the row numbers.
[[gnu::always_inline]] inline void add_by_entries(const data::Rows& rows, std::size_t first, std::size_t count,
                                                  const double* c, double* lower) {
  const Index d = rows.features;
  for (std::size_t n = 0; n < count; ++n) {
    if (c[n] == 0) continue;
    const std::int32_t* const column = rows.column.data() + rows.start[first + n];
    const double* const x = rows.value.data() + rows.start[first + n];
    const std::size_t entries = rows.start[first + n + 1] - rows.start[first + n];
    std::size_t a = 0;
    for (; a + 4 <= entries; a += 4) {
      const double s0 = c[n] * x[a], s1 = c[n] * x[a + 1], s2 = c[n] * x[a + 2], s3 = c[n] * x[a + 3];
      double* const h0 = lower + column[a] * d;  // columns of H
      double* const h1 = lower + column[a + 1] * d;
      double* const h2 = lower + column[a + 2] * d;
      double* const h3 = lower + column[a + 3] * d;
      for (std::size_t b = a; b < a + 4; ++b) h0[column[b]] += s0 * x[b];
      for (std::size_t b = a + 1; b < a + 4; ++b) h1[column[b]] += s1 * x[b];
      h2[column[a + 2]] += s2 * x[a + 2];
      h2[column[a + 3]] += s2 * x[a + 3];
      h3[column[a + 3]] += s3 * x[a + 3];
      for (std::size_t b = a + 4; b < entries; ++b) {
        const double v = x[b];
        const std::int32_t r = column[b];
        const double t0 = h0[r] + s0 * v, t1 = h1[r] + s1 * v, t2 = h2[r] + s2 * v, t3 = h3[r] + s3 * v;
        h0[r] = t0;
        h1[r] = t1;
        h2[r] = t2;
        h3[r] = t3;
      }
    }
    for (; a < entries; ++a)
      for (std::size_t b = a; b < entries; ++b) lower[column[a] * d + column[b]] += c[n] * x[a] * x[b];
  }
}

constexpr std::size_t panel_rows = 64, tile = 4;

// lower(i, j) += Σ_n x(n, i)·cx(n, j) over a panel of rows, both padded with zeros to `stride` columns: sixteen i by
// four j stay in registers while the panel passes.
[[gnu::always_inline]] inline void add_panel(const double* x, const double* cx, std::size_t rows, std::size_t stride,
                                             std::size_t d, double* lower) {
  for (std::size_t j = 0; j < d; j += tile)
    for (std::size_t i = j / (2 * width) * (2 * width); i < d; i += 2 * width) {
      Lanes sum[tile][2] = {};
      for (std::size_t n = 0; n < rows; ++n) {
        const Lanes low = load(x + n * stride + i), high = load(x + n * stride + i + width);
        for (std::size_t t = 0; t < tile; ++t) {
          const double factor = cx[n * stride + j + t];
          sum[t][0] += low * factor;
          sum[t][1] += high * factor;
        }
      }
      for (std::size_t t = 0; t < tile && j + t < d; ++t)
        for (std::size_t half = 0; half < 2; ++half) {
          double* const to = lower + (j + t) * d + i + half * width;
          if (i + (half + 1) * width <= d)
            store(to, load(to) + sum[t][half]);
          else
            for (std::size_t k = 0; i + half * width + k < d; ++k) to[k] += sum[t][half][k];
        }
    }
}

}  // namespace

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void add_outer_products(
    const data::Rows& rows, std::size_t first, std::size_t count, const double* c, double* lower) {
  const auto d = static_cast<std::size_t>(rows.features);
  if (!rows.mostly_full()) return add_by_entries(rows, first, count, c, lower);
  const std::size_t stride = (d + 2 * width - 1) / (2 * width) * (2 * width);
  thread_local std::vector<double> room;
  room.resize(2 * panel_rows * stride);
  double *const x = room.data(), *const cx = x + panel_rows * stride;
  for (std::size_t begin = 0; begin < count; begin += panel_rows) {
    const std::size_t height = std::min(panel_rows, count - begin);
    std::fill(room.begin(), room.end(), 0.0);
    for (std::size_t n = 0; n < height; ++n) {
      const std::size_t row = first + begin + n, start = rows.start[row], entries = rows.start[row + 1] - start;
      double* const to = x + n * stride;
      if (rows.full())
        std::memcpy(to, rows.value.data() + start, d * sizeof(double));
      else
        for (std::size_t k = 0; k < entries; ++k) to[rows.column[start + k]] = rows.value[start + k];
      for (std::size_t j = 0; j < d; ++j) cx[n * stride + j] = c[begin + n] * to[j];
    }
    add_panel(x, cx, height, stride, d, lower);
  }
}

}  // namespace parley::problem::kernel
