// All options of a run, and the file they may come from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/options.h"
#include "parley/data/source.h"
#include "parley/network/graph.h"

namespace parley::run {

struct EngineOptions {
  std::string engine = "in-process";
  std::string out;
  std::optional<std::uint64_t> seed;
  long threads = 0;
  long repeat = 1;
  std::string metrics = "every";
  std::string ledger, dataset;
  bool resume = false;
};
std::vector<Option> option_rows(EngineOptions& o);

struct TrainOptions {
  data::Options data;
  network::GraphOptions graph;
  algorithm::Options algorithm;
  EngineOptions engine;
};
std::vector<Option> option_rows(TrainOptions& o);

// Sets every key of a TOML file; an unknown key is an Error that offers the nearest. Tables are for grouping only.
void read_config(const std::filesystem::path& file, const std::vector<Option>& rows);

nlohmann::json to_json(const std::vector<Option>& rows);

}  // namespace parley::run
