// parley as a library: learning between parties that never pool their data, with a privacy guarantee for every record.
// This is the one header to include. Everything that a function cannot do is a parley::Error that says what, which value,
// what is allowed, where, and what to do (parley/base/error.h).
//
//   const parley::Schema schema = parley::read_schema("schema.toml");
//   std::vector<parley::Rows> parties;
//   for (const char* file : {"a.csv", "b.csv", "c.csv"}) parties.push_back(parley::read_csv(file, schema));
//   const parley::Trained run = parley::train({{"epsilon", "1"}}, parties);
//   run.model->save("model.json");      // run.guarantee says what it cost
//
// Privacy: this process holds the rows of all parties, and plays them. Between organisations each runs its own join().
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"

namespace parley {

const char* version();

// Codes of Errors on which a caller decides: Error::is().
inline constexpr ErrorCode budget_exceeded{"over_cap"};     // a run would exceed the cap of a dataset
inline constexpr ErrorCode ledger_in_use{"ledger_in_use"};  // by another process: it can be waited for

// The options of a command by their names on the command line, without the dashes: {{"epsilon", "1"}, {"graph", "ring"}}.
// A name that is none is an Error that offers the nearest one; `parley options` lists all of them.
using Settings = std::map<std::string, std::string>;

// ---- Rows

// What is public about the rows: columns, bounds, categories, the label (docs/use/schema.md).
struct Schema {
  std::string toml;
  std::string not_public{};  // why it depends on rows: every run on it is then stamped NOT PRIVATE with this reason
  std::vector<std::string> features() const;  // the names of the encoded features
};
Schema read_schema(const std::filesystem::path& file);

// A schema of columns of numbers. Bounds are public knowledge: never measure them on private rows.
struct NumberColumn {
  std::string name;
  double low = 0, high = 1;
};
struct NumberColumns {
  std::vector<NumberColumn> columns;
  std::string label = "label";
  std::vector<std::string> classes{};  // of the label: two (the second is the positive one) or more; none: a number
  double label_low = 0, label_high = 1;
  bool intercept = true;
  bool linear = false;   // scale = "bound": features linear in the numbers, which intervals need
  bool softmax = false;  // two classes as softmax takes them
};
Schema schema_of(const NumberColumns& columns);
std::vector<NumberColumn> number_columns(const Schema& schema);  // that it uses

// Row r, column c at first[r * row_step + c * column_step]: either order, and parts of a larger matrix, without a copy.
struct DenseMatrix {
  const double* first = nullptr;
  std::size_t rows = 0, columns = 0;
  std::ptrdiff_t row_step = 0, column_step = 1;
};
// Compressed sparse rows: row r has the entries start[r] … start[r + 1] − 1, its columns in increasing order.
struct SparseMatrix {
  std::span<const std::int64_t> start;
  std::span<const std::int32_t> column;
  std::span<const double> value;
  std::size_t columns = 0;
};

// Encoded rows; a copy is another name for the same rows.
class Rows {
 public:
  std::size_t count() const;
  std::size_t features() const;
  // Columns with cells beyond their bounds. Privacy: counted on the rows, for their owner's eyes.
  const std::vector<std::string>& warnings() const;

  struct Inside;
  explicit Rows(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}
  const Inside& inside() const { return *inside_; }

 private:
  std::shared_ptr<const Inside> inside_;
};
Rows read_csv(const std::filesystem::path& file, const Schema& schema);  // .csv, .csv.gz
Rows read_libsvm(const std::filesystem::path& file, std::size_t features);
// labels: −1 or +1 (two classes), the number of the class, or a number in its own unit; none: rows to predict.
Rows rows_of(const DenseMatrix& numbers, std::span<const double> labels, const Schema& schema,
             const std::string& name = "rows");
Rows rows_of(const SparseMatrix& numbers, std::span<const double> labels, const Schema& schema,
             const std::string& name = "rows");

// ---- Models

class Model {
 public:
  static Model read(const std::filesystem::path& file);
  static Model from_json(const std::string& text);
  void save(const std::filesystem::path& file) const;
  const std::string& json() const;  // what save() writes

  const std::vector<double>& weights() const;  // class after class
  std::vector<std::string> features() const;
  std::vector<std::string> classes() const;  // of two, the second is the positive one; none: it predicts a number
  std::string loss() const;
  Schema schema() const;                         // empty: of LIBSVM rows
  std::vector<std::string> not_private() const;  // why its guarantee is none; empty: it stands

