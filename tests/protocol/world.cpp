#include "protocol/world.h"

#include <cstdio>
#include <cstring>

#include "parley/base/error.h"

namespace parley::protocol {

using protocol::Kind;
using protocol::Message;

Faults Faults::from(PublicRandom& random) {
  const auto some = [&](double most) { return random.below(3) == 0 ? 0 : most * random.uniform(); };
  return {.until = 40 * random.uniform(),
          .drop = some(0.5),
          .duplicate = some(0.4),
          .slow = some(0.2),
          .crash = some(1),
          .kill = some(0.05),
          .partition = some(0.2),
          .fresh_noise = random.below(2) == 0};
}

World::World(const Scenario& scenario, std::uint64_t seed, const Faults& faults)
    : scenario_(scenario),
      agreed_(scenario.agreement()),
      faults_(faults),
      random_(seed, PublicRandom::Purpose::split),
      seed_(seed) {
  parts.push_back(scenario.first);
  for (int i = 0; i < scenario.nodes(); ++i) machines_.emplace_back(scenario.nodes());
  endings.resize(machines_.size());
  models.resize(machines_.size());
  for (int i = 0; i < scenario.nodes(); ++i)
    after((faults_.until > 0 ? 3 : 0.5) * random_.uniform(), [this, i] { start(i); });
  if (faults_.partition > 0)
    for (double t = 0; t < faults_.until; t += 1)
      if (chance(faults_.partition)) {
        after(t, [this] {
          side_.clear();
          for (int i = 0; i < scenario_.nodes(); ++i)
            if (random_.below(2) == 0) side_.insert(i);
        });
        after(t + 5 * random_.uniform(), [this] { side_.clear(); });
      }
  after(faults_.until, [this] { side_.clear(); });
}

void World::log(const std::string& text) const {
  if (verbose) std::fprintf(stderr, "%9.3f %s\n", now_, text.c_str());
}

void World::after(double delay, std::function<void()> happen) {
  events_.push({now_ + delay, ++order_, std::move(happen)});
}

bool World::reaches(int a, int b) const {
  return !cut_.contains(a) && !cut_.contains(b) && side_.contains(a) == side_.contains(b);
}

void World::survive(int node, const std::function<void()>& doing) {
  try {
    doing();
  } catch (const Crashed&) {
    kill(node);
  }
}

void World::kill(int node) {
  Machine& m = machines_[at(node)];
  if (!m.party) return;
  ++crashes;
  log("party " + std::to_string(node) + " dies");
  m.party.reset();
  ++m.process;
  if (random_.below(2) == 0) {  // else only the process is gone: what it wrote is still in the machine's memory
    for (const auto& store : m.stores) {
      store->disk.lose_power(random_);
      store->ledger.lose_power();
    }
  }
  after(2 * random_.uniform(), [this, node] { start(node); });
}

void World::vanish(int node) {
  kill(node);
  machines_[at(node)].gone = true;
  if (!endings[at(node)]) endings[at(node)] = protocol::Ending{protocol::End::peer_lost, "vanished"};
}

void World::start(int node) {
  Machine& m = machines_[at(node)];
  if (m.party || endings[at(node)] || m.gone) return;
  const long process = ++m.process;
  ++m.number.incarnation;
  std::memcpy(m.number.nonce.data(), &process, sizeof process);
  m.operations_left = faulty() && chance(faults_.crash) ? static_cast<long>(1 + random_.below(60)) : -1;
  const Fuse fuse = [&m] {
    if (m.operations_left > 0 && --m.operations_left == 0) throw Crashed{};
  };
  log("party " + std::to_string(node) + " starts");
  const auto open = [&] {
    m.party = std::make_unique<party::PartyInParts>(
        [this, node, fuse](party::Party* before, double) { return make_part(node, before, fuse); }, now_);
  };
  try {
    open();
  } catch (const Crashed&) {  // in the constructor: there is no party to kill yet
    ++crashes;
    if (random_.below(2) == 0)
      for (const auto& store : m.stores) store->disk.lose_power(random_);
    after(2 * random_.uniform(), [this, node] { start(node); });
    return;
  } catch (const Error& e) {
    throw Violation("party " + std::to_string(node) + " cannot start again: " + e.what());
  }
  check_start(node);
  collect(node);
  tick(node, process);
}

void World::tick(int node, long process) {
  after(timing.deadline / 4, [this, node, process] {
    Machine& m = machines_[at(node)];
    if (m.process != process || !m.party) return;
    survive(node, [&] { m.party->tick(now_); });
    collect(node);
    tick(node, process);
  });
}

// Carries out what the party asks for.
void World::collect(int node) {
  Machine& m = machines_[at(node)];
  if (!m.party) return;
  const protocol::Actions actions = m.party->take();
  for (const std::string& report : actions.reports) {
    reports.push_back(report);
    log("party " + std::to_string(node) + ": " + report);
  }
  for (const auto& send : actions.sends) carry(node, send);
  if (auto job = m.party->job()) {
    const std::uint64_t noise =
        faults_.fresh_noise ? 1000 * seed_ + static_cast<std::uint64_t>(++attempts_) : Scenario::seed;
    auto random = privacy::NoiseSource(noise).stream(node, job->job.round, study::noise_of_part(job->part));
    auto release = party::PartyInParts::solve(*job, random);
    after(0.3 * random_.uniform(), [this, node, process = m.process, job = *job, release = std::move(release)] {
      Machine& then = machines_[at(node)];
      if (then.process != process || !then.party) return;
      survive(node, [&] { then.party->solved(job, release); });
      collect(node);
    });
  }
  check_progress(node);
  if (!m.party->finished()) return;
  if (m.party->ending()->end == protocol::End::interrupted) {
    after(2 * random_.uniform(), [this, node] { start(node); });
  } else {
    check_exit(node);
  }
  log("party " + std::to_string(node) + " exits: " + m.party->ending()->text);
  m.party.reset();
  ++m.process;
}

void World::carry(int node, const protocol::Send& send) {
  check_leaves(node, send.bytes);
  ++messages;
  const int peer = send.peer;
  const auto delay = [this] {
    return faulty() && chance(faults_.slow) ? 4 * random_.uniform() : 0.02 * random_.uniform();
  };
  const int copies = faulty() && chance(faults_.duplicate) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    if (faulty() && chance(faults_.drop)) continue;
    after(delay(), [=, this, process = machines_[at(node)].process] {
      if (!reaches(node, peer)) return;
      if (!running(peer)) {  // nobody listens there
        Machine& sender = machines_[at(node)];
        if (sender.process != process || !sender.party) return;
        survive(node, [&] { sender.party->failed(send.call); });
        return collect(node);
      }
      auto receipt = deliver(node, peer, tamper ? tamper(node, peer, send.bytes) : send.bytes);
      if (tamper && !receipt.attachment.empty()) receipt.attachment = tamper(peer, node, receipt.attachment);
      if (!running(peer) && receipt.verdict == protocol::Verdict::unavailable) return;  // it died over it
      if (faulty() && chance(faults_.drop)) return;
      after(delay(), [=, this] {
        Machine& sender = machines_[at(node)];
        if (sender.process != process || !sender.party || !reaches(node, peer)) return;
        survive(node, [&] { sender.party->answered(send.call, receipt); });
        collect(node);
      });
    });
  }
}

