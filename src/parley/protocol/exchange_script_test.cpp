// Runs the scripts in exchange_scripts/*.txt and compares what happens with what stands there.
//   # a remark
//   command …        one line each; Script::command has all of them
//   ----
//   what happens     until an empty line
// With PARLEY_REWRITE=1 the files are written anew: read the change as a diff.
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "parley/base/text.h"
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string nodes_in_words(const std::vector<int>& nodes) {
  std::string text = "{";
  for (const int node : nodes) text += (text.size() > 1 ? " " : "") + std::string(1, static_cast<char>('a' + node));
  return text + "}";
}

std::string_view name_of(End end) {
  return std::array{"completed",    "interrupted", "budget_exhausted", "diverged", "peer_lost",
                    "equivocation", "refused",     "contradicted",     "continued"}[static_cast<std::size_t>(end)];
}

std::string_view name_of(Reason reason) {
  return std::array{"own", "silence", "peer_stopped", "refusal", "past_unknown", "no_agreement", "left_behind"}
      [static_cast<std::size_t>(reason)];
}

std::string described(const Message& m) {
  const std::string round = std::to_string(m.round);
  switch (m.kind) {
    case Kind::hello:
      return "hello, released " + round + ", has " + std::to_string(seen_of(m.payload)->round);
    case Kind::value:
      return "value " + round;
    case Kind::silent:
      return "silent " + round;
    case Kind::final_iterate:
      return "final of " + m.sender;
    case Kind::seal:
      return "seal of " + m.sender;
    case Kind::noise_key:
      return "noise key of " + m.sender;
    case Kind::goodbye: {
      const Goodbye g = *goodbye_of(m.payload);
      return "goodbye, " + std::string(name_of(g.end)) + ", " + std::string(name_of(g.reason)) + ": " + g.text;
    }
    case Kind::loss:
      return "loss of " + m.sender + ", released " + round + ", lost " + nodes_in_words(loss_of(m.payload)->lost);
    case Kind::consent:
      break;
  }
  const Consent c = *consent_of(m.payload);
  return (c.agrees ? "consent of " : "refusal of ") + m.sender + ", " + nodes_in_words(c.members) + " after round " +
         round;
}

class Script {
 public:
  // The output of one command, line by line.
  std::string operator()(const std::string& line) {
    said_.clear();
    Words words = split_list(line, ' ');
    const std::string verb = words.front();
    words.erase(words.begin());
    command(verb, words);
    observe();
    return said_;
  }

 private:
  struct Member {
    std::unique_ptr<Side> side;
    std::vector<Send> outbox{};
    Phase phase = Phase::recovering;
    bool reachable = true, may_exit = false;
    std::pair<std::vector<privacy::Paid>, std::string> kept{};  // ledger and transcript of an older day
  };

  void command(const std::string& verb, const Words& words) {
    if (verb == "study") return study(words);
    if (verb == "carry") return carry(true);
    if (verb == "round") return round();
    if (verb == "pass") return pass(std::stod(words.at(0)));
    if (verb == "send") return send(words);
    if (verb == "bring") return bring(words);
    if (verb == "stop")
      return at(words.at(0)).side->exchange->stop(end_of(words.at(1)), join({words.begin() + 2, words.end()}, " "));
    if (verb == "configure") return configure(at(words.at(0)), words.at(1));
    for (const std::string& who : words) each(verb, at(who), who);
  }

  void each(const std::string& verb, Member& m, const std::string& who) {
    Side& side = *m.side;
    if (verb == "release") {
      side.release();
    } else if (verb == "inbox") {
      const auto inbox = side.exchange->inbox();
      say(who + (inbox ? ": has the values of all its neighbours" : ": has to wait"));
    } else if (verb == "finish") {
      FinalIterate mine([](int) { return false; });
      for (const auto& p : side.paid) mine.add(p);
      side.exchange->finish(mine);
    } else if (verb == "cut" || verb == "heal") {
      m.reachable = verb == "heal";
    } else if (verb == "keep") {
      m.kept = {side.paid, side.medium->content};
    } else if (verb == "restore") {
      std::tie(side.paid, side.medium->content) = m.kept;
    } else if (verb == "restart") {
      restart(m, who);
    } else if (verb == "model") {
      std::ostringstream text;
      text << side.exchange->model().transpose();
      say(who + ": the model is " + text.str());
    } else {
      throw Error({.what = "no such command", .value = verb});
    }
    observe();
  }

  // study path|ring|complete PARTIES rounds ROUNDS [continue] [passed-on]
  void study(const Words& words) {
    members_.clear();
    now_ = 0;
    const int parties = std::stoi(words.at(1));
    Agreement agreed = three_in_a_row();
    agreed.rounds = std::stoi(words.at(3));
    agreed.parties.clear();
    agreed.model_of.clear();
    for (int i = 0; i < parties; ++i) {
      agreed.parties.emplace_back(1, static_cast<char>('a' + i));
      agreed.model_of.push_back(i);
    }
    agreed.graph = network::make_graph({.graph = words.at(0)}, parties);
    const auto asks = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    agreed.passed_on = asks("passed-on");
    for (int i = 0; i < parties; ++i) {
      members_.push_back({.side = std::make_unique<Side>(i, agreed)});
      if (!asks("continue")) continue;
      Side& side = *members_.back().side;
      side.consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
      side.open();
    }
  }

  void restart(Member& m, const std::string& who) {
    m.outbox.clear();
    try {
      m.side->open(now_);
      m.phase = Phase::recovering;
      m.may_exit = false;
    } catch (const Error& e) {
      say(who + ": does not start: " + e.brief());
    }
  }

  void configure(Member& m, const std::string& text) {
    m.side->agreed.configuration = text;
    m.side->agreed.configuration_hash = "hash-of-" + text;
    m.side->medium->content.clear();
  }

