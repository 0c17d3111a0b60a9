#include "parley/mesh/grpc/pin.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parley/base/error.h"

namespace parley::mesh {
namespace {

namespace tls = grpc::experimental;

identity::Certificate presented_as(std::string_view pem) {
  return identity::parse_certificate(std::string(pem), "the presented certificate");
}

// nullopt: the certificate is the one that the roster pins for `expected`.
std::optional<std::string> objection(const identity::Certificate& presented, const std::vector<Contact>& roster,
                                     const std::string& expected, identity::Time now) {
  const auto contact = std::ranges::find(roster, expected, &Contact::name);
  const auto refusal = check_certificate(presented, expected, contact == roster.end() ? "" : contact->fingerprint, now);
  if (refusal) return refusal->sentence;
  return std::nullopt;
}

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

class Admission : public tls::ExternalCertificateVerifier {
 public:
  Admission(std::shared_ptr<Callers> callers, std::shared_ptr<Refusals> refusals)
      : callers_(std::move(callers)), refusals_(std::move(refusals)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* status) override {
    try {
      callers_->admit({request->peer_cert().data(), request->peer_cert().size()});
      *status = grpc::Status::OK;
    } catch (const std::exception& e) {
      refusals_->tell(e.what());
      *status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, e.what());
    }
    return true;  // decided at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const std::shared_ptr<Callers> callers_;
  const std::shared_ptr<Refusals> refusals_;
};

}  // namespace

std::shared_ptr<tls::CertificateProviderInterface> provider_of(const identity::Identity& self) {
  std::vector<tls::IdentityKeyCertPair> pairs(1);
  pairs[0] = {std::string(self.key.pem().text()), self.certificate.chain_pem()};
  auto provider = std::make_shared<tls::StaticDataCertificateProvider>(pairs);  // has a copy of its own
  identity::overwrite(pairs[0].private_key);
  return provider;
}

std::string Callers::name_in(std::string_view pem) {
  const std::lock_guard lock(mutex_);
  auto known = pinned_.find(pem);
  identity::Certificate certificate = known == pinned_.end() ? presented_as(pem) : known->second;
  if (const auto wrong = objection(certificate, roster_, certificate.name, now_())) throw Error({.what = *wrong});
  if (known == pinned_.end()) known = pinned_.emplace(pem, std::move(certificate)).first;
  return known->second.name;
}

void Callers::admit(std::string_view pem) {
  const std::string name = name_in(pem);
  const std::lock_guard lock(mutex_);
  Visits& visits = visits_[name];
  const auto now = std::chrono::steady_clock::now();
  const double passed = std::chrono::duration<double>(now - visits.counted).count();
  visits.allowed = std::min(most_at_once, visits.allowed + per_second * passed);
  visits.counted = now;
  if (visits.allowed < 1) throw Error({.what = name + " opens too many connections"});
  visits.allowed -= 1;
}

void Refusals::tell(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (report_) report_(why);
}

void Refusals::silence() {
  const std::lock_guard lock(mutex_);
  report_ = nullptr;
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

std::shared_ptr<tls::CertificateVerifier> admission(std::shared_ptr<Callers> callers,
                                                    std::shared_ptr<Refusals> refusals) {
  return tls::ExternalCertificateVerifier::Create<Admission>(std::move(callers), std::move(refusals));
}

}  // namespace parley::mesh
