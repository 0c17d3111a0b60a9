// CSV → encoded rows in one pass on all cores; the text is never held as a whole.
#pragma once
#include <functional>
#include <string>

#include "parley/data/dataset.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/csv_layout.h"
#include "parley/data/schema.h"

namespace parley::data {

struct Loaded {
  std::string name;      // of the file
  std::size_t rows = 0;  // encoded so far
  double share = 0;      // of the file; 0: not known
  bool all = false;      // this was the last
};

// Who watches while rows are loaded. Privacy: what they are told stays with the owner of the rows.
struct Watch {
  std::function<void(const Loaded&)> progress{};        // now and then, on the caller's thread or a helper's, never two
  std::function<void(const std::string& note)> note{};  // what was assumed about the file
  std::function<void(const std::string& text)> warn{};  // what its owner should look at
};

struct LoadPlan {
  CsvLayout layout{};
  std::string split_column{};  // see encode.h
  int threads = 0;             // 0: all cores
  Watch watch{};
};

// The same rows, in the order of the file, with the same bits, and the same Error (the first one in the file) for any
// number of threads.
Dataset load_csv(Bytes bytes, const Schema& schema, const LoadPlan& plan);

}  // namespace parley::data
