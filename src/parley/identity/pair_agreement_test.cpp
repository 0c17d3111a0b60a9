#include "parley/identity/pair_agreement.h"

#include <gtest/gtest.h>

#include "parley/base/digest.h"

namespace parley::identity {
namespace {

std::string counting(int from) {
  std::string text;
  for (int k = from; k < from + 32; ++k) text += static_cast<char>(k);
  return text;
}

std::string in_hex(const std::optional<PairSecret>& secret) {
  return secret ? hex(*secret) : "none";
}

constexpr PairName name{.configuration = "hash-of-3", .run = "run-1", .i = 2, .j = 7};

// RFC 7748, section 6.1: Alice's and Bob's private and public keys, and their shared secret.
constexpr auto alice_private = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
               alice_public = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
               bob_private = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
               bob_public = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
               alice_and_bob = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";

TEST(PairAgreement, PublicKeysAreThoseOfRfc7748Section6) {
  const auto alice = AgreementKey::from(*from_hex(alice_private)), bob = AgreementKey::from(*from_hex(bob_private));
  ASSERT_TRUE(alice && bob);
  EXPECT_EQ(hex(alice->public_key()), alice_public);
  EXPECT_EQ(hex(bob->public_key()), bob_public);
}

TEST(PairAgreement, APairsSecretIsDerivedFromTheSharedSecretOfRfc7748Section6) {
  const auto alice = AgreementKey::from(*from_hex(alice_private)), bob = AgreementKey::from(*from_hex(bob_private));
  ASSERT_TRUE(alice && bob);
  const auto in_8_bytes = [](int n) { return static_cast<char>(n) + std::string(7, '\0'); };
  const std::string info = "parley pair 1" + in_8_bytes(5) + "run-1" + in_8_bytes(2) + in_8_bytes(7);
  const std::string expected = hex(hkdf_sha256(name.configuration, *from_hex(alice_and_bob), info));
  EXPECT_EQ(in_hex(alice->pair_secret(*from_hex(bob_public), name)), expected);
  EXPECT_EQ(in_hex(bob->pair_secret(*from_hex(alice_public), name)), expected);
}

TEST(PairAgreement, HkdfIsThatOfRfc5869TestCase1) {
  const std::string secret(22, '\x0b');
  EXPECT_EQ(hex(hkdf_sha256(*from_hex("000102030405060708090a0b0c"), secret, *from_hex("f0f1f2f3f4f5f6f7f8f9"))),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
}

// Made with Python's cryptography 48: X25519, then HKDF with this salt and info.
TEST(PairAgreement, BothOfAPairFindTheSameSecretAndItIsTheGoldenOne) {
  const auto a = AgreementKey::from(counting(0)), b = AgreementKey::from(counting(32));
  const std::string golden = "d788e2116be90454ff544e4a61ca33577116ada48b7cf6d11ce8b2725d795999";
  EXPECT_EQ(in_hex(a->pair_secret(b->public_key(), name)), golden);
  PairName other_way = name;
  std::swap(other_way.i, other_way.j);
  EXPECT_EQ(in_hex(b->pair_secret(a->public_key(), other_way)), golden);
}

TEST(PairAgreement, AnotherRunConfigurationOrPairIsAnotherSecret) {
  const auto a = AgreementKey::from(counting(0)), b = AgreementKey::from(counting(32));
  const auto with = [&](PairName n) { return in_hex(a->pair_secret(b->public_key(), n)); };
  EXPECT_NE(with({.configuration = "hash-of-3", .run = "run-2", .i = 2, .j = 7}), with(name));
  EXPECT_NE(with({.configuration = "hash-of-4", .run = "run-1", .i = 2, .j = 7}), with(name));
  EXPECT_NE(with({.configuration = "hash-of-3", .run = "run-1", .i = 2, .j = 8}), with(name));
}

TEST(PairAgreement, AKeyOfAnotherLengthOrOfLowOrderGivesNoSecret) {
  const AgreementKey own = AgreementKey::make();
  EXPECT_FALSE(own.pair_secret(std::string(31, '\x09'), name));
  EXPECT_FALSE(own.pair_secret(std::string(33, '\x09'), name));
  EXPECT_FALSE(own.pair_secret("", name));
  // The points of order 1, 2, 4 and 8 (https://cr.yp.to/ecdh.html), and 0 and 1 again above p.
  for (const char* low : {"0000000000000000000000000000000000000000000000000000000000000000",
                          "0100000000000000000000000000000000000000000000000000000000000000",
                          "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                          "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                          "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                          "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                          "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"})
    EXPECT_FALSE(own.pair_secret(*from_hex(low), name)) << low;
}

TEST(PairAgreement, AKeyThatIsReadAgainIsTheSameAndAFreshOneIsAnother) {
  const AgreementKey made = AgreementKey::make();
  const auto again = AgreementKey::from(made.raw());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_key(), made.public_key());
  EXPECT_NE(AgreementKey::make().public_key(), made.public_key());
  EXPECT_FALSE(AgreementKey::from(std::string(31, 'x')));
}

}  // namespace
}  // namespace parley::identity
