// One party of 10,000 that share noise: (a) the keys of all others as the protocol delivers them (protocol/exchange.h), on
// a graph where each party has four neighbours: each key comes by all four, signed, and is passed on to three; stored and
// synced; (b) the secrets of all pairs from what was received; (c) the streams of a whole newton run (d = 60 numbers a round,
// T = 32 gradients, and d(d + 1)/2 of curvature once). Reference: own noise of the same run, from the same cipher.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "parley/base/error.h"
#include "parley/identity/identity.h"
#include "parley/party/noise_key_file.h"
#include "parley/privacy/pair_noise.h"
#include "parley/privacy/random.h"
#include "parley/protocol/exchange.h"
#include "program.h"
#include "stopwatch.h"

namespace parley::bench {
namespace {

namespace fs = std::filesystem;
using protocol::Kind;
using protocol::Message;

constexpr int parties = 10000, features = 60, gradients = 32;

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

protocol::Agreement agreement() {
  std::vector<std::pair<int, int>> edges;  // each party calls the two before it and the two after it
  for (int i = 0; i < parties; ++i)
    for (const int by : {1, 2}) edges.emplace_back(std::min(i, (i + by) % parties), std::max(i, (i + by) % parties));
  protocol::Agreement a{.run = std::string(32, 'r'),
                        .configuration = "{}",
                        .configuration_hash = std::string(64, 'c'),
                        .graph = network::Graph(parties, edges),
                        .passed_on = true,
                        .shared_noise = true,
                        .dimension = features,
                        .largest_size = Index{features} * (features + 3) / 2,
                        .rounds = gradients + 1};
  for (int i = 0; i < parties; ++i) a.parties.push_back(fmt::format("party_{}", i));
  a.size = [](int, int) { return Index{features}; };
  a.grid = [](int, int) { return 0x1p-20; };
  for (int i = 0; i < parties; ++i) a.model_of.push_back(i);
  return a;
}

// The others: their certificates, as the roster pins them, and their signed keys.
struct Others {
  std::vector<identity::PrivateKey> keys;
  std::vector<identity::Certificate> pinned;
  std::vector<std::string> noise_keys;

  explicit Others(const protocol::Agreement& agreed) {
    const identity::Validity validity{
        .from = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now())};
    for (int i = 0; i < parties; ++i) {
      keys.push_back(identity::make_key());
      pinned.push_back(identity::self_issue(keys.back(), agreed.name(i), validity));
      const party::NoiseKey own{identity::AgreementKey::make(), validity.from + std::chrono::days(30)};
      noise_keys.push_back(signed_by(agreed, i, Kind::noise_key, own.payload()));
    }
  }
  std::string signed_by(const protocol::Agreement& agreed, int node, Kind kind, std::string payload) const {
    Message m{.kind = kind,
              .run = agreed.run,
              .configuration = agreed.configuration_hash,
              .sender = agreed.name(node),
              .node = node,
              .round = -1,
              .process = {.incarnation = 1},
              .payload = std::move(payload)};
    m.signature = identity::sign(keys[static_cast<std::size_t>(node)], signed_part(m));
    return encode(m);
  }
};

// Party 0, and its neighbours by hand.
class Flooded {
 public:
  Flooded(const protocol::Agreement& agreed, const Others& others, const party::NoiseKey& own, const fs::path& file)
      : agreed_(agreed),
        others_(others),
        exchange_({.agreed = agreed,
                   .self = 0,
                   .keys = {.sign = [&](std::string_view bytes) { return identity::sign(others.keys[0], bytes); },
                            .verify =
                                [&](int node, std::string_view bytes, std::string_view signature) {
                                  return identity::verify(bytes, signature,
                                                          others.pinned[static_cast<std::size_t>(node)]);
                                },
                            .difference = {}},
                   .process = process,
                   .noise_key = own.payload()},
                  open_append_file(file)) {}

  void run() {
    exchange_.tick(0);
    carry();
    const auto& neighbours = agreed_.graph.neighbours(0);
    for (const int by : neighbours)
      for (int i = 1; i < parties; ++i) {  // a neighbour's own key comes from itself alone
        const bool near = std::ranges::binary_search(neighbours, i);
        if (near ? i == by : true) deliver(by, i);
      }
    expects(exchange_.noise_keys().complete(), "everybody's key");
  }

  protocol::Exchange& exchange() { return exchange_; }
  long received = 0, sent = 0, bytes_received = 0, bytes_sent = 0;

 private:
  void deliver(int by, int i) {
    const std::string& bytes = others_.noise_keys[static_cast<std::size_t>(i)];
    const protocol::Receipt receipt = exchange_.deliver(agreed_.name(by), bytes);
    expects(receipt.good(), "a key of another party is taken");
    ++received;
    bytes_received += static_cast<long>(bytes.size());
    carry();
  }

