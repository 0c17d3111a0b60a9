#include "parley/party/doctor_reach.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/base/input_file.h"
#include "parley/mesh/probe.h"
#include "parley/protocol/message.h"

namespace parley::party {
namespace {

using mesh::Probed;
using nlohmann::json;
using protocol::Verdict;

// Who is refused learns no reason. Its certificate is known to be in order here: otherwise nobody is called.
std::string refused_in_words(const Participant& participant) {
  const identity::Certificate& own = participant.self.certificate;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return "shows the certificate that the roster pins, and refuses this party in the handshake. Here the certificate "
         "of " +
         own.name + " is in order: this copy of the study pins its fingerprint " + in_fours(own.fingerprint) +
         ", it is valid from " + identity::utc(own.not_before) + " to " + identity::utc(own.not_after) +
         ", and the time is " + identity::utc(now) +
         ". So the study there pins another one, the clock there is wrong, or this party has opened too many "
         "connections; the log there says which ('a caller was refused: …'): ask its owner for that line, and compare "
         "fingerprint and time by telephone";
}

constexpr std::string_view nothing = "parley doctor";  // no message: any party refuses it and stays as it is

}  // namespace

Caller::Caller(const Participant& participant)
    : participant_(participant),
      patience_(std::min(5.0, participant.study.deadline_seconds)),
      courier_(courier(participant.me().address)) {
  courier_->open();
}

std::unique_ptr<mesh::Courier> Caller::courier(const std::string& own_address) {
  mesh::Courier::Setup setup{
      .self = participant_.self, .listen = "127.0.0.1:0", .deadline = patience_, .largest = 4096};
  for (const study::Invited& p : participant_.study.parties)
    setup.roster.push_back({.name = p.name, .address = p.address, .fingerprint = p.fingerprint});
  setup.roster[static_cast<std::size_t>(participant_.node)].address = own_address;
  setup.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  setup.deliver = [](const std::string&, std::string_view) {
    return protocol::Receipt{.verdict = Verdict::unavailable, .reason = "only looking"};
  };
  const auto store = [this](Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      answer_ = std::move(answer);
    }
    changed_.notify_all();
  };
  setup.answered = [store](std::uint64_t, const protocol::Receipt& receipt) {
    store({.receipt = receipt, .failure = {}});
  };
  setup.failed = [store](std::uint64_t, const mesh::CallFailure& failure, bool) {
    store({.receipt = std::nullopt, .failure = failure});
  };
  setup.report = [](const std::string&) {};
  return mesh::make_courier(std::move(setup));
}

Caller::Answer Caller::call(int node, std::string message) {
  std::unique_lock lock(mutex_);
  answer_.reset();
  courier_->send(1, node, std::move(message));
  changed_.wait(lock, [this] { return answer_.has_value(); });  // the courier's deadline ends it
  return *answer_;
}

std::string Caller::hello() const {
  protocol::Message m{.kind = protocol::Kind::hello,
                      .run = study::run_id(participant_.hash),
                      .configuration = participant_.hash,
                      .sender = participant_.me().name,
                      .node = participant_.node,
                      .round = -1,
                      .payload = protocol::payload_of(protocol::Seen{})};
  m.signature = identity::sign(participant_.self.key, protocol::signed_part(m));
  return protocol::encode(m);
}

bool Caller::is_own_join(const std::string& address) {
  courier_.reset();
  courier_ = courier(address);
  courier_->open();
  return call(participant_.node, std::string(nothing)).receipt.has_value();
}

Check Caller::neighbour(int node, bool fresh) {
  const study::Invited& peer = participant_.study.parties[static_cast<std::size_t>(node)];
  const auto found = [&](Health health, const std::string& sentence) {
    return Check{.about = peer.name, .health = health, .sentence = peer.address + " " + sentence};
  };
  const Probed probed = mesh::try_connect(peer.address, patience_);
  if (probed.result == Probed::Result::unresolved)
    return found(Health::failed,
                 "cannot be resolved (" + probed.why +
                     "); correct the address of this party in your copy of the study, or the name service");
  if (probed.result != Probed::Result::open)
    return found(Health::warning,
                 "does not answer yet (" + probed.why +
                     "); if it has been started, ask for its address and whether its firewall lets you in");
  const Answer answer = call(node, fresh ? hello() : std::string(nothing));
  if (!answer.receipt && answer.failure.kind == mesh::CallFailure::Kind::refused)
    return found(Health::failed, refused_in_words(participant_));
  if (!answer.receipt)
    return found(Health::failed, "answers, but not as " + peer.name + " (" + answer.failure.why +
                                     "); compare address and fingerprint with its owner by telephone");
  const protocol::Receipt& r = *answer.receipt;
  if (!fresh || r.good() || r.verdict == Verdict::unavailable)
    return found(Health::ok, "answers with the certificate that the roster pins" +
                                 std::string(r.good() ? ", and has the same study" : ""));
  if (r.verdict == Verdict::stopped)
    return found(Health::warning, "answers, but has stopped: " + protocol::printable(r.reason, 300));
  std::string why = protocol::printable(r.reason, 300);
  if (r.verdict == Verdict::wrong_configuration)
    why = "it has another study: " +
          study::difference(json::parse(participant_.canonical), shallow_json(r.attachment), peer.name);
  return found(Health::failed, "refuses this party: " + why + "; compare the hashes that 'parley study check' shows");
}

}  // namespace parley::party
