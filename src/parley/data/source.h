// Where a simulation's rows come from and who holds them: a built-in data set, one file, or one file per node.
#pragma once
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/data/dataset.h"

namespace parley::data {

struct Options {
  std::vector<std::string> data{"census"};
  std::string data_dir;
  std::string schema;
  std::string format = "auto";
  bool header = true;
  long features = 0;
  std::string preprocessing = "public";
  long rows = 50000;
  long nodes = 0;
  std::string split = "even";
  std::vector<double> split_shares;
  double split_exponent = 1;
  std::string split_column;
  long split_seed = 1;
  double test_share = 0.1;
  std::string test_data;
  std::string public_data;
  long public_rows = 0;
};
std::vector<Option> option_rows(Options& o);

struct Holdings {
  std::string name;         // for people
  std::vector<Rows> nodes;  // node i's rows
  Rows test;                // held out; may be empty
  Rows published;           // declared public by the user: neither trained nor tested on, no guarantee covers them
  std::vector<std::string> feature_names;
  std::string schema_toml;
  std::string not_public;  // why preprocessing depended on rows; empty when it did not
  bool regression = false;
  std::vector<std::string> classes{};  // label c means classes[c]; empty: the label is −1 or +1, or a target

  std::size_t training_rows() const;
};

Holdings load(const Options& options);

}  // namespace parley::data
