// The columns of a file against those of the schema. Parties must agree on everything: a column that only one of them
// has is a mistake until the schema says "drop".
#pragma once
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/data/schema.h"

namespace parley::data {

// The place of a column, or Error.
std::size_t need_column(const std::vector<std::string>& columns, const std::string& source, const std::string& name,
                        const std::string& what);

// All that is wrong with the names of a file's columns. with_label: the label column is needed.
std::vector<Error::Fields> wrong_columns(const std::vector<std::string>& columns, const std::string& source,
                                         const Schema& schema, bool with_label);

// Throws the first column that is not in the schema, or whose name is misspelt there.
void check_columns(const std::vector<std::string>& columns, const std::string& source, const Schema& schema,
                   bool with_label);

}  // namespace parley::data
