// The roster of a study file: who takes part, and how each is known.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/study/mistakes.h"
#include "parley/study/study.h"

namespace parley::study {
namespace {

std::string plain_fingerprint(std::string text) {  // as openssl prints it, too: AB:CD:…
  std::erase(text, ':');
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void check_certificate_of(Invited& p, const std::filesystem::path& study, const std::string& where) {
  if (p.certificate.empty()) return;
  const bool here = p.certificate.starts_with("-----BEGIN");
  p.pinned = here ? identity::parse_certificate(p.certificate, where)
                  : identity::read_certificate(file_beside(study, p.certificate, where));
  if (p.pinned->authority)
    throw Error({.what = "the certificate of " + p.name + " is an authority's, not a party's",
                 .where = where,
                 .fix = "ask it for the one that 'parley keys new' wrote"});
  if (p.pinned->name != p.name)
    throw Error({.what = "the certificate of " + p.name + " is for '" + p.pinned->name + "'",
                 .where = where,
                 .fix = "a party has its certificate's name: change one of the two"});
  if (p.pinned->fingerprint != p.fingerprint)
    throw Error({.what = "the certificate of " + p.name + " does not have the fingerprint beside it",
                 .value = p.pinned->fingerprint,
                 .where = where,
                 .fix = "one of the two was changed by hand: ask " + p.name + " which is right"});
}

void check_party(Invited& p, const std::filesystem::path& file, const PartyLines& lines, Mistakes& wrong) {
  const auto line = [&](const char* key) { return lines.contains(key) ? lines.at(key) : lines.at(""); };
  const auto where = [&](const char* key) { return file.string() + ":" + std::to_string(line(key)); };
  const std::string who = identity::is_name(p.name) ? p.name : "this party";
  const auto bad = [&](const char* key, const std::string& what, const std::string& value, const std::string& allowed) {
    wrong.add(line(key),
              {.what = what, .value = value, .allowed = allowed, .where = where(key), .fix = "ask " + who + " for it"});
  };
  p.fingerprint = plain_fingerprint(p.fingerprint);
  wrong.attempt(line("name"), [&] { identity::check_name(p.name, where("name")); });
  if (!is_address(p.address))
    bad("address", "the address of " + who + " is not host:port", "'" + p.address + "'",
        "ward.example.org:7400, 10.0.0.5:7400");
  if (!is_hex(p.fingerprint, 64))
    bad("fingerprint", "the fingerprint of " + who + " is not a SHA-256", "'" + p.fingerprint + "'",
        "the 64 hexadecimal digits that 'parley keys show' prints");
  if (p.trainer && p.records != 0)
    bad("records", "the trainer " + who + " holds no records", std::to_string(p.records), "0");
  if (!p.trainer && (p.records < 1 || p.records > 1000000000000))
    bad("records", "the records of " + who + " are not a number of rows", std::to_string(p.records),
        "1 to 1000000000000");
  wrong.attempt(line("certificate"), [&] { check_certificate_of(p, file, where("certificate")); });
}

template <class Field>
void check_distinct(const Study& s, const std::vector<PartyLines>& lines, Mistakes& wrong, const std::string& what,
                    Field field) {
  std::map<std::string, std::string> seen;  // value -> name
  for (std::size_t i = 0; i < s.parties.size(); ++i) {
    const Invited& p = s.parties[i];
    const auto [other, first] = seen.emplace(p.*field, p.name);
    if (first || (p.*field).empty()) continue;
    const std::string who = p.name == other->second ? "" : fmt::format(": {} and {}", other->second, p.name);
    const int line = lines[i].contains(what) ? lines[i].at(what) : lines[i].at("");
    wrong.add(line, {.what = fmt::format("two parties have the same {}{}", what, who),
                     .value = p.*field,
                     .where = s.file.string() + ":" + std::to_string(line),
                     .fix = "each party is in the roster once, with its own " + what});
  }
}

}  // namespace

bool is_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || text.size() > 260) return false;
  const std::string host = text.substr(0, colon), port = text.substr(colon + 1);
  const bool ipv6 = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (ipv6 ? host.find_first_not_of("0123456789abcdefABCDEF:.", 1) != host.size() - 1
           : host.find_first_not_of(letters) != std::string::npos)
    return false;
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return false;
  return std::stol(port) >= 1 && std::stol(port) <= 65535;
}

std::filesystem::path file_beside(const std::filesystem::path& study, const std::string& name,
                                  const std::string& where) {
  const std::filesystem::path given(name);
  if (given.is_absolute() || std::ranges::find(given, std::filesystem::path("..")) != given.end())
    throw Error({.what = "a study names files beside itself only",
                 .value = "'" + name + "'",
                 .allowed = "schema.toml, certificates/hospital_a.pem",
                 .where = where,
                 .fix = "put the file into the study's folder"});
  std::filesystem::path path = study.parent_path() / given;
  std::error_code unreadable;
  if (std::filesystem::exists(path, unreadable) &&
      (!std::filesystem::is_regular_file(path, unreadable) || std::filesystem::file_size(path, unreadable) > 1U << 20U))
    throw Error({.what = "not a file of at most 1 MiB",
                 .value = path.string(),
                 .where = where,
                 .fix = "put the file itself into the study's folder"});
  return path;
}

std::vector<Option> option_rows(Invited& p) {
  return {{"name", "", "the party's name: a-z, 0-9, _ and -, the same as in its certificate", any_text("a name"),
           &p.name, "party"},
          {"address", "", "where it listens, as others reach it", any_text("host:port"), &p.address, "party"},
          {"fingerprint", "", "SHA-256 of its certificate", any_text("64 hexadecimal digits"), &p.fingerprint, "party"},
          {"certificate", "", "its certificate in PEM form: a file, or in the study file also the text itself",
           any_text("a file"), &p.certificate, "party"},
          {"records", "B_i", "its number of training rows, which becomes public", at_least(0), &p.records, "party"},
          {"trainer", "", "it is the trainer of a star study and holds no rows", any_text("true or false"), &p.trainer,
           "party"}};
}

void check_roster(Study& s, const std::vector<PartyLines>& lines, Mistakes& wrong) {
  for (std::size_t i = 0; i < s.parties.size(); ++i) check_party(s.parties[i], s.file, lines[i], wrong);
  check_distinct(s, lines, wrong, "name", &Invited::name);
  check_distinct(s, lines, wrong, "address", &Invited::address);
  check_distinct(s, lines, wrong, "fingerprint", &Invited::fingerprint);
}

}  // namespace parley::study
