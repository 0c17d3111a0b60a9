#include "parley/data/read/load_csv.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/parallel.h"
#include "parley/data/encode.h"
#include "parley/data/read/csv_blocks.h"
#include "parley/data/read/csv_scanner.h"
#include "parley/data/read/delimiter.h"
#include "parley/data/read/persons/persons.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

// What one thread makes of one block.
struct Piece {
  Rows rows;
  std::vector<std::string> keys;
  std::vector<std::string> persons{};  // of its rows, and their lines; where the schema names a person column
  std::vector<std::size_t> lines{};
  std::vector<std::size_t> clipped{};
  std::exception_ptr failure;
};

// Blocks that are encoded at the same time.
struct Wave {
  std::vector<CsvBlock> blocks;
  std::vector<Piece> pieces;
  std::size_t count = 0;  // of those, in use: their memory is used again
  double share = 0;
  std::exception_ptr failure;  // of reading, after these blocks
};

template <class T>
void add(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

class Loader {
 public:
  Loader(Bytes bytes, const Schema& schema, const LoadPlan& plan)
      : plan_(plan),
        layout_(plan.layout),
        threads_(plan.threads > 0 ? plan.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        name_(bytes.name),
        blocks_(std::move(bytes), layout_.comment),
        schema_(schema),
        persons_(schema) {}

  // While some threads encode a wave, one appends the wave before it and reads the next.
  Dataset run() {
    Wave now, other;
    start(now);
    while (now.count > 0 || now.failure) {
      std::exception_ptr serial;
      parallel_for(static_cast<int>(now.count) + 1, threads_, [&](int i) {
        if (i > 0)
          return encode(now.blocks[static_cast<std::size_t>(i) - 1], now.pieces[static_cast<std::size_t>(i) - 1]);
        try {
          append(other);
          read(other);
        } catch (...) {
          serial = std::current_exception();
        }
      });
      if (serial) std::rethrow_exception(serial);  // of the rows before these
      refuse_first(now);
      std::swap(now, other);
    }
    append(other);
    tell(1, true);
    if (dataset_.rows.count() == 0) refuse_empty(name_, layout_, true);
    if (plan_.watch.warn) warn();
    dataset_.persons = persons_.take_texts();
    return std::move(dataset_);
  }

 private:
  // The header, and what follows from it.
  void start(Wave& first) {
    read(first);
    while (first.count > 0) {
      CsvBlock copy = first.blocks[0];  // the scanner changes its text
      if (layout_.delimiter == 0) {
        layout_.delimiter = found_delimiter(copy.text, layout_);
        const std::string note = found_delimiter_note(name_, layout_.delimiter);
        if (!note.empty() && plan_.watch.note) plan_.watch.note(note);
      }
      CsvScanner rows(copy.text, copy.first_line, layout_, name_);
      if (!rows.next()) {  // blank lines
        read(first);
        continue;
      }
      skip_header_ = layout_.header;
      columns_ = column_names(layout_, rows.fields(), rows.place().text());
      encoder_.emplace(columns_, name_, schema_, plan_.split_column);
      encoder_->describe(dataset_);
      if (!schema_.unit.person.empty()) person_.emplace(columns_, name_, schema_);
      header_line_ = rows.place().line;
      return;
    }
    if (first.failure) std::rethrow_exception(first.failure);
    refuse_empty(name_, layout_, false);
  }

  void read(Wave& wave) {
    const auto most = static_cast<std::size_t>(std::max(16, 4 * threads_));
    wave.blocks.resize(most);
    wave.pieces.resize(most);
    wave.count = 0;
    wave.failure = nullptr;
    try {
      while (wave.count < most && blocks_.next(wave.blocks[wave.count])) ++wave.count;
    } catch (...) {
      wave.failure = std::current_exception();
    }
    wave.share = blocks_.share();
  }

  void encode(CsvBlock& block, Piece& piece) const {
    try {
      piece.rows.features = encoder_->features();
      CsvScanner rows(block.text, block.first_line, layout_, name_);
      RowEncoder::Scratch scratch;
      while (rows.next()) {
        if (skip_header_ && rows.place().line == header_line_) continue;
        if (rows.fields().size() != columns_.size())
          refuse_ragged(rows.fields(), columns_.size(), layout_, rows.place());
        std::string person = person_ ? person_->of(rows.fields(), rows.place()) : "";
        encoder_->encode(rows.fields(), rows.place(), piece.rows, scratch);
        encoder_->add_key(rows.fields(), piece.keys);
        if (!person_) continue;
        piece.persons.push_back(std::move(person));
        piece.lines.push_back(rows.place().line);
      }
      piece.clipped = std::move(scratch.clipped);
    } catch (...) {
      piece.failure = std::current_exception();
    }
  }

  void append(Wave& wave) {
    if (wave.count == 0) return;
    Rows& all = dataset_.rows;
    std::size_t rows = 0, entries = 0;
    for (std::size_t i = 0; i < wave.count; ++i) {
      rows += wave.pieces[i].rows.count();
      entries += wave.pieces[i].rows.value.size();
    }
    rows += all.count();
    entries += all.value.size();
    reserve(all.start, rows + 1, wave.share);
    reserve(all.label, rows, wave.share);
    reserve(all.column, entries, wave.share);
    reserve(all.value, entries, wave.share);
    for (std::size_t i = 0; i < wave.count; ++i) {
      if (person_) keep_allowed(wave.pieces[i]);
      Rows& part = wave.pieces[i].rows;
      const std::size_t before = all.value.size();
      for (std::size_t n = 1; n < part.start.size(); ++n) all.start.push_back(before + part.start[n]);
      part.start.resize(1);
      add(all.column, part.column);
      add(all.value, part.value);
      add(all.label, part.label);
      add(dataset_.split_key, wave.pieces[i].keys);
      clipped_.resize(std::max(clipped_.size(), wave.pieces[i].clipped.size()));
      for (std::size_t c = 0; c < wave.pieces[i].clipped.size(); ++c) clipped_[c] += wave.pieces[i].clipped[c];
      wave.pieces[i].clipped.clear();
    }
    wave.count = 0;
    tell(wave.share, false);
  }

  // The first mistake in the file, whatever the timing and the number of threads: one row too many of a person may stand
  // before what a thread could not encode.
  void refuse_first(Wave& wave) {
    for (std::size_t i = 0; i < wave.count; ++i) {
      if (!wave.pieces[i].failure) continue;
      for (std::size_t before = 0; before <= i && person_; ++before) keep_allowed(wave.pieces[before]);
      std::rethrow_exception(wave.pieces[i].failure);
    }
    if (!wave.failure) return;
    for (std::size_t i = 0; i < wave.count && person_; ++i) keep_allowed(wave.pieces[i]);
    std::rethrow_exception(wave.failure);
  }

  // Takes out the rows that are too many of their person, or refuses the first of them. Serial, in the order of the file.
  void keep_allowed(Piece& piece) {
    std::vector<std::size_t> kept;
    for (std::size_t n = 0; n < piece.persons.size(); ++n) {
      const Persons::Row row = persons_.add(std::move(piece.persons[n]));
      if (row.too_many && schema_.extra_rows == ExtraRows::error)
        throw Error(persons_.refused({&name_, piece.lines[n]}));
      if (row.too_many) continue;
      kept.push_back(n);
      dataset_.person.push_back(row.number);
    }
    seen_rows_ += piece.persons.size();
    piece.persons.clear();
    piece.lines.clear();
    if (kept.size() == piece.rows.count()) return;
    piece.rows = piece.rows.select(kept);
    if (piece.keys.empty()) return;
    std::vector<std::string> keys;
    for (const std::size_t n : kept) keys.push_back(std::move(piece.keys[n]));
    piece.keys = std::move(keys);
  }

  void warn() const {
    for (const std::string& text : encoder_->clipped_in_words(clipped_, std::max(seen_rows_, dataset_.rows.count())))
      plan_.watch.warn(name_ + ", " + text);
    if (persons_.extra_rows() > 0)
      plan_.watch.warn(name_ + ": " + std::to_string(persons_.extra_rows()) + " rows are left out, of " +
                       std::to_string(persons_.with_extra_rows()) + " persons with more than " +
                       std::to_string(schema_.unit.rows_per_person) +
                       " rows: the first ones stay, as the schema says "
                       "(private: counted on the rows)");
    if (const std::size_t alike = persons_.spelt_alike(); alike > 0)
      plan_.watch.warn(name_ + ": " + Spellings::in_words(alike, schema_.unit.person));
  }

  // Room for the whole file at once, guessed from what it held so far. Memory that is reserved and never written costs
  // nothing; a vector that doubles holds everything twice.
  template <class T>
  static void reserve(std::vector<T>& v, std::size_t needed, double share) {
    if (needed <= v.capacity()) return;
    constexpr double at_least = 0.001, margin = 1.08;
    const double guess = share > at_least ? margin * static_cast<double>(needed) / share : 0;
    v.reserve(std::max(static_cast<std::size_t>(guess), v.capacity() == 0 ? needed : needed + needed / 2));
  }

  void tell(double share, bool all) const {
    if (plan_.watch.progress)
      plan_.watch.progress({.name = name_, .rows = dataset_.rows.count(), .share = share, .all = all});
  }

  const LoadPlan& plan_;
  CsvLayout layout_;
  int threads_;
  std::string name_;
  CsvBlocks blocks_;
  const Schema& schema_;
  std::vector<std::string> columns_;
  std::optional<RowEncoder> encoder_;
  std::optional<PersonColumn> person_;
  Persons persons_;
  std::size_t seen_rows_ = 0;           // also those that were left out; of a schema with a person column
  std::vector<std::size_t> clipped_{};  // cells beyond the bounds, by column of the encoder
  bool skip_header_ = false;
  std::size_t header_line_ = 0;
  Dataset dataset_;
};

}  // namespace

Dataset load_csv(Bytes bytes, const Schema& schema, const LoadPlan& plan) {
  return Loader(std::move(bytes), schema, plan).run();
}

}  // namespace parley::data
