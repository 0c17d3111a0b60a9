#include "parley/identity/identity.h"

#include <fmt/chrono.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "parley/base/digest.h"
#include "parley/base/durable.h"
#include "parley/base/text.h"
#include "parley/identity/openssl.h"

namespace parley::identity {
namespace {

constexpr std::string_view signature_prefix = "parley signature 1\n";

using Context = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string text_of(const ASN1_STRING* text) {
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// Whatever a certificate says is shown on a terminal: nothing there but printable ASCII.
std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return text.substr(0, 64);
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  return at < 0 ? "" : printable(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
}

std::vector<std::string> dns_names(const X509* x509) {
  const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {  // −1 for null
    const GENERAL_NAME* one = sk_GENERAL_NAME_value(all.get(), i);
    if (one->type == GEN_DNS) names.push_back(text_of(one->d.dNSName));
  }
  return names;
}

bool is_p256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t size = 0;
  return key != nullptr && EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) == 1 &&
         std::string_view(group.data(), size) == SN_X9_62_prime256v1;
}

Time time_of(const ASN1_TIME* time, const std::string& where) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1)
    throw Error(
        {.what = "the certificate has no valid dates", .where = where, .fix = "make one with 'parley keys new NAME'"});
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::from_time_t(::timegm(&parts)));
}

X509Owner next_certificate(BIO* bio) {
  // Trap: without a callback OpenSSL asks for a passphrase on the terminal.
  return X509Owner(PEM_read_bio_X509(bio, nullptr, [](char*, int, int, void*) { return -1; }, nullptr));
}

std::string party_name(X509* x509, const std::string& where) {
  const auto names = dns_names(x509);
  if (names.size() != 1)
    throw Error({.what = "a party's certificate has one DNS name (subjectAltName), the party's",
                 .value = std::to_string(names.size()) + " names",
                 .where = where,
                 .fix = "make one with 'parley keys new NAME'"});
  check_name(names.front(), where);
  if (!is_p256(X509_get0_pubkey(x509)))
    throw Error({.what = "the certificate's key is not ECDSA P-256, which messages are signed with",
                 .where = where,
                 .fix = "make key and certificate with 'parley keys new NAME'"});
  return names.front();
}

}  // namespace

std::string utc(Time time) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

bool is_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(letters) == std::string_view::npos;
}

void check_name(const std::string& name, const std::string& where) {
  if (is_name(name)) return;
  throw Error({.what = "this is not the name of a party",
               .value = "'" + printable(name) + "'",
               .allowed = "1 to 64 of a-z, 0-9, _ and -",
               .where = where,
               .fix = "choose a name such as hospital_a"});
}

std::string pem_of(X509* x509) {
  const Bio bio(BIO_new(BIO_s_mem()));
  expects(bio && PEM_write_bio_X509(bio.get(), x509) == 1, "OpenSSL writes a certificate");
  return text_in(bio.get());
}

Secret PrivateKey::pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  expects(bio && PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "OpenSSL writes a key");
  return Secret(text_in(bio.get()));
}

Certificate parse_certificate(const std::string& pem, const std::string& where) {
  const CleanErrors clean;
  const Bio bio = bio_of(pem);
  const std::shared_ptr<X509> x509(next_certificate(bio.get()).release(), X509_free);
  if (!x509)
    throw Error({.what = "this is no certificate in PEM form",
                 .where = where,
                 .fix = "the file that 'parley keys new NAME' calls NAME.pem begins with -----BEGIN CERTIFICATE-----"});
  Certificate c;
  c.x509 = x509;
  // X509_check_ca: 1: CA:TRUE; the other kinds of "perhaps" (version 1, key usage alone) are none for us.
  c.authority = X509_check_ca(x509.get()) == 1;
  c.name = c.authority ? common_name(X509_get_subject_name(x509.get())) : party_name(x509.get(), where);
  c.issuer = common_name(X509_get_issuer_name(x509.get()));
  c.self_issued = X509_NAME_cmp(X509_get_issuer_name(x509.get()), X509_get_subject_name(x509.get())) == 0;
  c.not_before = time_of(X509_get0_notBefore(x509.get()), where);
  c.not_after = time_of(X509_get0_notAfter(x509.get()), where);
  Digest digest{};
  unsigned int size = 0;
  expects(X509_digest(x509.get(), EVP_sha256(), digest.data(), &size) == 1 && size == digest.size(),
          "OpenSSL computes a fingerprint");
  c.fingerprint = hex(digest);
  c.pem = pem_of(x509.get());
  if (const X509Owner issuer = next_certificate(bio.get()); issuer && !c.self_issued)
    c.issuer_pem = pem_of(issuer.get());
  return c;
}

Certificate read_certificate(const std::filesystem::path& file) {
  return parse_certificate(read_file(file, "the certificate", mebibyte), file.string());
}

