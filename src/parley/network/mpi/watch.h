// Notices that a rank has died, and says which: every rank keeps a TCP connection to rank 0, which the kernel closes
// whatever way a process ends; of a machine that is gone, keepalive tells after half a minute. (mpirun notices too, but
// it cannot know which nodes a rank hosted, and without it the others might wait for ever.) Carries no values.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace parley::network {

class Watch {
 public:
  using Lost = std::function<void(int rank, const std::string& hosting)>;

  static std::string listen(int& descriptor);  // on rank 0: the place where the others find it
  // A rank that cannot connect is not watched.
  Watch(int rank, int count, int listening, const std::string& place, Lost lost);
  ~Watch();  // says goodbye
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void set_hosting(std::vector<std::string> hosting);
  void goodbye();  // what happens to this rank from now on is no accident

 private:
  void run();
  void accept_one();
  bool hear(int rank, int descriptor);  // false: it is gone, well or badly
  void mourn(int rank);

  const int rank_;
  int listening_;
  std::string token_;
  const Lost lost_;
  std::atomic<bool> leaving_{false};
  std::mutex mutex_;
  std::vector<std::string> hosting_;
  std::vector<int> peers_;  // descriptor by rank; −1: none. Others than rank 0 have rank 0's alone
  int wake_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace parley::network
