#include "parley/run/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/run/quality/prediction.h"

namespace parley::run {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string schema = R"(intercept = false
[label]
column = "y"
classes = ["a", "b,b", "c"]
[[columns]]
name = "u"
kind = "numeric"
bounds = [0, 1]
[[columns]]
name = "v"
kind = "numeric"
bounds = [0, 1]
)";

Model softmax_model() {
  return {.weights = Vector{{1, 2, 3, 4, 5, 6}},
          .feature_names = {"u", "v"},
          .loss = {.kind = problem::LossKind::softmax, .classes = 3},
          .schema_toml = data::to_toml(data::parse_schema(schema, "s"))};
}

Model written_and_read(const json& j) {
  const auto file = std::filesystem::path(testing::TempDir()) / "parley_model_test.json";
  write_file(file, j.dump());
  return read_model(file);
}

TEST(Model, OfSoftmaxHasItsClassesAndOneListOfWeightsPerClass) {
  const json j = to_json(softmax_model(), nullptr);
  EXPECT_EQ(j.at("classes"), json({"a", "b,b", "c"}));
  EXPECT_EQ(j.at("weights"), json({{1, 2}, {3, 4}, {5, 6}}));
  const Model read = written_and_read(j);
  EXPECT_EQ(read.weights, softmax_model().weights);
  EXPECT_EQ(read.loss.kind, problem::LossKind::softmax);
  EXPECT_EQ(read.loss.classes, 3);
  EXPECT_THAT(read.classes, testing::ElementsAre("a", "b,b", "c"));
}

TEST(Model, OfTwoClassesIsAFlatListWithoutClasses) {
  const Model model{.weights = Vector{{1, -2}}, .feature_names = {"u", "v"}};
  const json j = to_json(model, nullptr);
  EXPECT_EQ(j.at("weights"), json({1, -2}));
  EXPECT_FALSE(j.contains("classes"));
  EXPECT_EQ(written_and_read(j).weights, model.weights);
}

TEST(Model, KeepsItsClassWeightsAndSaysWhatItsProbabilitiesAre) {
  Model model{.weights = Vector{{1, -2}}, .feature_names = {"u", "v"}};
  EXPECT_FALSE(to_json(model, nullptr).contains("class_weights"));
  EXPECT_EQ(note_on_probabilities(model), "");
  model.loss.class_weights = {0.5, 4};
  json j = to_json(model, nullptr);
  EXPECT_EQ(j.at("class_weights"), json({0.5, 4}));
  const Model read = written_and_read(j);
  EXPECT_EQ(read.loss.class_weights, model.loss.class_weights);
  EXPECT_THAT(note_on_probabilities(read), HasSubstr("class weights 0.5, 4: its probabilities are"));
  data::Rows rows;
  rows.features = 2;
  rows.append(std::array<std::int32_t, 1>{0}, std::array<double, 1>{0.5}, 1);
  Model plain = model;
  plain.loss.class_weights.clear();
  EXPECT_EQ(prediction_csv(read, rows), prediction_csv(plain, rows)) << "probabilities are as the model has them";
  model.loss.kind = problem::LossKind::huber_hinge;
  EXPECT_EQ(note_on_probabilities(model), "") << "its score is no probability";
  for (const json& bad : {json({1}), json({1, 2, 3}), json({1, 0}), json({-1, 2})}) {
    j["class_weights"] = bad;
    EXPECT_THAT([&] { written_and_read(j); }, ThrowsMessage<Error>(HasSubstr("class weights"))) << bad;
  }
}

TEST(Model, SizesThatDoNotBelongTogetherAreRefused) {
  const json good = to_json(softmax_model(), nullptr);
  const auto refused = [&](const char* key, const json& value, const char* says) {
    json bad = good;
    bad[key] = value;
    EXPECT_THAT([&] { written_and_read(bad); }, ThrowsMessage<Error>(HasSubstr(says))) << bad;
  };
  refused("weights", {{1, 2}, {3, 4}}, "weights and classes");
  refused("weights", {{1, 2}, {3, 4}, {5}}, "weights and features");
  refused("weights", {1, 2, 3, 4, 5, 6}, "not a model");
  refused("weights", {{1, 2}, {3, 4}, {5, nullptr}}, "not a model");
  refused("classes", {"a", "b,b", "a"}, "weights and classes");
  refused("classes", {"a", "b,b", "d"}, "classes are not those of its schema");
  refused("classes", nullptr, "not a model");
  refused("loss", "logistic", "not a model");
  refused("features", {"u"}, "weights and features");
}

