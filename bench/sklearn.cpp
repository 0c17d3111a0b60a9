#include "sklearn.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "parley/base/text.h"

namespace parley::bench {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

template <class T>
void dump(const fs::path& file, const std::vector<T>& values) {
  std::ofstream out(file, std::ios::binary);
  out.exceptions(std::ios::badbit | std::ios::failbit);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) text += buffer;
  return text;
}

// The first python3 that has it: the one on the PATH may be another than Debian's, for which python3-sklearn is.
const std::string& python() {
  static const std::string found = [] {
    for (const std::string candidate : {"python3", "/usr/bin/python3"})
      if (std::system((candidate + " -c 'import sklearn' > /dev/null 2>&1").c_str()) == 0) return candidate;
    return std::string();
  }();
  return found;
}

// What sklearn_solve.py says of these rows and this request.
json answer(const problem::Problem& p, json request) {
  if (python().empty()) return {{"skipped", "sklearn not installed"}};
  const fs::path folder = fs::temp_directory_path() / ("parley-bench-" + std::to_string(getpid()));
  fs::create_directories(folder);
  dump(folder / "start", p.rows->start);
  dump(folder / "column", p.rows->column);
  dump(folder / "value", p.rows->value);
  dump(folder / "label", p.rows->label);
  request.update({{"features", p.rows->features}, {"full", p.rows->full()}, {"c", p.weight / p.regularization}});
  write_file(folder / "problem.json", request.dump());
  const std::string text = output_of("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " + python() +
                                     " -W ignore " PARLEY_BENCH_FOLDER "/sklearn_solve.py " + folder.string());
  fs::remove_all(folder);
  json out = json::parse(text, nullptr, false);
  return out.is_object() ? out : json({{"skipped", "sklearn_solve.py failed"}});
}

}  // namespace

json sklearn(const problem::Problem& p, double best, double wanted_gap, int repetitions) {
  return answer(p, {{"best", best / p.regularization}, {"wanted_gap", wanted_gap}, {"repetitions", repetitions}});
}

json sklearn_lbfgs(const problem::Problem& p, double tolerance, int repetitions) {
  return answer(p, {{"tol", tolerance}, {"max_iter", 1000}, {"repetitions", repetitions}});
}

}  // namespace parley::bench
