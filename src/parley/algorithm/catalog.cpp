#include "parley/algorithm/catalog.h"

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = {
      // name       title                                     source                  recycled growing noisy output
      // penalty first-θ
      {"admm", "conventional ADMM", "ZKL18 (8)(9)", false, false, false, false, false, false},
      {"dvp", "dual variable perturbation", "ZZ17, as on ZKL20's slides", false, false, true, false, false, false},
      {"pvp", "primal variable perturbation", "ZZ17", false, false, true, true, false, false},
      {"m-admm", "modified ADMM", "ZKL18 (10)(11)", false, true, false, false, false, true},
      {"pp", "penalty perturbation", "ZKL18 Algorithm 1", false, true, true, false, true, true},
      {"r-admm", "recycled ADMM", "ZKL20 Algorithm 1", true, false, true, false, false, false},
      {"mr-admm", "modified recycled ADMM", "ZKL20 Algorithms 2, 3", true, true, true, false, false, false},
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
               .fix = near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace parley::algorithm
