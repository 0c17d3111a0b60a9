#include "parley/mesh/grpc/pin.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parley/base/error.h"

namespace parley::mesh {
namespace {

namespace tls = grpc::experimental;

class Pin : public tls::ExternalCertificateVerifier {
 public:
  Pin(Contact contact, std::function<identity::Time()> now, std::shared_ptr<LastRefusal> why)
      : roster_{std::move(contact)}, now_(std::move(now)), why_(std::move(why)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* status) override {
    const auto wrong = judged({request->peer_cert().data(), request->peer_cert().size()});
    why_->set(wrong.value_or(""));
    *status = wrong ? grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *wrong) : grpc::Status::OK;
    return true;  // decided at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  std::optional<std::string> judged(std::string_view pem) const {
    try {
      return objection(presented_as(pem), roster_, roster_.front().name, now_());
    } catch (const Error& e) {
      return e.what();
    }
  }

  const std::vector<Contact> roster_;  // of this neighbour alone
  const std::function<identity::Time()> now_;
  const std::shared_ptr<LastRefusal> why_;
};

}  // namespace

std::shared_ptr<tls::CertificateProviderInterface> provider_of(const identity::Identity& self) {
  std::vector<tls::IdentityKeyCertPair> pairs(1);
  pairs[0] = {std::string(self.key.pem().text()), self.certificate.chain_pem()};
  auto provider = std::make_shared<tls::StaticDataCertificateProvider>(pairs);  // has a copy of its own
  identity::overwrite(pairs[0].private_key);
  return provider;
}

identity::Certificate presented_as(std::string_view pem) {
  return identity::parse_certificate(std::string(pem), "the presented certificate");
}

std::optional<std::string> objection(const identity::Certificate& presented, const std::vector<Contact>& roster,
                                     const std::string& expected, identity::Time now) {
  const auto contact = std::ranges::find(roster, expected, &Contact::name);
  const auto refusal = check_certificate(presented, expected, contact == roster.end() ? "" : contact->fingerprint, now);
  if (refusal) return refusal->sentence;
  return std::nullopt;
}

void LastRefusal::set(std::string why) {
  const std::lock_guard lock(mutex_);
  why_ = std::move(why);
}

std::string LastRefusal::get() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

std::shared_ptr<tls::CertificateVerifier> pin(Contact contact, std::function<identity::Time()> now,
                                              std::shared_ptr<LastRefusal> why) {
  return tls::ExternalCertificateVerifier::Create<Pin>(std::move(contact), std::move(now), std::move(why));
}

}  // namespace parley::mesh
