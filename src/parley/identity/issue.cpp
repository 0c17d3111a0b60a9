// Keys and certificates as they are made and written.
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "parley/base/durable.h"
#include "parley/identity/identity.h"
#include "parley/identity/openssl.h"

namespace parley::identity {
namespace {

// A peer's clock may be a little behind ours when a fresh certificate is first shown.
constexpr std::chrono::hours clock_slack{1};

void set_serial(X509* x509) {
  std::array<unsigned char, 16> random{};
  if (RAND_bytes(random.data(), random.size()) != 1)
    throw Error({.what = "no randomness from the operating system",
                 .where = "OpenSSL RAND_bytes",
                 .fix = "check /dev/urandom"});
  random[0] = static_cast<unsigned char>((random[0] & 0x7F) | 0x40);  // positive, and always 16 bytes
  const std::unique_ptr<BIGNUM, Freed<BN_free>> big(BN_bin2bn(random.data(), random.size(), nullptr));
  expects(big && BN_to_ASN1_INTEGER(big.get(), X509_get_serialNumber(x509)) != nullptr, "OpenSSL sets a serial number");
}

void set_times(X509* x509, Time from, Time to) {
  const auto set = [](ASN1_TIME* field, Time time) {
    return ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(time)) != nullptr;
  };
  expects(set(X509_getm_notBefore(x509), from) && set(X509_getm_notAfter(x509), to), "OpenSSL sets the times");
}

void add_extension(X509* x509, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  expects(extension && X509_add_ext(x509, extension.get(), -1) == 1, "OpenSSL adds an extension");
}

// issuer: null for a certificate that is its own issuer.
Certificate make(const PrivateKey& key, const std::string& name, const Identity* issuer, Validity validity,
                 bool authority) {
  check_name(name, "the name of the certificate");
  const CleanErrors clean;
  const X509Owner made(X509_new());
  X509* x509 = made.get();
  X509* signer = issuer != nullptr ? issuer->certificate.x509.get() : x509;
  expects(x509 != nullptr && X509_set_version(x509, X509_VERSION_3) == 1, "OpenSSL makes a certificate");
  set_serial(x509);
  set_times(x509, validity.from - clock_slack, validity.from + std::chrono::days(validity.days));
  expects(X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()),
                                     -1, 0) == 1 &&
              X509_set_issuer_name(x509, X509_get_subject_name(signer)) == 1 &&
              X509_set_pubkey(x509, key.key.get()) == 1,
          "OpenSSL fills in a certificate");
  add_extension(x509, signer, NID_basic_constraints, authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  add_extension(x509, signer, NID_key_usage, authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
  if (!authority) {
    add_extension(x509, signer, NID_ext_key_usage, "serverAuth,clientAuth");
    add_extension(x509, signer, NID_subject_alt_name, "DNS:" + name);
  }
  add_extension(x509, signer, NID_subject_key_identifier, "hash");
  add_extension(x509, signer, NID_authority_key_identifier, "keyid:always");
  EVP_PKEY* signing = issuer != nullptr ? issuer->key.key.get() : key.key.get();
  expects(X509_sign(x509, signing, EVP_sha256()) > 0, "OpenSSL signs a certificate");
  const std::string chain = pem_of(x509) + (issuer != nullptr ? issuer->certificate.pem : "");
  return parse_certificate(chain, "the new certificate");
}

void write_new(const std::filesystem::path& file, std::string_view text, int mode, const std::string& what) {
  if (create_file(file, text, mode)) return;
  if (errno == EEXIST)
    throw Error({.what = what + " exists already, and is never overwritten",
                 .where = file.string(),
                 .fix = "keep it, or choose another place with --out"});
  throw Error({.what = "cannot write " + what + ": " + std::strerror(errno),
               .where = file.string(),
               .fix = "check that the folder exists, its permissions and free space"});
}

}  // namespace

PrivateKey make_key() {
  leave_no_core_dump();
  const CleanErrors clean;
  const std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  expects(key != nullptr, "OpenSSL makes a P-256 key");
  return {key};
}

Certificate self_issue(const PrivateKey& key, const std::string& name, Validity validity) {
  return make(key, name, nullptr, validity, false);
}

Certificate make_authority(const PrivateKey& key, const std::string& name, Validity validity) {
  return make(key, name, nullptr, validity, true);
}

Certificate issue(const PrivateKey& key, const std::string& name, const Identity& authority, Validity validity) {
  const Certificate& ca = authority.certificate;
  if (!ca.authority)
    throw Error({.what = "the certificate of '" + ca.name + "' is a party's and may not issue others",
                 .where = "option --ca",
                 .fix = "make an authority with 'parley keys ca NAME'"});
  const long left = std::chrono::floor<std::chrono::days>(ca.not_after - validity.from).count();
  if (validity.days > left)
    throw Error(
        {.what = "the certificate would outlive its authority '" + ca.name + "', which ends " + utc(ca.not_after),
         .value = std::to_string(validity.days) + " days",
         .allowed = left < 1 ? "none" : "1 to " + std::to_string(left),
         .where = "option --days",
         .fix = left < 1 ? "make a new authority with 'parley keys ca NAME'" : "give fewer days"});
  return make(key, name, &authority, validity, false);
}

void write_key(const PrivateKey& key, const std::filesystem::path& file) {
  write_new(file, key.pem().text(), 0600, "the key");
}

void write_certificate(const Certificate& certificate, const std::filesystem::path& file) {
  write_new(file, certificate.chain_pem(), 0644, "the certificate");
}

}  // namespace parley::identity