TEST(Predict, SoftmaxGivesAProbabilityPerClass) {
  const Model model = written_and_read(to_json(softmax_model(), nullptr));
  data::Rows rows;
  rows.features = 2;
  rows.append({}, {}, 0);
  rows.append(std::vector<std::int32_t>{0}, std::vector<double>{0.5}, 0);
  const auto lines = data::parse_csv(prediction_csv(model, rows), "p");
  EXPECT_THAT(lines.columns,
              testing::ElementsAre("row", "probability[a]", "probability[b,b]", "probability[c]", "prediction"));
  EXPECT_EQ(lines.cells[0][4], "a") << "a tie goes to the first class";
  EXPECT_EQ(lines.cells[1][4], "c");
  const double z = std::exp(0.5) + std::exp(1.5) + std::exp(2.5);
  EXPECT_NEAR(std::stod(lines.cells[1][2]), std::exp(1.5) / z, 1e-14);
  EXPECT_NEAR(std::stod(lines.cells[0][1]), 1.0 / 3, 1e-14);
}

TEST(Predict, LogisticGivesAProbabilityAndTheHingesAScore) {
  Model model{.weights = Vector{{2.0}}, .feature_names = {"1"}};
  data::Rows rows;
  rows.features = 1;
  rows.append(std::vector<std::int32_t>{0}, std::vector<double>{0.5}, 0);
  EXPECT_THAT(prediction_csv(model, rows), HasSubstr("row,probability,prediction\n1,0.73105857863000"));
  model.loss.kind = problem::LossKind::hinge;
  EXPECT_EQ(prediction_csv(model, rows), "row,score,prediction\n1,1,1\n");
  model.loss.kind = problem::LossKind::huber;
  EXPECT_EQ(prediction_csv(model, rows), "row,prediction\n1,1\n");
}

TEST(Predict, EveryLineOfAModelThatIsNotPrivateSaysSo) {
  Model model{.weights = Vector{{2.0}}, .feature_names = {"1"}};
  model.not_private = {"noise from seed 1", "bounds, of rows"};
  data::Rows rows;
  rows.features = 1;
  for (int n = 0; n < 2; ++n) rows.append(std::vector<std::int32_t>{0}, std::vector<double>{0.5}, 0);
  const auto expect_stamped = [&](const Model& m, const Decision& decision) {
    const std::string csv = prediction_csv(m, rows, 0, decision);
    const auto lines = data::parse_csv(csv, "p");
    EXPECT_EQ(lines.columns.back(), "not_private") << csv;
    for (const auto& line : lines.cells) EXPECT_EQ(line.back(), "noise from seed 1; bounds, of rows") << csv;
    EXPECT_THAT(prediction_csv(m, rows, 2, decision), testing::Not(HasSubstr("not_private"))) << "one header";
  };
  for (const auto loss : {problem::LossKind::logistic, problem::LossKind::hinge, problem::LossKind::huber}) {
    model.loss.kind = loss;
    expect_stamped(model, {});
  }
  model.loss.kind = problem::LossKind::logistic;
  expect_stamped(model, {.of = "1"});
  Model several = written_and_read(to_json(softmax_model(), nullptr));
  several.not_private = model.not_private;
  rows = {};
  rows.features = 2;
  rows.append({}, {}, 0);
  expect_stamped(several, {});
  expect_stamped(several, {.of = "c"});
}

TEST(Predict, AThresholdAndAClassDecideWhatIsSaid) {
  Model model{.weights = Vector{{2.0}}, .feature_names = {"1"}};
  data::Rows rows;
  rows.features = 1;
  rows.append(std::vector<std::int32_t>{0}, std::vector<double>{0.5}, 0);  // p = 0.731
  EXPECT_THAT(prediction_csv(model, rows, 0, {.threshold = 0.7}), HasSubstr(",1\n"));
  EXPECT_THAT(prediction_csv(model, rows, 0, {.threshold = 0.75}), HasSubstr(",-1\n"));
  EXPECT_THAT(prediction_csv(model, rows, 0, {.threshold = 0.25, .of = "-1"}), HasSubstr("1,0.26894142136999"));
  EXPECT_THAT(prediction_csv(model, rows, 0, {.threshold = 0.25, .of = "-1"}), HasSubstr(",-1\n"));
  const auto refused = [&](const Decision& d) { return [&model, d] { check_decision(model, d); }; };
  EXPECT_THAT(refused({.threshold = 1.0}), ThrowsMessage<Error>(HasSubstr("> 0 and < 1")));
  EXPECT_THAT(refused({.of = "maybe"}), ThrowsMessage<Error>(HasSubstr("no such class")));
  model.loss.kind = problem::LossKind::huber;
  EXPECT_THAT(refused({.threshold = 0.5}), ThrowsMessage<Error>(HasSubstr("predicts a number")));
  const Model several = written_and_read(to_json(softmax_model(), nullptr));
  rows.features = 2;
  EXPECT_THAT([&] { check_decision(several, {.threshold = 0.5}); }, ThrowsMessage<Error>(HasSubstr("--class NAME")));
  EXPECT_THAT(prediction_csv(several, rows, 0, {.of = "b,b"}), HasSubstr("row,probability,prediction\n1,"));
  EXPECT_THAT(prediction_csv(several, rows, 0, {.of = "b,b"}), HasSubstr(",other\n"));
}

}  // namespace
}  // namespace parley::run
