#include "parley/mesh/courier.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "mesh.grpc.pb.h"
#include "parley/base/error.h"
#include "parley/mesh/grpc/handshakes.h"
#include "parley/mesh/grpc/library.h"
#include "parley/mesh/grpc/pin.h"
#include "parley/mesh/log_throttle.h"

namespace parley::mesh {
namespace {

namespace tls = grpc::experimental;

// The way to one neighbour: a thread that makes one call after the other.
class PeerClient {
 public:
  PeerClient(const Courier::Setup& setup, const Contact& contact, LogThrottle& throttle)
      : setup_(setup), contact_(contact), throttle_(throttle) {
    tls::TlsChannelCredentialsOptions options;
    options.set_certificate_provider(provider_of(setup.self));
    options.watch_identity_key_cert_pairs();
    options.set_verify_server_certs(false);  // not by who issued it, but
    options.set_certificate_verifier(pin(contact, setup.now, why_));
    options.set_check_call_host(false);  // nor by its address: by the name and fingerprint in the roster
    grpc::ChannelArguments arguments;
    const int patience = std::max(100, static_cast<int>(1000 * setup.deadline / 8));
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, std::min(patience, 200));
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, std::min(patience, 200));
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, patience);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // two parties in one process share nothing
    arguments.SetMaxReceiveMessageSize(answer_size);
    arguments.SetSslTargetNameOverride(contact.name);
    stub_ = mesh::Mesh::NewStub(grpc::CreateCustomChannel(contact.address, tls::TlsCredentials(options), arguments));
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  ~PeerClient() { stop(); }  // and the thread is joined
  PeerClient(const PeerClient&) = delete;
  PeerClient& operator=(const PeerClient&) = delete;

  // Ends the call in hand; no handler begins after it is seen.
  void stop() {
    thread_.request_stop();
    {
      const std::lock_guard lock(mutex_);
      if (context_ != nullptr) context_->TryCancel();
    }
    wake_.notify_all();
  }

  void send(std::uint64_t call, std::string message) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace(call, std::move(message));  // an earlier one that was given up is not made any more
    }
    wake_.notify_all();
  }

 private:
  static constexpr int answer_size = 1 << 22;  // a refused configuration comes back as a whole

  void run(const std::stop_token& stop) {
    for (;;) {
      std::pair<std::uint64_t, std::string> next;
      grpc::ClientContext context;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, stop, [this] { return waiting_.has_value(); });
        if (stop.stop_requested()) return;
        next = std::move(*waiting_);
        waiting_.reset();
        context_ = &context;
      }
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(static_cast<long>(1e6 * setup_.deadline)));
      mesh::Envelope envelope;
      envelope.set_message(std::move(next.second));
      mesh::Answer answer;
      const grpc::Status status = stub_->Deliver(&context, envelope, &answer);
      {
        const std::lock_guard lock(mutex_);
        context_ = nullptr;
      }
      if (stop.stop_requested()) return;
      if (status.ok() && answer.verdict() < protocol::verdict_count)
        setup_.answered(next.first, {.verdict = static_cast<protocol::Verdict>(answer.verdict()),
                                     .reason = answer.reason(),
                                     .attachment = answer.attachment()});
      else
        fail(next.first, contact_.name + " at " + contact_.address + ": " + reason(status));
    }
  }

  void fail(std::uint64_t call, const std::string& sentence) {
    setup_.failed(call, throttle_.worth(sentence, sentence).value_or(""));
  }

  std::string reason(const grpc::Status& status) {
    const std::string said = status.error_message();
    if (speaks_no_tls(said)) return "whoever answers there does not speak TLS";
    const std::string why = why_->get();
    const bool nobody = said.find("Failed to connect to remote host") != std::string::npos;
    if (!why.empty() && !nobody) return why;  // TLS may only say that the socket was closed
    if (nobody && said.find("Connection refused") != std::string::npos)
      return "nobody answers there yet (connection refused)";
    return protocol::printable(said, 300);
  }

  const Courier::Setup& setup_;
  const Contact contact_;
  LogThrottle& throttle_;
  const std::shared_ptr<LastRefusal> why_ = std::make_shared<LastRefusal>();
  std::unique_ptr<mesh::Mesh::Stub> stub_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<std::pair<std::uint64_t, std::string>> waiting_;
  grpc::ClientContext* context_ = nullptr;
  std::jthread thread_;  // last: it is joined before anything that it uses goes
};

class MeshService : public mesh::Mesh::Service {
 public:
  MeshService(const Courier::Setup& setup, LogThrottle& throttle) : setup_(setup), throttle_(throttle) {}

