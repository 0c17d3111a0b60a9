// gRPC logs to stderr by itself. Kept silent, but for handshakes of callers that fail before a call exists: without
// TLS, or with a broken one, there is nobody to answer. Handshakes as a caller come out as failed calls instead.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace parley::network {

// To whom a failed handshake is told, from any thread; null: to nobody. One listener in a process.
void tell_handshakes(const std::function<void(const std::string& sentence)>* report);

// Are these OpenSSL's words for bytes that are no TLS?
bool speaks_no_tls(std::string_view text);

}  // namespace parley::network
