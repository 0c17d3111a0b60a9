#include "parley/data/source.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/distinct.h"
#include "parley/data/encode.h"
#include "parley/data/named/adult.h"
#include "parley/data/named/census.h"
#include "parley/data/read/delimiter.h"

namespace parley::data {
namespace {

constexpr long default_nodes = 5;

Dataset load_one(const Options& o, const std::string& name, const Watch& watch) {
  const std::string split_column = o.split == Split::column ? o.split_column : "";
  if (name == "adult") return load_adult(find_adult(o.data_dir), o.preprocessing, split_column);
  if (o.preprocessing != "public")
    throw Error({.what = "preprocessing '" + o.preprocessing + "' belongs to --data adult",
                 .value = "--data " + name,
                 .allowed = "public",
                 .where = "option --preprocessing",
                 .fix = "for your own data the schema says how it is preprocessed"});
  if (name == "census")
    return encode(census_table(static_cast<std::size_t>(o.rows), static_cast<std::uint64_t>(o.split_seed)),
                  parse_schema(census_schema(), "census"), "census", split_column);
  return load_file(o, name, "option --data", watch);
}

void append(Rows& to, const Rows& from, const Share& share = {}) {  // this process's part of them
  const auto part = [&](int p) {
    return from.count() * static_cast<std::size_t>(p) / static_cast<std::size_t>(share.processes);
  };
  for (std::size_t n = part(share.process); n < part(share.process + 1); ++n)
    to.append(std::span(from.column).subspan(from.start[n], from.start[n + 1] - from.start[n]),
              std::span(from.value).subspan(from.start[n], from.start[n + 1] - from.start[n]), from.label[n]);
}

std::string hash_of(const Rows& rows) {
  std::string hashes;
  const auto add = [&](const auto& v) {
    hashes += hex(sha256({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0])}));
  };
  add(rows.start);
  add(rows.column);
  add(rows.value);
  add(rows.label);
  return hex(sha256(hashes));
}

// Privacy: whom ε is for stands in the schema, so rows that were not read by it have no part in the claim.
void check_alike(const Dataset& one, const Holdings& all) {
  if (one.schema_toml != all.schema_toml)
    throw Error({.what = "the files were not read by the same schema",
                 .where = one.name,
                 .fix = "use one schema for all files; LIBSVM rows have none, and do not go with a table"});
  if (one.regression != all.regression || one.classes != all.classes || one.rows.features != all.test.features)
    throw Error({.what = "the files do not have the same features and kind of label",
                 .where = one.name,
                 .fix = "use one schema for all files"});
}

}  // namespace

namespace {

// An option that nothing would read is a misunderstanding, and with data a dangerous one: refused.
void check_used(const Options& o) {
  const auto refuse = [](const std::string& option, const std::string& why) {
    throw Error({.what = "--" + option + " would not be used: " + why,
                 .where = "option --" + option,
                 .fix = "leave it out, or say what it belongs to"});
  };
  bool csv = false, libsvm = false, files = false;
  for (const std::string& name : o.data) {
    if (name == "census" || name == "adult") continue;
    files = true;
    (format_of(o, name) == FileFormat::csv ? csv : libsvm) = true;
  }
  if (!o.schema.empty() && !csv)
    refuse("schema",
           files ? "LIBSVM data has none" : "--data " + join(o.data, ",") + " has its own; give your file with --data");
  check_query_used(o.csv, o.data);
  if (o.csv.delimiter != "auto" && !csv) refuse("delimiter", "only CSV files have one");
  delimiter_of(o.csv.delimiter);
  if (o.rows != Options{}.rows && std::ranges::find(o.data, "census") == o.data.end())
    refuse("rows", "it says how many synthetic census rows are made; to take fewer rows of a file, shorten the file");
  if (o.features > 0 && !libsvm) refuse("features", "only LIBSVM data needs it");
  if (!o.split_column.empty() && o.split != Split::column) refuse("split-column", "it goes with --split column");
  if (!o.split_shares.empty() && o.split != Split::shares) refuse("split-shares", "it goes with --split shares");
  if (o.data.size() > 1 && o.split != Split::even) refuse("split", "there is one file per node");
  if (!o.data_dir.empty() && std::ranges::find(o.data, "adult") == o.data.end())
    refuse("data-dir", "it is the place of --data adult");
  if (!o.public_data.empty() && !files)
    refuse("public-data", "--data " + join(o.data, ",") + " is built in; take rows out of it with --public-rows");
  if (!o.public_data.empty() && o.public_rows > 0) refuse("public-rows", "--public-data gives the public rows");
  if (o.public_rows > 0 && o.data.size() > 1)
    refuse("public-rows", "with one file per node nothing is dealt; name a file of public rows with --public-data");
}

}  // namespace

double Holdings::training_rows() const {
  return std::accumulate(records.begin(), records.end(), 0.0);
}

std::vector<double> file_sizes(const Options& o) {
  std::vector<double> sizes;
  if (o.data.size() < 2) return sizes;
  for (const std::string& name : o.data) {
    std::error_code unseen;
    const auto size = std::filesystem::file_size(name, unseen);
    sizes.push_back(unseen ? 0 : static_cast<double>(size));
  }
  return sizes;
}

