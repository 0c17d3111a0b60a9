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
#include <utility>
#include <vector>

#include "mesh.grpc.pb.h"
#include "parley/base/error.h"
#include "parley/mesh/gate.h"
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
    options.set_certificate_verifier(pin(contact, setup.now, seen_));
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
      if (status.ok() && answer.verdict() >= protocol::verdict_count)
        setup_.answered(next.first, {.verdict = protocol::Verdict::unknown_version,
                                     .reason = "verdict " + std::to_string(answer.verdict()) +
                                               ", which this version of parley does not know"});
      else if (status.ok())
        setup_.answered(next.first, {.verdict = static_cast<protocol::Verdict>(answer.verdict()),
                                     .reason = answer.reason(),
                                     .attachment = answer.attachment()});
      else
        fail(next.first, status);
    }
  }

  void fail(std::uint64_t call, const grpc::Status& status) {
    const auto [failure, about] = judged(status);
    const auto line =
        throttle_.worth(contact_.name + ", " + about, contact_.name + " at " + contact_.address + ": " + failure.why);
    setup_.failed(call, {failure.kind, line.value_or(failure.why)}, line.has_value());
  }

  // With what makes it one of a few kinds for the log.
  std::pair<CallFailure, std::string> judged(const grpc::Status& status) const {
    using Kind = CallFailure::Kind;
    const std::string said = status.error_message();
    if (speaks_no_tls(said)) return {{Kind::no_tls, "whoever answers there does not speak TLS"}, "no TLS"};
    const auto [seen, why] = seen_->get();
    const bool nobody = said.find("Failed to connect to remote host") != std::string::npos;
    if (why && !nobody) return {{Kind::not_the_one, why->sentence}, why->kind};  // TLS may only say: socket closed
    if (nobody && said.find("Connection refused") != std::string::npos)
      return {{Kind::nobody, "nobody answers there yet (connection refused)"}, "nobody"};
    // Its certificate was in order, and no answer to a first frame came: it looked at this party's and closed.
    if (seen && !nobody && said.find("failed to connect to all addresses") != std::string::npos)
      return {{Kind::refused,
               "refused in the handshake, or closed by it; its log says why, and 'parley doctor' says what to compare"},
              "refused"};
    return {{Kind::other, protocol::printable(said, 300)}, "code " + std::to_string(status.error_code())};
  }

  const Courier::Setup& setup_;
  const Contact contact_;
  LogThrottle& throttle_;
  const std::shared_ptr<LastSeen> seen_ = std::make_shared<LastSeen>();
  std::unique_ptr<mesh::Mesh::Stub> stub_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<std::pair<std::uint64_t, std::string>> waiting_;
  grpc::ClientContext* context_ = nullptr;
  std::jthread thread_;  // last: it is joined before anything that it uses goes
};

// Trap: a service whose handlers are threads is deaf while as many callers as it has threads do not read their answers.
class MeshService : public mesh::Mesh::CallbackService {
 public:
  MeshService(const Courier::Setup& setup, Callers& callers, HandshakeEnds& ends)
      : setup_(setup), callers_(callers), ends_(ends) {}

  grpc::ServerUnaryReactor* Deliver(grpc::CallbackServerContext* context, const mesh::Envelope* envelope,
                                    mesh::Answer* answer) override {
    grpc::ServerUnaryReactor* const call = context->DefaultReactor();
    call->Finish(deliver(*context, *envelope, *answer));
    return call;
  }

 private:
  grpc::Status deliver(const grpc::CallbackServerContext& context, const mesh::Envelope& envelope,
                       mesh::Answer& answer) {
    const auto presented = context.auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    expects(!presented.empty(), "a certificate on every connection that TLS has let in");
    const Callers::Judged caller = callers_.name_in({presented.front().data(), presented.front().size()});
    if (const auto* wrong = std::get_if<Objection>(&caller)) {  // it has expired since
      ends_.tell(-1, caller);
      return {grpc::StatusCode::PERMISSION_DENIED, setup_.self.certificate.name + " refuses: " + wrong->sentence};
    }
    try {
      const protocol::Receipt receipt = setup_.deliver(std::get<std::string>(caller), envelope.message());
      answer.set_verdict(static_cast<std::uint32_t>(receipt.verdict));
      answer.set_reason(receipt.reason);
      answer.set_attachment(receipt.attachment);
      return grpc::Status::OK;
    } catch (const std::exception&) {  // nothing is answered: the holder knows, and ends
      return {grpc::StatusCode::INTERNAL, setup_.self.certificate.name + " cannot store what it receives"};
    }
  }

  const Courier::Setup& setup_;
  Callers& callers_;
  HandshakeEnds& ends_;
};

// However large a message is: gRPC gives its sender room for a mebibyte more at a time.
constexpr double most_unanswered = 1 << 21;

