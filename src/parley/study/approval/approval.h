// Approval before a run: who answers for a party signs that the study, as its hash names it, may run. Approvals stand in a
// file beside the study, whose hash they do not change: one line for each, so that copies are put together with cat.
//   {"approval": {"format": "parley-approval-1", "study": hash, "party": name, "date": UTC, "words": text},
//    "signature": hexadecimal}
// The signature is of the party's key over "parley approval 1\n" and the approval as JSON with its keys in order and no
// space. So it is none of a message, a statement or TLS.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/study/study.h"

namespace parley::study {

struct Approval {
  std::string study;  // hash
  std::string party, date, words;
};

constexpr std::uintmax_t largest_approvals = 16 * mebibyte;
constexpr std::size_t longest_approval = 4096, longest_words = 1000;

std::filesystem::path approvals_file(const std::filesystem::path& study);  // study.approvals beside study.toml
std::string signed_approval(const Approval& approval, const identity::PrivateKey& key);  // a line

struct Approvals {
  std::vector<Approval> valid;       // at most one of each party, of this very hash
  std::vector<std::string> missing;  // parties of the roster without one
  std::vector<std::string> refused;  // lines that count for nothing: which, why, what to do
  bool complete() const { return missing.empty() && refused.empty(); }
};
// Anybody may have written it: nothing is taken on trust. A missing file has no approval. Error: too large, not a file.
Approvals read_approvals(const Study& study, const std::string& hash);

// Adds a line, and writes the file anew. Error: the party has approved this hash already.
void add_approval(const Study& study, const Approval& approval, const identity::Identity& self);

// Error with what is missing and what is refused, unless every party has approved this very hash.
void require_approvals(const Study& study, const std::string& hash);

std::string in_words(const Approval& approval);  // "hospital_a approved on 2026-11-18T20:40:00Z: \"…\""

}  // namespace parley::study
