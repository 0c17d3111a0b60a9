#include "parley/party/party_process.h"

#include <algorithm>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/base/parallel.h"
#include "parley/run/failure.h"
#include "parley/study/continuation.h"

namespace parley::party {

PartyProcess::PartyProcess(Setup setup, mesh::Courier::Setup carrier, PartyInParts::Make make)
    : setup_(std::move(setup)) {
  party_ = std::make_unique<PartyInParts>(std::move(make), now());
  carrier.self = setup_.self;
  carrier.listen = setup_.listen;
  carrier.roster = setup_.roster;
  carrier.deadline = setup_.deadline;
  carrier.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  carrier.deliver = [this](const std::string& caller, std::string_view message) {
    protocol::Receipt receipt;
    handle([&] { receipt = party_->deliver(caller, message); });
    failpoint("stored, not acknowledged");
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);  // what could not be stored is not acknowledged
    return receipt;
  };
  carrier.answered = [this](std::uint64_t call, const protocol::Receipt& receipt) {
    failpoint("sent to some");
    handle([&] { party_->answered(call, receipt); });
  };
  carrier.failed = [this](std::uint64_t call, const mesh::CallFailure& failure, bool worth_a_line) {
    handle([&] {
      const auto whom = std::ranges::find(called_, call, [](const auto& one) { return one.second; });
      const bool known = whom != called_.end();
      if (worth_a_line)
        lines_.emplace_back(failure.why, Level::warning,
                            known ? setup_.roster[static_cast<std::size_t>(whom->first)].name : "");
      party_->failed(call);
    });
  };
  carrier.report = [this](const std::string& sentence) {
    handle([&] { lines_.emplace_back(sentence, Level::warning); });
  };
  courier_ = mesh::make_courier(std::move(carrier));
  courier_->open();  // not earlier: a handler sends by courier_
}

double PartyProcess::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void PartyProcess::handle(const std::function<void()>& event) {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!failure_) event();
      if (!failure_) see_ending();
      if (!failure_) dispatch();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  changed_.notify_all();
}

void PartyProcess::see_ending() {
  if (!party_->ending()) return;
  const bool completed = party_->ending()->end == protocol::End::completed,
             past_unknown = party_->ending()->past_unknown();
  if ((!completed || completed_) && (!past_unknown || past_unknown_)) return;
  completed_ = completed;
  past_unknown_ = past_unknown;
  if (setup_.settled) setup_.settled(*party_);
}

void PartyProcess::dispatch() {
  protocol::Actions actions = party_->take();
  for (LogLine& line : actions.reports) lines_.push_back(std::move(line));
  for (auto& send : actions.sends) {
    failpoint("synced, not sent");
    called_[send.peer] = send.call;
    courier_->send(send.call, send.peer, std::move(send.bytes));
  }
}

void PartyProcess::solve(std::unique_lock<std::mutex>& lock) {
  const auto job = party_->job();
  if (!job) return;
  lock.unlock();
  const double begun = now();
  privacy::Random random = setup_.noise->stream(setup_.node, job->job.round, study::noise_of_part(job->part));
  std::optional<privacy::Release> release;
  try {
    parallel_for(1, setup_.threads, [&](int) { release = PartyInParts::solve(*job, random); });
    expects(release->value.allFinite(), "a finite released value");
    failpoint("solved");
  } catch (...) {  // marked in the ledger while peers are still answered as before
    lock.lock();
    const std::exception_ptr failure = std::current_exception();
    if (run::before_noise(failure) || PartyInParts::unsolved(*job, run::reason_of(failure))) throw;
    return;
  }
  const double solved = now();
  lock.lock();
  seconds_.solve += solved - begun;
  failpoint("solved, not paid");
  party_->solved(*job, std::move(*release));
  see_ending();
  seconds_.pay += now() - solved;
  dispatch();
}

protocol::Ending PartyProcess::run() {
  const auto close = [this] {
    courier_->close();
    for (const LogLine& line : std::exchange(lines_, {})) setup_.report(line);
  };
  std::optional<protocol::Ending> ending;
  try {
    ending = work();
  } catch (...) {
    close();
    throw;
  }
  close();
  return *ending;
}

protocol::Ending PartyProcess::work() {
  std::unique_lock lock(mutex_);
  bool interrupted = false;
  double shown = -1;
  while (!party_->finished()) {
    if (failure_) std::rethrow_exception(failure_);
    if (!interrupted && setup_.stop != nullptr && setup_.stop->load()) {
      interrupted = true;
      party_->interrupt();
      if (!party_->finished())
        lines_.emplace_back("telling the others, for at most " +
                            std::to_string(static_cast<long>(2 * setup_.deadline + 1)) +
                            " s; Ctrl-C again ends at once");
    }
    party_->tick(now());
    see_ending();
    if (interrupted && completed_) break;  // the others may have to ask again
    dispatch();
    solve(lock);
    const auto lines = std::exchange(lines_, {});
    lock.unlock();
    for (const LogLine& line : lines) setup_.report(line);
    lock.lock();
    if (setup_.progress && now() - shown > 0.2) {
      shown = now();
      setup_.progress(*party_);
    }
    const double before = now();
    const auto worth = [&] {
      return failure_ != nullptr || party_->has_job() || party_->finished() || !lines_.empty();
    };
    if (!worth())
      changed_.wait_for(lock, std::chrono::microseconds(static_cast<long>(1e6 * std::min(0.25, setup_.deadline / 8))),
                        worth);
    seconds_.wait += now() - before;
  }
  return *party_->ending();
}

}  // namespace parley::party
