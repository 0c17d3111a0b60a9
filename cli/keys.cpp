// Keys and certificates on the command line: made here, shown to people, and never sent anywhere.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/identity/identity.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;
using identity::Certificate;
using nlohmann::json;

struct KeyOptions {
  std::string ca, out = ".";
  long days = 0;
};

std::vector<Option> rows(KeyOptions& o) {
  return {{"ca", "",
           "new: the authority that issues the certificate; without it the certificate is self-issued, which is enough",
           any_text("its .pem file, or the folder with it; the .key stands beside"), &o.ca, "Options"},
          {"out", "", "new, ca: folder for NAME.key and NAME.pem", any_text("a folder"), &o.out, "Options"},
          {"days", "", "new, ca: how long the certificate is valid; 0: 365, of an authority 3650", between(0, 36500),
           &o.days, "Options"}};
}

identity::Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

json facts(const Certificate& c) {
  return {{"name", c.name},
          {"authority", c.authority},
          {"self_issued", c.self_issued},
          {"issuer", c.issuer},
          {"not_before", iso_time(c.not_before)},
          {"not_after", iso_time(c.not_after)},
          {"valid", c.not_before <= now() && now() <= c.not_after},
          {"fingerprint", c.fingerprint}};
}

void show(const Certificate& c) {
  const auto line = [](const char* what, const std::string& value) { fmt::print("  {:<13}{}\n", what, value); };
  line("name", c.name + (c.authority ? ", an authority" : ""));
  line("issued by", c.self_issued ? "itself" : c.issuer);
  line("valid", identity::utc(c.not_before) + " to " + identity::utc(c.not_after));
  if (now() < c.not_before) line("", alarm("NOT YET VALID: check the clock"));
  if (now() > c.not_after) line("", alarm("EXPIRED"));
  line("fingerprint", c.fingerprint);
}

// The certificate file itself, or the only authority in a folder; its key stands beside it.
identity::Identity read_authority(const fs::path& given) {
  std::vector<fs::path> found;
  if (!fs::is_directory(given)) found.push_back(given);
  if (fs::is_directory(given))
    for (const auto& entry : fs::directory_iterator(given)) {
      if (entry.path().extension() != ".pem") continue;
      if (identity::read_certificate(entry.path()).authority) found.push_back(entry.path());
    }
  if (found.size() != 1)
    throw Error({.what = found.empty() ? "there is no authority in this folder" : "there are several authorities here",
                 .where = given.string(),
                 .fix = found.empty() ? "make one with 'parley keys ca NAME --out " + given.string() + "'"
                                      : "name its .pem file with --ca"});
  return identity::read_identity(fs::path(found.front()).replace_extension(".key"), found.front());
}

int make(const std::string& name, bool authority, const KeyOptions& o, bool as_json) {
  identity::check_name(name, "parley keys");
  if (authority && !o.ca.empty())
    throw Error({.what = "an authority is its own issuer", .where = "option --ca", .fix = "leave it out"});
  const identity::Validity validity{now(), o.days > 0 ? o.days : authority ? 3650 : 365};
  const identity::PrivateKey key = identity::make_key();
  const Certificate certificate = authority      ? identity::make_authority(key, name, validity)
                                  : o.ca.empty() ? identity::self_issue(key, name, validity)
                                                 : identity::issue(key, name, read_authority(o.ca), validity);
  const fs::path key_file = (fs::path(o.out) / (name + ".key")).lexically_normal(),
                 certificate_file = (fs::path(o.out) / (name + ".pem")).lexically_normal();
  if (fs::exists(certificate_file))
    throw Error({.what = "the certificate exists already, and is never overwritten",
                 .where = certificate_file.string(),
                 .fix = "keep it, or choose another place with --out"});
  if (!fs::exists(o.out)) fs::create_directories(o.out);
  identity::write_key(key, key_file);
  try {
    identity::write_certificate(certificate, certificate_file);
  } catch (const Error&) {
    fs::remove(key_file);  // a key without its certificate would only be in the way
    throw;
  }
  if (as_json) {
    json j = facts(certificate);
    j.update({{"key_file", key_file.string()}, {"certificate_file", certificate_file.string()}});
    fmt::print("{}\n", j.dump());
    return 0;
  }
  fmt::print("{}   the secret key, mode 0600: {}\n", key_file.string(),
             authority || o.ca.empty() ? "it never leaves this machine"
                                       : "carry it to " + name + " by a safe way, and delete it here");
  fmt::print("{}   the certificate, public\n", certificate_file.string());
  show(certificate);
  fmt::print("{}\n", authority ? "It issues with 'parley keys new NAME --ca " + certificate_file.string() + "'."
                               : "Send the certificate to whoever keeps the roster ('parley study invite'), and tell "
                                 "them the\nfingerprint by another way, such as the telephone: it is what everyone "
                                 "pins.");
  return 0;
}

int run_keys(const Arguments& arguments) {
  KeyOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const auto& words = arguments.words;
  if (words.size() == 2 && (words[0] == "new" || words[0] == "ca"))
    return make(words[1], words[0] == "ca", o, arguments.has("json"));
  if (words.size() == 2 && words[0] == "show") {
    const Certificate certificate = identity::read_certificate(words[1]);
    if (arguments.has("json"))
      fmt::print("{}\n", facts(certificate).dump());
    else
      show(certificate);
    return 0;
  }
  throw Error({.what = "parley keys does not know this",
               .value = "'" + join(words, " ") + "'",
               .allowed = "new NAME [--ca FILE], ca NAME, show CERTIFICATE",
               .where = "parley keys",
               .fix = "parley keys --help"});
}

}  // namespace

Command keys_command() {
  static KeyOptions defaults;
  return {.name = "keys",
          .summary = "make a party's key and certificate, or an authority's, and show a certificate",
          .tasks = {{"new", "NAME", "make a party's key and certificate", {"ca", "out", "days", "json"}},
                    {"ca", "NAME", "make an authority's key and certificate", {"ca", "out", "days", "json"}},
                    {"show", "CERTIFICATE", "show a certificate and its fingerprint", {"json"}}},
          .own = rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley keys new hospital_a                          # hospital_a.key (secret) and hospital_a.pem\n"
              "  parley keys show hospital_a.pem\n"
              "  parley keys ca region --out authority\n"
              "  parley keys new hospital_a --ca authority --days 90\n",
          .run = run_keys};
}

}  // namespace parley::cli