  grpc::Status Deliver(grpc::ServerContext* context, const mesh::Envelope* envelope, mesh::Answer* answer) override {
    const auto refused = [&](const std::string& why) {
      if (const auto line = throttle_.worth(why, "a call from " + context->peer() + " was refused: " + why))
        setup_.report(*line);
      return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, setup_.self.certificate.name + " refuses: " + why);
    };
    const auto presented = context->auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    if (presented.empty()) return refused("the caller presented no certificate");
    std::string caller;
    try {
      caller = name_in({presented.front().data(), presented.front().size()});
    } catch (const Error& e) {
      return refused(e.what());
    }
    try {
      const protocol::Receipt receipt = setup_.deliver(caller, envelope->message());
      answer->set_verdict(static_cast<std::uint32_t>(receipt.verdict));
      answer->set_reason(receipt.reason);
      answer->set_attachment(receipt.attachment);
      return grpc::Status::OK;
    } catch (const std::exception&) {  // nothing is answered: the holder knows, and ends
      return {grpc::StatusCode::INTERNAL, setup_.self.certificate.name + " cannot store what it receives"};
    }
  }

 private:
  // Who the caller is. Error: why it is refused. Parsing takes longer than all the rest of a call, so the certificates
  // that the roster pins are parsed once; whether they are valid is asked each time.
  std::string name_in(std::string_view pem) {
    const std::lock_guard lock(mutex_);
    auto known = pinned_.find(pem);
    identity::Certificate certificate = known == pinned_.end() ? presented_as(pem) : known->second;
    if (const auto wrong = objection(certificate, setup_.roster, certificate.name, setup_.now()))
      throw Error({.what = *wrong});
    if (known == pinned_.end()) known = pinned_.emplace(pem, std::move(certificate)).first;
    return known->second.name;
  }

  const Courier::Setup& setup_;
  LogThrottle& throttle_;
  std::mutex mutex_;
  std::map<std::string, identity::Certificate, std::less<>>
      pinned_;  // by what is presented; at most one for each party
};

class GrpcCourier final : public Courier {
 public:
  explicit GrpcCourier(Setup setup)
      : setup_(std::move(setup)), service_(setup_, throttle_), clients_(setup_.roster.size()) {}
  ~GrpcCourier() override { close(); }
  GrpcCourier(const GrpcCourier&) = delete;
  GrpcCourier& operator=(const GrpcCourier&) = delete;

  void open() override {
    handshakes_.emplace([this](const std::string& sentence) {
      if (const auto line = throttle_.worth(sentence, sentence)) setup_.report(*line);
    });
    tls::TlsServerCredentialsOptions options(provider_of(setup_.self));
    options.watch_identity_key_cert_pairs();
    // Whatever is presented is taken, and held against the roster before anything is read: a caller that is refused is
    // told why. That it has the certificate's key is what TLS itself proves.
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
    grpc::ServerBuilder builder;
    const int threads = 4 + 2 * static_cast<int>(setup_.roster.size());
    builder.SetResourceQuota(grpc::ResourceQuota("parley").SetMaxThreads(threads).Resize(std::size_t{1} << 26));
    builder.AddListeningPort(setup_.listen, tls::TlsServerCredentials(options), &port_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(setup_.largest));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // A stranger that connects and says nothing holds a descriptor for no longer than a call may take.
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                               std::max(1000, static_cast<int>(1000 * setup_.deadline)));
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0)
      throw Error({.what = "cannot listen for peers",
                   .value = setup_.listen,
                   .where = "the party's address",
                   .fix = "choose a free port of this machine (--listen HOST:PORT), or stop what uses it"});
  }

  // Handlers run on until their threads are joined, and may send: so first nothing is sent any more, then the threads
  // end (the server's, then the clients'), and only then does anything go that they use.
  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now());
      server_->Wait();
    }
    for (const auto& client : clients_)  // all at once, not one after the other
      if (client != nullptr) client->stop();
    clients_.clear();
    handshakes_.reset();
    server_.reset();
  }

  void send(std::uint64_t call, int to, std::string message) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    auto& client = clients_[static_cast<std::size_t>(to)];
    if (client == nullptr)
      client = std::make_unique<PeerClient>(setup_, setup_.roster[static_cast<std::size_t>(to)], throttle_);
    client->send(call, std::move(message));
  }

  int port() const override { return port_; }

 private:
  const GrpcLibrary library_;  // first: it waits for gRPC's own threads when all the rest is gone
  const Setup setup_;
  LogThrottle throttle_;
  std::optional<HandshakeReports> handshakes_;
  MeshService service_;
  std::mutex mutex_;  // of what send() and close() share
  bool closed_ = false;
  std::vector<std::unique_ptr<PeerClient>>
      clients_;  // none is added once closed_ is seen, so close() reads it without the lock
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<Courier> make_courier(Courier::Setup setup) {
  return std::make_unique<GrpcCourier>(std::move(setup));
}

}  // namespace parley::mesh
