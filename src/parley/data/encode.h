// Text cells → sparse feature rows, by a public schema.
// Privacy: a row's features depend on that row and the schema alone, and ‖x‖₂ ≤ 1 holds exactly (clip_to_unit_norm).
#pragma once
#include <string>

#include "parley/data/dataset.h"
#include "parley/data/schema.h"
#include "parley/data/table.h"

namespace parley::data {

// Every column of the table must be in the schema (kind = "drop" to ignore one), and every schema column that is not
// dropped in the table. split_column: any column of the table, its raw text becomes split_key.
Dataset encode(const Table& table, const Schema& schema, std::string name, const std::string& split_column = "");

// For predict: no label column needed (ignored when there is one), labels are 0.
Rows encode_features(const Table& table, const Schema& schema);

}  // namespace parley::data
