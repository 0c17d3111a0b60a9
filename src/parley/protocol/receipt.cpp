#include "parley/protocol/receipt.h"

#include <array>

namespace parley::protocol {
namespace {

struct Row {
  std::string_view name, field;
};

constexpr std::array<Row, verdict_count> rows = {{
    {"accepted", ""},
    {"duplicate", ""},
    {"oversize", "length"},
    {"truncated", "length"},
    {"unknown_version", "version"},
    {"unknown_kind", "kind"},
    {"unknown_caller", "caller"},
    {"wrong_sender", "sender"},
    {"bad_signature", "signature"},
    {"wrong_run", "run"},
    {"wrong_configuration", "configuration"},
    {"past_round", "round"},
    {"future_round", "round"},
    {"wrong_turn", "kind"},
    {"wrong_dimension", "payload"},
    {"not_finite", "payload"},
    {"beyond_bound", "payload"},
    {"off_grid", "payload"},
    {"second_value", "payload"},
    {"other_history", "head"},
    {"second_process", "process"},
    {"ledger_behind", "round"},
    {"unavailable", "receiver"},
    {"stopped", "receiver"},
    {"left_behind", "receiver"},
}};

}  // namespace

std::string_view name_of(Verdict verdict) {
  return rows[static_cast<std::size_t>(verdict)].name;
}

std::string_view field_of(Verdict verdict) {
  return rows[static_cast<std::size_t>(verdict)].field;
}

Receipt refuse(const std::string& peer, const Finding& finding) {
  return {.verdict = finding.verdict,
          .reason = "message from " + printable(peer) + " refused (" + std::string(name_of(finding.verdict)) +
                    "): " + std::string(field_of(finding.verdict)) + ": " + finding.detail};
}

std::string printable(std::string_view text, std::size_t most) {
  std::string safe;
  for (const char c : text.substr(0, most)) safe += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > most ? safe + "..." : safe;
}

}  // namespace parley::protocol
