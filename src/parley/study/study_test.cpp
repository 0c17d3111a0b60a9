#include "parley/study/study_test.h"

#include <cstdlib>

#include "parley/data/mutate_test.h"
#include "parley/data/schema.h"
#include "parley/study/statement.h"

namespace parley::study {
namespace {

TEST_F(StudyFile, GivesThePlanBeforeAnyoneReadsARow) {
  const Study s = study(head + three);
  const StudyPlan p = plan_of(s);
  EXPECT_EQ(p.graph.nodes(), 3);
  EXPECT_EQ(p.graph.degree(0), 2);
  EXPECT_EQ(p.setting.features, 2);  // age and the intercept
  EXPECT_EQ(p.setting.records, (std::vector<double>{8000, 500, 8000}));
  EXPECT_LE(p.plan.epsilon(), 1);
  EXPECT_TRUE(p.plan.noisy());
  EXPECT_TRUE(not_private(s, p).empty());
  EXPECT_EQ(s.node_of("hospital_b"), 1);
  EXPECT_EQ(s.parties[1].fingerprint, std::string(64, 'b'));
  EXPECT_THAT(message_of([&] { s.node_of("hospital_x"); }), HasSubstr("did you mean 'hospital_"));
}

TEST_F(StudyFile, WarnsOfAPartyThatConnectsTheOthersWhereALossIsSurvived) {
  const std::string four = three + party("hospital_d"), five = four + party("hospital_e");
  const auto warnings = [&](const std::string& parties, const std::string& graph, const std::string& on_loss) {
    std::string beginning = head;
    beginning.replace(beginning.find("complete"), 8, graph);
    const Study s = study(beginning + "on-loss = \"" + on_loss + "\"\n" + parties);
    std::vector<std::string> found;
    for (const std::string& text : plan_of(s).plan.warnings)
      if (text.starts_with("on-loss")) found.push_back(text);
    return join(found, "\n");
  };
  EXPECT_EQ(warnings(five, "path", "stop"), "");
  EXPECT_EQ(warnings(five, "ring", "continue"), "");
  EXPECT_EQ(warnings(five, "complete", "continue"), "");
  const std::string path = warnings(five, "path", "continue");
  EXPECT_THAT(path,
              HasSubstr("reach each other only through hospital_b, or only through hospital_d. Such a party can"));
  EXPECT_THAT(path, HasSubstr("only through hospital_c. If such a party is lost, no more than half"));
  EXPECT_THAT(warnings(four, "path", "continue"), Not(HasSubstr("two models")));
}

TEST_F(StudyFile, OfAStarHasItsTrainerLastWhereverItStands) {
  const std::string star =
      std::string(head).replace(head.find("mr-admm"), 7, "dp-admm").replace(head.find("complete"), 8, "auto");
  const Study s = study(star + party("coordinator", "trainer = true") + three);
  EXPECT_EQ(s.node_of("coordinator"), 3);
  const StudyPlan p = plan_of(s);
  EXPECT_EQ(p.graph.nodes(), 4);
  EXPECT_EQ(p.graph.degree(3), 3);
  EXPECT_TRUE(p.plan.star());
  EXPECT_EQ(p.plan.nodes.size(), 3U);
  EXPECT_THAT(planning(star + three), HasSubstr("dp-admm runs around one trainer; got 0"));
  EXPECT_THAT(planning(star + three + party("x", "trainer = true") + party("f", "trainer = true")),
              HasSubstr("got 2 trainers"));
  EXPECT_THAT(planning(head + three + party("x", "trainer = true")), HasSubstr("between peers and has no trainer"));
  EXPECT_THAT(reading(star + party("x", "trainer = true\nrecords = 5")), HasSubstr("the trainer x holds no records"));
}

TEST_F(StudyFile, EveryMistakeIsToldAtOnceWithItsLine) {
  const std::string text = reading(
      "title = \"x\"\nnonce = \"zz\"\nrouns = 3\nrounds = -2\nwait-seconds = 1\nseed = 1979-05-27\nloss = \"logstic\"\n"
      "[privacy]\ntitle = \"y\"\n[nonsense]\nx = 1\n" +
      party("hospital_a", "records = 0\nrecrods = 3") + party("Hospital", "epsilon = 2"));
  const std::string file = (folder / "study.toml").string();
  EXPECT_THAT(text, HasSubstr(file + ":2: the nonce is not 32"));
  EXPECT_THAT(text, HasSubstr(file + ":3: unknown option 'rouns'\n  what to do: did you mean 'rounds'?"));
  EXPECT_THAT(text, HasSubstr(file + ":4: rounds = -2 but must be from 0 to 1e+06\n  what to do: give rounds a value"));
  EXPECT_THAT(text, HasSubstr(file + ":5: wait-seconds is below deadline-seconds"));
  EXPECT_THAT(text, HasSubstr(file + ":6: no option is a date or a table"));
  EXPECT_THAT(text, HasSubstr(file + ":7: loss = logstic but must be"));
  EXPECT_THAT(text, HasSubstr(file + ":10: unknown table [nonsense]"));
  EXPECT_THAT(text, HasSubstr("title is given twice"));
  EXPECT_THAT(text, HasSubstr(":16: the records of hospital_a are not a number of rows; got 0"));
}

TEST_F(StudyFile, TheRosterIsCheckedPartyByParty) {
  EXPECT_THAT(reading(head + three + party("hospital_a")), HasSubstr("two parties have the same name"));
  std::string same = head + three;
  same.replace(same.find("hospital_b.example"), 18, "hospital_a.example");
  EXPECT_THAT(reading(same), HasSubstr("the same address: hospital_a and hospital_b; got hospital_a.example:7400"));
  same = head + three;
  same.replace(same.find(std::string(64, 'b')), 64, std::string(64, 'a'));
  EXPECT_THAT(reading(same), HasSubstr("the same fingerprint: hospital_a and hospital_b"));
  EXPECT_THAT(reading(head + party("hospital_a", "")), HasSubstr("the records of hospital_a"));
  EXPECT_THAT(reading(head + party("Hospital")), HasSubstr("1 to 64 of a-z"));
  EXPECT_THAT(reading(head + "[[party]]\n"), HasSubstr("the address of this party is not host:port"));
  EXPECT_THAT(reading(head + "[[party]]\n"), HasSubstr("is not a SHA-256"));
  EXPECT_THAT(reading(head + "party = 3\n"), HasSubstr("write [[party]] above each"));
  EXPECT_THAT(reading(head + "party = [1]\n"), HasSubstr("write [[party]] above each"));
  EXPECT_THAT(reading(head + party("hospital_a") + "rounds = 3\n"), HasSubstr("move it above the first [[party]]"));
  EXPECT_THAT(reading(head + party("hospital_a") + "adress = 3\n"), HasSubstr("did you mean 'address'?"));
  for (const std::string good : {"a:1", "10.0.0.5:65535", "[::1]:7400", "ward-1.example.org:7400"})
    EXPECT_EQ(reading(head + "[[party]]\nname=\"a\"\nrecords=1\nfingerprint=\"" + std::string(64, 'a') +
                      "\"\naddress=\"" + good + "\"\n"),
              "(no Error)");
  for (const std::string bad :
       {"", "a", ":1", "a:", "a:0", "a:65536", "a b:1", "http://a:1", "::1:80", "[:1", "[]:1", "a:1x"})
    EXPECT_THAT(reading(head + "[[party]]\nname=\"a\"\nrecords=1\nfingerprint=\"" + std::string(64, 'a') +
                        "\"\naddress=\"" + bad + "\"\n"),
                HasSubstr("not host:port"))
        << bad;
}

TEST_F(StudyFile, AStudyThatCannotStartSaysWhy) {
  EXPECT_THAT(planning(head + party("hospital_a")), HasSubstr("needs two parties with records; got 1"));
  EXPECT_THAT(planning(head.substr(0, head.find("schema")) + head.substr(head.find("graph")) + three),
              HasSubstr("neither a schema nor a number of features"));
  std::string text = head + three;
  EXPECT_THAT(planning(text.replace(text.find("schema.toml"), 11, "nothing.toml")),
              HasSubstr("nothing.toml does not exist"));
  const std::string file = (folder / "study.toml").string();
  text = head + three;
  EXPECT_THAT(planning(text.replace(text.find("complete"), 8, "0-1")),
              HasSubstr(file + ":4: the graph is not connected"));
  text = head + three;
  EXPECT_THAT(planning(text.replace(text.find("rounds"), 0, "loss = \"huber\"\n")),
              HasSubstr(file + ":6: the label has two classes, +1 and -1"));
  for (const char* elsewhere : {"/dev/zero", "../schema.toml", "a/../../b.toml"}) {
    text = head + three;
    EXPECT_THAT(planning(text.replace(text.find("schema.toml"), 11, elsewhere)),
                AllOf(HasSubstr("a study names files beside itself only"), HasSubstr(elsewhere)));
  }
  text = head + three;
  EXPECT_THAT(planning(text.replace(text.find("schema.toml"), 11, ".")), HasSubstr("not a file of at most 1 MiB"));
  text = head + three;
  EXPECT_THAT(planning(text.replace(text.find("complete"), 8, "/etc/shadow")),
              HasSubstr(file + ":4: a study names files beside itself only"));
  text = head + three;
  const std::string lists = planning(text.replace(text.find("epsilon = 1"), 11, "epsilon = [1, 2]"));
  EXPECT_THAT(lists, HasSubstr(file + ":8: epsilon has 2 values for 3 nodes"));
  EXPECT_THAT(lists, Not(HasSubstr("--")));
}

TEST_F(StudyFile, ASeedIsStampedNotPrivate) {
  const Study s = study("seed = 3\n" + head + three);
  EXPECT_THAT(not_private(s, plan_of(s)), testing::ElementsAre("noise from seed 3"));
  std::string text = head + three;
  text.replace(text.find("epsilon = 1\ndelta = 1e-6"), 24, "noise = \"none\"");
  const Study plain = study(text);
  EXPECT_THAT(not_private(plain, plan_of(plain)), testing::ElementsAre("no noise"));
}

TEST_F(StudyFile, TheTemplateParsesAndNoTwoAreAlike) {
  const Study s = study(study_template());
  EXPECT_TRUE(s.parties.empty());
  EXPECT_EQ(s.graph.graph, "complete");
  EXPECT_EQ(s.deadline_seconds, Study{}.deadline_seconds);
  EXPECT_NE(s.nonce, study(study_template()).nonce);
  EXPECT_THAT(study_template(), Not(HasSubstr("--epsilon")));
  const Study full = study(study_template() + three);
  EXPECT_NO_THROW(plan_of(full));
}

TEST_F(StudyFile, AnInvitationAddsABlockAndKeepsEveryByteBefore) {
  const identity::Time now{std::chrono::seconds(1'800'000'000)};
  const identity::Certificate c = identity::self_issue(identity::make_key(), "hospital_d", {now});
  const std::string before = head + three + "# a last word, without a newline";
  const Invited d{.name = "hospital_d",
                  .address = "d:1",
                  .fingerprint = c.fingerprint,
                  .certificate = c.chain_pem(),
                  .records = 77};
  const std::string after = with_party(before, d);
  EXPECT_TRUE(after.starts_with(before + "\n"));
  const Study s = study(after);
  ASSERT_EQ(s.parties.size(), 4U);
  EXPECT_EQ(s.parties[3].records, 77);
  ASSERT_TRUE(s.parties[3].pinned);
  EXPECT_EQ(s.parties[3].pinned->fingerprint, c.fingerprint);
  std::string forged = after;
  forged.replace(forged.find(c.fingerprint), 4, c.fingerprint.starts_with("0000") ? "1111" : "0000");
  EXPECT_THAT(reading(forged), HasSubstr("does not have the fingerprint beside it"));
  std::string renamed = after;
  renamed.replace(renamed.find("hospital_d"), 10, "hospital_e");
  EXPECT_THAT(reading(renamed), HasSubstr("the certificate of hospital_e is for 'hospital_d'"));
}

TEST_F(StudyFile, ACertificateMayStandInAFileBesideTheStudy) {
  const identity::Time now{std::chrono::seconds(1'800'000'000)};
  const identity::PrivateKey key = identity::make_key();
  const identity::Certificate c = identity::self_issue(key, "hospital_d", {now});
  identity::write_certificate(c, folder / "d.pem");
  Invited d{.name = "hospital_d", .address = "d:1", .fingerprint = c.fingerprint, .certificate = "d.pem", .records = 7};
  EXPECT_EQ(study(with_party(head, d)).parties[0].pinned->pem, c.pem);
  d.certificate = "none.pem";
  EXPECT_THAT(reading(with_party(head, d)), HasSubstr("none.pem: the certificate cannot be read"));
  const identity::Certificate ca = identity::make_authority(key, "hospital_d", {now});
  d.certificate = ca.pem;
  EXPECT_THAT(reading(with_party(head, d)), HasSubstr("is an authority's"));
}

TEST_F(StudyFile, TheGraphMayStandInAFileBesideTheStudy) {
  write_file(folder / "edges.txt", "0 1\n1 2\n");
  std::string text = head + three;
  text.replace(text.find("complete"), 8, "edges.txt");
  const Study s = study(text);
  EXPECT_EQ(plan_of(s).graph.edges().size(), 2U);
}

TEST_F(StudyFile, ClassWeightsAreAgreedOn) {
  std::string text = head + three;
  text.replace(text.find("mr-admm"), 7, "newton");
  const auto with = [&](const std::string& lines) {
    std::string other = text;
    return other.insert(other.find("epsilon ="), lines);
  };
  const json plain = canonical(text), weighted = canonical(with("class-weight = \"1,4\"\n"));
  EXPECT_NE(study_hash(plain), study_hash(weighted));
  EXPECT_NE(study_hash(weighted), study_hash(canonical(with("class-weight = \"4,1\"\n"))));
  EXPECT_EQ(study_hash(weighted), study_hash(canonical(with("class-weight = \"1.0, 4\"\n")))) << "one decision";
  EXPECT_EQ(weighted["planned"], canonical(with("class-weight = \"1.0, 4\"\n"))["planned"]);
  for (const char* extreme : {"1e300,1e300", "1,1e-7"})
    EXPECT_THAT(message_of([&] { plan_of(study(with("class-weight = \"" + std::string(extreme) + "\"\n"))); }),
                testing::AllOf(HasSubstr("class-weight"), HasSubstr("1e-06"), HasSubstr("1e+06")));
  EXPECT_NE(study_hash(canonical(with("class-weight = \"balanced\"\nclass-share = 0.1\n"))),
            study_hash(canonical(with("class-weight = \"balanced\"\nclass-share = 0.2\n"))));
  const auto noise = [&](const std::string& of) {
    return plan_of(study(of)).plan.nodes[0].private_rounds[0].gradient_scale;
  };
  EXPECT_NEAR(noise(with("class-weight = \"1,4\"\n")) / noise(with("clip = 0.5\n")), 4, 1e-3);
  EXPECT_THAT(message_of([&] { plan_of(study(with("class-weight = \"balanced\"\n"))); }),
              HasSubstr("how many records a class has is private"));
  const auto stated = [&](const std::string& of) {
    const Study s = study(of);
    return statement_json(s, plan_of(s), 1, std::string(64, 'a'), {}, {.epsilon = 0.5, .delta = 1e-6, .rounds = 50});
  };
  const json statement = stated(with("class-weight = \"1,4\"\n"));
  EXPECT_EQ(statement["class_weights"], json({1, 4}));
  EXPECT_THAT(statement_text(statement),
              HasSubstr("with the weights 1, 4 in the order of the classes; these, and a share of "
                        "the classes that they follow from, were chosen without looking at the rows"));
  EXPECT_FALSE(stated(text).contains("class_weights"));
  EXPECT_THAT(statement_text(stated(text)), Not(HasSubstr("weights")));
}

TEST_F(StudyFile, SumsGoToEverybodyOnAnyConnectedGraph) {
  std::string text = head + three;
  const auto with = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  with("mr-admm", "newton");
  EXPECT_EQ(plan_of(study(text)).graph.edges().size(), 3u);
  with("complete", "path");
  const StudyPlan path = plan_of(study(text));
  EXPECT_EQ(path.graph.edges().size(), 2u);
  EXPECT_THAT(path.heard_by(0), testing::ElementsAre(1, 2));
  const long d = path.setting.features;
  EXPECT_EQ(path.setting.entries, data::most_entries(data::parse_schema(schema, "schema"))) << "as in a simulation";
  EXPECT_EQ(path.plan.largest_size(d), d * (d + 1) / 2 + d);
  with("path", "auto");
  EXPECT_EQ(plan_of(study(text)).graph.edges().size(), 3u) << "all call each other";
}

TEST_F(StudyFile, DamagedFilesAreReadOrRefusedAndNothingElse) {
  auto random = data::repeatable_random(5);
  const identity::Certificate c =
      identity::self_issue(identity::make_key(), "hospital_d", {identity::Time{std::chrono::seconds(1'800'000'000)}});
  const std::string text = with_party(
      head + three,
      {.name = "hospital_d", .address = "d:1", .fingerprint = c.fingerprint, .certificate = c.pem, .records = 9});
  int read = 0, refused = 0;
  const int inputs = std::getenv("PARLEY_TEST_FULL") ? 1000000 : 3000;
  for (int i = 0; i < inputs; ++i) {
    const std::string damaged = data::mutated(text, "[]=\"'.\n#-0129aeinr_ ", random);
    try {
      const Study s = study(damaged);
      const json there = canonical_json(s, plan_of(s));
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

// Before a budget was asked of everybody, a study without one ran with the noise that its algorithm has by definition.
TEST_F(StudyFile, AStudyThatRanWithoutABudgetCanStillBeCheckedAndNoNewOneBegins) {
  std::string text = head + three;
  text.replace(text.find("epsilon = 1\ndelta = 1e-6"), 24, "");
  const Study old = study(text);
  EXPECT_THAT(message_of([&] { plan_of(old); }), HasSubstr("how much privacy? The study has no budget"));
  const StudyPlan past = plan_of_past(old);
  EXPECT_EQ(past.plan.options.noise_rate, std::vector<double>{0.5});
  EXPECT_EQ(study_hash(canonical_json(old, past)), study_hash(canonical_json(study(text), plan_of_past(study(text)))));
  const Study now = study(head + three);
  EXPECT_EQ(study_hash(canonical_json(now, plan_of(now))), study_hash(canonical_json(now, plan_of_past(now))));
  text.replace(text.find("[[party]]"), std::string::npos, party("hospital_a"));
  EXPECT_THAT(message_of([&] { plan_of_past(study(text)); }), HasSubstr("two parties with records"))
      << "all else holds";
}

}  // namespace
}  // namespace parley::study
