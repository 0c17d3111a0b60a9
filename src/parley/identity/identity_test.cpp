#include "parley/identity/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <random>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/identity/openssl.h"

namespace parley::identity {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const Time now{std::chrono::seconds(1'800'000'000)};  // 2027-01-15 08:00 UTC
constexpr std::chrono::days day{1};

struct Folder {
  fs::path path = fs::temp_directory_path() / ("parley-identity-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

Identity party(const std::string& name, Validity validity = {now}) {
  const PrivateKey key = make_key();
  return {key, self_issue(key, name, validity)};
}

Identity authority(const std::string& name) {
  const PrivateKey key = make_key();
  return {key, make_authority(key, name, {now, 3650})};
}

// A certificate as some other program might make it.
std::string foreign(const char* curve, const std::string& names) {
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(EVP_EC_gen(curve));
  const X509Owner x509(X509_new());
  X509_set_version(x509.get(), X509_VERSION_3);
  ASN1_TIME_set(X509_getm_notBefore(x509.get()), 0);
  ASN1_TIME_set(X509_getm_notAfter(x509.get()), 4'000'000'000);
  X509_set_pubkey(x509.get(), key.get());
  if (!names.empty()) {
    const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()));
    X509_add_ext(x509.get(), extension.get(), -1);
  }
  X509_sign(x509.get(), key.get(), EVP_sha256());
  return pem_of(x509.get());
}

std::string foreign_key(const char* curve, const char* passphrase) {
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(EVP_EC_gen(curve));
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), passphrase != nullptr ? EVP_aes_128_cbc() : nullptr, passphrase,
                                passphrase != nullptr ? 6 : 0, nullptr, nullptr);
  return text_in(bio.get());
}

std::string refusal_of(const Certificate& presented, const std::string& expected, const std::string& pinned, Time at,
                       Refused kind) {
  const auto refusal = check_certificate(presented, expected, pinned, at);
  if (!refusal) return "(accepted)";
  EXPECT_EQ(refusal->kind, kind) << refusal->sentence;
  EXPECT_THAT(refusal->sentence, Not(HasSubstr("\n")));
  return refusal->sentence;
}

TEST(Identity, ASelfIssuedCertificateSaysWhoItIsFor) {
  const Certificate c = party("hospital_a", {now, 30}).certificate;
  EXPECT_EQ(c.name, "hospital_a");
  EXPECT_EQ(c.issuer, "hospital_a");
  EXPECT_TRUE(c.self_issued);
  EXPECT_FALSE(c.authority);
  EXPECT_EQ(c.not_after, now + 30 * day);
  EXPECT_LT(c.not_before, now);  // a peer's clock may be behind
  EXPECT_EQ(c.fingerprint.size(), 64U);
  EXPECT_EQ(utc(now), "2027-01-15 08:00 UTC");
}

TEST(Identity, ACertificateServesAsServerAndAsClientUnderItsNameAndNothingElse) {
  const Certificate c = party("hospital_a").certificate;
  const std::uint32_t uses = X509_get_extended_key_usage(c.x509.get());
  EXPECT_EQ(uses, static_cast<std::uint32_t>(XKU_SSL_SERVER | XKU_SSL_CLIENT));
  EXPECT_EQ(X509_get_key_usage(c.x509.get()), static_cast<std::uint32_t>(KU_DIGITAL_SIGNATURE));
  EXPECT_EQ(X509_check_host(c.x509.get(), "hospital_a", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(c.x509.get(), "hospital_b", 0, 0, nullptr), 0);
}

TEST(Identity, AnAuthorityIssuesForPartiesAndForNoFurtherAuthority) {
  const Identity ca = authority("region");
  EXPECT_TRUE(ca.certificate.authority);
  EXPECT_EQ(ca.certificate.name, "region");
  EXPECT_EQ(X509_get_pathlen(ca.certificate.x509.get()), 0);
  const Certificate c = issue(make_key(), "hospital_a", ca, {now});
  EXPECT_EQ(c.issuer, "region");
  EXPECT_FALSE(c.self_issued);
  EXPECT_FALSE(c.authority);
  EXPECT_EQ(c.issuer_pem, ca.certificate.pem);
  const auto signed_by = [&](const Identity& by) {
    return X509_verify(c.x509.get(), X509_get0_pubkey(by.certificate.x509.get())) == 1;
  };
  EXPECT_TRUE(signed_by(ca));
  EXPECT_FALSE(signed_by(authority("region")));  // the same name, another key
  const Identity plain = party("hospital_b");
  EXPECT_THAT(message_of([&] { issue(make_key(), "hospital_a", plain, {now}); }), HasSubstr("may not issue others"));
  EXPECT_THAT(message_of([&] { issue(make_key(), "hospital_a", ca, {now, 4000}); }),
              HasSubstr("outlive its authority 'region'"));
}

TEST(Identity, NamesAreShortAndPlain) {
  for (const auto* good : {"a", "hospital_a", "st-mary_2", "0"}) EXPECT_TRUE(is_name(good)) << good;
  for (const std::string bad : {"", "Hospital", "a b", "a.b", "ä", "a/b", "a\n"}) {
    EXPECT_FALSE(is_name(bad)) << bad;
    EXPECT_THAT(message_of([&] { party(bad); }), HasSubstr("1 to 64 of a-z"));
  }
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  EXPECT_FALSE(is_name(std::string(65, 'a')));
  EXPECT_EQ(party(std::string(64, 'a')).certificate.name, std::string(64, 'a'));
}

TEST(Identity, FilesAreReadBackAndNeverOverwritten) {
  const Folder folder;
  const Identity made = party("hospital_a");
  const fs::path key = folder.path / "a.key", certificate = folder.path / "a.pem";
  write_key(made.key, key);
  write_certificate(made.certificate, certificate);
  EXPECT_EQ(fs::status(key).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_identity(key, certificate).certificate.fingerprint, made.certificate.fingerprint);
  EXPECT_THAT(message_of([&] { write_key(make_key(), key); }), HasSubstr("never overwritten"));
  EXPECT_THAT(message_of([&] { write_certificate(made.certificate, certificate); }), HasSubstr("never overwritten"));
  EXPECT_EQ(read_file(key, "key"), made.key.pem().text());
  EXPECT_THAT(message_of([&] { write_key(make_key(), folder.path / "no" / "a.key"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { read_certificate(folder.path / "none.pem"); }), HasSubstr("No such file"));
}

TEST(Identity, AKeyThatOthersMayReadIsRefused) {
  const Folder folder;
  const fs::path key = folder.path / "a.key";
  write_key(make_key(), key);
  fs::permissions(key, fs::perms(0640));
  EXPECT_THAT(message_of([&] { read_key(key); }), HasSubstr("mode 0640; allowed: 0600"));
  fs::permissions(key, fs::perms(0400));
  EXPECT_NO_THROW(read_key(key));
}

TEST(Identity, AKeyMustBelongToTheCertificate) {
  const Folder folder;
  const Identity a = party("hospital_a");
  write_key(make_key(), folder.path / "other.key");
  write_certificate(a.certificate, folder.path / "a.pem");
  EXPECT_TRUE(belongs(a.key, a.certificate));
  EXPECT_THAT(message_of([&] { read_identity(folder.path / "other.key", folder.path / "a.pem"); }),
              HasSubstr("does not belong to the certificate"));
}

TEST(Identity, WhatIsNoKeyOrCertificateOfAPartyIsToldApart) {
  EXPECT_THAT(message_of([] { parse_certificate("", "c.pem"); }), HasSubstr("c.pem: this is no certificate"));
  EXPECT_THAT(message_of([] { parse_certificate(std::string(make_key().pem().text()), "c.pem"); }),
              HasSubstr("no certificate"));
  EXPECT_THAT(message_of([] { parse_certificate(foreign("P-256", "DNS:a,DNS:b"), "c.pem"); }),
              HasSubstr("one DNS name (subjectAltName), the party's; got 2 names"));
  EXPECT_THAT(message_of([] { parse_certificate(foreign("P-256", ""), "c.pem"); }), HasSubstr("got 0 names"));
  EXPECT_THAT(message_of([] { parse_certificate(foreign("P-256", "IP:10.0.0.1"), "c.pem"); }),
              HasSubstr("got 0 names"));
  EXPECT_THAT(message_of([] { parse_certificate(foreign("P-256", "DNS:Ward.x"), "c.pem"); }),
              HasSubstr("'Ward.x'; allowed: 1 to 64"));
  EXPECT_THAT(message_of([] { parse_certificate(foreign("P-384", "DNS:a"), "c.pem"); }), HasSubstr("not ECDSA P-256"));
  EXPECT_EQ(parse_certificate(foreign("P-256", "DNS:a"), "c.pem").name, "a");
  EXPECT_THAT(message_of([] { parse_key("", "a.key"); }), HasSubstr("a.key: this is no private key"));
  EXPECT_THAT(message_of([] { parse_key(party("a").certificate.pem, "a.key"); }), HasSubstr("no private key"));
  EXPECT_THAT(message_of([] { parse_key(foreign_key("P-256", "secret"), "a.key"); }), HasSubstr("passphrase"));
  EXPECT_THAT(message_of([] { parse_key(foreign_key("P-384", nullptr), "a.key"); }), HasSubstr("not ECDSA P-256"));
}

TEST(Identity, ThePinnedCertificateIsAcceptedWhileItIsValid) {
  const Certificate own = party("hospital_b", {now, 30}).certificate;
  const Certificate issued = issue(make_key(), "hospital_b", authority("region"), {now, 30});
  for (const Certificate& c : {own, issued})
    for (const Time at : {c.not_before, now, c.not_after})
      EXPECT_FALSE(check_certificate(c, "hospital_b", c.fingerprint, at));
}

TEST(Identity, EveryReasonForRefusalHasItsOwnSentence) {
  const Certificate pinned = party("hospital_b", {now, 30}).certificate;
  const std::string& pin = pinned.fingerprint;
  EXPECT_THAT(refusal_of(party("mallory").certificate, "mallory", "", now, Refused::not_in_roster),
              HasSubstr("'mallory' is not in the roster: 'parley study invite'"));
  EXPECT_THAT(refusal_of(party("hospital_c").certificate, "hospital_b", pin, now, Refused::wrong_name),
              HasSubstr("is for 'hospital_c', and 'hospital_b' was expected"));
  const std::string own = refusal_of(party("hospital_b").certificate, "hospital_b", pin, now, Refused::not_pinned);
  EXPECT_THAT(own, HasSubstr("self-issued certificate of 'hospital_b'"));
  EXPECT_THAT(own, HasSubstr("the roster pins " + pin.substr(0, 16)));
  EXPECT_THAT(refusal_of(issue(make_key(), "hospital_b", authority("other"), {now}), "hospital_b", pin, now,
                         Refused::other_authority),
              HasSubstr("issued by 'other' and is not the one that the roster pins"));
  EXPECT_THAT(
      refusal_of(pinned, "hospital_b", pin, pinned.not_before - std::chrono::seconds(1), Refused::not_yet_valid),
      HasSubstr("valid from 2027-01-15 07:00 UTC, and here it is 2027-01-15 06:59 UTC: check the clocks"));
  EXPECT_THAT(refusal_of(pinned, "hospital_b", pin, pinned.not_after + std::chrono::seconds(1), Refused::expired),
              HasSubstr("expired on 2027-02-14 08:00 UTC"));
}

TEST(Identity, AnOthersCertificateIsRefusedUnderAnyNameAndPin) {
  const Certificate b = party("hospital_b").certificate, c = party("hospital_c").certificate;
  EXPECT_TRUE(check_certificate(c, "hospital_b", b.fingerprint, now));
  EXPECT_TRUE(check_certificate(c, "hospital_b", c.fingerprint, now));  // pinned by mistake under the other name
  EXPECT_TRUE(check_certificate(c, "hospital_c", b.fingerprint, now));
}

TEST(Identity, OnlyTheSignedBytesVerifyAndOnlyUnderTheSigner) {
  const Identity a = party("hospital_a"), b = party("hospital_b");
  const std::string message("round 7\0value", 13);
  const std::string signature = sign(a.key, message);
  EXPECT_TRUE(verify(message, signature, a.certificate));
  EXPECT_FALSE(verify(message, signature, b.certificate));
  EXPECT_FALSE(verify(message + "x", signature, a.certificate));
  EXPECT_FALSE(verify(message, "", a.certificate));
  EXPECT_FALSE(verify("", signature, a.certificate));
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    std::string flipped = message;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify(flipped, signature, a.certificate)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    std::string flipped = signature;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify(message, flipped, a.certificate)) << bit;
  }
  EXPECT_EQ(ERR_peek_error(), 0U);  // gRPC would take what is left there for its own
}

TEST(Identity, ASignatureMadeForAnotherPurposeIsNoneOfAMessage) {
  const Identity a = party("hospital_a");
  const std::string message = "a TLS transcript";
  const std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, a.key.key.get());
  std::string plain(80, '\0');
  std::size_t size = plain.size();
  ASSERT_EQ(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(plain.data()), &size,
                           reinterpret_cast<const unsigned char*>(message.data()), message.size()),
            1);
  plain.resize(size);
  EXPECT_FALSE(verify(message, plain, a.certificate));
}

TEST(Identity, DamagedPemIsReadOrRefusedAndNothingElse) {
  const Certificate c = issue(make_key(), "hospital_a", authority("region"), {now});
  const std::string certificate = c.chain_pem(), key(make_key().pem().text());
  std::mt19937 random(1);
  int read = 0, refused = 0;
  const int inputs = std::getenv("PARLEY_TEST_FULL") ? 300000 : 2000;
  for (int i = 0; i < inputs; ++i) {
    std::string text = i % 4 == 3 ? key : certificate;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, random() % 5);
      else
        text[at] = "ABab01+/=\n-\x80"[random() % 12];
    }
    try {
      if (i % 4 == 3)
        parse_key(text, "a.key");
      else
        EXPECT_FALSE(check_certificate(parse_certificate(text, "a.pem"), "hospital_a", std::string(64, '0'), now) ==
                     std::nullopt);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 500);
  EXPECT_EQ(ERR_peek_error(), 0U);
}

}  // namespace
}  // namespace parley::identity
