// Somebody on the network, with whatever certificate a test gives it.
//   mesh_stranger certificate NAME KEY PEM FROM SECONDS [CA_KEY CA_PEM]  a certificate that is valid FROM seconds from
//                                                                        now on; KEY is made unless it is there
//   mesh_stranger call ADDRESS [KEY PEM | none | plain]                  lines on stdin, one answer as JSON for each:
//       TIMES raw|sign HEX      delivers these bytes; sign: with a signature of KEY's at the end
//   mesh_stranger serve ADDRESS [KEY PEM | plain]                        answers every call with "unavailable"
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "mesh.grpc.pb.h"
#include "parley/identity/identity.h"
#include "parley/protocol/receipt.h"

namespace {

namespace tls = grpc::experimental;
using parley::identity::Identity;
using Words = std::vector<std::string>;

std::string read(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int make_certificate(const Words& w) {
  using namespace parley::identity;
  const PrivateKey key = std::ifstream(w[1]) ? read_key(w[1]) : make_key();
  if (!std::ifstream(w[1])) write_key(key, w[1]);
  const Time from = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
                    std::chrono::seconds(std::stol(w[3]));
  const Validity validity{from, std::stol(w[4]) / 86400};
  write_certificate(
      w.size() > 5 ? issue(key, w[0], read_identity(w[5], w[6]), validity) : self_issue(key, w[0], validity), w[2]);
  return 0;
}

// Not the courier's: a stranger checks nobody, and may present nothing.
class Anybody : public tls::ExternalCertificateVerifier {
 public:
  bool Verify(tls::TlsCustomVerificationCheckRequest* /*request*/, std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* status) override {
    *status = grpc::Status::OK;
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}
};

std::shared_ptr<tls::CertificateProviderInterface> provider(const Words& w) {
  return std::make_shared<tls::StaticDataCertificateProvider>(
      std::vector<tls::IdentityKeyCertPair>{{read(w[1]), read(w[2])}});
}

std::shared_ptr<grpc::Channel> channel_to(const Words& w) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (w[1] == "plain") return grpc::CreateCustomChannel(w[0], grpc::InsecureChannelCredentials(), arguments);
  tls::TlsChannelCredentialsOptions options;
  if (w[1] != "none") {
    options.set_certificate_provider(provider(w));
    options.watch_identity_key_cert_pairs();
  }
  options.set_verify_server_certs(false);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<Anybody>());
  options.set_check_call_host(false);
  return grpc::CreateCustomChannel(w[0], tls::TlsCredentials(options), arguments);
}

std::string unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

int call(const Words& w) {
  const auto stub = parley::mesh::Mesh::NewStub(channel_to(w));
  std::string line;
  while (std::getline(std::cin, line)) {
    long times = 0;
    std::string how, hex;
    std::istringstream(line) >> times >> how >> hex;
    std::string bytes = unhex(hex);
    if (how == "sign") {
      const std::string signature = parley::identity::sign(parley::identity::read_key(w[1]), bytes);
      bytes += static_cast<char>(signature.size() & 0xFF);
      bytes += static_cast<char>(signature.size() >> 8);
      bytes += signature;
    }
    parley::mesh::Envelope envelope;
    envelope.set_message(bytes);
    nlohmann::json said;
    for (long i = 0; i < times; ++i) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(300));  // until it counts as hanging
      parley::mesh::Answer answer;
      const grpc::Status status = stub->Deliver(&context, envelope, &answer);
      said = {{"carried", status.ok()}, {"error", status.error_message()}, {"code", status.error_code()}};
      if (status.ok() && answer.verdict() < parley::protocol::verdict_count)
        said.update({{"verdict", parley::protocol::name_of(static_cast<parley::protocol::Verdict>(answer.verdict()))},
                     {"reason", answer.reason()}});
    }
    std::cout << said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

class Unavailable : public parley::mesh::Mesh::Service {
  grpc::Status Deliver(grpc::ServerContext* /*context*/, const parley::mesh::Envelope* /*envelope*/,
                       parley::mesh::Answer* answer) override {
    std::cout << "called" << std::endl;  // a message arrived here: the caller trusted this certificate
    answer->set_verdict(static_cast<std::uint32_t>(parley::protocol::Verdict::unavailable));
    return grpc::Status::OK;
  }
};

int serve(const Words& w) {
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  if (w[1] != "plain") {
    tls::TlsServerCredentialsOptions options(provider(w));
    options.watch_identity_key_cert_pairs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
    credentials = tls::TlsServerCredentials(options);
  }
  Unavailable service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(w[0], credentials);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::cout << "serving" << std::endl;
  server->Wait();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 2, argv + argc);
  const std::string_view what = argv[1];
  return what == "certificate" ? make_certificate(words) : what == "call" ? call(words) : serve(words);
}
