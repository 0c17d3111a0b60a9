#include "parley/run/basis.h"

#include "parley/base/error.h"
#include "parley/run/party.h"

namespace parley::run {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

network::Keys keys_of(const JointStudy& study, const std::vector<int>& nodes) {
  std::vector<network::Certificate> pinned;
  for (const int node : nodes) pinned.push_back(*study.parties[static_cast<std::size_t>(node)].pinned);
  return {.verify = [pinned](int node, std::string_view bytes, std::string_view signature) {
    return network::verify(bytes, signature, pinned[static_cast<std::size_t>(node)]);
  }};
}

}  // namespace

Basis basis_of(const fs::path& file) {
  JointStudy study = read_joint_study(file);
  JointPlan plan = plan_of(study);
  std::vector<std::string> names;
  for (const Invited& p : study.parties) {
    names.push_back(p.name);
    if (!p.pinned)
      throw Error(
          {.what = "the roster does not hold the certificate of " + p.name + ": its signatures cannot be checked",
           .where = file.string(),
           .fix = "add certificate = … to its [[party]] block, as 'parley study invite' does"});
  }
  const json canonical = json::parse(canonical_json(study, plan).dump());  // as a file gives it back
  const std::string hash = study_hash(canonical);
  const Index dimension = plan.plan.nodes.front().loss.scores() * static_cast<Index>(plan.setting.features);
  Part part = first_part(agreement(plan.plan, dimension, plan.graph, names, run_id(hash), canonical.dump(), hash),
                         plan.setting, plan.plan);
  network::Keys keys = keys_of(study, part.nodes);
  return {std::move(study), std::move(plan), canonical, hash, dimension, std::move(part), std::move(keys)};
}

Basis basis_of_part(const Basis& study, Part part) {
  Basis basis = study;
  basis.part = std::move(part);
  basis.keys = keys_of(basis.study, basis.part.nodes);
  return basis;
}

}  // namespace parley::run
