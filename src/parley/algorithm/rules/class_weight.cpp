#include <cmath>
#include <numeric>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {

using problem::LossKind;

namespace {

// Of the shares of all classes; one number is that of the positive of two.
std::vector<double> shares_of_classes(const Options& o, std::size_t classes) {
  const auto refuse = [&](const std::string& what, const std::string& value, const std::string& allowed,
                          const std::string& fix) {
    throw Error({.what = what, .value = value, .allowed = allowed, .where = "option --class-share", .fix = fix});
  };
  std::vector<double> shares = o.class_share;
  if (shares.empty())
    refuse("balanced weights need the share of the classes, and how many records a class has is private", "none",
           "a share that is publicly known", "give --class-share, or the weights themselves: --class-weight 1,4");
  if (classes == 2 && shares.size() == 1) shares.insert(shares.begin(), 1 - shares[0]);
  if (shares.size() != classes)
    refuse("there are " + std::to_string(classes) + " classes", std::to_string(o.class_share.size()) + " shares",
           classes == 2 ? "the share of the positive class" : "a share for every class",
           "give one share for each, in the schema's order");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (std::abs(sum - 1) > 1e-3)
    refuse("the shares of all classes add up to 1", number(sum), "1, to within 0.001", "give the share of each class");
  return shares;
}

}  // namespace

std::vector<double> class_weights(const Options& o, int classes) {
  const ClassWeight how = o.class_weight;
  if (how == ClassWeight::none) return {};
  const std::size_t count = o.loss == LossKind::softmax ? static_cast<std::size_t>(classes) : 2;
  std::vector<double> weights;
  if (how == ClassWeight::balanced) {
    for (const double share : shares_of_classes(o, count)) weights.push_back(1 / (static_cast<double>(count) * share));
    return weights;
  }
  for (const std::string& part : split_list(o.class_weight.text))
    weights.push_back(parse_number(part, "class-weight", "option --class-weight"));
  if (weights.size() != count)
    throw Error({.what = "every class has a weight",
                 .value = std::to_string(weights.size()) + " numbers for " + std::to_string(count) + " classes",
                 .allowed = count == 2 ? "the weight of the negative and of the positive class, such as 1,4"
                                       : "one number for each class, in the schema's order",
                 .where = "option --class-weight",
                 .fix = "give one number for each class, or balanced"});
  return weights;
}

void check_class_weight(const Options& o, int classes) {
  const ClassWeight how = o.class_weight;
  if (how != ClassWeight::balanced && !o.class_share.empty())
    throw Error({.what = "--class-share goes with --class-weight balanced",
                 .value = o.class_weight.text,
                 .where = "option --class-share",
                 .fix = "give both, or leave it out"});
  if (how == ClassWeight::none) return;
  if (o.loss == LossKind::huber || o.loss == LossKind::squared)
    throw Error({.what = "class weights belong to labels that are classes, and here the label is a number",
                 .value = o.loss.text,
                 .allowed = "logistic, huber-hinge, hinge, softmax",
                 .where = "option --class-weight",
                 .fix = "leave it out"});
  if (o.sensitivity == Sensitivity::paper)
    throw Error({.what = "the paper's sensitivity knows no class weights",
                 .value = "paper",
                 .allowed = "proved",
                 .where = "option --sensitivity",
                 .fix = "leave one of the two out"});
  class_weights(o, classes);
}

}  // namespace parley::algorithm
