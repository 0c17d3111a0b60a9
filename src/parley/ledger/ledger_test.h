// What the ledger's tests share.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/ledger/ledger.h"

namespace parley::ledger {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Where a sync costs nothing, if there is such a place: what is tested does not depend on the medium.
inline fs::path in_memory_folder() {
  return fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
}

// `doing` throws an Error whose text has every part.
template <class F>
void fails(const F& doing, const std::vector<std::string>& says) {
  try {
    doing();
    ADD_FAILURE() << "no Error";
  } catch (const Error& e) {
    for (const auto& part : says) EXPECT_THAT(e.what(), HasSubstr(part));
  }
}

inline privacy::Release release(int node, int round, double epsilon) {
  return {.node = node,
          .round = round,
          .value = Vector::Ones(3),
          .charge = {.kind = "objective-gamma", .epsilon = epsilon}};
}

// A round of example A (pure_test.cpp).
inline privacy::Charge priced(const std::string& kind, std::vector<std::pair<std::string, double>> more) {
  privacy::Charge c{.kind = kind,
                    .parameters = {{"gradient_weight", 1750.0 / 8000}, {"strong_convexity", 4.044}, {"logistic", 1}}};
  c.parameters.insert(c.parameters.end(), more.begin(), more.end());
  return c;
}

class OnFile : public testing::Test {
 protected:
  OnFile() {
    std::string pattern = (in_memory_folder() / "parley-ledger-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    file = folder / "ledger.db";
  }
  ~OnFile() override { fs::remove_all(folder); }

  std::shared_ptr<LedgerFile> open() { return std::make_shared<LedgerFile>(file); }
  std::shared_ptr<LedgerFile> create(const Cap& cap, const std::string& dataset = "ward") {
    auto made = std::make_shared<LedgerFile>(file, LedgerFile::Open::create_if_missing);
    made->set_cap(dataset, cap);
    return made;
  }
  void sql(const std::string& text) {  // by hand, past the triggers
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(db);
  }
  fs::path folder, file;
};

inline PlannedRun planned_run(const std::string& id, int rounds, double epsilon, int nodes = 1) {
  PlannedRun run{.id = id, .configuration = "c", .datasets = {{.name = "ward", .records = 1000}}};
  for (int node = 0; node < nodes; ++node) {
    run.accounts.push_back({.node = node, .dataset = "ward"});
    for (int t = 0; t < rounds; ++t) run.accounts.back().planned.push_back(release(node, t, epsilon).charge);
  }
  return run;
}

}  // namespace parley::ledger
