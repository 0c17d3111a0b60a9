// After a loss: who goes on, and from which round (docs/check/protocol-loss.md, section 11). Every party signs one
// statement of what it has released and whom it has lost, and one consent to one set of survivors; both are flooded.
// A party goes on only with the consent of every survivor to the same set, and only when these are more than half of
// all: two such sets have a member in common, and it has signed one consent only. So no two sets ever go on.
// A pure state machine without clock, disk or key.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

struct Succession {
  std::vector<int> members{};                // ascending
  std::vector<int> released{};               // by member: its last round, as stated; what it has paid for
  std::vector<std::pair<int, int>> edges{};  // among members, without those of which one end has lost the other
  int through = 0;                           // k: the last round that all of them have released, and a whole turn
  Digest id{};  // of the run and every member's statement: node, last round, head, whom it has lost
  bool has(int node) const;
};

inline constexpr std::size_t proof_cap = 1 << 20;  // bytes of a bundle of statements and consents

// How long this party has waited since it has stated what it has, or given its consent.
enum class Patience { fresh, short_of, out_of };

class Survivors {
 public:
  Survivors(const Agreement& agreed, int self) : agreed_(agreed), self_(self) {}

  // Of a statement or consent that passed inspection: accepted, duplicate, or a second, different one of its sender's.
  Finding judge(const Message& m) const;
  void add(const Message& m, std::string bytes);

  bool begun() const { return !statements_.empty() || !consents_.empty(); }
  bool stated(int node) const { return statements_.contains(node); }
  bool consented(int node) const { return consents_.contains(node); }
  std::optional<int> stated_round(int node) const;
  std::vector<int> lost() const;  // to anybody who has stated it; ascending
  // Without this one nobody goes on, as far as is known here.
  bool needed(int node) const;

  struct Outlook {
    enum class What {
      wait,
      consent,  // to `next`, or refuse it: this party has not said anything yet
      go_on,    // as `next`: everyone in it agrees
      over      // nobody goes on with this party: `why`
    } what = What::wait;
    Succession next{};
    std::string why{};
    bool left_behind = false;   // over, and others go on
    bool contradicted = false;  // over, since they do not hold the same values
    bool for_ever = false;      // over, whoever is started again: by what is signed already
  };
  Outlook outlook(Patience patience) const;
  bool over_for_ever() const;  // whatever is still signed, nobody goes on with this party
  // Why this set, of which all have stated something, may not go on; empty: it may.
  std::string objection(const std::vector<int>& members) const;

  std::string proof() const;  // for whoever is left behind: statements and consents in a bundle (R15)
  // The signed bytes to be flooded, statements first; a key for each.
  const std::map<int, std::string>& messages() const { return bytes_; }
  int key(const Message& m) const { return m.kind == Kind::loss ? m.node : agreed_.nodes() + m.node; }

 private:
  struct Statement {
    int released;
    Digest head;
    std::vector<int> lost;
  };
  struct Signed {
    Consent consent;
    Digest id;
    int through;
  };
  std::string name(int node) const { return agreed_.name(node); }
  bool lost_by_somebody(int node) const;
  std::vector<std::pair<int, int>> edges(const std::vector<int>& among) const;
  std::vector<int> reached(int first, const std::vector<int>& among) const;
  bool has_lost(int node, int other) const;
  bool enough_heard(Patience patience) const;
  std::optional<Succession> succession(const std::vector<int>& members) const;  // nullopt: a statement is missing
  std::optional<Succession> succession(const Signed& consent) const;            // nullopt, too: it rests on others
  std::optional<Outlook> decided() const;
  Outlook looked(Patience patience) const;
  std::string impossible(const std::vector<int>& members) const;
  std::string too_few(const std::vector<int>& members) const;
  std::string unheard() const;

  const Agreement& agreed_;
  int self_;
  std::map<int, Statement> statements_;
  std::map<int, Signed> consents_;
  std::map<int, std::string> bytes_;
};

}  // namespace parley::protocol
