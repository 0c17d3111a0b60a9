// Parties without nodes or data for tests of the exchange: their releases are made up, paid in a ledger in memory, and
// carried by hand.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/ledger/ledger.h"
#include "parley/protocol/exchange.h"

namespace parley::protocol {

using testing::HasSubstr;

class MemoryFile : public AppendFile {
 public:
  struct Medium {
    std::string content;
    bool full = false;
  };
  explicit MemoryFile(std::shared_ptr<Medium> medium) : medium_(std::move(medium)) {}
  std::string name() const override { return "memory"; }
  std::string read() override { return medium_->content; }
  void append(std::string_view bytes) override {
    if (medium_->full) throw Error({.what = "cannot write: no space left", .where = "memory", .fix = ""});
    medium_->content += bytes;
  }
  void sync() override {}
  void cut_at(std::uint64_t size) override { medium_->content.resize(size); }

 private:
  std::shared_ptr<Medium> medium_;
};

// Node numbers are keys: a signature is the number of who signed and a hash.
inline std::string signature_of(int node, std::string_view bytes) {
  return hex(sha256("key " + std::to_string(node) + std::string(bytes)));
}

inline Keys keys_of(int node) {
  return {
      .sign = [node](std::string_view bytes) { return signature_of(node, bytes); },
      .verify = [](int who, std::string_view bytes, std::string_view s) { return s == signature_of(who, bytes); },
      .difference = [](const std::string& mine, const std::string& theirs,
                       const std::string& /*who*/) { return "rounds is " + mine + " here and " + theirs + " there"; }};
}

// Two coordinates, three rounds, everyone speaks in each; a grid of 1/4 and the bound 10.
inline Agreement three_in_a_row() {
  return {.run = "run-1",
          .configuration = "3",
          .configuration_hash = "hash-of-3",
          .parties = {"hospital_a", "hospital_b", "hospital_c"},
          .graph = network::Graph(3, {{0, 1}, {1, 2}}),
          .dimension = 2,
          .largest_size = 2,
          .rounds = 3,
          .release_bound = 10,
          .size = [](int, int) { return Index{2}; },
          .grid = [](int, int) { return 0.25; },
          .model_of = {0, 1, 2}};
}

// What node i releases in a round, in these tests.
inline Vector value_of(int node, int round) {
  return Vector{{node + 0.25 * round, -1.0 * round}};
}

struct Side {
  Side(int number, const Agreement& a, Keys with, Timing t = {.deadline = 1, .wait = 100, .first_wait = 200})
      : node(number), agreed(a), keys(std::move(with)), timing(t), ledger(static_cast<int>(a.parties.size()), true) {
    open();
  }
  Side(int number, const Agreement& a) : Side(number, a, keys_of(number)) {}

  // A new process on the same disk; the ledger of an earlier one is told to it again.
  void open(double now = 0) {
    exchange.reset();
    exchange = std::make_unique<Exchange>(Exchange::Setup{.agreed = agreed,
                                                          .self = node,
                                                          .last_released = static_cast<int>(paid.size()) - 1,
                                                          .keys = keys,
                                                          .process = process,
                                                          .timing = timing,
                                                          .now = now,
                                                          .consent = consent,
                                                          .noise_key = noise_key,
                                                          .accused = accused,
                                                          .accused_before = accused_before},
                                          std::make_unique<MemoryFile>(medium));
    for (std::size_t round = 0; round < paid.size(); ++round) {
      exchange->release(paid[round]);
      EXPECT_TRUE(round + 1 == paid.size() || exchange->inbox().has_value());
    }
  }
  void release() { release(value_of(node, static_cast<int>(paid.size()))); }
  void release(const Vector& value) {
    const int round = static_cast<int>(paid.size());
    paid.push_back(*ledger.pay({.node = node, .round = round, .value = value, .charge = {}}));
    exchange->release(paid.back());
  }
  Message message(Kind kind, int round, std::string payload) const {  // signed by this side, with a head that fits
    Message m{.kind = kind,
              .run = agreed.run,
              .configuration = agreed.configuration_hash,
              .sender = agreed.name(node),
              .node = node,
              .round = round,
              .process = {.incarnation = 1},
              .payload = std::move(payload)};
    const bool has_value = kind == Kind::value || kind == Kind::silent;
    for (int k = 0; k <= std::min(round, 100); ++k)
      m.head = next_head(m.head, m.run, node, k, has_value && k == round ? m.payload : payload_of(value_of(node, k)));
    return m;
  }
  std::string signed_bytes(Message m) const {
    m.signature = signature_of(node, signed_part(m));
    return encode(m);
  }
  std::string value_bytes(int round, const Vector& value) const {
    return signed_bytes(message(Kind::value, round, payload_of(value)));
  }

  int node;
  Agreement agreed;
  Keys keys;
  Timing timing;
  Process process{.incarnation = 1};
  std::function<Consent(const Succession&)> consent{};  // on-loss = "continue"
  std::string noise_key{};
  std::function<void(const std::string&, std::string_view)> accused{};
  std::optional<std::string> accused_before{};
  ledger::Ledger ledger;
  std::vector<privacy::Paid> paid;
  std::shared_ptr<MemoryFile::Medium> medium = std::make_shared<MemoryFile::Medium>();
  std::unique_ptr<Exchange> exchange;
  std::vector<std::string> reports;
};

// Three parties and a carrier that brings everything to everyone who is reachable, until nobody has more to say.
class Trio : public testing::Test {
 protected:
  Side& side(int node) { return *sides[static_cast<std::size_t>(node)]; }
  Exchange& exchange(int node) { return *side(node).exchange; }

  void carry() {
    for (bool busy = true; busy;) {
      busy = false;
      for (auto& from : sides) {
        const Actions actions = from->exchange->take();
        from->reports.insert(from->reports.end(), actions.reports.begin(), actions.reports.end());
        for (const Send& send : actions.sends) {
          busy = true;
          if (unreachable == send.peer || unreachable == from->node) {
            from->exchange->failed(send.call);
          } else {
            const Receipt receipt = exchange(send.peer).deliver(agreed.name(from->node), send.bytes);
            from->exchange->answered(send.call, receipt);
          }
        }
      }
    }
  }
  // All release the next round and take what came in.
  void round() {
    for (auto& s : sides) s->release();
    carry();
    for (auto& s : sides) ASSERT_TRUE(s->exchange->inbox().has_value());
  }
  void pass(double seconds) {  // in steps, as a clock does
    for (const double end = now + seconds; now < end;) {
      now = std::min(end, now + 0.25);
      for (auto& s : sides) s->exchange->tick(now);
      carry();
    }
  }
  void finish() {
    for (auto& s : sides) {
      FinalIterate mine([](int) { return false; });
      for (const auto& p : s->paid) mine.add(p);
      s->exchange->finish(mine);
    }
    carry();
  }
  bool reported(int node, const std::string& part) {
    for (const auto& report : side(node).reports)
      if (report.find(part) != std::string::npos) return true;
    return false;
  }

  Agreement agreed = three_in_a_row();
  std::vector<std::unique_ptr<Side>> sides = [this] {
    std::vector<std::unique_ptr<Side>> made;
    for (int i = 0; i < 3; ++i) made.push_back(std::make_unique<Side>(i, agreed));
    return made;
  }();
  int unreachable = -1;
  double now = 0;
};

}  // namespace parley::protocol
