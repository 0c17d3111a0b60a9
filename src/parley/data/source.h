// Where a simulation's rows come from and who holds them: a built-in data set, one file, or one file per node.
#pragma once
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/data/dataset.h"
#include "parley/data/read/csv_options.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/split.h"

namespace parley::data {

enum class FileFormat { automatic, csv, libsvm };
constexpr Words<FileFormat, 3> words(FileFormat) {
  return {{{"auto", FileFormat::automatic}, {"csv", FileFormat::csv}, {"libsvm", FileFormat::libsvm}}};
}

struct Options {
  std::vector<std::string> data{"census"};
  std::string data_dir;
  std::string schema;
  std::string schema_text;  // no option: what the file --schema said when it was checked; it is not read again
  Choice<FileFormat> format = FileFormat::automatic;
  CsvOptions csv{};
  long features = 0;
  std::string preprocessing = "public";
  long rows = 50000;
  long nodes = 0;
  Choice<Split> split = Split::even;
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

// What one of several processes is to hold (docs/operate/cluster.md): a block of consecutive nodes, balanced by rows.
struct Share {
  int process = 0, processes = 1;
  std::vector<double> file_sizes{};  // of one file per node, where they are known: its rows are counted by its reader
};
std::vector<double> file_sizes(const Options& options);  // 0: not to be seen from here; empty: one source, dealt

// The starts of consecutive blocks, and the end: none empty, the heaviest as light as possible. Error when there are
// fewer weights than blocks.
std::vector<int> balanced(const std::vector<double>& weights, int blocks);

struct Holdings {
  std::string name;             // for people
  std::vector<Rows> nodes;      // of this process; its first is node number first()
  std::vector<double> records;  // of all nodes; 0: a file that another process reads
  std::vector<int> blocks;      // process p has the nodes blocks[p] … blocks[p+1]−1
  int process = 0;
  std::string dealt_hash;  // of several processes: of all rows that were dealt, which must be the same everywhere
  Rows test;               // held out, this process's part; may be empty
  Rows published;          // declared public by the user: neither trained nor tested on, no guarantee covers them
  std::vector<std::string> feature_names;
  std::string schema_toml;
  std::string not_public;  // why preprocessing depended on rows; empty when it did not
  bool regression = false;
  std::vector<std::string> classes{};  // label c means classes[c]; empty: the label is −1 or +1, or a target

  int first() const { return blocks[static_cast<std::size_t>(process)]; }
  int end() const { return blocks[static_cast<std::size_t>(process) + 1]; }
  bool holds(int node) const { return node >= first() && node < end(); }
  double training_rows() const;  // of all nodes whose records are known
};

Holdings load(const Options& options, const Share& share = {}, const Watch& watch = {});
// Rows in memory, all encoded by one schema: one set for each node, or one that is dealt as the options say. Error where
// they do not fit together, or a node has none.
Holdings holdings_of(std::vector<Dataset> nodes, const std::vector<Dataset>& test);
Holdings holdings_dealt(const Options& options, Dataset rows, const std::vector<Dataset>& test);
FileFormat format_of(const Options& options, const std::string& path);  // by its name, unless --format says it
// All rows of one source (a file, "-", a database), in its order: what a party holds.
Dataset load_file(const Options& options, const std::string& path, const std::string& option = "option --data",
                  const Watch& watch = {});

}  // namespace parley::data
