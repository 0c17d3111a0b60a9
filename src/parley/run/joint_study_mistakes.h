// What the readers of a study file share.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/run/joint_study.h"

namespace parley::run {

// All mistakes of a file, told at once in the order of its lines.
struct Mistakes {
  std::vector<std::pair<int, std::string>> all;  // line, text

  template <class F>
  void attempt(int line, const F& doing) {
    try {
      doing();
    } catch (const Error& e) {
      all.emplace_back(line, e.what());
    }
  }
  void add(int line, const Error::Parts& parts) { all.emplace_back(line, Error(parts).what()); }
  void tell() {
    if (all.empty()) return;
    std::ranges::sort(all);
    std::vector<Error::Parts> parts;
    for (const auto& [line, text] : all) parts.push_back({.what = text});
    throw Error(parts);
  }
};

// Where a party's keys stand, and under "" where its block begins.
using PartyLines = std::map<std::string, int>;
void check_roster(JointStudy& study, const std::vector<PartyLines>& lines, Mistakes& wrong);

}  // namespace parley::run