  std::vector<double> scores(const Rows& rows) const;         // fᵀx; of several classes one a class, row after row
  std::vector<double> probabilities(const Rows& rows) const;  // one a class, row after row; Error where it has none
  std::vector<double> predicted(const Rows& rows) const;      // the number of the class, or a number in its own unit
  std::string evaluate(const Rows& rows) const;               // the keys of `parley evaluate --json`

  struct Inside;
  explicit Model(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}

 private:
  std::shared_ptr<const Inside> inside_;
};

// ---- Training

// What the run tells about one record, whoever it is of, over all its rounds. A run that is NOT PRIVATE claims nothing:
// its ε is infinite.
struct PartySpend {
  std::size_t records = 0;
  double epsilon = 0, epsilon_all_others = 0;
};
struct Guarantee {
  double epsilon = 0;             // against `against`
  double epsilon_all_others = 0;  // against all other parties together
  double delta = 0;
  std::string against, theorem, bound;
  std::string protects;                  // whose change is hidden: a record's, a person's
  std::vector<std::string> not_private;  // why it is none: a seed, no noise, … Empty: it stands
  std::vector<PartySpend> parties;
};
std::string printed_epsilon(double epsilon);  // rounded up

struct Progress {
  int round = 0, rounds = 0;
  double epsilon = 0, epsilon_all_others = 0;    // spent so far; infinite: NOT PRIVATE
  double disagreement = 0;                       // between the parties' classifiers
  std::optional<double> train_loss, test_error;  // Privacy: measured on rows
};

struct Hooks {
  std::function<void(const Progress&)> on_round{};
  const std::atomic<bool>* stop = nullptr;  // true: the run ends after the round that is under way
};

struct Coefficient {  // with {"intervals", "yes"}
  std::string name;
  double estimate = 0, standard_error = 0, low = 0, high = 0, p_value = 1;
  bool identified = false;
};

struct Trained {
  std::string outcome;         // completed, budget_exhausted, diverged, interrupted
  std::optional<Model> model;  // none of a run that diverged
  Guarantee guarantee;
  std::vector<Progress> history;
  std::vector<Coefficient> coefficients;
  std::vector<std::string> warnings;
  std::string record;  // its folder; empty: it was not kept
  std::string json;    // the keys of `parley train --json`
};

// The options of `parley train`, without those that say where rows come from. Without "out" the record is not kept,
// unless there is a ledger. Test rows are held out by the caller.
Trained train(const Settings& settings, const std::vector<Rows>& parties, const std::vector<Rows>& test = {},
              const Hooks& hooks = {});
// The rows of one table, dealt to {"nodes", "5"} simulated parties by {"split", …}.
Trained train_dealt(const Settings& settings, const Rows& rows, const std::vector<Rows>& test = {},
                    const Hooks& hooks = {});
// Rows by {"data", …}, as on the command line.
Trained train(const Settings& settings, const Hooks& hooks = {});

// ---- The owner's ledger

class Ledger {
 public:
  explicit Ledger(std::filesystem::path file);  // made by the first cap
  // The most that may ever be spent on a row of the dataset; infinite: public or synthetic rows.
  void cap(const std::string& dataset, double epsilon, double delta, std::optional<double> colluders_epsilon = {});
  double spent(const std::string& dataset) const;  // ε against anybody, at the cap's δ
  double left(const std::string& dataset) const;   // for one more run
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

// ---- Between organisations (docs/operate/study.md)

struct JoinHooks {
  std::function<void(int round, int rounds, int answering, int peers)> on_progress{};
  std::function<void(const std::string& line, bool warning)> log{};
  const std::atomic<bool>* stop = nullptr;
};
struct JoinOutcome {
  std::string outcome, text;  // as the statement has it, and in words
  int exit_code = 0;          // of `parley join`
  std::optional<double> epsilon, delta;
  std::vector<std::string> not_private;
  std::string folder;
  bool has_model = false, has_statement = false;
};
// One party of a study, until it ends. The options of `parley join`.
JoinOutcome join(const std::string& study, const Settings& settings, const JoinHooks& hooks = {});

// ---- Pages

// One HTML page of records, to be shared; owner: with what was measured on rows, for the owner of the rows.
void write_report(const std::vector<std::filesystem::path>& records, const std::filesystem::path& page,
                  bool owner = false, const std::string& title = "");

}  // namespace parley
