// Approvals of a study: what counts, and what anybody may have written into the file.
#include "parley/study/approval/approval.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/study/study_test.h"

namespace parley::study {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string date = "2026-11-18T20:40:00Z";

struct ApprovalFile : StudyFile {
  std::vector<identity::Identity> who;
  Study agreed;
  std::string hash;

  void SetUp() override {
    StudyFile::SetUp();
    std::string text = head;
    for (const char* name : {"hospital_a", "hospital_b"}) {
      const identity::PrivateKey key = identity::make_key();
      who.push_back({key, identity::self_issue(key, name, {identity::Time{std::chrono::seconds(1'800'000'000)}})});
      text = with_party(text, {.name = name,
                               .address = std::string(name) + ".example:7400",
                               .fingerprint = who.back().certificate.fingerprint,
                               .certificate = who.back().certificate.pem,
                               .records = 8000});
    }
    agreed = study(text);
    hash = study_hash(canonical_json(agreed, plan_of(agreed)));
  }
  Approval approval(int party, const std::string& words = "Approved. A. Officer") const {
    return {.study = hash, .party = agreed.parties[static_cast<std::size_t>(party)].name, .date = date, .words = words};
  }
  void sign(int party, const std::string& words = "Approved. A. Officer") const {
    add_approval(agreed, approval(party, words), who[static_cast<std::size_t>(party)]);
  }
  void put(const std::string& text) const { write_file(approvals_file(agreed.file), text); }
  std::string bare(int party) const {  // another signature each time, of another length
    return signed_approval(approval(party), who[static_cast<std::size_t>(party)].key);
  }
  std::string line(int party) const { return bare(party) + "\n"; }
  std::string required() const {
    return message_of([&] { require_approvals(agreed, hash); });
  }
  std::string refused(const std::string& bad) const {  // beside two good lines
    put(line(0) + bad + "\n" + line(1));
    const Approvals all = read_approvals(agreed, hash);
    EXPECT_EQ(all.refused.size(), 1U) << bad;
    EXPECT_FALSE(all.complete()) << bad;
    EXPECT_NE(required(), "(no Error)") << bad;
    return all.refused.empty() ? "" : all.refused[0];
  }
};

TEST_F(ApprovalFile, EveryPartySignsAndOnlyThenTheStudyIsApproved) {
  EXPECT_EQ(approvals_file(agreed.file), folder / "study.approvals");
  EXPECT_THAT(required(), HasSubstr("not approved by all parties"));
  EXPECT_THAT(required(), HasSubstr("hospital_a, hospital_b"));
  sign(0, "Für Station 2. A. Officer");
  EXPECT_THAT(read_approvals(agreed, hash).missing, ElementsAre("hospital_b"));
  EXPECT_THAT(required(), HasSubstr("no valid approval of hospital_b"));
  sign(1);
  const Approvals all = read_approvals(agreed, hash);
  EXPECT_TRUE(all.complete());
  EXPECT_THAT(in_words(all.valid[0]), HasSubstr("hospital_a approved on " + date + ": \"Für Station 2. A. Officer\""));
  EXPECT_EQ(required(), "(no Error)");
  EXPECT_EQ(study_hash(canonical_json(agreed, plan_of(agreed))), hash) << "approvals are no part of the study";
  EXPECT_THAT(message_of([&] { sign(0); }), HasSubstr("has approved this very study already"));
}

TEST_F(ApprovalFile, FilesOfTwoPartiesArePutTogetherByTheirLines) {
  put(line(1) + "\n" + line(0));
  EXPECT_TRUE(read_approvals(agreed, hash).complete());
  put(bare(0) + "\r\n" + bare(1));
  EXPECT_TRUE(read_approvals(agreed, hash).complete());
}

TEST_F(ApprovalFile, AnApprovalOfAnotherStudyDoesNotCountAndIsReplacedByItsOwnPartyAlone) {
  Approval other = approval(0);
  other.study = std::string(64, '7');
  EXPECT_THAT(refused(signed_approval(other, who[0].key)), HasSubstr("approved another study (hash 7777777777777777"));
  put(signed_approval(other, who[0].key) + "\n" + line(1));
  EXPECT_THAT(read_approvals(agreed, hash).missing, ElementsAre("hospital_a"));
  sign(0);
  EXPECT_TRUE(read_approvals(agreed, hash).complete());
  other.party = "hospital_b";
  put(signed_approval(other, who[1].key) + "\n");
  sign(0);
  EXPECT_EQ(read_approvals(agreed, hash).refused.size(), 1U);
}

TEST_F(ApprovalFile, AnotherKeyAnotherPartyAndASecondLineAreRefused) {
  EXPECT_THAT(refused(signed_approval(approval(0), who[1].key)), HasSubstr("not that of hospital_a"));
  EXPECT_THAT(refused(bare(0)), HasSubstr("a second approval of hospital_a"));
  Approval stranger = approval(0);
  stranger.party = "hospital_z";
  EXPECT_THAT(refused(signed_approval(stranger, who[0].key)), HasSubstr("hospital_z is not in the roster"));
  put(signed_approval(approval(0), who[1].key) + "\n" + line(1));
  EXPECT_THAT(required(), HasSubstr("no valid approval of hospital_a"));
}

TEST_F(ApprovalFile, AnyChangedByteOfALineIsRefused) {
  for (const char* part : {"Officer", "2026-11-18", "hospital_a", "parley-approval-1"}) {
    std::string changed = line(0);
    std::string other = part;
    other.back() = other.back() == 'b' ? 'a' : 'b';
    changed.replace(changed.find(part), other.size(), other);
    put(changed + line(1));
    EXPECT_FALSE(read_approvals(agreed, hash).complete()) << part;
    EXPECT_THAT(read_approvals(agreed, hash).missing, testing::Contains("hospital_a")) << part;
  }
}

TEST_F(ApprovalFile, GarbageIsNamedByItsLineAndNeverApproves) {
  std::vector<std::string> all = {"{",
                                  "null",
                                  "[]",
                                  "{}",
                                  "7",
                                  R"({"approval": {}, "signature": ""})",
                                  std::string(1000000, '['),
                                  std::string("\0\xff", 2),
                                  "parley"};
  json good = json::parse(line(0));
  for (const char* key : {"format", "study", "party", "date", "words"}) {
    json lacks = good, wrong = good;
    lacks["approval"].erase(key);
    wrong["approval"][key] = 7;
    all.push_back(lacks.dump());
    all.push_back(wrong.dump());
  }
  json more = good, unsigned_key = good, long_words = good, control = good, no_hex = good;
  more["more"] = 1;
  unsigned_key["approval"]["role"] = "admin";
  long_words["approval"]["words"] = std::string(longest_words + 1, 'x');
  control["approval"]["words"] = "\x1b[31mred";
  no_hex["signature"] = "zz";
  for (const json& bad : {more, unsigned_key, long_words, control, no_hex}) all.push_back(bad.dump());
  for (const char* turned : {"\xC2\x9B"
                             "31mred",
                             "\xE2\x80\xAE"
                             "derovppa",
                             "\xE2\x80\xA8"
                             "a second line"}) {
    json bad = good;
    bad["approval"]["words"] = turned;  // a control sequence, text from right to left, another line
    all.push_back(bad.dump());
  }
  for (const std::string& bad : all)
    EXPECT_THAT(refused(bad), HasSubstr("study.approvals:2: it is no approval")) << bad.substr(0, 80);
}

TEST_F(ApprovalFile, RandomBytesNeverApproveAndNeverCrash) {
  const std::string whole = line(0) + line(1);
  unsigned state = 7;
  const auto next = [&] { return state = state * 1664525U + 1013904223U; };
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (unsigned k = 0; k <= next() % 4; ++k) text[(next() >> 4U) % text.size()] = static_cast<char>(next() >> 24U);
    put(text);
    const Approvals all = read_approvals(agreed, hash);
    for (const Approval& a : all.valid)  // what counts was signed as it stands
      EXPECT_EQ(a.words, "Approved. A. Officer");
  }
}

TEST_F(ApprovalFile, TooMuchOrNoFileIsAnError) {
  put(std::string(largest_approvals + 1, '\n'));
  EXPECT_NE(message_of([&] { read_approvals(agreed, hash); }), "(no Error)");
  fs::remove(folder / "study.approvals");
  fs::create_directories(folder / "study.approvals");
  EXPECT_NE(message_of([&] { read_approvals(agreed, hash); }), "(no Error)");
}

TEST_F(ApprovalFile, WordsAreOneLineThatSaysSomething) {
  for (const std::string& bad : {std::string(), std::string("a\nb"), std::string(1001, 'x'), std::string("\xff")})
    EXPECT_THAT(message_of([&] { sign(0, bad); }), HasSubstr("needs words"));
}

TEST_F(ApprovalFile, WithoutTheCertificateNobodyCanHaveSigned) {
  agreed.parties[0].pinned.reset();
  put(line(0) + line(1));
  EXPECT_THAT(required(), HasSubstr("does not hold the certificate of hospital_a"));
}

}  // namespace
}  // namespace parley::study
