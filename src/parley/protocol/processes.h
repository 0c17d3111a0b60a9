// Which process of each neighbour this party talks to (R14). A party's ledger numbers its processes (incarnation), and
// each has a nonce of its own. The same number with two nonces, or a value of an older process that a newer one does not
// know of, is what only a copied or restored folder can sign: a contradiction, whoever is alive of the two.
#pragma once
#include <map>
#include <string>

#include "parley/protocol/message.h"

namespace parley::protocol {

inline constexpr int most_processes = 1000;  // of one neighbour's, in a part: their hellos are in the transcript

class Processes {
 public:
  // Of a hello, a value or silence that passed inspection. ledger_behind: a hello of a process that came before the one
  // that is known.
  Finding judge(const Message& m) const;
  // What was passed on may be of an earlier process, and reaches this party also before a hello of a later one, or
  // without any.
  Finding judge_passed_on(const Message& m) const;
  bool is_new(const Message& m) const;  // its sender was not known here, or by an older process
  bool too_many(int node) const;        // it has been met so often that no further process of it is stored in this part
  void add(const Message& m, std::string bytes);
  Process of(int node) const;                        // {}: none is known
  const std::string& first_message(int node) const;  // by which the process is known; "": none

 private:
  struct Known {
    Process process;
    int released;  // as its first message here says
    std::string bytes;
    int met = 0;  // how many of its processes
  };
  std::map<int, Known> known_;  // by node number: the newest
};

}  // namespace parley::protocol
