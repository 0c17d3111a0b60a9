// What lies beside a party's folder, and never in it, because the folder may be given to others as a whole: OUT.noise-key
// (party/noise_key_file.h), OUT.private_metrics.json, OUT.RUN.abandoned (party/abandon.h).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace parley::record {

std::filesystem::path beside(const std::filesystem::path& folder, const std::string& ending);

// A party's secret for the noise that it shares in part n of the run whose folder this is.
std::filesystem::path noise_key_file(const std::filesystem::path& folder, int part);
// Those that lie there, of all parts.
std::vector<std::filesystem::path> noise_key_files(const std::filesystem::path& folder);

// Such as OUT.part-2: what lies beside this folder would be taken for what lies beside OUT, of its part 2.
bool named_like_a_part(const std::filesystem::path& folder);

struct NoiseKeyPlace {
  std::filesystem::path file, folder;  // of the run
};
// Those of all runs whose folders are, or were, in this place. Nothing where it cannot be read.
std::vector<NoiseKeyPlace> noise_keys_in(const std::filesystem::path& place);
std::filesystem::path place_of(const std::filesystem::path& folder);

}  // namespace parley::record
