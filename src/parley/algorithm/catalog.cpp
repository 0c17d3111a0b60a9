#include "parley/algorithm/catalog.h"

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = {
      {.name = "admm", .title = "conventional ADMM", .source = "ZKL18 (8)(9)"},
      {.name = "dvp", .title = "dual variable perturbation", .source = "ZZ17, as on ZKL20's slides", .noisy = true},
      {.name = "pvp", .title = "primal variable perturbation", .source = "ZZ17", .noisy = true, .on_output = true},
      {.name = "m-admm",
       .title = "modified ADMM",
       .source = "ZKL18 (10)(11)",
       .growing = true,
       .first_dual_step = true},
      {.name = "pp",
       .title = "penalty perturbation",
       .source = "ZKL18 Algorithm 1",
       .growing = true,
       .noisy = true,
       .on_penalty = true,
       .first_dual_step = true},
      {.name = "r-admm", .title = "recycled ADMM", .source = "ZKL20 Algorithm 1", .recycled = true, .noisy = true},
      {.name = "mr-admm",
       .title = "modified recycled ADMM",
       .source = "ZKL20 Algorithms 2, 3",
       .recycled = true,
       .growing = true,
       .noisy = true},
      {.name = "linear-admm",
       .title = "linearised ADMM between peers",
       .source = "HHCG20, on any graph",
       .noisy = true,
       .linear = true},
      {.name = "star-admm",
       .title = "ADMM around a trainer",
       .source = "HHCG20 Algorithm 1",
       .on_output = true,
       .star = true},
      {.name = "star-pvp",
       .title = "primal variable perturbation around a trainer",
       .source = "HHCG20 Algorithm 2",
       .noisy = true,
       .on_output = true,
       .star = true},
      {.name = "dp-admm",
       .title = "linearised ADMM around a trainer",
       .source = "HHCG20 Algorithm 3",
       .noisy = true,
       .star = true,
       .linear = true},
      {.name = "newton",
       .title = "curvature once, then gradients at common points",
       .source = "docs/check/newton.md",
       .noisy = true,
       .sums = true,
       .curved = true},
      {.name = "dp-gd",
       .title = "gradient descent with momentum and noise",
       .source = "docs/check/newton.md",
       .noisy = true,
       .sums = true},
  };
  return table;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const Algorithm& a : algorithms()) names.push_back(a.name);
  return names;
}

const Algorithm& algorithm_named(const std::string& name) {
  for (const Algorithm& a : algorithms())
    if (a.name == name) return a;
  const std::string near = nearest(name, algorithm_names());
  throw Error({.what = "unknown algorithm",
               .value = "'" + name + "'",
               .allowed = join(algorithm_names(), ", "),
               .where = "option --algorithm",
               .fix = near.empty() ? "choose one of these; docs/check/algorithms.md explains them"
                                   : "did you mean '" + near + "'?"});
}

}  // namespace parley::algorithm
