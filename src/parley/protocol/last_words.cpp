#include "parley/protocol/last_words.h"

#include "parley/base/error.h"

namespace parley::protocol {

void MeanOfReleases::add(int round, const Vector& released) {
  if (released.size() > 0) last_ = released;
  if (!counts_(round)) return;
  if (count_++ == 0) sum_ = Vector::Zero(last_.size());
  sum_ += last_;
}

Vector MeanOfReleases::value() const {
  if (count_ == 0) return last_;
  return sum_ / count_;
}

Finding FinalIterates::judge(const Message& m) const {
  const auto before = found_.find(m.node);
  if (before == found_.end()) return {Verdict::accepted, ""};
  if (before->second.head == m.head && payload_of(before->second.value) == m.payload) return {Verdict::duplicate, ""};
  return {Verdict::second_value, "a final iterate that is not the one stored: " + m.sender + " contradicts itself"};
}

void FinalIterates::add(const Message& m, std::string bytes) {
  const auto value = vector_of(m.payload);
  expects(value && value->size() == dimension_, "a final iterate of the model's size");
  found_[m.node] = {*value, m.head};
  bytes_[m.node] = std::move(bytes);
}

std::string FinalIterates::digest() const {
  expects(complete(), "all final iterates");
  std::string text = "parley seal 1";
  for (const auto& [node, found] : found_) {
    for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>((node >> shift) & 0xFF);
    text += payload_of(found.head) + payload_of(found.value);
  }
  return payload_of(sha256(text));
}

std::optional<Digest> FinalIterates::head(int origin) const {
  const auto found = found_.find(origin);
  if (found == found_.end()) return std::nullopt;
  return found->second.head;
}

Vector FinalIterates::model() const {
  expects(complete(), "all final iterates");
  if (found_.size() == 1) return found_.begin()->second.value;
  Vector sum = Vector::Zero(dimension_);
  for (const auto& [node, found] : found_) sum += found.value;
  return sum / static_cast<double>(found_.size());
}

Finding Seals::judge(const Message& m) const {
  const auto before = seals_.find(m.node);
  if (before == seals_.end()) return {Verdict::accepted, ""};
  if (before->second.head == m.head && before->second.payload == m.payload) return {Verdict::duplicate, ""};
  return {Verdict::second_value, "a seal that is not the one stored: " + m.sender + " contradicts itself"};
}

void Seals::add(const Message& m, std::string bytes) {
  seals_[m.node] = {m.head, m.payload};
  bytes_[m.node] = std::move(bytes);
}

std::optional<Digest> Seals::head(int node) const {
  const auto found = seals_.find(node);
  if (found == seals_.end()) return std::nullopt;
  return found->second.head;
}

int Seals::other_than(const std::string& payload) const {
  for (const auto& [node, seal] : seals_)
    if (seal.payload != payload) return node;
  return -1;
}

}  // namespace parley::protocol
