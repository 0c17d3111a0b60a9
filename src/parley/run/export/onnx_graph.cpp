#include "parley/run/export/onnx_graph.h"

namespace parley::run {
namespace {

// ModelProto, GraphProto, NodeProto, AttributeProto, TensorProto, ValueInfoProto and what they hold, by field number.
constexpr int model_ir = 1, model_producer = 2, model_producer_version = 3, model_doc = 6, model_graph = 7,
              model_opset = 8, model_metadata = 14;
constexpr int graph_node = 1, graph_name = 2, graph_initializer = 5, graph_input = 11, graph_output = 12;
constexpr int node_input = 1, node_output = 2, node_type = 4, node_attribute = 5, node_domain = 7;
constexpr int attribute_name = 1, attribute_integer = 3, attribute_text = 4, attribute_integers = 8,
              attribute_texts = 9, attribute_type = 20;
constexpr int type_integer = 2, type_text = 3, type_integers = 7, type_texts = 8;  // AttributeProto.AttributeType
constexpr int tensor_shape = 1, tensor_element = 2, tensor_name = 8, tensor_bytes = 9;
constexpr const char* learning = "ai.onnx.ml";  // the operator set that has LabelEncoder

Protobuf attribute(const std::string& name, std::int64_t value) {
  return Protobuf().bytes(attribute_name, name).number(attribute_integer, value).number(attribute_type, type_integer);
}

Protobuf attribute(const std::string& name, const std::string& value) {
  return Protobuf().bytes(attribute_name, name).bytes(attribute_text, value).number(attribute_type, type_text);
}

Protobuf attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  Protobuf p = Protobuf().bytes(attribute_name, name);
  for (const std::int64_t v : values) p.number(attribute_integers, v);
  return p.number(attribute_type, type_integers);
}

Protobuf attribute(const std::string& name, const std::vector<std::string>& values) {
  Protobuf p = Protobuf().bytes(attribute_name, name);
  for (const auto& v : values) p.bytes(attribute_texts, v);
  return p.number(attribute_type, type_texts);
}

Protobuf pair(const std::string& first, const std::string& second) {  // StringStringEntryProto
  return Protobuf().bytes(1, first).bytes(2, second);
}

}  // namespace

Protobuf OnnxGraph::described(const std::string& name, Element element, Index columns) {
  const Protobuf rows = Protobuf().bytes(2, "rows"), width = Protobuf().number(1, columns);  // dim_param, dim_value
  const Protobuf shape = Protobuf().message(1, rows).message(1, width);
  const Protobuf tensor = Protobuf().number(1, static_cast<int>(element)).message(2, shape);
  return Protobuf().bytes(1, name).message(2, Protobuf().message(1, tensor));
}

OnnxGraph::Value OnnxGraph::input(const std::string& name, Element element, Index columns) {
  inputs_.message(graph_input, described(name, element, columns));
  return name;
}

void OnnxGraph::output(const std::string& name, const Value& value, Element element, Index columns) {
  nodes_.message(graph_node, Protobuf().bytes(node_input, value).bytes(node_output, name).bytes(node_type, "Identity"));
  outputs_.message(graph_output, described(name, element, columns));
}

OnnxGraph::Value OnnxGraph::initializer(Element element, const std::vector<Index>& shape, const std::string& bytes) {
  Protobuf tensor;
  for (const Index n : shape) tensor.number(tensor_shape, n);
  const Value name = fresh();
  tensor.number(tensor_element, static_cast<int>(element)).bytes(tensor_name, name).bytes(tensor_bytes, bytes);
  initializers_.message(graph_initializer, tensor);
  return name;
}

OnnxGraph::Value OnnxGraph::constant(const std::vector<double>& values, const std::vector<Index>& shape) {
  std::string bytes;
  for (const double v : values) add_little_endian(bytes, v);
  return initializer(Element::number, shape, bytes);
}

OnnxGraph::Value OnnxGraph::integers(const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t v : values) add_little_endian(bytes, static_cast<std::uint64_t>(v));
  return initializer(Element::integer, {static_cast<Index>(values.size())}, bytes);
}

OnnxGraph::Value OnnxGraph::add(Protobuf node, const std::vector<Value>& inputs, const std::string& type) {
  Value made = fresh();
  for (const Value& v : inputs) node.bytes(node_input, v);
  nodes_.message(graph_node, node.bytes(node_output, made).bytes(node_type, type));
  return made;
}

OnnxGraph::Value OnnxGraph::op(const std::string& type, const std::vector<Value>& inputs) {
  return add({}, inputs, type);
}

OnnxGraph::Value OnnxGraph::op(const std::string& type, const std::vector<Value>& inputs, const std::string& name,
                               std::int64_t value) {
  return add(Protobuf().message(node_attribute, attribute(name, value)), inputs, type);
}

OnnxGraph::Value OnnxGraph::number_of(const Value& texts, const std::vector<std::pair<std::string, int>>& known,
                                      std::int64_t otherwise) {
  std::vector<std::string> words;
  std::vector<std::int64_t> numbers;
  for (const auto& [text, k] : known) {
    words.push_back(text);
    numbers.push_back(k);
  }
  return add(Protobuf()
                 .message(node_attribute, attribute("keys_strings", words))
                 .message(node_attribute, attribute("values_int64s", numbers))
                 .message(node_attribute, attribute("default_int64", otherwise))
                 .bytes(node_domain, learning),
             {texts}, "LabelEncoder");
}

OnnxGraph::Value OnnxGraph::text_of(const Value& numbers, const std::vector<std::string>& texts) {
  std::vector<std::int64_t> keys(texts.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
  return add(Protobuf()
                 .message(node_attribute, attribute("keys_int64s", keys))
                 .message(node_attribute, attribute("values_strings", texts))
                 .message(node_attribute, attribute("default_string", std::string()))
                 .bytes(node_domain, learning),
             {numbers}, "LabelEncoder");
}

std::string OnnxGraph::model(const std::string& words, const std::string& version,
                             const std::vector<std::pair<std::string, std::string>>& notes) const {
  // Fields of one message may stand in any order: parts that were written one after the other are joined.
  const std::string graph = nodes_.text() + Protobuf().bytes(graph_name, "parley").text() + initializers_.text() +
                            inputs_.text() + outputs_.text();
  Protobuf model;
  model.number(model_ir, 7)
      .bytes(model_producer, "parley")
      .bytes(model_producer_version, version)
      .bytes(model_doc, words)
      .bytes(model_graph, graph)
      .message(model_opset, Protobuf().bytes(1, "").number(2, 13))
      .message(model_opset, Protobuf().bytes(1, learning).number(2, 2));
  for (const auto& [key, value] : notes) model.message(model_metadata, pair(key, value));
  return model.text();
}

}  // namespace parley::run
