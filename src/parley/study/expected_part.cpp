#include "parley/study/expected_part.h"

#include "parley/base/error.h"
#include "parley/study/agreement.h"

namespace parley::study {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

protocol::Keys keys_of(const Study& study, const std::vector<int>& nodes) {
  std::vector<identity::Certificate> pinned;
  for (const int node : nodes) pinned.push_back(*study.parties[static_cast<std::size_t>(node)].pinned);
  return {.verify = [pinned](int node, std::string_view bytes, std::string_view signature) {
    return identity::verify(bytes, signature, pinned[static_cast<std::size_t>(node)]);
  }};
}

}  // namespace

ExpectedPart expected_first_part(const fs::path& file) {
  Study study = read_study(file);
  StudyPlan plan = plan_of_past(study);
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
  const Index dimension = plan.dimension();
  Part part = first_part(agreement(plan.plan, dimension, plan.graph, names, run_id(hash), canonical.dump(), hash),
                         plan.setting, plan.plan);
  protocol::Keys keys = keys_of(study, part.nodes);
  return {std::move(study), std::move(plan), canonical, hash, dimension, std::move(part), std::move(keys)};
}

ExpectedPart expected_part(const ExpectedPart& study, Part part) {
  ExpectedPart known = study;
  known.part = std::move(part);
  known.keys = keys_of(known.study, known.part.nodes);
  return known;
}

}  // namespace parley::study
