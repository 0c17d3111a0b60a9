// A dishonest party for tests of `parley verify`: rewrites a transcript or a statement with a party's own key, so that
// every chain, head and signature holds and only what the values say is false.
//   forge value TRANSCRIPT SENDER KEY ROUND COORDINATE ADDED     the sender's value, and the heads after it
//   forge final TRANSCRIPT SENDER KEY ROUND COORDINATE ADDED     its final iterate
//   forge drop  TRANSCRIPT SENDER KEY ROUND                      what it sent from this round on
//   forge head  TRANSCRIPT SENDER KEY ROUND                      one head
//   forge stated TRANSCRIPT SENDER KEY ROUND                     its statement after a loss: this was its last round
//   forge unsaid TRANSCRIPT SENDER KEY ROUND                     leaves out its consent
//   forge consent TRANSCRIPT SENDER KEY ROUND                    its consent, to another plan
//   forge early TRANSCRIPT SENDER KEY ROUND                      the hellos come after the sender's value of this round
//   forge ungreeted TRANSCRIPT SENDER KEY ROUND                  leaves out its hellos
//   forge day TRANSCRIPT SENDER KEY ROUND                        its key for shared noise is kept for two thousand million years
//   forge evidence TRANSCRIPT SENDER KEY ROUND COORDINATE ADDED  keeps such a value as evidence against the sender
//   forge copy TRANSCRIPT SENDER KEY ROUND                       keeps as evidence a hello of another process of that value's number
//   forge before TRANSCRIPT SENDER KIND ROUND OTHER KIND ROUND   the first of the two messages stands before the second
//   forge after  TRANSCRIPT SENDER KIND ROUND OTHER KIND ROUND   or behind it
//   forge statement STATEMENT KEY NAME NUMBER
//   forge certificate FOLDER NAME FROM DAYS                      NAME.key and NAME.pem, valid FROM days from now on
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parley/base/text.h"
#include "parley/protocol/message.h"
#include "parley/protocol/transcript.h"
#include "parley/study/statement.h"

namespace {

using namespace parley;
using protocol::Kind;
using protocol::Message;
using protocol::Transcript;
namespace fs = std::filesystem;

std::string owner_of(const std::string& content) {
  std::uint32_t size = 0;
  std::memcpy(&size, content.data() + 4, sizeof size);
  return content.substr(49, size);
}

struct Forgery {
  std::string what, sender;
  identity::PrivateKey key;
  int round = 0;
  Index coordinate = 0;
  double added = 0;
  Digest head{};  // after the values so far
  Digest last{};  // after all: a final iterate that another party forwarded may stand before the last value

  Message contradiction(Message m) const {
    Vector value = *protocol::vector_of(m.payload);
    value[coordinate] += added;
    m.payload = protocol::payload_of(value);
    if (added != 0) m.head[0] ^= 1;
    m.signature = identity::sign(key, protocol::signed_part(m));
    return m;
  }

  Message hello_of_copy(Message m) const {
    m.kind = Kind::hello;
    m.payload = protocol::payload_of(protocol::Seen{});
    m.process.nonce[0] ^= 1;
    m.signature = identity::sign(key, protocol::signed_part(m));
    return m;
  }

  bool change_word(Message& m) const {
    if (m.kind == Kind::consent && what == "unsaid") return false;
    if (m.kind == Kind::loss && what == "stated") m.round = round;
    if (m.kind == Kind::consent && what == "consent") {
      protocol::Consent consent = *protocol::consent_of(m.payload);
      consent.configuration = std::string(consent.configuration.size(), '0');
      m.payload = protocol::payload_of(consent);
    }
    m.signature = identity::sign(key, protocol::signed_part(m));
    return true;
  }

