// What is known of one part of a run before a record is opened: from the study and, of a later part, from what the
// survivors of the one before have signed. Everything that a record says is held against it.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/study/continuation.h"
#include "parley/study/study.h"

namespace parley::study {

struct ExpectedPart {
  // Of the study, the same in every part.
  Study study;
  StudyPlan plan;
  nlohmann::json canonical;
  std::string hash;
  Index dimension = 0;

  Part part;            // node numbers are its own
  protocol::Keys keys;  // verify only

  const protocol::Agreement& agreed() const { return part.agreed; }
  const std::string& name(int node) const { return part.agreed.name(node); }
  int study_node(int node) const { return part.nodes[static_cast<std::size_t>(node)]; }
  bool is_trainer(int node) const { return part.plan.star() && node == part.holders(); }
  const algorithm::Schedule& schedule(int node) const {
    return part.plan.nodes[is_trainer(node) ? 0 : static_cast<std::size_t>(node)];
  }
  bool touches_data(int node, int round) const { return !is_trainer(node) && schedule(node).touches_data(round); }
};

ExpectedPart expected_first_part(
    const std::filesystem::path& study);  // Error also while the roster lacks a certificate
ExpectedPart expected_part(const ExpectedPart& study, Part part);

}  // namespace parley::study
