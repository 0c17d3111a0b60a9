#include "parley/experiment/reproduce.h"

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>

#include "parley/algorithm/catalog.h"
#include "parley/base/error.h"
#include "parley/base/parallel.h"
#include "parley/data/named/adult.h"
#include "parley/experiment/outcome.h"
#include "parley/experiment/run_cell.h"

namespace parley::experiment {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// In rounds of a small run; loading and the optimum count as some. A minimum costs more than a gradient, and both grow
// with the number of nodes. Only the estimate of the time left depends on this.
double weight_of_round(const Cell& c) {
  const double nodes = static_cast<double>(std::max(5L, c.options.data.nodes));
  const bool linear = algorithm::algorithm_named(c.options.algorithm.algorithm).linear;
  return (linear ? 0.3 : 1) * (1 + nodes / 50);
}
constexpr double weight_of_start = 25;

struct Work {  // one experiment
  Experiment experiment;
  std::vector<Cell> cells;
  Wanted wants;
  std::vector<std::optional<Measured>> parts;  // per job, in its order
  std::size_t left = 0;
  double seconds = 0;
  json result;
};

struct Task {
  std::size_t work = 0, part = 0;
  Job job;
};

class Queue {
 public:
  Queue(const std::vector<Experiment>& experiments, const Request& request, const Watch& watch)
      : request_(request), watch_(watch) {
    for (const Experiment& e : experiments) {
      Work w{.experiment = e};
      w.cells = cells(e, request.data_dir);
      if (!request.fresh) w.result = stored(e, request.out);
      if (w.result.is_null()) {
        w.wants = wanted(e);
        for (const Job& job : jobs(e, w.cells)) {
          tasks_.push_back({.work = works_.size(), .part = w.left++, .job = job});
          total_ += weight(w.cells[job.cell], job);
        }
        w.parts.resize(w.left);
      }
      works_.push_back(std::move(w));
    }
  }

  std::vector<json> run() {
    const data::KeptAdult kept;
    for (const Work& w : works_)
      if (!w.result.is_null()) finished(w.result, true);
    parallel_for(static_cast<int>(tasks_.size()), request_.threads,
                 [this](int t) { work(tasks_[static_cast<std::size_t>(t)]); });
    std::vector<json> results;
    for (Work& w : works_)
      if (!w.result.is_null()) results.push_back(std::move(w.result));
    return results;
  }

 private:
  static double rounds_of(const Cell& c) {
    return c.options.algorithm.rounds > 0 ? static_cast<double>(c.options.algorithm.rounds) : 50;
  }
  static double weight(const Cell& c, const Job& job) {
    return weight_of_start + static_cast<double>(job.count) * rounds_of(c) * weight_of_round(c);
  }
  bool stopping() const { return failed_.load() || (watch_.stop != nullptr && watch_.stop->load()); }

  void work(const Task& task) {
    if (stopping()) return;
    Work& w = works_[task.work];
    const Cell& cell = w.cells[task.job.cell];
    const auto start = Clock::now();
    static const std::atomic<bool> never{false};
    std::optional<Measured> measured;
    try {
      measured = run_job(
          w.experiment, cell, task.job, w.wants, [&] { advance(weight_of_round(cell), w.experiment.name); },
          watch_.stop != nullptr ? *watch_.stop : never);
    } catch (const Error& e) {
      failed_ = true;
      throw Error({.what = std::string(e.what()) + "\n  in experiment " + w.experiment.name + ", '" + cell.name + "'"});
    } catch (...) {
      failed_ = true;
      throw;
    }
    if (!measured) return;
    advance(weight_of_start, w.experiment.name);
    const std::scoped_lock hold(mutex_);
    w.parts[task.part] = std::move(measured);
    w.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (--w.left == 0) finish(w);
  }

  void finish(Work& w) {
    std::vector<Measured> all;
    for (auto& part : w.parts) {
      if (!all.empty() && all.back().name == part->name)
        append(all.back(), std::move(*part));
      else
        all.push_back(std::move(*part));
    }
    w.parts.clear();
    const Outcome outcome = judged(w.experiment, std::move(all), w.seconds);
    write(outcome, request_.out);
    w.result = to_json(outcome);
    finished(w.result, false);
  }

  void finished(const json& result, bool was_stored) {
    ++finished_;
    if (watch_.on_result) watch_.on_result(result, was_stored);
  }

  void advance(double weight, const std::string& name) {
    const std::scoped_lock hold(mutex_);
    done_ += weight;
    const auto now = Clock::now();
    if (!watch_.on_advance || now - told_ < std::chrono::milliseconds(100)) return;
    told_ = now;
    const double share = std::min(0.999, done_ / total_), spent = std::chrono::duration<double>(now - begin_).count();
    watch_.on_advance({.share = share,
                       .seconds_left = spent < 3 ? -1 : spent * (1 - share) / share,
                       .name = name,
                       .finished = finished_,
                       .count = static_cast<int>(works_.size())});
  }

  Request request_;
  const Watch& watch_;
  std::vector<Work> works_;
  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  double total_ = 0, done_ = 0;
  int finished_ = 0;
  Clock::time_point begin_ = Clock::now(), told_{};
};

}  // namespace

std::vector<json> reproduce(const std::vector<Experiment>& experiments, const Request& request, const Watch& watch) {
  return Queue(experiments, request, watch).run();
}

}  // namespace parley::experiment
