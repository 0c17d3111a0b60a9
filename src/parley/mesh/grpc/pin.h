// A certificate that a peer presents, held against the one that the roster pins.
#pragma once
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "parley/mesh/callers.h"

namespace parley::mesh {

std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider_of(const identity::Identity& self);

// What the last certificate that was shown at a neighbour's address was found to be.
class LastSeen {
 public:
  struct Found {
    bool any = false;                // false: none was shown yet
    std::optional<Objection> why{};  // it was refused
  };
  void set(std::optional<Objection> why);
  Found get() const;

 private:
  mutable std::mutex mutex_;
  Found found_;
};

// The client's side: who answers at a neighbour's address. Everything that the verifier needs is its own or shared with
// it: gRPC may finish a handshake after the channel is gone.
std::shared_ptr<grpc::experimental::CertificateVerifier> pin(Contact contact, std::function<identity::Time()> now,
                                                             std::shared_ptr<LastSeen> seen);

// The server's side. Who hears how handshakes end, for as long as it listens: gRPC may finish one after the server is gone.
class HandshakeEnds {
 public:
  // place: which of the gate's it was.
  using Heard = std::function<void(int place, const Callers::Judged& judged)>;
  explicit HandshakeEnds(Heard heard) : heard_(std::move(heard)) {}
  void tell(int place, const Callers::Judged& judged);
  void silence();

 private:
  std::mutex mutex_;
  Heard heard_;
};

// Of the connections in one place, one after the other: gRPC does not say which connection a certificate came by.
std::shared_ptr<grpc::experimental::CertificateVerifier> admission(int place, std::shared_ptr<Callers> callers,
                                                                   std::shared_ptr<HandshakeEnds> ends);

}  // namespace parley::mesh
