// Runs experiments: all their cells in one queue, one per thread; an experiment is judged and written as soon as its
// last cell is done, and what is finished stays finished.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/experiment/experiment.h"

namespace parley::experiment {

struct Request {
  std::filesystem::path out;
  std::string data_dir;
  int threads = 1;
  bool fresh = false;  // run again what is stored
};

struct Advance {
  double share = 0;         // of the work
  double seconds_left = 0;  // an estimate; negative: too early to say
  std::string name;         // of an experiment at work
  int finished = 0, count = 0;
};

struct Watch {  // called one at a time
  std::function<void(const Advance&)> on_advance;
  std::function<void(const nlohmann::json& result, bool was_stored)> on_result;
  const std::atomic<bool>* stop = nullptr;
};

// The results that there are now, in the order of the experiments: all, unless stopped. Throws what a run threw.
std::vector<nlohmann::json> reproduce(const std::vector<Experiment>& experiments, const Request& request,
                                      const Watch& watch);

}  // namespace parley::experiment
