// A run on a ledger with failpoints, in a child process that dies or fails; the parent opens the ledger, resumes,
// finishes and compares with a run that nothing happened to. Deterministic: a child dies at its n-th failpoint or n-th
// write.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/ledger_test.h"

namespace parley::ledger {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What a failpoint does in this process.
struct Failpoints {
  long left = -1;                   // the process dies when it reaches 0
  std::function<void()> at_each{};  // called first
  std::map<std::string, int> met{};
};
inline Failpoints failpoints;

inline constexpr int nodes = 2, rounds = 4;
inline constexpr double price = 0.125;

// What was sent: shared with the child, so that it survives its death.
struct Sent {
  int count[nodes][rounds];
  double value[nodes][rounds];
};

inline double iterate(int node, int round, int attempt) {  // fresh noise in every attempt
  return 100 * node + round + 0.001 * attempt;
}

inline PlannedRun plan() {
  PlannedRun run{.id = "run", .configuration = "c", .datasets = {{.name = "ward"}}};
  for (int node = 0; node < nodes; ++node) {
    run.accounts.push_back({.node = node, .dataset = "ward"});
    for (int t = 0; t < rounds; ++t)
      run.accounts.back().planned.push_back({.kind = "objective-gamma", .epsilon = price});
  }
  return run;
}

inline void make_ledger(const fs::path& file) {
  LedgerFile(file, LedgerFile::Open::create_if_missing).set_cap("ward", Cap(1.0));
}

// The driver's loop: a stored round is sent again as it was, another is solved, paid and only then sent.
inline void run_to_the_end(const fs::path& file, int attempt, Sent& sent) {
  Ledger ledger(std::make_shared<LedgerFile>(file), plan());
  for (int t = 0; t < rounds; ++t) {
    std::vector<privacy::Release> releases;
    for (int node = 0; node < nodes; ++node)
      releases.push_back({.node = node,
                          .round = t,
                          .value = Vector::Constant(50, iterate(node, t, attempt)),
                          .charge = {.kind = "objective-gamma", .epsilon = price}});
    const auto paid = ledger.pay_all(std::move(releases));
    if (!paid) return;
    failpoint("paid, not sent");
    for (const privacy::Paid& p : *paid) {
      const double value = (*p.value())[0];
      if (sent.count[p.node()][t] == 0) sent.value[p.node()][t] = value;
      // Fact F2: two different values of one round give the record away.
      if (sent.value[p.node()][t] != value) ::_exit(9);
      ++sent.count[p.node()][t];
      failpoint("sent to some");
    }
  }
}

class Crash : public testing::Test {
 protected:
  Crash() {
    std::string pattern = (in_memory_folder() / "parley-crash-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    file = folder / "ledger.db";
    sent = static_cast<Sent*>(mmap(nullptr, sizeof(Sent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Crash() override {
    munmap(sent, sizeof(Sent));
    fs::remove_all(folder);
  }

  void fresh() {
    fs::remove_all(folder);
    fs::create_directory(folder);
    std::memset(static_cast<void*>(sent), 0, sizeof(Sent));
    make_ledger(file);
  }

  // In a child: 0 = done, 3 = Error (its text in `error`), otherwise the signal.
  int in_child(const std::function<void()>& work) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      try {
        work();
      } catch (const Error& e) {
        (void)!::write(pipe_ends[1], e.what(), std::strlen(e.what()));
        ::_exit(3);
      } catch (...) {
        ::_exit(4);
      }
      ::_exit(0);
    }
    close(pipe_ends[1]);
    error.clear();
    char buffer[4096];
    for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;) error.append(buffer, n);
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  // After whatever happened: what was sent was charged and stored; the resumed run ends as an undisturbed one.
  void check_and_finish() {
    {
      const LedgerFile book(file);
      const LedgerFile::Run* run = book.find_run("run");
      for (int node = 0; node < nodes; ++node)
        for (int t = 0; t < rounds; ++t)
          if (sent->count[node][t] > 0) {
            ASSERT_NE(run, nullptr);
            ASSERT_GE(run->accounts.at(node).last_round, t) << "sent, but not charged";
          }
    }
    ASSERT_EQ(in_child([&] { run_to_the_end(file, 2, *sent); }), 0) << error;
    const LedgerFile book(file);
    EXPECT_EQ(book.spent("ward").epsilon(), rounds * price);  // exact: powers of two
    EXPECT_EQ(book.head().entries, 3 + nodes * rounds);       // none lost, none doubled
    EXPECT_EQ(book.database().damage(), "");
    for (int node = 0; node < nodes; ++node)
      for (int t = 0; t < rounds; ++t) EXPECT_GE(sent->count[node][t], 1);
  }

  fs::path folder, file;
  Sent* sent;
  std::string error;
};

}  // namespace parley::ledger
