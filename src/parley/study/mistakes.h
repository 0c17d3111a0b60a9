// What the readers of a study file share.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/study/study.h"

namespace parley::study {

// All mistakes of a file, told at once in the order of its lines.
struct Mistakes {
  std::vector<std::pair<int, Error>> all;  // by line

  template <class F>
  void attempt(int line, const F& doing) {
    try {
      doing();
    } catch (const Error& e) {
      all.emplace_back(line, e);
    }
  }
  void add(int line, const Error::Fields& parts) { all.emplace_back(line, Error(parts)); }
  void tell() {
    if (all.empty()) return;
    std::ranges::sort(all, {}, [](const auto& one) { return std::pair(one.first, std::string(one.second.what())); });
    std::vector<Error::Fields> parts;
    for (const auto& [line, error] : all) parts.insert(parts.end(), error.fields().begin(), error.fields().end());
    throw Error(parts);
  }
};

// Where a party's keys stand, and under "" where its block begins.
using PartyLines = std::map<std::string, int>;
void check_roster(Study& study, const std::vector<PartyLines>& lines, Mistakes& wrong);

}  // namespace parley::study
