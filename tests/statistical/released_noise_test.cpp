// The noise as it is released: the product's own step, on a row of zeros, whose gradient is 0. What is left of the
// release when its public part is taken away has the law that was planned, on the gradient or on the minimum, and a
// scale error of 1 % would be seen.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "parley/algorithm/nodes.h"
#include "parley/audit/linear.h"

namespace parley::audit {
namespace {

constexpr Index d = 10;

struct Given {
  std::string algorithm;
  bool at_point = false;
  double norm = 0;  // of the released point
};

// One node that takes its first update again and again, with fresh noise.
class Releases {
 public:
  Releases(const Given& given, const std::string& noise) : given_(given) {
    rows_.features = d;
    rows_.append({}, {}, 1);
    algorithm::Options o;
    o.algorithm = given.algorithm;
    o.rounds = 1;
    o.loss_weight = 1;
    o.noise = noise;
    o.penalty = {0.7};
    if (given.algorithm != "star-pvp") o.step_size = "0.4";
    o.diameter = given.at_point ? "at-point" : "worst";
    if (noise == "gaussian")
      o.noise_scale = {1.7};
    else
      o.noise_rate = {1.7};
    s_ = algorithm::make_plan(o, {.degree = {1, 1}, .records = {1, 1}, .features = d}).nodes[0];
    node_ = algorithm::make_node(
        {.rows = &rows_, .loss = s_.loss, .weight = s_.weight, .regularization = s_.regularization}, s_);
    point_ = Vector::Constant(d, given.norm / std::sqrt(static_cast<double>(d)));
    node_->commit({}, point_);
    inbox_ = {std::make_shared<const Vector>(point_)};
  }

  // By the equations: f = v − ((ρ/N)v + n)/Q, and star-pvp's minimum is at 0.
  Vector noise(Random& random) const {
    Vector f = node_->step(inbox_, random).value;
    if (!s_.algorithm.linear) return f;
    return divisor() * (point_ - f) - s_.regularization * point_;
  }

  double divisor() const { return (s_.algorithm.star ? 0.7 : 2 * 0.7) + 1 / 0.4; }

  // The unit that was planned, 1.7 or 1/1.7, times this: section 5.
  double share() const {
    return given_.at_point ? (steepest(given_.norm).diameter + 2 * s_.tolerance) / (2 + 2 * s_.tolerance) : 1;
  }

 private:
  Given given_;
  data::Rows rows_;
  algorithm::Schedule s_;
  std::unique_ptr<algorithm::Node> node_;
  Vector point_;
  privacy::Inbox inbox_;
};

std::vector<Given> all() {
  return {{"dp-admm"}, {"linear-admm", false, 5}, {"linear-admm", true, 0.5}, {"linear-admm", true, 5}, {"star-pvp"}};
}

TEST(ReleasedNoise, IsGaussianOfThePlannedScaleAndAOnePercentErrorWouldBeSeen) {
  Random random = Random::seeded(20, 0, 0, "sampler test");
  for (const Given& given : all()) {
    SCOPED_TRACE(given.algorithm + (given.at_point ? ", at-point " : " ") + std::to_string(given.norm));
    const Releases releases(given, "gaussian");
    std::vector<double> sample;
    for (std::size_t i = 0; i < (is_short() ? 2000 : is_full() ? 100000 : 50000); ++i)
      for (const double x : releases.noise(random)) sample.push_back(x / (1.7 * releases.share()));
    EXPECT_TRUE(all_accepted(check_normal(sample)));
    EXPECT_TRUE(all_accepted(check_independent(sample, d)));
    EXPECT_NEAR(moments(sample).variance, 1, is_short() ? 0.1 : 0.01);
    for (const double error : {1 + small_error(), 1 - small_error(), releases.divisor()}) {
      std::vector<double> scaled = sample;
      for (double& x : scaled) x *= error;
      EXPECT_TRUE(is_rejected(check_normal(scaled))) << "scale times " << error;
    }
  }
}

TEST(ReleasedNoise, HasTheGammaNormOfThePlannedRateAndAOnePercentErrorWouldBeSeen) {
  Random random = Random::seeded(21, 0, 0, "sampler test");
  for (const Given& given : all()) {
    SCOPED_TRACE(given.algorithm + (given.at_point ? ", at-point " : " ") + std::to_string(given.norm));
    const Releases releases(given, "gamma");
    std::vector<double> norms;
    EXPECT_TRUE(all_accepted(check_vectors([&](Random& r) { return releases.noise(r); }, d, 1.7 / releases.share(),
                                           is_short()  ? 20000
                                           : is_full() ? 1000000
                                                       : 60000,
                                           random, &norms)));
    for (const double error : {1 + small_error(), 1 - small_error()}) {
      std::vector<double> scaled = norms;
      for (double& x : scaled) x *= error;
      EXPECT_TRUE(is_rejected(check_norms(scaled, static_cast<double>(d)))) << "scale times " << error;
    }
  }
}

}  // namespace
}  // namespace parley::audit
