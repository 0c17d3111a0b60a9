#include "parley/protocol/final_iterates.h"

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

}  // namespace parley::protocol