  static End end_of(const std::string& name) {
    for (int end = 0; end <= static_cast<int>(End::contradicted); ++end)
      if (name_of(static_cast<End>(end)) == name) return static_cast<End>(end);
    throw Error({.what = "no such end", .value = name});
  }

  // send FROM TO value ROUND [X Y], or final, or seal: signed by FROM and brought to TO whatever FROM's exchange does.
  void send(const Words& words) {
    const Member &from = at(words.at(0)), &to = at(words.at(1));
    const int last = from.side->agreed.rounds;
    const auto final_of = [&](const Side& of) {
      return of.message(Kind::final_iterate, last, payload_of(value_of(of.node, last)));
    };
    FinalIterates finals(from.side->agreed);
    for (const Member& m : members_) finals.add(final_of(*m.side), "");
    if (words.at(2) == "final") {
      deliver(from, to, from.side->signed_bytes(final_of(*from.side)), true);
      return;
    }
    if (words.at(2) == "seal") {
      deliver(from, to, from.side->signed_bytes(from.side->message(Kind::seal, last, finals.digest())), true);
      return;
    }
    const int round = std::stoi(words.at(3));
    const Vector value =
        words.size() < 5 ? value_of(from.side->node, round) : Vector{{std::stod(words.at(4)), std::stod(words.at(5))}};
    deliver(from, to, from.side->value_bytes(round, value), true);
  }

  // bring SIGNER FROM TO ROUND X Y: a value that SIGNER has signed and FROM brings to TO.
  void bring(const Words& words) {
    const Vector value{{std::stod(words.at(4)), std::stod(words.at(5))}};
    deliver(at(words.at(1)), at(words.at(2)), at(words.at(0)).side->value_bytes(std::stoi(words.at(3)), value), true);
  }

  Receipt deliver(const Member& from, const Member& to, const std::string& bytes, bool tell) {
    const std::string caller = from.side->agreed.name(from.side->node);
    const Receipt receipt = to.side->exchange->deliver(caller, bytes);
    const auto parsed = decode(bytes);
    const auto& m = std::get<Message>(parsed);
    const bool by_another = m.kind == Kind::value && m.sender != caller;
    if (tell)
      say(caller + " -> " + to.side->agreed.name(to.side->node) + "  " + described(m) +
          (by_another ? " of " + m.sender : "") + "  " + std::string(name_of(receipt.verdict)));
    observe();
    return receipt;
  }

  void carry(bool tell) {
    observe();
    for (bool busy = true; busy;) {
      busy = false;
      for (Member& from : members_)
        for (const Send& send : std::exchange(from.outbox, {})) {
          busy = true;
          Member& to = members_[static_cast<std::size_t>(send.peer)];
          if (from.reachable && to.reachable)
            from.side->exchange->answered(send.call, deliver(from, to, send.bytes, tell));
          else
            from.side->exchange->failed(send.call);
          observe();
        }
    }
  }

  // A whole round of everyone's, without a word on its messages.
  void round() {
    for (Member& m : members_) m.side->release();
    carry(false);
    for (Member& m : members_) expects(m.side->exchange->inbox().has_value(), "a round that everyone completes");
  }

  // Only what changes is told: in quiet times everyone says hello twice in a deadline.
  void pass(double seconds) {
    for (const double end = now_ + seconds; now_ < end;) {
      now_ = std::min(end, now_ + 0.25);
      for (Member& m : members_) m.side->exchange->tick(now_);
      carry(false);
    }
  }

  void observe() {
    for (Member& m : members_) {
      Exchange& exchange = *m.side->exchange;
      const std::string& who = m.side->agreed.name(m.side->node);
      Actions actions = exchange.take();
      std::ranges::move(actions.sends, std::back_inserter(m.outbox));
      if (m.phase != exchange.phase())
        say(who + ": " + std::string(name_of(m.phase)) + " -> " + std::string(name_of(exchange.phase())));
      m.phase = exchange.phase();
      for (const std::string& report : actions.reports) say(who + ": " + report);
      if (!m.may_exit && exchange.finished()) say(who + ": may exit");
      m.may_exit = exchange.finished();
    }
  }

  Member& at(const std::string& name) { return members_.at(static_cast<std::size_t>(name.at(0) - 'a')); }
  void say(const std::string& line) { said_ += line + "\n"; }

  std::vector<Member> members_;
  double now_ = 0;
  std::string said_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The file as it would stand if what happens was expected.
std::string played(const std::string& text) {
  Script script;
  std::string out, said;
  bool expected = false;
  for (const std::string& line : lines_of(text)) {
    if (line == "----") {
      out += line + "\n" + (said.empty() ? "(nothing)\n" : said) + "\n";
      said.clear();
      expected = true;
    } else if (line.empty()) {
      expected = false;
    } else if (!expected) {
      out += line + "\n";
      if (!line.starts_with("#")) said += script(line);
    }
  }
  return out;
}

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(PARLEY_FOLDER "/exchange_scripts"))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class Scripts : public testing::TestWithParam<std::string> {};

TEST_P(Scripts, HappenAsTheyStand) {
  const fs::path file = fs::path(PARLEY_FOLDER "/exchange_scripts") / (GetParam() + ".txt");
  const std::string text = read_file(file, "the script"), now = played(text);
  if (std::getenv("PARLEY_REWRITE") != nullptr && now != text) write_file(file, now);
  EXPECT_EQ(now, read_file(file, "the script")) << "PARLEY_REWRITE=1 writes it anew";
}

INSTANTIATE_TEST_SUITE_P(Exchange, Scripts, testing::ValuesIn(scripts()), [](const auto& p) { return p.param; });

}  // namespace
}  // namespace parley::protocol