protocol::Receipt World::deliver(int from, int to, const std::string& bytes) {
  Machine& m = machines_[at(to)];
  protocol::Receipt receipt{.verdict = protocol::Verdict::unavailable};
  survive(to, [&] {
    receipt = m.party->deliver(agreed_.name(from), bytes);
    const auto parsed = protocol::decode(bytes);
    if (receipt.good()) note(std::get<Message>(parsed), to, receipt);
  });
  if (m.party && faulty() && chance(faults_.kill)) {
    if (random_.below(3) == 0)
      m.party->interrupt();  // by its owner, who starts it again
    else
      kill(to);
  }
  collect(to);
  return receipt;
}

void World::note(const Message& m, int to, const protocol::Receipt&) {
  Machine& machine = machines_[at(to)];
  if (m.kind == Kind::loss || m.kind == Kind::consent) machine.signed_by.insert({m.run, m.kind, m.node});
  if (m.kind == Kind::final_iterate) machine.finals.insert({m.run, m.node});
  if (m.kind == Kind::value || m.kind == Kind::silent) {
    int& last = machine.acknowledged.try_emplace({m.run, m.node}, -1).first->second;
    last = std::max(last, m.round);
  }
}

void World::run(double most) {
  const auto all_exited = [this] {
    for (const auto& e : endings)
      if (!e) return false;
    return true;
  };
  if (!run_while([&] { return !all_exited(); }, most)) throw Violation("somebody waits for ever");
  check_end();
}

bool World::run_while(const std::function<bool()>& going, double most) {
  while (going()) {
    if (events_.empty() || events_.top().time > most) return false;
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    event.happen();
  }
  return true;
}

}  // namespace parley::protocol
