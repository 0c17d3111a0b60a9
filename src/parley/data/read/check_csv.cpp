#include "parley/data/read/check_csv.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "parley/data/encode.h"
#include "parley/data/read/columns.h"
#include "parley/data/read/csv_blocks.h"
#include "parley/data/read/csv_scanner.h"
#include "parley/data/read/delimiter.h"
#include "parley/data/read/persons/persons.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

std::string kind_of(const Schema& schema, const std::string& name) {
  if (name == schema.label.column) return "label";
  const auto found = std::ranges::find(schema.columns, name, &Column::name);
  return found->kind == Kind::categorical ? "categorical" : "numeric";
}

// The schema without what the file does not have, so that the rest can be checked.
Schema without_absent(Schema schema, const std::vector<std::string>& columns) {
  std::erase_if(schema.columns, [&](const Column& c) { return std::ranges::find(columns, c.name) == columns.end(); });
  return schema;
}

class Check {
 public:
  Check(Bytes bytes, const Schema& schema, const CsvLayout& layout)
      : schema_(schema), layout_(layout), blocks_(std::move(bytes), layout.comment), persons_(schema) {
    file_.name = blocks_.name();
  }

  CheckedFile run() {
    try {
      CsvBlock block;
      while (blocks_.next(block)) {
        if (layout_.delimiter == 0) {
          layout_.delimiter = found_delimiter(block.text, layout_);
          file_.note = found_delimiter_note(file_.name, layout_.delimiter);
        }
        CsvScanner rows(block.text, block.first_line, layout_, file_.name);
        while (rows.next()) row(rows);
      }
      if (file_.rows == 0) refuse_empty(file_.name, layout_, encoder_.has_value());
    } catch (const Error& e) {  // bad quoting, bytes that are no text: what follows cannot be told apart
      file_.whole = false;
      add(e.fields().front(), "");
    }
    file_.persons_with_extra_rows = persons_.with_extra_rows();
    file_.extra_rows = persons_.extra_rows();
    file_.persons = persons_.texts().size();
    file_.persons_spelt_alike = persons_.spelt_alike();
    file_.person_texts = persons_.take_texts();
    return std::move(file_);
  }

 private:
  void row(const CsvScanner& rows) {
    if (!encoder_) {
      start(rows);
      if (layout_.header) return;
    }
    ++file_.rows;
    if (rows.fields().size() != columns_.size()) {
      try {
        refuse_ragged(rows.fields(), columns_.size(), layout_, rows.place());
      } catch (const Error& e) {
        return add(e.fields().front(), "");
      }
    }
    const bool kept = !person_ || count_person(rows);
    const std::size_t before = file_.problems;
    encoder_->check(rows.fields(), rows.place(), facts_);
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      CheckedColumn& column = file_.columns[i];
      column.missing += facts_[i].missing ? 1 : 0;
      column.outside += facts_[i].outside ? 1 : 0;
      column.unlisted += facts_[i].unlisted ? 1 : 0;
      if (!facts_[i].problem) continue;
      ++column.problems;
      add(*facts_[i].problem, column.name);
    }
    if (kept && labelled_ && file_.problems == before) sum_up(rows);
  }

  void sum_up(const CsvScanner& rows) {
    encoded_.features = encoder_->features();
    encoder_->encode(rows.fields(), rows.place(), encoded_, scratch_);
    file_.sum.add(encoded_);
    encoded_ = Rows{};
  }

  void start(const CsvScanner& rows) {
    columns_ = column_names(layout_, rows.fields(), rows.place().text());
    for (const auto& wrong : wrong_columns(columns_, file_.name, schema_, true)) add(wrong, "");
    const Schema present = without_absent(schema_, columns_);
    labelled_ = std::ranges::find(columns_, schema_.label.column) != columns_.end();
    encoder_.emplace(RowEncoder::Known{}, columns_, file_.name, present, labelled_);
    try {
      if (!schema_.unit.person.empty()) person_.emplace(columns_, file_.name, schema_);
    } catch (const Error& absent) {
      add(absent.fields().front(), "");
    }
    for (const auto& name : encoder_->checked())
      file_.columns.push_back({.name = name, .kind = kind_of(schema_, name)});
  }

  // Whether its row is one that stays.
  bool count_person(const CsvScanner& rows) {
    std::string person;
    try {
      person = person_->of(rows.fields(), rows.place());
    } catch (const Error& e) {
      add(e.fields().front(), schema_.unit.person);
      return false;
    }
    if (!persons_.add(std::move(person)).too_many) return true;
    if (file_.extra_lines.size() < CheckedFile::most_extra_lines) file_.extra_lines.push_back(rows.place().line);
    if (schema_.extra_rows == ExtraRows::error) add(persons_.refused(rows.place()), schema_.unit.person);
    return false;
  }

  void add(const Error::Fields& fields, const std::string& column) {
    ++file_.problems;
    const auto [at, first] = seen_.emplace(std::tuple(column, fields.what, fields.value), file_.listed.size());
    if (!first) {
      ++file_.listed[at->second].times;
    } else if (file_.listed.size() < CheckedFile::most_listed) {
      file_.listed.push_back({.fields = fields, .column = column});
    } else {
      seen_.erase(at);
    }
  }

  const Schema& schema_;
  CsvLayout layout_;
  CsvBlocks blocks_;
  CheckedFile file_;
  std::vector<std::string> columns_;
  std::optional<RowEncoder> encoder_;
  std::vector<CellFacts> facts_;
  bool labelled_ = false;
  Rows encoded_;  // one row
  RowEncoder::Scratch scratch_;
  std::optional<PersonColumn> person_;
  Persons persons_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> seen_;  // column, what, value → listed
};

}  // namespace

CheckedFile check_csv(Bytes bytes, const Schema& schema, const CsvLayout& layout) {
  return Check(std::move(bytes), schema, layout).run();
}

}  // namespace parley::data
