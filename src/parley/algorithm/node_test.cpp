#include <gtest/gtest.h>

#include <stdexcept>

#include "parley/algorithm/nodes.h"

namespace parley::algorithm {
namespace {

data::Rows one_row() {
  data::Rows rows;
  rows.features = 3;
  const std::int32_t columns[] = {0, 1, 2};
  const double values[] = {0.5, -0.5, 0.5};
  rows.append(columns, values, 1);
  return rows;
}

// Privacy: what is received is added after the noise, so a vector that is too short would carry memory out.
TEST(Node, AReceivedValueOfAnotherSizeIsNeverUsed) {
  const data::Rows rows = one_row();
  for (const char* name : {"dp-admm", "star-pvp", "linear-admm", "mr-admm"}) {
    const Plan plan = make_plan({.algorithm = name, .rounds = 4, .loss_weight = 1, .epsilon = {1}},
                                {.degree = {1, 1}, .records = {1, 1}, .features = 3});
    const Schedule& s = plan.nodes[0];
    const problem::Problem problem{
        .rows = &rows, .loss = s.loss, .weight = s.weight, .regularization = s.regularization};
    const auto node = make_node(problem, s);
    auto random = privacy::Random::seeded(1, 1, 1, "test");
    node->commit({}, node->step({}, random).value);  // round 0
    const auto inbox = [](Index size) { return privacy::Inbox{std::make_shared<const Vector>(Vector::Zero(size))}; };
    for (const Index wrong : {0, 2, 4}) {
      EXPECT_THROW(node->step(inbox(wrong), random), std::logic_error) << name << wrong;
      EXPECT_THROW(node->commit(inbox(wrong), Vector::Zero(3)), std::logic_error) << name << wrong;
    }
    EXPECT_THROW(node->step({}, random), std::logic_error) << name;
    EXPECT_THROW(node->commit(inbox(3), Vector::Zero(2)), std::logic_error) << name;
    EXPECT_EQ(node->step(inbox(3), random).value.size(), 3) << name;
  }
  const Plan plan = make_plan({.algorithm = "dp-admm", .rounds = 4, .epsilon = {1}},
                              {.degree = {1, 1}, .records = {100, 100}, .features = 3});
  const auto trainer = make_trainer(plan, 3);
  auto random = privacy::Random::seeded(1, 1, 1, "test");
  trainer->commit({}, trainer->step({}, random).value);
  trainer->commit({}, Vector());  // the providers' turn
  const auto value = [](Index size) { return std::make_shared<const Vector>(Vector::Zero(size)); };
  EXPECT_THROW(trainer->step({value(3), value(2)}, random), std::logic_error);
  EXPECT_EQ(trainer->step({value(3), value(3)}, random).value.size(), 3);
}

}  // namespace
}  // namespace parley::algorithm
