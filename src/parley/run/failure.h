// A round that could not be solved (docs/operate/resume.md).
#pragma once
#include <exception>
#include <string>

#include "parley/algorithm/schedule.h"
#include "parley/privacy/release.h"

namespace parley::run {

// In one word, for the record and the ledger: uncertified or failed.
std::string reason_of(const std::exception_ptr& failure);

// Privacy: whether the failure says nothing about noise, because none was drawn: then the round may be tried again.
bool before_noise(const std::exception_ptr& failure);

// What would have been charged for it: an empty release. holder: of this node, null for a trainer.
privacy::Release unreleased(int node, int round, const algorithm::Schedule* holder);

}  // namespace parley::run