  // False: the message is left out.
  bool change(Message& m) {
    const bool final_one = m.kind == Kind::final_iterate || m.kind == Kind::seal;
    if (m.sender != sender || m.kind == Kind::hello) return true;
    if (m.kind == Kind::loss || m.kind == Kind::consent) return change_word(m);
    if (m.kind == Kind::noise_key) {
      if (what == "day") m.payload.back() ^= 1;
      m.signature = identity::sign(key, protocol::signed_part(m));
      return true;
    }
    if (what == "drop") return !final_one && m.round < round;
    if (m.kind == Kind::seal ? false : final_one ? what == "final" : what == "value" && m.round == round) {
      Vector value = *protocol::vector_of(m.payload);
      value[coordinate] += added;
      m.payload = protocol::payload_of(value);
    }
    if (m.kind == Kind::value || m.kind == Kind::silent)
      head = protocol::next_head(head, m.run, m.node, m.round, m.payload);
    m.head = final_one ? last : head;
    if (what == "head" && !final_one && m.round == round) m.head[0] ^= 1;
    m.signature = identity::sign(key, protocol::signed_part(m));
    return true;
  }
};

using Entries = std::vector<std::pair<Transcript::Entry, std::string>>;

void write_anew(const fs::path& file, const std::string& owner, const Entries& entries) {
  const fs::path forged = file.string() + ".forged";
  {
    Transcript after(open_append_file(forged), owner, [](Transcript::Entry, std::string_view) {});
    for (const auto& [kind, bytes] : entries) {
      after.append(kind, bytes);
      after.sync();
    }
  }
  fs::rename(forged, file);
}

// Of two messages the first, next to the second.
void reorder(const fs::path& file, const std::vector<std::string>& first, const std::vector<std::string>& second,
             bool before_it) {
  const std::string owner = owner_of(read_file(file, "the transcript"));
  Entries entries;
  const Transcript before(open_append_file(file), owner,
                          [&](Transcript::Entry kind, std::string_view bytes) { entries.emplace_back(kind, bytes); });
  const auto at = [&](const std::vector<std::string>& words) {
    return std::ranges::find_if(entries, [&](const auto& entry) {
      const Message m = std::get<Message>(protocol::decode(entry.second));
      return m.sender == words[0] && static_cast<int>(m.kind) == std::stoi(words[1]) && m.round == std::stoi(words[2]);
    });
  };
  for (const auto& words : {first, second})
    if (at(words) == entries.end()) throw std::out_of_range("no message of " + words[0] + " of that kind and round");
  const auto moved = *at(first);
  if ((at(first) < at(second)) == before_it) return;  // it stands there already
  entries.erase(at(first));
  entries.insert(at(second) + (before_it ? 0 : 1), moved);
  write_anew(file, owner, entries);
}

Digest head_of_all(const fs::path& file, const std::string& owner, Forgery forgery) {
  const Transcript before(open_append_file(file), owner, [&](Transcript::Entry, std::string_view bytes) {
    Message m = std::get<Message>(protocol::decode(bytes));
    forgery.change(m);
  });
  return forgery.head;
}

void forge_transcript(const fs::path& file, Forgery forgery) {
  const std::string owner = owner_of(read_file(file, "the transcript"));
  forgery.last = head_of_all(file, owner, forgery);
  Entries entries, hellos;
  bool released = false;
  const Transcript before(open_append_file(file), owner, [&](Transcript::Entry kind, std::string_view bytes) {
    Message m = std::get<Message>(protocol::decode(bytes));
    if (forgery.what == "evidence" || forgery.what == "copy") {
      entries.emplace_back(kind, bytes);
      if (m.sender != forgery.sender || m.round != forgery.round || m.kind != Kind::value) return;
      entries.emplace_back(
          Transcript::Entry::evidence,
          protocol::encode(forgery.what == "copy" ? forgery.hello_of_copy(m) : forgery.contradiction(m)));
    } else if (forgery.what == "early" || forgery.what == "ungreeted") {
      const bool hello = m.kind == Kind::hello;
      if (hello && forgery.what == "ungreeted" && m.sender == forgery.sender) return;
      (hello && forgery.what == "early" && !released ? hellos : entries).emplace_back(kind, bytes);
      if (hello || m.sender != forgery.sender || m.round != forgery.round) return;
      released = true;
      entries.insert(entries.end(), hellos.begin(), hellos.end());
      hellos.clear();
    } else if (forgery.change(m)) {
      entries.emplace_back(kind, protocol::encode(m));
    }
  });
  write_anew(file, owner, entries);
}

void forge_statement(const fs::path& file, const identity::PrivateKey& key, const std::string& name, double number) {
  const auto signed_one = nlohmann::json::parse(read_file(file, "the statement"));
  auto statement = signed_one["statement"];
  statement[name] = number;
  identity::Identity self{.key = key,
                          .certificate = identity::parse_certificate(signed_one["certificate"], "the statement")};
  write_file(file, study::signed_statement(statement, self).dump(1) + "\n");
}

void forge_certificate(const fs::path& folder, const std::string& name, long from, long days) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const identity::PrivateKey key = identity::make_key();
  identity::write_key(key, folder / (name + ".key"));
  identity::write_certificate(
      identity::self_issue(key, name, {.from = now + std::chrono::hours(24 * from), .days = days}),
      folder / (name + ".pem"));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 5 && words[0] == "statement") {
    forge_statement(words[1], identity::read_key(words[2]), words[3], std::stod(words[4]));
    return 0;
  }
  if (words.size() == 5 && words[0] == "certificate") {
    forge_certificate(words[1], words[2], std::stol(words[3]), std::stol(words[4]));
    return 0;
  }
  if (words.size() == 8) {
    reorder(words[1], {words[2], words[3], words[4]}, {words[5], words[6], words[7]}, words[0] == "before");
    return 0;
  }
  if (words.size() != 5 && words.size() != 7) {
    std::cerr << "see the head of forge.cpp\n";
    return 1;
  }
  Forgery forgery{
      .what = words[0], .sender = words[2], .key = identity::read_key(words[3]), .round = std::stoi(words[4])};
  if (words.size() == 7) {
    forgery.coordinate = std::stol(words[5]);
    forgery.added = std::stod(words[6]);
  }
  forge_transcript(words[1], forgery);
  return 0;
}
