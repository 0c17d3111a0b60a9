// R14 between records: do the transcripts of several parties of one run tell one history of each party? A head stands for
// all that was released before it, so two heads for one round are two histories. Pure: whoever adds a message has checked
// its signature (verify), or has two records that cannot both be true (report).
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parley/protocol/message.h"

namespace parley::protocol {

struct Contradiction {
  int node = 0;             // whose words exclude each other
  Kind kind = Kind::value;  // what: a value, hello for a process, otherwise a message of this kind
  int number = 0;           // the round, or the number of the process
  int one = 0, other = 0;   // whose transcripts hold the two; the same for a value after a statement
};

class Histories {
 public:
  void add(int holder, const Message& m);  // whatever a transcript holds that is no evidence

  void add_round(int holder, int node, int round, const Digest& head);
  void add_process(int holder, int node, const Process& process);
  void add_last_word(int holder, const Message& m);  // of a kind that a party signs once

  // In the order in which they were found: of each party, kind and second holder the first.
  const std::vector<Contradiction>& contradictions() const { return found_; }

 private:
  template <class Said>
  struct Held {
    int holder;
    Said said;
  };
  void found(const Contradiction& one);

  std::map<std::pair<int, int>, Held<Digest>> rounds_;                          // by node and round
  std::map<std::pair<int, int>, Held<Process>> processes_;                      // by node and number
  std::map<std::pair<int, Kind>, Held<std::pair<std::string, Digest>>> words_;  // by node and kind
  std::map<int, Held<int>> stated_;                                             // by node: its last round, after a loss
  std::set<std::pair<std::pair<int, Kind>, int>> told_;
  std::vector<Contradiction> found_;
};

}  // namespace parley::protocol
