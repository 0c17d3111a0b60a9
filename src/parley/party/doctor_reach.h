// What a party hears when it calls: its neighbours, and whoever holds its own port.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "parley/mesh/courier.h"
#include "parley/party/doctor.h"
#include "parley/party/participant.h"

namespace parley::party {

class Caller {
 public:
  explicit Caller(const Participant& participant);  // with its key
  ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // fresh: this party has released nothing in this run, so that it may greet as one that begins.
  Check neighbour(int node, bool fresh);
  bool is_own_join(const std::string& address);  // who answers there has this party's own key

 private:
  struct Answer {
    std::optional<protocol::Receipt> receipt;  // nullopt: no call came about
    mesh::CallFailure failure;
  };
  Answer call(int node, std::string message);
  std::string hello() const;
  std::unique_ptr<mesh::Courier> courier(const std::string& own_address);

  const Participant& participant_;
  double patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Answer> answer_;
  std::unique_ptr<mesh::Courier> courier_;  // last: destroyed first, so its threads end while all they use is alive
};

}  // namespace parley::party
