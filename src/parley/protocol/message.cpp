#include "parley/protocol/message.h"

#include <bit>
#include <cstring>

#include "parley/base/error.h"

namespace parley::protocol {
namespace {

constexpr std::string_view magic = "parley";
constexpr std::size_t short_text = 255, long_text = 0xFFFF, most_payload = 0x7FFFFFFF;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

void put_text(std::string& out, std::string_view text) {
  expects(text.size() <= short_text, "a name, run id or hash of at most 255 bytes");
  put(out, text.size(), 1);
  out += text;
}

void put_digest(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

void put_process(std::string& out, const Process& process) {
  put(out, static_cast<std::uint32_t>(process.incarnation), 4);
  out.append(reinterpret_cast<const char*>(process.nonce.data()), process.nonce.size());
}

// Reads from the front; after the first thing that is not there it reads nothing more.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::size_t size, const char* field) {
    if (missing_ != nullptr || size > rest_.size()) {
      if (missing_ == nullptr) missing_ = field;
      return {};
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::uint64_t number(int bytes, const char* field) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char c : take(static_cast<std::size_t>(bytes), field)) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  }
  int integer(const char* field) { return static_cast<int>(static_cast<std::uint32_t>(number(4, field))); }
  std::string text(int length_bytes, const char* field) {
    return std::string(take(number(length_bytes, field), field));
  }
  Digest digest(const char* field) {
    Digest d{};
    const std::string_view part = take(d.size(), field);
    if (part.size() == d.size()) std::memcpy(d.data(), part.data(), d.size());
    return d;
  }

  Process process(const char* field) {
    Process p{.incarnation = integer(field)};
    const std::string_view part = take(p.nonce.size(), field);
    if (part.size() == p.nonce.size()) std::memcpy(p.nonce.data(), part.data(), part.size());
    return p;
  }

  const char* missing() const { return missing_; }  // the first field that was not there, or null
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  const char* missing_ = nullptr;
};

void put_nodes(std::string& out, const std::vector<int>& nodes) {
  put(out, nodes.size(), 2);
  for (const int node : nodes) put(out, static_cast<std::uint32_t>(node), 4);
}

// Trap: the count comes from outside, so nothing is reserved by it.
std::optional<std::vector<int>> take_nodes(Reader& in) {
  std::vector<int> nodes;
  for (std::uint64_t left = in.number(2, "nodes"); left > 0; --left) {
    nodes.push_back(in.integer("nodes"));
    if (in.missing() != nullptr || nodes.back() < 0 || (nodes.size() > 1 && nodes[nodes.size() - 2] >= nodes.back()))
      return std::nullopt;
  }
  return nodes;
}

bool known(std::uint64_t kind) {
  return kind >= static_cast<std::uint64_t>(Kind::hello) && kind <= static_cast<std::uint64_t>(Kind::noise_key);
}

}  // namespace

std::string signed_part(const Message& m) {
  expects(m.payload.size() <= most_payload, "a payload of less than 2 GiB");
  std::string out(magic);
  put(out, protocol_version, 2);
  put(out, static_cast<std::uint64_t>(m.kind), 1);
  put_text(out, m.run);
  put_text(out, m.configuration);
  put_text(out, m.sender);
  put(out, static_cast<std::uint32_t>(m.node), 4);
  put(out, static_cast<std::uint32_t>(m.round), 4);
  put_process(out, m.process);
  put_digest(out, m.head);
  put(out, m.payload.size(), 4);
  out += m.payload;
  return out;
}

std::string encode(const Message& m) {
  expects(m.signature.size() <= long_text, "a signature of at most 64 KiB");
  std::string out = signed_part(m);
  put(out, m.signature.size(), 2);
  return out + m.signature;
}

std::variant<Message, Finding> decode(std::string_view bytes) {
  Reader in(bytes);
  const bool ours = in.take(magic.size(), "version") == magic;
  const auto version = static_cast<int>(in.number(2, "version"));
  if (in.missing() == nullptr && (!ours || version != protocol_version))
    return Finding{Verdict::unknown_version,
                   ours ? std::to_string(version) + ", but this program speaks " + std::to_string(protocol_version)
                        : "not a message of parley"};
  Message m;
  const std::uint64_t kind = in.number(1, "kind");
  if (in.missing() == nullptr && !known(kind)) return Finding{Verdict::unknown_kind, std::to_string(kind)};
  m.kind = static_cast<Kind>(kind);
  m.run = in.text(1, "run");
  m.configuration = in.text(1, "configuration");
  m.sender = in.text(1, "sender");
  m.node = in.integer("node");
  m.round = in.integer("round");
  m.process = in.process("process");
  m.head = in.digest("head");
  m.payload = in.text(4, "payload");
  m.signature = in.text(2, "signature");
  if (in.missing() != nullptr)
    return Finding{Verdict::truncated, "ends after " + std::to_string(bytes.size()) + " bytes, in " + in.missing()};
  if (in.left() > 0) return Finding{Verdict::truncated, std::to_string(in.left()) + " bytes stand after the signature"};
  return m;
}

