#include "parley/run/setting.h"

#include "parley/algorithm/planner.h"
#include "parley/algorithm/rules.h"

namespace parley::run {

using problem::LossKind;

std::optional<Error::Fields> loss_mismatch(const Choice<problem::LossKind>& loss, bool regression,
                                           std::size_t classes) {
  const auto refused = [&](const std::string& what, const std::string& allowed) {
    return Error::Fields{.what = what,
                         .value = loss.text,
                         .allowed = allowed,
                         .where = "option --loss",
                         .fix = "choose a loss that fits the label in the schema"};
  };
  if (regression && loss != LossKind::huber && loss != LossKind::squared)
    return refused("the label is a number, the loss is for classes", "huber, squared");
  if (classes > 0 && loss != LossKind::softmax)
    return refused("the label has " + std::to_string(classes) + " classes", "softmax");
  if (!regression && classes == 0 &&
      (loss == LossKind::huber || loss == LossKind::squared || loss == LossKind::softmax))
    return refused("the label has two classes, +1 and -1", "logistic, huber-hinge, hinge");
  return std::nullopt;
}

std::string graph_shape(const network::GraphOptions& o, const std::string& algorithm) {
  if (o.graph != "auto") return o.graph;
  const parley::algorithm::Algorithm& a = parley::algorithm::algorithm_named(algorithm);
  return a.star ? "star" : a.sums ? "complete" : "ring";  // everybody needs everybody's sums
}

network::Graph graph_for(const network::GraphOptions& o, const std::string& algorithm, int nodes) {
  if (!parley::algorithm::algorithm_named(algorithm).star) {
    network::GraphOptions chosen = o;
    chosen.graph = graph_shape(o, algorithm);
    return network::make_graph(chosen, nodes);
  }
  if (o.graph != "auto" && o.graph != "star")
    throw Error({.what = algorithm + " runs around a trainer, not on a graph of peers",
                 .value = o.graph,
                 .allowed = "auto, star",
                 .where = "option --graph",
                 .fix = "leave it out, or use --algorithm linear-admm, pvp or admm between peers"});
  return network::trainer_star(nodes);
}

algorithm::Setting setting_on(const network::Graph& graph, const std::vector<double>& records, int nodes) {
  algorithm::check_list(records, "records", nodes);
  algorithm::Setting setting{.degree = graph.degrees(), .records = records};
  setting.degree.resize(static_cast<std::size_t>(nodes));  // without a trainer's
  setting.records.resize(static_cast<std::size_t>(nodes), records.front());
  return setting;
}

}  // namespace parley::run
