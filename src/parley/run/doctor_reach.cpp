#include "parley/run/doctor_reach.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/network/message.h"
#include "parley/network/probe.h"

namespace parley::run {
namespace {

using network::Probed;
using network::Verdict;
using nlohmann::json;

constexpr std::string_view nothing = "parley doctor";  // no message: any party refuses it and stays as it is

}  // namespace

Caller::Caller(const Seat& seat)
    : seat_(seat), patience_(std::min(5.0, seat.study.deadline_seconds)), courier_(courier(seat.me().address)) {
  courier_->open();
}

std::unique_ptr<network::Courier> Caller::courier(const std::string& own_address) {
  network::Courier::Setup setup{.self = seat_.self, .listen = "127.0.0.1:0", .deadline = patience_, .largest = 4096};
  for (const Invited& p : seat_.study.parties)
    setup.roster.push_back({.name = p.name, .address = p.address, .fingerprint = p.fingerprint});
  setup.roster[static_cast<std::size_t>(seat_.node)].address = own_address;
  setup.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  setup.deliver = [](const std::string&, std::string_view) {
    return network::Receipt{.verdict = Verdict::unavailable, .reason = "only looking"};
  };
  const auto store = [this](Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      answer_ = std::move(answer);
    }
    changed_.notify_all();
  };
  setup.answered = [store](std::uint64_t, const network::Receipt& receipt) { store({.receipt = receipt, .why = ""}); };
  setup.failed = [store](std::uint64_t, const std::string& why) { store({.receipt = std::nullopt, .why = why}); };
  setup.report = [](const std::string&) {};
  return network::make_courier(std::move(setup));
}

Caller::Answer Caller::call(int node, std::string message) {
  std::unique_lock lock(mutex_);
  answer_.reset();
  courier_->send(1, node, std::move(message));
  changed_.wait(lock, [this] { return answer_.has_value(); });  // the courier's deadline ends it
  return *answer_;
}

std::string Caller::hello() const {
  network::Message m{.kind = network::Kind::hello,
                     .run = run_id(seat_.hash),
                     .configuration = seat_.hash,
                     .sender = seat_.me().name,
                     .node = seat_.node,
                     .round = -1,
                     .payload = network::payload_of(network::Seen{})};
  m.signature = network::sign(seat_.self.key, network::signed_part(m));
  return network::encode(m);
}

bool Caller::is_own_join(const std::string& address) {
  courier_.reset();
  courier_ = courier(address);
  courier_->open();
  return call(seat_.node, std::string(nothing)).receipt.has_value();
}

Check Caller::neighbour(int node, bool fresh) {
  const Invited& peer = seat_.study.parties[static_cast<std::size_t>(node)];
  const auto found = [&](Health health, const std::string& sentence) {
    return Check{.about = peer.name, .health = health, .sentence = peer.address + " " + sentence};
  };
  const Probed probed = network::try_connect(peer.address, patience_);
  if (probed.result == Probed::Result::unresolved)
    return found(Health::failed,
                 "cannot be resolved (" + probed.why +
                     "); correct the address of this party in your copy of the study, or the name service");
  if (probed.result != Probed::Result::open)
    return found(Health::warning,
                 "does not answer yet (" + probed.why +
                     "); if it has been started, ask for its address and whether its firewall lets you in");
  const Answer answer = call(node, fresh ? hello() : std::string(nothing));
  if (!answer.receipt)
    return found(Health::failed, "answers, but not as " + peer.name + " (" + answer.why +
                                     "); compare address and fingerprint with its owner by telephone");
  const network::Receipt& r = *answer.receipt;
  if (!fresh || r.good() || r.verdict == Verdict::unavailable)
    return found(Health::ok, "answers with the certificate that the roster pins" +
                                 std::string(r.good() ? ", and has the same study" : ""));
  if (r.verdict == Verdict::stopped)
    return found(Health::warning, "answers, but has stopped: " + network::printable(r.reason, 300));
  std::string why = network::printable(r.reason, 300);
  if (r.verdict == Verdict::wrong_configuration)
    why = "it has another study: " +
          difference(json::parse(seat_.canonical), json::parse(r.attachment, nullptr, false), peer.name);
  return found(Health::failed, "refuses this party: " + why + "; compare the hashes that 'parley study check' shows");
}

}  // namespace parley::run
