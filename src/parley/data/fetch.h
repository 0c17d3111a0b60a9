// Downloads a public data set and checks that it is the one meant. The hash decides, not the server.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace parley::data {

inline constexpr const char* adult_url = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult";

struct RemoteFile {
  std::string name;
  std::string sha256;  // 64 lower-case hexadecimal digits
};

const std::vector<RemoteFile>& adult_files();  // adult.data and adult.test as UCI publishes them

// $XDG_CACHE_HOME/parley, else $HOME/.cache/parley; empty when neither variable helps.
std::filesystem::path cache_dir();

// Gets base_url/name for every file into target_dir. Files already there with the right hash are not fetched again.
// All or nothing: no file is written before every download has arrived and its SHA-256 agrees; otherwise Error.
// Follows redirects between http(s) addresses only; a file larger than 64 MiB is refused. progress may be empty.
void fetch_adult(const std::filesystem::path& target_dir, const std::string& base_url = adult_url,
                 const std::function<void(const std::string&)>& progress = {},
                 const std::vector<RemoteFile>& files = adult_files());

}  // namespace parley::data
