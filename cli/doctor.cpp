// Before a study starts: is everything in place at this party?
#include "parley/party/doctor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using nlohmann::json;
using party::Health;

int run_doctor(const Arguments& arguments) {
  party::JoinOptions options;
  set_from(arguments, party::option_rows(options));
  validate_options(party::option_rows(options));
  if (arguments.words.size() != 1)
    throw Error({.what = "the study file is missing",
                 .where = "parley doctor",
                 .fix = "parley doctor study.toml --as NAME --data mine.csv --ledger my.ledger"});
  options.study = arguments.words[0];
  const bool as_json = arguments.has("json");
  const auto checks = party::examine(options, [&](const party::Check& c) {
    if (as_json) return;
    const std::string health = fmt::format("{:<8}", party::name_of(c.health));
    fmt::print("{} {}: {}\n", c.health == Health::failed ? alarm(health) : health, c.about, c.sentence);
    std::fflush(stdout);
  });
  const auto failed = std::ranges::count(checks, Health::failed, &party::Check::health);
  if (as_json) {
    json list = json::array();
    for (const auto& c : checks)
      list.push_back({{"about", c.about}, {"health", party::name_of(c.health)}, {"sentence", c.sentence}});
    fmt::print("{}\n", json{{"healthy", failed == 0}, {"checks", list}}.dump());
  } else {
    fmt::print("\n{}\n", failed == 0 ? bold("Nothing stands in the way.") : alarm(fmt::format("{} failed.", failed)));
  }
  return failed == 0 ? 0 : exit_mistake;
}

}  // namespace

Command doctor_command() {
  static party::JoinOptions defaults;
  return {.name = "doctor",
          .summary = "check everything that 'join' will need, and explain what fails",
          .words = "STUDY",
          .own = party::option_rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley doctor study.toml\n"
              "  parley doctor study.toml --as hospital_a --data mine.csv --ledger my.ledger\n",
          .run = run_doctor};
}

}  // namespace parley::cli
