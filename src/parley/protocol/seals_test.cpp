// The end of a run (R15): complete where every party has signed the same final iterates.
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

// Two honest parties at the ends of a row, and in the middle whatever the test says by hand.
class BetweenTwo : public testing::Test {
 protected:
  BetweenTwo() {
    agreed_.counts = [](int round) { return round > 1; };
    for (const int node : {0, 2}) ends_.push_back(std::make_unique<Side>(node, agreed_));
  }
  Side& end(int node) { return *ends_[static_cast<std::size_t>(node / 2)]; }

  // What the middle shows this end, as the messages that it would sign.
  static Vector shown(int round, double shift) { return value_of(1, round) + Vector{{shift, 0.0}}; }
  Message made(Kind kind, int round, std::string payload, double shift) const {
    Message m = middle_.message(kind, round, std::move(payload));
    m.head = {};
    for (int k = 0; k <= round; ++k) m.head = next_head(m.head, m.run, 1, k, payload_of(shown(k, shift)));
    return m;
  }
  Receipt deliver(int to, const Message& m) { return deliver(to, middle_.signed_bytes(m)); }
  Receipt deliver(int to, const std::string& bytes) { return end(to).exchange->deliver("hospital_b", bytes); }

  // Answers what an end sends: accepted, and to a hello with one of its own. What is to be passed on is kept.
  void answer(int from, double shift) {
    for (bool busy = true; busy;) {
      const Actions actions = end(from).exchange->take();
      busy = !actions.sends.empty();
      for (const Send& send : actions.sends) {
        const auto parsed = decode(send.bytes);
        const Message& m = std::get<Message>(parsed);
        Receipt receipt;
        if (m.kind == Kind::hello) {
          const Message hello = made(Kind::hello, round_,
                                     payload_of(Seen{.round = m.round, .head = m.head, .process = m.process}), shift);
          receipt.attachment = middle_.signed_bytes(hello);
        }
        if (m.kind == Kind::goodbye && refuses_goodbyes_) receipt = {.verdict = Verdict::unavailable, .reason = "no"};
        if (m.kind == Kind::final_iterate || m.kind == Kind::seal) last_words_[{from, m.kind}] = send.bytes;
        end(from).exchange->answered(send.call, receipt);
      }
    }
  }

  void pass(double from, double to) {
    for (double now = from; now <= to; now += 0.25) {
      end(0).exchange->tick(now);
      answer(0, 0);
    }
  }

  // Through the last round: the middle shows each end another history.
  void all_rounds(double to_a, double to_c) {
    for (int round = 0; round <= agreed_.rounds; ++round) {
      for (const int node : {0, 2}) {
        const double shift = node == 0 ? to_a : to_c;
        answer(node, shift);
        end(node).release();
        answer(node, shift);
        round_ = round;
        EXPECT_TRUE(deliver(node, made(Kind::value, round, payload_of(shown(round, shift)), shift)).good());
        EXPECT_TRUE(end(node).exchange->inbox().has_value());
        round_ = node == 0 ? round - 1 : round;
      }
    }
    for (const int node : {0, 2}) {
      FinalIterate mine(agreed_.counts);
      for (const auto& p : end(node).paid) mine.add(p);
      end(node).exchange->finish(mine);
      answer(node, node == 0 ? to_a : to_c);
    }
  }
  Message final_of_middle(double shift) const {
    const Vector mean = (shown(2, shift) + shown(3, shift)) / 2;
    return made(Kind::final_iterate, agreed_.rounds, payload_of(mean), shift);
  }
  std::optional<End> ending(int node) {
    if (const auto& ending = end(node).exchange->ending()) return ending->end;
    return std::nullopt;
  }

  Agreement agreed_ = three_in_a_row();
  Side middle_{1, agreed_};
  std::vector<std::unique_ptr<Side>> ends_;
  int round_ = -1;
  bool refuses_goodbyes_ = false;
  std::map<std::pair<int, Kind>, std::string> last_words_;
};

TEST_F(BetweenTwo, WhoeverShowsTwoHistoriesCannotHaveBothCalledComplete) {
  all_rounds(0, 0.25);
  for (const int node : {0, 2}) {
    EXPECT_TRUE(deliver(node, final_of_middle(node == 0 ? 0 : 0.25)).good());
    EXPECT_TRUE(deliver(node, last_words_.at({2 - node, Kind::final_iterate})).good());
    answer(node, node == 0 ? 0 : 0.25);
    EXPECT_EQ(ending(node), std::nullopt) << "all final iterates are here, and nobody has said that they are the same";
  }
  for (const int node : {0, 2}) {
    deliver(node, last_words_.at({2 - node, Kind::seal}));
    EXPECT_EQ(ending(node), std::nullopt) << "who has signed two may still be found out";
    end(node).exchange->tick(1);
    end(node).exchange->tick(2.25);
    EXPECT_EQ(ending(node), End::contradicted);
  }
}

