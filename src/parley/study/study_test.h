// What the tests of the study file share: a small study of three hospitals, and its variations.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/study/study.h"

namespace parley::study {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

inline const std::string schema = R"([label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
)";

inline const std::string head = R"(title = "Readmission"
nonce = "00112233445566778899aabbccddeeff"
schema = "schema.toml"
graph = "complete"
algorithm = "mr-admm"
rounds = 50
loss-weight = 100
epsilon = 1
delta = 1e-6
)";

inline std::string party(const std::string& name, const std::string& more = "records = 8000") {
  const char digit = name.back() >= 'a' && name.back() <= 'f' ? name.back() : '0';
  return "[[party]]\nname = \"" + name + "\"\naddress = \"" + name + ".example:7400\"\nfingerprint = \"" +
         std::string(64, digit) + "\"\n" + more + "\n";
}
inline const std::string three = party("hospital_a") + party("hospital_b", "records = 500") + party("hospital_c");

struct StudyFile : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("parley-study-" + std::to_string(::getpid()));
  void SetUp() override {
    fs::create_directories(folder);
    write_file(folder / "schema.toml", schema);
  }
  void TearDown() override { fs::remove_all(folder); }

  Study study(const std::string& text) const { return parse_study(text, folder / "study.toml"); }
  json canonical(const std::string& text) const {
    const Study s = study(text);
    return canonical_json(s, plan_of(s));
  }
  std::string reading(const std::string& text) const {
    return message_of([&] { study(text); });
  }
  std::string planning(const std::string& text) const {
    return message_of([&] { plan_of(study(text)); });
  }
  // What differs when `from` is replaced by `to` at the peer.
  std::string changed(const std::string& from, const std::string& to) const {
    std::string other = head + three;
    other.replace(other.find(from), from.size(), to);
    const json here = canonical(head + three), there = canonical(other);
    EXPECT_NE(study_hash(here), study_hash(there));
    return difference(here, there, "hospital_b");
  }
};

}  // namespace parley::study
