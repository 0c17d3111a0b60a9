// Who a party is: an ECDSA P-256 key and an X.509 certificate over it. The certificate's only DNS name is the party's
// name; TLS and signed messages use the same key. A peer is known by the fingerprint that the roster pins, never by
// who issued its certificate. Clocks belong to the caller.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/identity/secret.h"

struct evp_pkey_st;
struct x509_st;

namespace parley::identity {

using Time = std::chrono::sys_seconds;
std::string utc(Time time);  // "2026-03-01 12:00 UTC"

// 1 to 64 of a-z, 0-9, _ and -: the name is a file's, a certificate's, a TLS target's and a key of JSON.
bool is_name(std::string_view name);
void check_name(const std::string& name, const std::string& where);  // or throws Error

// Secret: it never leaves the machine, and only write_key puts it into a file.
struct PrivateKey {
  std::shared_ptr<evp_pkey_st> key;
  Secret pem() const;  // PKCS #8, for the TLS library
};

struct Certificate {
  std::string name;         // its DNS subjectAltName; of an authority its common name
  std::string issuer;       // common name of who signed it, as it says
  std::string fingerprint;  // SHA-256 of the DER bytes, 64 hexadecimal digits: what a roster pins
  Time not_before, not_after;
  bool authority = false;    // CA:TRUE
  bool self_issued = false;  // issuer and subject are the same
  std::string pem;           // this certificate alone
  std::string issuer_pem;    // the authority's, where it follows in the file
  std::shared_ptr<x509_st> x509;

  std::string chain_pem() const { return pem + issuer_pem; }  // what a TLS party presents
};

struct Identity {
  PrivateKey key;
  Certificate certificate;
};

struct Validity {
  Time from;
  long days = 365;
};

// Making. Error: a bad name, an authority that is none, or one that ends before what it issues.
PrivateKey make_key();
Certificate self_issue(const PrivateKey& key, const std::string& name, Validity validity);
Certificate make_authority(const PrivateKey& key, const std::string& name, Validity validity);
Certificate issue(const PrivateKey& key, const std::string& name, const Identity& authority, Validity validity);

// Files: a new one or an Error, never over an old one. A key has mode 0600.
void write_key(const PrivateKey& key, const std::filesystem::path& file);
void write_certificate(const Certificate& certificate, const std::filesystem::path& file);

// Reading. Every Error names `where` or the file. A party's certificate has one DNS name and a P-256 key.
Certificate parse_certificate(const std::string& pem, const std::string& where);
Certificate read_certificate(const std::filesystem::path& file);
PrivateKey parse_key(std::string_view pem, const std::string& where);
PrivateKey read_key(const std::filesystem::path& file);  // refuses one that others may read
bool belongs(const PrivateKey& key, const Certificate& certificate);
Identity read_identity(const std::filesystem::path& key, const std::filesystem::path& certificate);

// Why a peer's certificate is refused.
enum class Refused { not_in_roster, wrong_name, not_pinned, other_authority, not_yet_valid, expired };
struct Refusal {
  Refused kind;
  std::string sentence;  // with what to do
};
// pinned: the roster's fingerprint of expected_name, or "" when the roster does not have that name. Whoever is called
// expects a name; whoever is connected to expects the presented certificate's own.
std::optional<Refusal> check_certificate(const Certificate& presented, const std::string& expected_name,
                                         const std::string& pinned, Time now);

// ECDSA with SHA-256 over "parley signature 1\n" + bytes, DER: no signature made for TLS is one of a message.
std::string sign(const PrivateKey& key, std::string_view bytes);
bool verify(std::string_view bytes, std::string_view signature, const Certificate& signer);

}  // namespace parley::identity