TEST_F(BetweenTwo, WhoPassesTheOtherSFinalIterateOnIsNamed) {
  all_rounds(0, 0.25);
  EXPECT_TRUE(deliver(0, final_of_middle(0)).good());
  EXPECT_EQ(deliver(0, final_of_middle(0.25)).verdict, Verdict::other_history);
  EXPECT_EQ(ending(0), End::equivocation);
  EXPECT_THAT(*end(0).exchange->contradiction(), HasSubstr("hospital_b"));
}

TEST_F(BetweenTwo, AFinalIterateThatDoesNotFollowFromTheReleasesIsAContradiction) {
  all_rounds(0, 0);
  Message m = final_of_middle(0);
  m.payload = payload_of(Vector{{1, 1}});
  EXPECT_EQ(deliver(0, m).verdict, Verdict::second_value);
  EXPECT_EQ(ending(0), End::equivocation);
}

TEST_F(BetweenTwo, WithEverybodysSealTheRunIsCompleteAlsoAfterARestart) {
  all_rounds(0, 0);
  for (const int node : {0, 2}) {
    EXPECT_TRUE(deliver(node, final_of_middle(0)).good());
    EXPECT_TRUE(deliver(node, last_words_.at({2 - node, Kind::final_iterate})).good());
    answer(node, 0);
  }
  Message seal =
      made(Kind::seal, agreed_.rounds, std::get<Message>(decode(last_words_.at({0, Kind::seal}))).payload, 0);
  for (const int node : {0, 2}) {
    EXPECT_TRUE(deliver(node, seal).good());
    EXPECT_EQ(ending(node), std::nullopt);
    EXPECT_TRUE(deliver(node, last_words_.at({2 - node, Kind::seal})).good());
    EXPECT_EQ(ending(node), End::completed);
  }
  EXPECT_EQ(end(0).exchange->model(), end(2).exchange->model());
  seal.payload[0] = static_cast<char>(seal.payload[0] ^ 1);
  EXPECT_EQ(deliver(0, seal).verdict, Verdict::second_value);  // kept and reported; the model stands
  EXPECT_EQ(ending(0), End::completed);
}

TEST_F(BetweenTwo, AMissingSealIsNotAwaitedForEver) {
  all_rounds(0, 0);
  EXPECT_TRUE(deliver(0, final_of_middle(0)).good());
  EXPECT_TRUE(deliver(0, last_words_.at({2, Kind::final_iterate})).good());
  pass(0, 100);
  EXPECT_EQ(ending(0), std::nullopt) << "wait is 100 s, and there are eight deadlines more";
  pass(100, 120);
  EXPECT_EQ(ending(0), End::peer_lost);
  EXPECT_THAT(end(0).exchange->ending()->text, HasSubstr("hospital_b, hospital_c"));
}

TEST_F(BetweenTwo, WhoRefusesEveryGoodbyeDoesNotHoldACompletedParty) {
  all_rounds(0, 0);
  EXPECT_TRUE(deliver(0, final_of_middle(0)).good());
  EXPECT_TRUE(deliver(0, last_words_.at({2, Kind::final_iterate})).good());
  answer(0, 0);
  Message seal =
      made(Kind::seal, agreed_.rounds, std::get<Message>(decode(last_words_.at({0, Kind::seal}))).payload, 0);
  EXPECT_TRUE(deliver(0, seal).good());
  seal = end(2).message(Kind::seal, agreed_.rounds, seal.payload);
  EXPECT_TRUE(deliver(0, end(2).signed_bytes(seal)).good());
  ASSERT_EQ(ending(0), End::completed);
  refuses_goodbyes_ = true;
  pass(0, 100);
  EXPECT_FALSE(end(0).exchange->finished());
  pass(100, 120);
  EXPECT_TRUE(end(0).exchange->finished());
}

