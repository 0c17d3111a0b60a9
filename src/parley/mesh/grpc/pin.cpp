#include "parley/mesh/grpc/pin.h"

#include <utility>
#include <vector>

namespace parley::mesh {
namespace {

namespace tls = grpc::experimental;

class Pin : public tls::ExternalCertificateVerifier {
 public:
  Pin(Contact contact, std::function<identity::Time()> now, std::shared_ptr<LastSeen> seen)
      : roster_{std::move(contact)}, now_(std::move(now)), seen_(std::move(seen)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* status) override {
    const auto wrong =
        objection({request->peer_cert().data(), request->peer_cert().size()}, roster_, roster_.front().name, now_());
    seen_->set(wrong);
    *status = wrong ? grpc::Status(grpc::StatusCode::UNAUTHENTICATED, wrong->sentence) : grpc::Status::OK;
    return true;  // decided at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const std::vector<Contact> roster_;  // of this neighbour alone
  const std::function<identity::Time()> now_;
  const std::shared_ptr<LastSeen> seen_;
};

class Admission : public tls::ExternalCertificateVerifier {
 public:
  Admission(int place, std::shared_ptr<Callers> callers, std::shared_ptr<HandshakeEnds> ends)
      : place_(place), callers_(std::move(callers)), ends_(std::move(ends)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* status) override {
    const Callers::Judged judged = callers_->admit({request->peer_cert().data(), request->peer_cert().size()});
    const auto* const wrong = std::get_if<Objection>(&judged);
    *status = wrong != nullptr ? grpc::Status(grpc::StatusCode::UNAUTHENTICATED, wrong->sentence) : grpc::Status::OK;
    ends_->tell(place_, judged);
    return true;  // decided at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const int place_;
  const std::shared_ptr<Callers> callers_;
  const std::shared_ptr<HandshakeEnds> ends_;
};

}  // namespace

std::shared_ptr<tls::CertificateProviderInterface> provider_of(const identity::Identity& self) {
  std::vector<tls::IdentityKeyCertPair> pairs(1);
  pairs[0] = {std::string(self.key.pem().text()), self.certificate.chain_pem()};
  auto provider = std::make_shared<tls::StaticDataCertificateProvider>(pairs);  // has a copy of its own
  identity::overwrite(pairs[0].private_key);
  return provider;
}

void HandshakeEnds::tell(int place, const Callers::Judged& judged) {
  const std::lock_guard lock(mutex_);
  if (heard_) heard_(place, judged);
}

void HandshakeEnds::silence() {
  const std::lock_guard lock(mutex_);
  heard_ = nullptr;
}

void LastSeen::set(std::optional<Objection> why) {
  const std::lock_guard lock(mutex_);
  found_ = {true, std::move(why)};
}

LastSeen::Found LastSeen::get() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

std::shared_ptr<tls::CertificateVerifier> pin(Contact contact, std::function<identity::Time()> now,
                                              std::shared_ptr<LastSeen> seen) {
  return tls::ExternalCertificateVerifier::Create<Pin>(std::move(contact), std::move(now), std::move(seen));
}

std::shared_ptr<tls::CertificateVerifier> admission(int place, std::shared_ptr<Callers> callers,
                                                    std::shared_ptr<HandshakeEnds> ends) {
  return tls::ExternalCertificateVerifier::Create<Admission>(place, std::move(callers), std::move(ends));
}

}  // namespace parley::mesh