  void carry() {
    for (bool busy = true; busy;) {
      const protocol::Actions actions = exchange_.take();
      busy = !actions.sends.empty();
      for (const protocol::Send& send : actions.sends) {
        const auto parsed = protocol::decode(send.bytes);
        protocol::Receipt receipt{.verdict = protocol::Verdict::accepted};
        if (std::get<Message>(parsed).kind == Kind::hello)
          receipt.attachment =
              others_.signed_by(agreed_, send.peer, Kind::hello, payload_of(protocol::Seen{.process = process}));
        ++sent;
        bytes_sent += static_cast<long>(send.bytes.size());
        exchange_.answered(send.call, receipt);
      }
    }
  }

  static constexpr protocol::Process process{.incarnation = 1};
  const protocol::Agreement& agreed_;
  const Others& others_;
  protocol::Exchange exchange_;
};

json streams(const privacy::PairKeys& pairs) {
  const Vector point = Vector::Zero(features);
  const Index curvature = Index{features} * (features + 1) / 2;
  double sum = 0;
  const Stopwatch streaming(Stopwatch::Of::process);
  for (int round = 1; round <= gradients; ++round)
    sum += pairs.sum(0, {.round = round, .release = 1, .point = &point}, features).sum();
  const double of_gradients = streaming.read().cpu;
  const Stopwatch curving(Stopwatch::Of::process);
  sum += pairs.sum(0, {.round = 1, .release = 0}, curvature).sum();
  const double of_curvature = curving.read().cpu;
  const Stopwatch alone(Stopwatch::Of::process);
  privacy::Random random = privacy::Random::secret();
  sum += privacy::gaussian_vector(Index{gradients} * features + curvature, 1, random).sum();
  const double of_its_own = alone.read().cpu;
  expects(std::isfinite(sum), "finite noise");
  fmt::print("  streams of a run: {} gradients of {} {:.2f} s, curvature {:.2f} s; its own noise {:.5f} s\n", gradients,
             features, of_gradients, of_curvature, of_its_own);
  return {{"gradient_seconds", of_gradients}, {"curvature_seconds", of_curvature}, {"own_noise_seconds", of_its_own}};
}

json measure() {
  const protocol::Agreement agreed = agreement();
  const double before_roster = resident_mib();
  const Others others(agreed);
  const double of_roster = resident_mib() - before_roster;
  const party::NoiseKey own{identity::AgreementKey::make(), {}};
  const fs::path file = fs::temp_directory_path() / fmt::format("parley-bench-pairs-{}", ::getpid());
  const double before = resident_mib();
  const Stopwatch flooding(Stopwatch::Of::process);
  Flooded party(agreed, others, own, file);
  party.run();
  const Seconds flood = flooding.read();
  const double of_flood = resident_mib() - before;
  const auto transcript = fs::file_size(file);
  fs::remove(file);
  fmt::print("one party of {}, four neighbours; its roster and the others' keys take {:.0f} MiB here\n", parties,
             of_roster);
  fmt::print(
      "  keys: {} messages received ({:.1f} MB), {} sent ({:.1f} MB); {:.2f} s of processor time, {:.1f} s by the "
      "wall with one sync a key; transcript {:.1f} MB, {:.1f} MiB more memory\n",
      party.received, 1e-6 * static_cast<double>(party.bytes_received), party.sent,
      1e-6 * static_cast<double>(party.bytes_sent), flood.cpu, flood.wall, 1e-6 * static_cast<double>(transcript),
      of_flood);
  const Stopwatch agreeing(Stopwatch::Of::process);
  const auto pairs = party::pairs_of(own, party.exchange().noise_keys(), agreed, 0, parties);
  const double agreed_in = agreeing.read().cpu;
  fmt::print("  secrets of {} pairs: {:.2f} s\n", parties - 1, agreed_in);
  json out = streams(*pairs);
  const double grown = resident_mib() - before;
  fmt::print("  memory in all: {:.1f} MiB more\n", grown);
  out.update({{"parties", parties},
              {"flood_seconds", flood.cpu},
              {"flood_wall_seconds", flood.wall},
              {"messages_received", party.received},
              {"messages_sent", party.sent},
              {"bytes_received", party.bytes_received},
              {"bytes_sent", party.bytes_sent},
              {"transcript_bytes", transcript},
              {"flood_mib", of_flood},
              {"agree_seconds", agreed_in},
              {"grown_mib", grown}});
  return out;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "pairs", parley::bench::measure);
}