namespace {

bool file_per_node(const Options& o) {
  return o.data.size() > 1;
}

void check_sources(const Options& o) {
  check_used(o);
  if (o.split == Split::column && o.split_column.empty())
    throw Error({.what = "a split by column needs the column",
                 .where = "option --split-column",
                 .fix = "give --split-column NAME"});
  if (file_per_node(o) && o.nodes != 0 && o.nodes != static_cast<long>(o.data.size()))
    throw Error({.what = std::to_string(o.data.size()) + " data files for " + std::to_string(o.nodes) + " nodes",
                 .where = "option --nodes",
                 .fix = "leave --nodes out: there is one node per file"});
  check_files_distinct(o);
}

// What all rows have in common, from the first of the sources.
void set_common_facts(Holdings& all, const Options& o, const std::string& name, const Dataset& first) {
  all.name = name == "adult" ? "adult (" + o.preprocessing + ")" : file_per_node(o) ? "one file per node" : name;
  all.feature_names = first.feature_names;
  all.schema_toml = first.schema_toml;
  all.not_public = first.not_public;
  all.regression = first.regression;
  all.classes = first.classes;
  all.test.features = first.rows.features;
  all.published.features = first.rows.features;
}

// One source, dealt to the nodes.
void deal_out(Holdings& all, const Options& o, const HeldOut& parts, const Share& share) {
  const auto dealt = deal(parts.train, static_cast<int>(o.nodes == 0 ? default_nodes : o.nodes),
                          {.how = o.split, .shares = o.split_shares, .exponent = o.split_exponent},
                          static_cast<std::uint64_t>(o.split_seed));
  for (const auto& rows : dealt) all.records.push_back(static_cast<double>(rows.size()));
  all.blocks = balanced(all.records, share.processes);
  for (int node = all.first(); node < all.end(); ++node)
    all.nodes.push_back(parts.train.rows.select(dealt[static_cast<std::size_t>(node)]));
  append(all.test, parts.test.rows, share);
  if (share.processes > 1) all.dealt_hash = hash_of(parts.train.rows) + hash_of(parts.test.rows);
}

// The persons of these rows; empty where the schema names none.
std::vector<std::string> add_file(Rows& to, const Options& o, const std::string& file, const std::string& option,
                                  const Holdings& all, const Share& part, const Watch& watch) {
  if (file.empty()) return {};
  Dataset more = load_file(o, file, option, watch);
  check_alike(more, all);
  append(to, more.rows, part);
  return std::move(more.persons);
}

// Privacy: a count over private rows, for the terminal of who holds them. Nothing is decided by it.
void warn_of_trained_on(const std::vector<std::string>& tested, const PersonsDistinct& trained, const Watch& watch) {
  const std::size_t both = trained.known(tested);
  if (both == 0 || !watch.warn) return;
  watch.warn(
      std::to_string(both) + " of " + std::to_string(tested.size()) +
      " persons in --test-data also have rows to train on: the model has seen them, and will look better than it "
      "is. Keep all rows of a person on one side. (Counted on private rows: this terminal alone shows it.)");
}

void check_rows(const Holdings& all) {
  for (std::size_t i = 0; i < all.nodes.size(); ++i)
    if (all.nodes[i].count() == 0)
      throw Error({.what = "node " + std::to_string(all.first() + static_cast<int>(i)) + " has no rows",
                   .where = "option --data",
                   .fix = "every node needs at least one training row"});
}

constexpr const char* in_memory = "rows in memory";

void add_test_rows(Holdings& all, const std::vector<Dataset>& test) {
  for (const Dataset& rows : test) {
    check_alike(rows, all);
    append(all.test, rows.rows);
  }
}

}  // namespace

Holdings load(const Options& o, const Share& share, const Watch& watch) {
  check_sources(o);
  if (share.processes > 1 && std::ranges::find(o.data, "-") != o.data.end())
    throw Error({.what = "several processes cannot share standard input",
                 .where = "option --data",
                 .fix = "put the rows into a file that every process can read"});
  const double test_share = o.test_data.empty() ? o.test_share : 0;
  Holdings all;
  all.process = share.process;
  if (file_per_node(o)) {
    all.records.assign(o.data.size(), 0);
    all.blocks =
        balanced(share.file_sizes.empty() ? std::vector<double>(o.data.size(), 1) : share.file_sizes, share.processes);
  }
  PersonsDistinct persons(o.data);
  RowsDistinct distinct(o.data);
  for (std::size_t i = 0; i < o.data.size(); ++i) {
    if (file_per_node(o) && !all.holds(static_cast<int>(i))) continue;
    Dataset whole = load_one(o, o.data[i], watch);
    persons.add(i, whole.persons);
    if (file_per_node(o)) distinct.add(i, sum_of(whole.rows));
    HeldOut parts = hold_out(std::move(whole), test_share, static_cast<std::uint64_t>(o.split_seed),
                             static_cast<std::size_t>(o.public_rows));
    if (all.feature_names.empty()) set_common_facts(all, o, o.data[i], parts.train);
    check_alike(parts.train, all);
    append(all.published, parts.published.rows);
    if (!file_per_node(o)) {
      deal_out(all, o, parts, share);
      continue;
    }
    append(all.test, parts.test.rows);
    all.records[i] = static_cast<double>(parts.train.rows.count());
    all.nodes.push_back(std::move(parts.train.rows));
  }
  warn_of_trained_on(add_file(all.test, o, o.test_data, "option --test-data", all, share, watch), persons, watch);
  add_file(all.published, o, o.public_data, "option --public-data", all, {}, watch);
  check_rows(all);
  if (const std::size_t alike = persons.spelt_alike(); alike > 0 && watch.warn)
    watch.warn("all files: " + Spellings::in_words(alike, parse_schema(all.schema_toml, "the schema").unit.person));
  return all;
}

