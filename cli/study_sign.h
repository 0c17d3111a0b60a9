// A party's approval of a study, before it runs.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/study/study.h"

namespace parley::cli {

struct SignOptions {
  std::string as, words, key, hash, certificate;  // the last is the option of invite
};
std::vector<Option> rows(SignOptions& o);

int sign_study(const std::filesystem::path& file, SignOptions o);

// What `study check` says of the approvals beside the study: lines for people, and for programs.
std::vector<std::string> approval_lines(const study::Study& study, const std::string& hash);
nlohmann::json approvals_json(const study::Study& study, const std::string& hash);

}  // namespace parley::cli
