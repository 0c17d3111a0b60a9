// A graph in ONNX's own terms: inputs, nodes in order, outputs. Every value is a tensor of doubles unless it says otherwise.
// Field numbers: onnx.proto of ONNX 1.8 (IR 7), operators of opset 13 and of ai.onnx.ml 2.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/vector.h"
#include "parley/run/export/protobuf.h"

namespace parley::run {

enum class Element { number = 11, integer = 7, text = 8, truth = 9 };  // TensorProto.DataType

class OnnxGraph {
 public:
  using Value = std::string;  // the name of a tensor

  Value input(const std::string& name, Element element, Index columns);  // rows × columns
  void output(const std::string& name, const Value& value, Element element, Index columns);

  Value constant(const std::vector<double>& values, const std::vector<Index>& shape);
  Value row(const std::vector<double>& values) { return constant(values, {1, static_cast<Index>(values.size())}); }
  Value scalar(double value) { return row({value}); }
  Value integers(const std::vector<std::int64_t>& values);

  Value op(const std::string& type, const std::vector<Value>& inputs);
  Value op(const std::string& type, const std::vector<Value>& inputs, const std::string& attribute, std::int64_t value);
  Value cast(const Value& value, Element to) { return op("Cast", {value}, "to", static_cast<std::int64_t>(to)); }
  // Text to whole number, and back; what is not listed becomes `otherwise`.
  Value number_of(const Value& texts, const std::vector<std::pair<std::string, int>>& known, std::int64_t otherwise);
  Value text_of(const Value& numbers, const std::vector<std::string>& texts);  // 0, 1, …; "" of others

  // The bytes of an ONNX file.
  std::string model(const std::string& words, const std::string& version,
                    const std::vector<std::pair<std::string, std::string>>& notes) const;

 private:
  Value fresh() { return "parley:" + std::to_string(next_++); }
  Value add(Protobuf node, const std::vector<Value>& inputs, const std::string& type);
  Value initializer(Element element, const std::vector<Index>& shape, const std::string& bytes);
  static Protobuf described(const std::string& name, Element element, Index columns);

  int next_ = 0;
  Protobuf nodes_, initializers_, inputs_, outputs_;
};

}  // namespace parley::run