Holdings holdings_of(std::vector<Dataset> nodes, const std::vector<Dataset>& test) {
  expects(!nodes.empty(), "rows of a node");
  Holdings all;
  set_common_facts(all, {}, in_memory, nodes.front());
  all.blocks = {0, static_cast<int>(nodes.size())};
  std::vector<std::string> names;
  RowsDistinct distinct(names);
  for (Dataset& node : nodes) {
    check_alike(node, all);
    if (all.not_public.empty()) all.not_public = node.not_public;  // Privacy: one party's is enough for a stamp
    names.push_back(node.name);
    distinct.add(names.size() - 1, sum_of(node.rows));
    all.records.push_back(static_cast<double>(node.rows.count()));
    all.nodes.push_back(std::move(node.rows));
  }
  add_test_rows(all, test);
  check_rows(all);
  return all;
}

Holdings holdings_dealt(const Options& o, Dataset rows, const std::vector<Dataset>& test) {
  HeldOut parts =
      hold_out(std::move(rows), test.empty() ? o.test_share : 0, static_cast<std::uint64_t>(o.split_seed), 0);
  Holdings all;
  set_common_facts(all, o, in_memory, parts.train);
  deal_out(all, o, parts, {});
  add_test_rows(all, test);
  check_rows(all);
  return all;
}

std::vector<Option> option_rows(Options& o) {
  std::vector<Option> rows = {
      {"data", "D",
       "census (built in), adult, a .csv, .csv.gz or .libsvm file, - (standard input), postgresql://..., or one file "
       "per node: a.csv,b.csv,c.csv",
       any_text("names or files", {"census", "adult"}), &o.data, "data", Shown::to_anyone},
      {"data-dir", "",
       "folder with the Adult files; default: $PARLEY_DATA, the cache, shared/data here or in a folder above",
       any_text("a folder"), &o.data_dir, "data"},
      {"schema", "", "public schema of CSV data (TOML)", any_text("a file"), &o.schema, "data"},
      {"format", "", "format of the data files", one_of(o.format), &o.format.text, "data"},
      {"features", "d", "number of features of LIBSVM data (public knowledge)", between(0, 100000000), &o.features,
       "data", Shown::to_anyone},
      {"preprocessing", "",
       "adult: public bounds; compact: public transforms, fewer features; paper: as in the papers, integer: 14 coded "
       "columns as in HHCG20, both NOT PRIVATE",
       one_of(adult_preprocessings()), &o.preprocessing, "data", Shown::to_anyone},
      {"rows", "", "census: rows to generate, training and test together", between(10, 100000000), &o.rows, "data",
       Shown::to_anyone},
      {"nodes", "N", "nodes; 0: 5, or one per file", between(0, 1000000), &o.nodes, "network", Shown::to_anyone},
      {"split", "",
       "how rows are dealt to nodes. column and label-skewed read rows: epsilon is then for rows as dealt, and a "
       "ledger is refused",
       one_of(o.split), &o.split.text, "data", Shown::to_anyone},
      {"split-shares", "", "split shares: one number per node", above(0), &o.split_shares, "data", Shown::to_anyone},
      {"split-exponent", "", "split power: node i gets a share proportional to (i+1)^-exponent", at_least(0),
       &o.split_exponent, "data", Shown::to_anyone},
      {"split-column", "", "split column: the column whose values go to different nodes", any_text("a column"),
       &o.split_column, "data"},
      {"split-seed", "", "public seed of the synthetic rows, the held-out rows and the split", at_least(0),
       &o.split_seed, "data", Shown::to_anyone},
      {"test-share", "", "share of the rows held out for testing", between(0, 0.99), &o.test_share, "data",
       Shown::to_anyone},
      {"test-data", "", "a file of test rows instead of a share", any_text("a file"), &o.test_data, "data"},
      {"public-data", "", "a file of rows declared public: no guarantee covers them; neither trained nor tested on",
       any_text("a file"), &o.public_data, "data"},
      {"public-rows", "",
       "rows taken out of the data, before test rows and dealing, and declared public: no guarantee covers them",
       between(0, 100000000), &o.public_rows, "data", Shown::to_anyone},
  };
  const std::vector<Option> csv = option_rows(o.csv, "data");
  rows.insert(std::ranges::find(rows, "features", &Option::name), csv.begin(), csv.end());
  return rows;
}

}  // namespace parley::data
