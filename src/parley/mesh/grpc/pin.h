// A certificate that a peer presents, held against the one that the roster pins.
#pragma once
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "parley/mesh/courier.h"

namespace parley::mesh {

std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider_of(const identity::Identity& self);

// Why the last handshake with a neighbour was refused; empty: it was not.
class LastRefusal {
 public:
  void set(std::string why);
  std::string get() const;

 private:
  mutable std::mutex mutex_;
  std::string why_;
};

// The client's side: who answers at a neighbour's address. Everything that the verifier needs is its own or shared with
// it: gRPC may finish a handshake after the channel is gone.
std::shared_ptr<grpc::experimental::CertificateVerifier> pin(Contact contact, std::function<identity::Time()> now,
                                                             std::shared_ptr<LastRefusal> why);

// The server's side: who calls. Asked in the handshake, before a byte of HTTP/2 is read, and again at each call: a
// certificate may expire meanwhile.
class Callers {
 public:
  Callers(std::vector<Contact> roster, std::function<identity::Time()> now)
      : roster_(std::move(roster)), now_(std::move(now)) {}
  std::string name_in(std::string_view pem);  // Error: why the caller is refused
  // A new connection of the caller's. Error as above, or too many: a party needs one, and another when it is started
  // again.
  void admit(std::string_view pem);

 private:
  const std::vector<Contact> roster_;
  const std::function<identity::Time()> now_;
  std::mutex mutex_;
  // By what is presented, at most one for each party. Parsing takes longer than all the rest of a call; whether a
  // certificate is valid is asked each time.
  std::map<std::string, identity::Certificate, std::less<>> pinned_;
  struct Visits {
    double allowed = most_at_once;
    std::chrono::steady_clock::time_point counted = std::chrono::steady_clock::now();
  };
  static constexpr double most_at_once = 8, per_second = 2;
  std::map<std::string, Visits> visits_;  // by name
};

// Where the verifier says whom it refused, for as long as somebody listens: gRPC may finish a handshake after the
// server is gone.
class Refusals {
 public:
  explicit Refusals(std::function<void(const std::string& why)> report) : report_(std::move(report)) {}
  void tell(const std::string& why);
  void silence();

 private:
  std::mutex mutex_;
  std::function<void(const std::string&)> report_;
};

std::shared_ptr<grpc::experimental::CertificateVerifier> admission(std::shared_ptr<Callers> callers,
                                                                   std::shared_ptr<Refusals> refusals);

}  // namespace parley::mesh