PrivateKey parse_key(std::string_view pem, const std::string& where) {
  const CleanErrors clean;
  bool locked = false;
  const auto no_passphrase = [](char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  const std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio_of(pem).get(), nullptr, no_passphrase, &locked),
                                      EVP_PKEY_free);
  if (!key)
    throw Error({.what = locked ? "the key is locked with a passphrase" : "this is no private key in PEM form",
                 .where = where,
                 .fix = locked ? "unlock it with 'openssl pkey -in LOCKED -out KEY', mode 0600"
                               : "the file that 'parley keys new NAME' calls NAME.key is one"});
  if (!is_p256(key.get()))
    throw Error({.what = "the key is not ECDSA P-256",
                 .where = where,
                 .fix = "make key and certificate with 'parley keys new NAME'"});
  return {key};
}

PrivateKey read_key(const std::filesystem::path& file) {
  leave_no_core_dump();
  const Secret pem(read_file(file, "the key", mebibyte));
  struct stat facts{};
  if (::stat(file.c_str(), &facts) == 0 && (facts.st_mode & 077U) != 0)
    throw Error({.what = "others on this machine may read or replace the key",
                 .value = fmt::format("mode {:04o}", facts.st_mode & 07777U),
                 .allowed = "0600, 0400",
                 .where = file.string(),
                 .fix = "chmod 600 " + file.string() + "; if it was copied meanwhile, make a new one"});
  return parse_key(pem.text(), file.string());
}

bool belongs(const PrivateKey& key, const Certificate& certificate) {
  const CleanErrors clean;
  return X509_check_private_key(certificate.x509.get(), key.key.get()) == 1;
}

Identity read_identity(const std::filesystem::path& key, const std::filesystem::path& certificate) {
  Identity identity{.key = read_key(key), .certificate = read_certificate(certificate)};
  if (!belongs(identity.key, identity.certificate))
    throw Error({.what = "the key does not belong to the certificate " + certificate.string(),
                 .where = key.string(),
                 .fix = "use the two files that one 'parley keys new' wrote together"});
  return identity;
}

std::optional<Refusal> check_certificate(const Certificate& presented, const std::string& expected_name,
                                         const std::string& pinned, Time now) {
  const auto& c = presented;
  const auto begins = [](const std::string& fingerprint) { return fingerprint.substr(0, 16) + "..."; };
  if (pinned.empty())
    return Refusal{Refused::not_in_roster,
                   "the certificate is for '" + c.name + "', and '" + expected_name +
                       "' is not in the roster: 'parley study invite' adds it, in every party's copy of the study"};
  if (c.name != expected_name)
    return Refusal{Refused::wrong_name, "the certificate is for '" + c.name + "', and '" + expected_name +
                                            "' was expected: check the address of " + expected_name +
                                            " in the roster, and which certificate is used there"};
  if (c.fingerprint != pinned && c.self_issued)
    return Refusal{Refused::not_pinned, "the self-issued certificate of '" + c.name + "' has the fingerprint " +
                                            begins(c.fingerprint) + ", and the roster pins " + begins(pinned) +
                                            ": ask " + c.name +
                                            " by another way for the whole line that 'parley keys show' prints; if it "
                                            "is the new one, change the roster in every copy of the study"};
  if (c.fingerprint != pinned)
    return Refusal{Refused::other_authority,
                   "the certificate of '" + c.name + "' was issued by '" + c.issuer +
                       "' and is not the one that the roster pins (" + begins(c.fingerprint) + ", pinned " +
                       begins(pinned) + "): an authority vouches for nobody here; use the pinned certificate at " +
                       c.name + ", or change the roster in every copy of the study"};
  if (now < c.not_before)
    return Refusal{Refused::not_yet_valid, "the certificate of '" + c.name + "' is valid from " + utc(c.not_before) +
                                               ", and here it is " + utc(now) + ": check the clocks"};
  if (now > c.not_after)
    return Refusal{Refused::expired, "the certificate of '" + c.name + "' expired on " + utc(c.not_after) +
                                         " (here it is " + utc(now) + "): " + c.name +
                                         " makes a new one with 'parley keys new', and all parties pin it"};
  return std::nullopt;
}

std::string sign(const PrivateKey& key, std::string_view bytes) {
  const CleanErrors clean;
  const std::string message = std::string(signature_prefix) + std::string(bytes);
  const Context context(EVP_MD_CTX_new());
  std::size_t size = 0;
  expects(context && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes_of(message), message.size()) == 1,
          "OpenSSL begins a signature");
  std::string signature(size, '\0');
  expects(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(message),
                         message.size()) == 1,
          "OpenSSL signs");
  signature.resize(size);
  return signature;
}

bool verify(std::string_view bytes, std::string_view signature, const Certificate& signer) {
  const CleanErrors clean;
  const std::string message = std::string(signature_prefix) + std::string(bytes);
  const Context context(EVP_MD_CTX_new());
  return context &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, X509_get0_pubkey(signer.x509.get())) ==
             1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

}  // namespace parley::identity
