// What `parley check` found: one line for people, one value for programs, section by section.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/network/graph.h"
#include "parley/theory/run.h"
#include "parley/theory/samples.h"

namespace parley::cli {

struct CheckOptions {
  algorithm::Options algorithm;
  network::GraphOptions graph;
  std::vector<double> records{8000};
  long nodes = 5;
  std::optional<double> target_excess;
  theory::SampleQuestion sample{.failure_probability = 0.05, .reference_norm = 1};
  long dimension = 104;
  double disagreement_weight = 1;
};

struct Report {
  nlohmann::json values = nlohmann::json::object();
  std::string text;
  void section(const std::string& title);
  void line(const std::string& name, const std::string& value);
  void note(const std::string& words) { text += "  " + words + "\n"; }
};

void spectra(Report& out, const network::Graph& graph, const theory::PublicRun& run);
void modified(Report& out, const network::Graph& graph, const theory::PublicRun& run);  // ZKL18 Theorems 3.1, 3.2
void recycled(Report& out, const network::Graph& graph, const theory::PublicRun& run,
              const algorithm::Plan& plan);  // ZKL20 Theorem 1
void limit(Report& out, const network::Graph& graph, const theory::PublicRun& run, const CheckOptions& o,
           const algorithm::Plan& plan);
void samples(Report& out, const CheckOptions& o, const algorithm::Plan& plan,
             const algorithm::Setting& setting);                                   // ZKL20 Theorems 3, 4
void star(Report& out, const CheckOptions& o, const algorithm::Setting& setting);  // HHCG20 Theorems 3, 4

}  // namespace parley::cli
