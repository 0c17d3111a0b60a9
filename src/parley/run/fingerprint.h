// What a ledger knows rows by, to warn of a mix-up: under its own key, so that it confirms nobody's guess.
#pragma once
#include <string>
#include <vector>

#include "parley/data/dataset.h"
#include "parley/ledger/ledger.h"

namespace parley::run {

std::string fingerprint_of(const std::vector<const data::Rows*>& rows, const ledger::LedgerFile& book);

}  // namespace parley::run
