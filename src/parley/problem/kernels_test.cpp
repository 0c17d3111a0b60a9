#include "parley/problem/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "parley/problem/rows_test.h"

namespace parley::problem {
namespace {

// The kernels in plain scalar code, lane by lane. The tests ask for equal bits: then every instruction set gives them.
using Lanes = std::array<double, 8>;

double sum(const Lanes& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

double plain_exponential(double x) {
  const double shifted = x * 0x1.71547652b82fep0 + 0x1.8p52, k = shifted - 0x1.8p52;
  const double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  double p = r * (1.0 / 6227020800) + 1.0 / 479001600;
  for (const double c : {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                         1.0 / 24, 1.0 / 6, 0.5})
    p = p * r + c;
  p = (p * r) * r + r + 1.0;
  p = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(shifted) << 52));
  return p > 1 ? 1 : p;
}

double plain_score(const Rows& rows, std::size_t n, const Vector& f) {
  const double* x = rows.value.data() + rows.start[n];
  const std::size_t entries = rows.start[n + 1] - rows.start[n];
  if (entries != static_cast<std::size_t>(rows.features)) {
    std::array<double, 4> s{};
    std::size_t k = 0;
    for (; k + 4 <= entries; k += 4)
      for (std::size_t i = 0; i < 4; ++i) s[i] += x[k + i] * f[rows.column[rows.start[n] + k + i]];
    for (; k < entries; ++k) s[0] += x[k] * f[rows.column[rows.start[n] + k]];
    return (s[0] + s[1]) + (s[2] + s[3]);
  }
  Lanes s{};
  std::size_t j = 0;
  for (; j + 8 <= entries; j += 8)
    for (std::size_t i = 0; i < 8; ++i) s[i] += x[j + i] * f[static_cast<Index>(j + i)];
  double total = sum(s);
  for (; j < entries; ++j) total += x[j] * f[static_cast<Index>(j)];
  return total;
}

TEST(Kernels, ScoresAndGradientsHaveTheBitsOfPlainCode) {
  for (const double filled : {0.3, 1.0})
    for (const Index d : {1, 7, 8, 19, 100}) {
      const Rows rows = random_rows(203, d, filled, static_cast<unsigned>(d));
      EXPECT_EQ(rows.full(), filled == 1);
      Vector f(d);
      for (Index j = 0; j < d; ++j) f[j] = std::sin(3.0 * static_cast<double>(j) + 1);
      for (const std::size_t first : {0, 5}) {
        const std::size_t count = rows.count() - first - 1;
        std::vector<double> s(count);
        kernel::scores(rows, first, count, f.data(), s.data());
        for (std::size_t n = 0; n < count; ++n) EXPECT_EQ(s[n], plain_score(rows, first + n, f)) << d << " " << n;
        Vector g = f, plain = f;
        kernel::add_gradient(rows, first, count, s.data(), g.data());
        for (std::size_t n = 0; n < count; ++n)
          for (std::size_t k = rows.start[first + n]; k < rows.start[first + n + 1]; ++k)
            plain[rows.column[k]] += s[n] * rows.value[k];
        EXPECT_EQ(g, plain) << d;
      }
    }
}

// Privacy: sensitivity takes one row's contribution as a function of that row and f alone.
TEST(Kernels, ARowsScoreDoesNotDependOnOtherRows) {
  const Rows full = random_rows(9, 9, 1, 3);
  Rows mixed = full.select(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  mixed.append(std::vector<std::int32_t>{2}, std::vector<double>{0.5}, 1);
  EXPECT_TRUE(full.full());
  EXPECT_FALSE(mixed.full());
  const Vector f = Vector::LinSpaced(9, -3.3, 7.1);
  std::array<double, 9> a{}, b{};
  kernel::scores(full, 0, 9, f.data(), a.data());
  kernel::scores(mixed, 0, 9, f.data(), b.data());
  for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(a[n], b[n]);
  for (std::size_t n = 0; n < 8; ++n) {  // nor on where it stands
    kernel::scores(full, n, 1, f.data(), b.data());
    EXPECT_EQ(a[n], b[0]);
  }
}

TEST(Kernels, TheLogisticLossHasTheBitsOfPlainCodeAndItsBounds) {
  for (const std::size_t count : {1, 8, 13, 5000}) {
    std::vector<double> s(count), y(count), slope(count + 8), curvature(count + 8);
    for (std::size_t n = 0; n < count; ++n) {
      s[n] = 40 * std::sin(static_cast<double>(n)) * std::sin(0.01 * static_cast<double>(n + 1));
      y[n] = n % 3 == 0 ? -1 : 1;
    }
    s[0] = -2000;
    const auto sums = kernel::logistic(s.data(), y.data(), count, 0.7, slope.data(), curvature.data());
    Lanes slopes{};
    long double value = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const double z = y[n] * s[n], e = plain_exponential(std::max(-std::abs(z), -708.0)), inverse = 1 / (1 + e);
      const double size = z < 0 ? inverse : e * inverse;
      EXPECT_EQ(slope[n], -0.7 * (y[n] * size)) << n;
      EXPECT_EQ(curvature[n], 0.7 * ((e * inverse) * inverse)) << n;
      slopes[n % 8] += size;
      const long double exact = 1 / (1 + std::exp(static_cast<long double>(z)));
      EXPECT_LE(std::abs(size - exact), 16 * 0x1p-53L * std::min(1.0L, exact) + 1e-300L)
          << n;  // what the certificate uses
      EXPECT_LE(size, 1);
      value +=
          std::max(0.0L, -static_cast<long double>(z)) + std::log1p(std::exp(-std::abs(static_cast<long double>(z))));
    }
    for (std::size_t n = count; n % 8 != 0; ++n)
      slopes[n % 8] += plain_exponential(-708) * (1 / (1 + plain_exponential(-708)));
    EXPECT_EQ(sums.slopes, sum(slopes));
    EXPECT_NEAR(sums.value, static_cast<double>(value), 1e-13 * static_cast<double>(value));
  }
}

TEST(Kernels, TheExponentialIsWithinTwoUnitsInTheLastPlace) {
  long double worst = 0;
  for (int i = 0; i <= 2000000; ++i) {
    const double x = -708.0 * i / 2000000 * (i % 7 == 0 ? 1e-3 : 1);
    const long double exact = std::exp(static_cast<long double>(x));
    worst = std::max(worst, std::abs(plain_exponential(x) - exact) / exact);
  }
  EXPECT_LT(static_cast<double>(worst), 2 * 0x1p-53);
  EXPECT_EQ(plain_exponential(0), 1);
  EXPECT_EQ(plain_exponential(-1e-300), 1);
}

TEST(Kernels, OuterProductsAreThoseOfPlainCode) {
  for (const double filled : {0.2, 0.7, 1.0})
    for (const Index d : {1, 5, 16, 37}) {
      const Rows rows = random_rows(131, d, filled, 9);
      std::vector<double> c(rows.count());
      for (std::size_t n = 0; n < c.size(); ++n) c[n] = static_cast<double>(n % 5);
      Matrix h = Matrix::Zero(d, d), plain = Matrix::Zero(d, d);
      kernel::add_outer_products(rows, 3, 120, c.data(), h.data());
      for (std::size_t n = 0; n < 120; ++n) {
        Vector x = Vector::Zero(d);
        for (std::size_t k = rows.start[3 + n]; k < rows.start[4 + n]; ++k) x[rows.column[k]] = rows.value[k];
        plain += c[n] * x * x.transpose();
      }
      for (Index j = 0; j < d; ++j)
        for (Index i = j; i < d; ++i) EXPECT_NEAR(h(i, j), plain(i, j), 1e-12) << d << " " << i << " " << j;
    }
}

}  // namespace
}  // namespace parley::problem
