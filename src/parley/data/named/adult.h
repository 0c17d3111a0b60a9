// Adult (Census Income): where it is and how it becomes features. Source, licence and hashes: fetch.h, docs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "parley/data/dataset.h"

namespace parley::data {

// The folder that holds adult.data and adult.test. With a data_dir only there; otherwise $PARLEY_DATA, the cache
// (fetch.h), and shared/data in the current directory or any above it; each place also with a subfolder adult/. Error
// lists where it looked.
std::filesystem::path find_adult(const std::string& data_dir = "");

std::vector<std::string> adult_preprocessings();  // public, compact, paper, integer

// Both files, one after the other, but for `integer`.
//   public    48,842 rows, every column by public bounds and documented categories
//   compact   48,842 rows, log of capital, age in bins, no country, weight or education one-hot
//   paper     45,222 complete rows, 98 one-hot categories + 6 columns divided by their maximum, no intercept: as in
//             the papers. Dropped rows, categories and maxima depend on the data; Dataset::not_public says so.
//   integer   30,162 complete rows of adult.data, as in HHCG20 section VI: d = 14 columns, a category as its place in
//             the documented list, each scaled to [−1, 1] by its minimum and maximum, then ‖x‖ ≤ 1; no intercept. Not
//             public, and no schema can say it: schema_toml is empty.
// split_column: see encode.h; "" for none.
Dataset load_adult(const std::filesystem::path& dir, const std::string& preprocessing,
                   const std::string& split_column = "");

// While one of these lives, load_adult parses each form of the files once and keeps it: experiments load them a
// thousand times.
class KeptAdult {
 public:
  KeptAdult();
  ~KeptAdult();
  KeptAdult(const KeptAdult&) = delete;
  KeptAdult& operator=(const KeptAdult&) = delete;
};

}  // namespace parley::data
