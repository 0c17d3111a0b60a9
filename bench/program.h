// What every benchmark's main() does:  bench_NAME OUTDIR  measures, prints tables and writes OUTDIR/NAME.json.
#pragma once
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "parley/base/text.h"

namespace parley::bench {

using nlohmann::json;

inline int cores() {
  return static_cast<int>(std::thread::hardware_concurrency());
}

inline int program(int argc, char** argv, const std::string& name, const std::function<json()>& measure) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_%s OUTDIR\n", name.c_str());
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1], file = folder / (name + ".json");
    std::filesystem::create_directories(folder);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a table appears while it is measured
    std::printf("== %s: %d cores, GCC %s\n\n", name.c_str(), cores(), __VERSION__);
    json out = measure();
    out["cores"] = cores();
    out["compiler"] = __VERSION__;
    write_file(file, out.dump(2) + "\n");
    std::printf("\n%s\n\n", file.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace parley::bench
