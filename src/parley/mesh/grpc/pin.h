// A certificate that a peer presents, held against the one that the roster pins.
#pragma once
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "parley/mesh/courier.h"

namespace parley::mesh {

std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider_of(const identity::Identity& self);

identity::Certificate presented_as(std::string_view pem);  // or throws Error

// nullopt: the certificate is the one that the roster pins for `expected`.
std::optional<std::string> objection(const identity::Certificate& presented, const std::vector<Contact>& roster,
                                     const std::string& expected, identity::Time now);

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

}  // namespace parley::mesh