// Four parties whose carrier lets everything pass but one's last words.
class KeptBack : public testing::Test {
 protected:
  void begin(const std::vector<std::pair<int, int>>& edges, bool goes_on) {
    agreed_.parties.emplace_back("hospital_d");
    agreed_.graph = network::Graph(4, edges);
    agreed_.model_of = {0, 1, 2, 3};
    for (int node = 0; node < 4; ++node) {
      sides_.push_back(std::make_unique<Side>(node, agreed_));
      if (!goes_on) continue;
      sides_.back()->consent = [](const Succession&) { return Consent{.agrees = true, .configuration = "next"}; };
      sides_.back()->open();
    }
    for (int round = 0; round <= agreed_.rounds; ++round) {
      for (auto& s : sides_) s->release();
      carry();
      for (auto& s : sides_) ASSERT_TRUE(s->exchange->inbox().has_value());
    }
    for (auto& s : sides_) {
      FinalIterate mine([](int) { return false; });
      for (const auto& p : s->paid) mine.add(p);
      s->exchange->finish(mine);
    }
    carry();
  }
  void carry() {
    for (bool busy = true; busy;) {
      busy = false;
      for (auto& from : sides_) {
        const Actions actions = from->exchange->take();
        for (const LogLine& line : actions.reports) log_ += line.text + "\n";
        for (const Send& send : actions.sends) {
          busy = true;
          const auto parsed = decode(send.bytes);
          const Message& m = std::get<Message>(parsed);
          if (m.kind == kept_ && (m.node == 3 || (send.peer == 1 && now_ < late_))) {
            from->exchange->failed(send.call);
            continue;
          }
          Receipt receipt = at(send.peer).deliver(agreed_.name(from->node), as_it_says(send.bytes, send.peer));
          if (m.kind == Kind::hello && receipt.good()) receipt.attachment = as_it_says(receipt.attachment, from->node);
          from->exchange->answered(send.call, receipt);
        }
      }
    }
  }
  void pass(double seconds) {
    for (const double end = now_ + seconds; now_ < end;) {
      now_ += 0.25;
      for (auto& s : sides_) s->exchange->tick(now_);
      carry();
    }
  }
  // A hello of d's: to a it says that it waits for c, and to c for a.
  std::string as_it_says(const std::string& bytes, int to) const {
    auto parsed = decode(bytes);
    Message& m = std::get<Message>(parsed);
    if (m.kind != Kind::hello || m.node != 3 || !says_that_it_waits_) return bytes;
    Seen seen = *seen_of(m.payload);
    seen.waits_for = 2 - to;
    m.payload = payload_of(seen);
    return sides_[3]->signed_bytes(m);
  }
  Exchange& at(int node) { return *sides_[static_cast<std::size_t>(node)]->exchange; }
  void expect_that_three_go_on() {
    for (int node = 0; node < 3; ++node) {
      ASSERT_TRUE(at(node).ending().has_value()) << node << "\n" << log_;
      ASSERT_EQ(at(node).ending()->end, End::continued) << at(node).ending()->text;
      EXPECT_EQ(at(node).succession()->members, (std::vector<int>{0, 1, 2}));
      EXPECT_EQ(at(node).succession()->through, agreed_.rounds) << "nothing is left to release";
      EXPECT_EQ(at(node).succession()->id, at(0).succession()->id);
    }
  }

  Agreement agreed_ = three_in_a_row();
  std::vector<std::unique_ptr<Side>> sides_;
  std::string log_;
  Kind kept_ = Kind::seal;
  bool says_that_it_waits_ = false;
  double late_ = 0;  // b gets those of the others at this time
  double now_ = 0;
};

const std::vector<std::pair<int, int>> all_to_all = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
const std::vector<std::pair<int, int>> around = {{0, 1}, {0, 3}, {1, 2}, {2, 3}};

TEST_F(KeptBack, WhoGivesNoSealIsLostAndTheOthersGoOn) {
  begin(all_to_all, true);
  EXPECT_EQ(at(3).ending()->end, End::completed) << "it has everybody's";
  pass(100);
  EXPECT_FALSE(at(0).ending().has_value()) << "wait is 100 s, and there are eight deadlines more";
  EXPECT_THAT(log_, HasSubstr("the seal of hospital_d has not come for 54 s; without it a party that keeps it back is "
                              "lost after 108 s"));
  pass(30);
  EXPECT_THAT(log_, HasSubstr("the seal of hospital_d has not come for 108 s: it is lost; asking all who are left"));
  expect_that_three_go_on();
}

TEST_F(KeptBack, WhoGivesNoFinalIterateIsLostAndTheOthersGoOn) {
  kept_ = Kind::final_iterate;
  begin(all_to_all, true);
  pass(130);
  expect_that_three_go_on();
}

TEST_F(KeptBack, WhoHearsOfTheLossBeforeItsOwnTimeIsUpLosesItToo) {
  kept_ = Kind::final_iterate;
  late_ = 30;
  begin(all_to_all, true);
  pass(130);
  EXPECT_THAT(log_, HasSubstr("others have lost hospital_d"));
  expect_that_three_go_on();  // and not all four, by the edge that only b would have left
}

TEST_F(KeptBack, WhoseNeighboursFindItOutIsLostToAll) {
  begin(around, true);  // b is no neighbour of d's
  pass(330);
  expect_that_three_go_on();
}

TEST_F(KeptBack, WhoSaysThatItWaitsForAnotherIsLostLater) {
  kept_ = Kind::final_iterate;
  says_that_it_waits_ = true;
  begin(around, true);
  pass(400);
  EXPECT_FALSE(at(0).ending().has_value()) << log_;
  pass(60);  // 108 s for each party: that is its own word
  expect_that_three_go_on();
}

TEST_F(KeptBack, WhereALossEndsTheStudyItIsSaidWhatToDoFirst) {
  begin(all_to_all, false);
  pass(130);
  for (int node = 0; node < 3; ++node) {
    EXPECT_EQ(at(node).ending()->end, End::peer_lost);
    EXPECT_THAT(
        at(node).ending()->text,
        HasSubstr("the seal of hospital_d has not come for 108 s, although everybody answers: started again, this "
                  "party waits for it again; first ask its owner why"));
  }
}

}  // namespace
}  // namespace parley::protocol
