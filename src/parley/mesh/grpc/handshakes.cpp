#include "parley/mesh/grpc/handshakes.h"

#include <grpc/support/log.h>

#include <mutex>
#include <utility>
#include <vector>

#include "parley/protocol/receipt.h"

namespace parley::mesh {
namespace {

struct Listeners {
  std::mutex mutex;
  std::vector<const HandshakeReports::Report*> all;
};

// Never destroyed: gRPC keeps the log function until the process is gone.
Listeners& listeners() {
  static auto& one = *new Listeners;
  return one;
}

// Only the server's own lines: the same failure is logged by others too, and of calls that this party makes.
void on_log(gpr_log_func_args* line) {
  constexpr std::string_view begins = "Handshaking failed: ";
  const std::string_view text = line->message, file = line->file;
  if (!file.ends_with("chttp2_server.cc") || !text.starts_with(begins)) return;
  const std::string_view why = text.substr(begins.size(), text.find(" {") - begins.size());
  const auto says = [&](std::string_view words) { return why.find(words) != std::string_view::npos; };
  if (says("Custom verification check failed")) return;  // admission() has said why (pin.h)
  const auto report = [](const std::string& kind, const std::string& sentence) {
    const std::lock_guard lock(listeners().mutex);
    for (const auto* listener : listeners().all) (*listener)(kind, sentence);
  };
  if (speaks_no_tls(why)) return report("no TLS", "somebody called without TLS and was refused");
  if (says("PEER_DID_NOT_RETURN_A_CERTIFICATE") || says("peer did not return a certificate"))
    return report("no certificate", "a caller was refused: it presented no certificate");
  report("failed", "a TLS handshake of a caller's failed: " + protocol::printable(why, 200));
}

}  // namespace

HandshakeReports::HandshakeReports(Report report) : report_(std::move(report)) {
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  gpr_set_log_function(on_log);
  const std::lock_guard lock(listeners().mutex);
  listeners().all.push_back(&report_);
}

HandshakeReports::~HandshakeReports() {
  const std::lock_guard lock(listeners().mutex);
  std::erase(listeners().all, &report_);
}

bool speaks_no_tls(std::string_view text) {
  for (const std::string_view words : {"wrong version number", "WRONG_VERSION_NUMBER", "http request", "HTTP_REQUEST"})
    if (text.find(words) != std::string_view::npos) return true;
  return false;
}

}  // namespace parley::mesh
