// gRPC logs to stderr by itself. Kept silent, but for handshakes of callers that fail before a call exists: without
// TLS, or with a broken one, there is nobody to answer. Handshakes as a caller come out as failed calls instead.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace parley::mesh {

// Is told of failed handshakes for as long as it lives, on any thread. The destructor waits for a report that is under
// way. gRPC does not say which server was called, so two in one process hear of each other's.
class HandshakeReports {
 public:
  using Report = std::function<void(const std::string& kind, const std::string& sentence)>;  // kind: of three
  explicit HandshakeReports(Report report);
  ~HandshakeReports();
  HandshakeReports(const HandshakeReports&) = delete;
  HandshakeReports& operator=(const HandshakeReports&) = delete;

 private:
  const Report report_;
};

// Are these OpenSSL's words for bytes that are no TLS?
bool speaks_no_tls(std::string_view text);

}  // namespace parley::mesh