std::string run_of(std::string_view bytes) {
  Reader in(bytes);
  in.take(magic.size() + 3, "kind");
  const std::string run = in.text(1, "run");
  return in.missing() == nullptr ? run : "";
}

Digest next_head(const Digest& before, const std::string& run, int node, int round, std::string_view payload) {
  std::string text = "parley release 1";
  put_digest(text, before);
  put_text(text, run);
  put(text, static_cast<std::uint32_t>(node), 4);
  put(text, static_cast<std::uint32_t>(round), 4);
  text += payload;
  return sha256(text);
}

std::string payload_of(const Vector& value) {
  std::string out;
  out.reserve(8 * static_cast<std::size_t>(value.size()));
  for (const double x : value) put(out, std::bit_cast<std::uint64_t>(x), 8);
  return out;
}

std::string payload_of(const Digest& digest) {
  std::string out;
  put_digest(out, digest);
  return out;
}

std::optional<Vector> vector_of(std::string_view payload) {
  if (payload.size() % 8 != 0) return std::nullopt;
  Vector value(static_cast<Index>(payload.size() / 8));
  Reader in(payload);
  for (double& x : value) x = std::bit_cast<double>(in.number(8, "payload"));
  return value;
}

std::string payload_of(const Seen& seen) {
  std::string out;
  put(out, static_cast<std::uint32_t>(seen.round), 4);
  put_digest(out, seen.head);
  put_process(out, seen.process);
  put(out, static_cast<std::uint32_t>(seen.waits_for), 4);
  return out;
}

std::optional<Seen> seen_of(std::string_view payload) {
  Reader in(payload);
  Seen seen;
  seen.round = in.integer("seen");
  seen.head = in.digest("seen");
  seen.process = in.process("seen");
  seen.waits_for = in.integer("seen");
  if (in.missing() != nullptr || in.left() > 0 || seen.round < -1 || seen.waits_for < -1) return std::nullopt;
  return seen;
}

std::string payload_of(const Goodbye& goodbye) {
  std::string out;
  put(out, static_cast<std::uint64_t>(goodbye.end), 1);
  put(out, static_cast<std::uint64_t>(goodbye.reason), 1);
  put_text(out, std::string_view(goodbye.text).substr(0, short_text));
  return out + goodbye.proof;
}

std::optional<Goodbye> goodbye_of(std::string_view payload) {
  Reader in(payload);
  const std::uint64_t end = in.number(1, "end"), reason = in.number(1, "reason");
  Goodbye goodbye{.text = in.text(1, "text")};
  goodbye.proof = in.take(in.left(), "proof");
  if (in.missing() != nullptr || end > static_cast<std::uint64_t>(End::contradicted) ||
      reason > static_cast<std::uint64_t>(Reason::left_behind))
    return std::nullopt;
  goodbye.end = static_cast<End>(end);
  goodbye.reason = static_cast<Reason>(reason);
  return goodbye;
}

std::string bundle(const std::vector<std::string>& messages, std::size_t most) {
  std::string out;
  for (const std::string& m : messages) {
    if (m.empty() || out.size() + m.size() + 4 > most) continue;
    put(out, m.size(), 4);
    out += m;
  }
  return out;
}

std::vector<std::string> unbundled(std::string_view bytes, std::size_t most) {
  std::vector<std::string> messages;
  Reader in(bytes);
  while (messages.size() < most && in.left() > 0 && in.missing() == nullptr) {
    std::string m = in.text(4, "message");
    if (in.missing() == nullptr) messages.push_back(std::move(m));
  }
  return messages;
}

std::string payload_of(const Loss& loss) {
  std::string out;
  put_nodes(out, loss.lost);
  return out;
}

std::optional<Loss> loss_of(std::string_view payload) {
  Reader in(payload);
  auto lost = take_nodes(in);
  if (!lost || in.missing() != nullptr || in.left() > 0) return std::nullopt;
  return Loss{std::move(*lost)};
}

std::string payload_of(const Consent& consent) {
  std::string out;
  put(out, consent.agrees ? 1 : 0, 1);
  put_nodes(out, consent.members);
  put_text(out, consent.configuration);
  put_digest(out, consent.values);
  put_text(out, std::string_view(consent.reason).substr(0, short_text));
  return out;
}

std::optional<Consent> consent_of(std::string_view payload) {
  Reader in(payload);
  const std::uint64_t agrees = in.number(1, "agrees");
  auto members = take_nodes(in);
  if (!members) return std::nullopt;
  Consent consent{.agrees = agrees == 1, .members = std::move(*members)};
  consent.configuration = in.text(1, "configuration");
  consent.values = in.digest("values");
  consent.reason = in.text(1, "reason");
  if (in.missing() != nullptr || in.left() > 0 || agrees > 1) return std::nullopt;
  return consent;
}

}  // namespace parley::protocol
