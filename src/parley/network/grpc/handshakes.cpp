#include "parley/network/grpc/handshakes.h"

#include <grpc/support/log.h>

#include <mutex>

#include "parley/network/receipt.h"

namespace parley::network {
namespace {

struct Listener {
  std::mutex mutex;
  const std::function<void(const std::string&)>* report = nullptr;
};

Listener& listener() {
  static Listener one;
  return one;
}

// Only the server's own lines: the same failure is logged by others too, and of calls that this party makes.
void on_log(gpr_log_func_args* line) {
  constexpr std::string_view begins = "Handshaking failed: ";
  const std::string_view text = line->message, file = line->file;
  if (!file.ends_with("chttp2_server.cc") || !text.starts_with(begins)) return;
  const std::string_view why = text.substr(begins.size(), text.find(" {") - begins.size());
  const std::lock_guard lock(listener().mutex);
  if (listener().report == nullptr) return;
  (*listener().report)(speaks_no_tls(why) ? "somebody called without TLS and was refused"
                                          : "a TLS handshake of a caller's failed: " + printable(why, 200));
}

}  // namespace

void tell_handshakes(const std::function<void(const std::string&)>* report) {
  const std::lock_guard lock(listener().mutex);
  listener().report = report;
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  gpr_set_log_function(on_log);
}

bool speaks_no_tls(std::string_view text) {
  for (const std::string_view words : {"wrong version number", "WRONG_VERSION_NUMBER", "http request", "HTTP_REQUEST"})
    if (text.find(words) != std::string_view::npos) return true;
  return false;
}

}  // namespace parley::network