// A party that calls has one connection here, and one more while it is started again or looks around (doctor). It makes
// one call after the other, so half a message may stay unanswered, of a call that was given up, and then a whole one.
Gate::Limits limits_of(const Courier::Setup& setup) {
  Gate::Limits limits;
  const auto parties = static_cast<int>(setup.roster.size());
  const auto largest = static_cast<double>(setup.largest);
  limits.handshake = std::max(1.0, setup.deadline);
  limits.of_one_address = 16 + 2 * parties;
  limits.strangers = 48 + 2 * parties;
  limits.parties = 16 + 4 * parties;
  limits.rate += 16 * largest;
  limits.rate_of_all = limits.rate * std::max(4.0, parties / 2.0);
  limits.unanswered += std::min(2 * largest, most_unanswered);
  limits.descriptors_kept += 4 * parties;
  return limits;
}

class GrpcCourier final : public Courier {
 public:
  explicit GrpcCourier(Setup setup)
      : setup_(std::move(setup)),
        callers_(std::make_shared<Callers>(setup_.roster, setup_.now)),
        ends_(
            std::make_shared<HandshakeEnds>([this](int place, const Callers::Judged& judged) { hear(place, judged); })),
        service_(setup_, *callers_, *ends_),
        clients_(setup_.roster.size()) {}
  ~GrpcCourier() override { close(); }
  GrpcCourier(const GrpcCourier&) = delete;
  GrpcCourier& operator=(const GrpcCourier&) = delete;

  void open() override {
    handshakes_.emplace([this](const std::string& kind, const std::string& sentence) {
      if (const auto line = of_callers_.worth(kind, sentence)) setup_.report(*line);
    });
    const Gate::Limits limits = limits_of(setup_);
    gate_.emplace(Gate::Setup{.listen = setup_.listen,
                              .limits = limits,
                              .hand_on =
                                  [this](int socket, int place) {
                                    tls::ExternalConnectionAcceptor::NewConnectionParameters taken;
                                    taken.fd = socket;
                                    doors_[static_cast<std::size_t>(place)]->HandleNewConnection(&taken);
                                  },
                              .report =
                                  [this](const std::string& about, const std::string& sentence) {
                                    if (const auto line = of_gate_.worth(about, sentence)) setup_.report(*line);
                                  }});
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(grpc::ResourceQuota("parley").Resize(std::size_t{1} << 26));
    const auto provider = provider_of(setup_.self);
    for (int place = 0; place < gate_->places(); ++place) doors_.push_back(door(builder, provider, place));
    builder.SetMaxReceiveMessageSize(static_cast<int>(setup_.largest));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
    // Trap: gRPC would close the connection once for each PING that is too many, and keep an error of each inside of the
    // next one: 32 KiB of them took 25 MiB. They are acknowledged, and the gate counts their bytes.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // or it gives room for 16 MiB: most_unanswered
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, static_cast<int>(1000 * limits.handshake));
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    expects(server_ != nullptr, "a server without a port of its own");
    gate_->open();
  }

  // Handlers run on until their threads are joined, and may send: so first nothing is sent any more, then the threads
  // end (the gate's, the server's, the clients'), and only then does anything go that they use.
  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    if (gate_) gate_->close();
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now());
      server_->Wait();
    }
    for (const auto& client : clients_)  // all at once, not one after the other
      if (client != nullptr) client->stop();
    clients_.clear();
    ends_->silence();
    handshakes_.reset();
    server_.reset();
  }

  void send(std::uint64_t call, int to, std::string message) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    auto& client = clients_[static_cast<std::size_t>(to)];
    if (client == nullptr)
      client = std::make_unique<PeerClient>(setup_, setup_.roster[static_cast<std::size_t>(to)], of_calls_);
    client->send(call, std::move(message));
  }

  int port() const override { return gate_ ? gate_->port() : 0; }

 private:
  using Door = std::shared_ptr<tls::ExternalConnectionAcceptor>;
  // One for each place: its verifier knows by that which connection it is asked about.
  Door door(grpc::ServerBuilder& builder, const std::shared_ptr<tls::CertificateProviderInterface>& provider,
            int place) {
    tls::TlsServerCredentialsOptions options(provider);
    options.watch_identity_key_cert_pairs();
    // TLS itself proves that the caller has the key of its certificate; that the roster pins it is what admission() asks.
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
    options.set_certificate_verifier(admission(place, callers_, ends_));
    using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    return builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, tls::TlsServerCredentials(options));
  }

  void hear(int place, const Callers::Judged& judged) {
    if (const auto* name = std::get_if<std::string>(&judged)) return gate_->admitted(place, *name);
    const Objection& wrong = std::get<Objection>(judged);
    gate_->refused(place, wrong.kind, "a caller was refused: " + wrong.sentence);
  }

  const GrpcLibrary library_;  // first: it waits for gRPC's own threads when all the rest is gone
  const Setup setup_;
  LogThrottle of_gate_, of_callers_, of_calls_;  // what strangers cause does not silence what this party meets itself
  std::optional<HandshakeReports> handshakes_;
  const std::shared_ptr<Callers> callers_;
  const std::shared_ptr<HandshakeEnds> ends_;
  MeshService service_;
  std::mutex mutex_;  // of what send() and close() share
  bool closed_ = false;
  std::vector<std::unique_ptr<PeerClient>>
      clients_;              // none is added once closed_ is seen, so close() reads it without the lock
  std::vector<Door> doors_;  // by place
  std::optional<Gate> gate_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<Courier> make_courier(Courier::Setup setup) {
  return std::make_unique<GrpcCourier>(std::move(setup));
}

}  // namespace parley::mesh
