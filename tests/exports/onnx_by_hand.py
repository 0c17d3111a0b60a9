"""An ONNX file read byte by byte and carried out, with the operators that parley writes: an oracle that needs no library.

Tensors are lists of rows; of one dimension, plain lists. Field numbers are those of onnx.proto."""
import math
import struct


def fields(data):
    """(number, value) of each field: an int of a varint, bytes of anything with a length."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
            yield tag >> 3, value - 2**64 if value >= 2**63 else value
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            length = varint()
            assert at + length <= len(data), "a field that goes beyond its message"
            yield tag >> 3, data[at:at + length]
            at += length


def all_of(data, number):
    return [value for n, value in fields(data) if n == number]


def one_of(data, number):
    (value,) = all_of(data, number)
    return value


def tensor(data):
    shape, kind, raw = all_of(data, 1), one_of(data, 2), one_of(data, 9)
    assert kind in (11, 7), f"element type {kind}: doubles and whole numbers alone"
    flat = list(struct.unpack(f"<{len(raw) // 8}{'d' if kind == 11 else 'q'}", raw))
    assert len(flat) == math.prod(shape)
    return flat if len(shape) == 1 else [flat[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def attributes(node):
    found = {}
    for data in all_of(node, 5):
        kind = one_of(data, 20)
        field, text = {2: (3, False), 3: (4, True), 7: (8, False), 8: (9, True)}[kind]
        values = [v.decode() if text else v for v in all_of(data, field)]
        found[one_of(data, 1).decode()] = values if kind in (7, 8) else values[0]
    return found


class Model:
    def __init__(self, data):
        self.opsets = {one_of(o, 1).decode(): one_of(o, 2) for o in all_of(data, 8)}
        self.doc = one_of(data, 6).decode()
        self.notes = {one_of(p, 1).decode(): one_of(p, 2).decode() for p in all_of(data, 14)}
        graph = one_of(data, 7)
        self.constants = {one_of(t, 8).decode(): tensor(t) for t in all_of(graph, 5)}
        self.nodes = all_of(graph, 1)

        def declared(field):
            return {one_of(v, 1).decode(): one_of(one_of(one_of(v, 2), 1), 1) for v in all_of(graph, field)}
        self.inputs, self.outputs = declared(11), declared(12)  # name: element type, 11 double, 8 text

    def run(self, inputs):
        values = {**self.constants, **inputs}
        for node in self.nodes:
            (result,) = (n.decode() for n in all_of(node, 2))
            assert result not in values, "a tensor is made twice"
            values[result] = OPERATORS[one_of(node, 4).decode()](attributes(node), *(values[n.decode()] for n in all_of(node, 1)))
        return {name: values[name] for name in self.outputs}


def element_wise(f):
    """With broadcasting of one row or one column."""
    def op(_, *tensors):
        tensors = [t if isinstance(t[0], list) else [t] for t in tensors]
        rows, columns = max(len(t) for t in tensors), max(len(t[0]) for t in tensors)
        for t in tensors:
            assert len(t) in (1, rows) and len(t[0]) in (1, columns), "shapes that do not go together"
        return [[f(*(t[r if len(t) > 1 else 0][c if len(t[0]) > 1 else 0] for t in tensors)) for c in range(columns)] for r in range(rows)]
    return op


def matmul(_, a, b):
    assert len(a[0]) == len(b)
    return [[sum(x * b[k][c] for k, x in enumerate(row)) for c in range(len(b[0]))] for row in a]


def gather(a, table, places):
    return [table[p] for p in places] if a["axis"] == 0 else [[row[p] for p in places] for row in table]


def label_encoder(a, values):
    keys = a.get("keys_strings") or a["keys_int64s"]
    found = dict(zip(keys, a.get("values_int64s") or a["values_strings"]))
    other = a["default_int64"] if "values_int64s" in a else a["default_string"]
    return [[found.get(v, other) for v in row] for row in values]


def softmax(_, rows):
    powers = [[math.exp(v - max(row)) for v in row] for row in rows]
    return [[p / sum(row) for p in row] for row in powers]


def or_nan(f):  # Python's own raise, or choose an argument, where IEEE says NaN
    return lambda *x: math.nan if any(math.isnan(v) for v in x) else f(*x)


OPERATORS = {
    "Add": element_wise(lambda a, b: a + b), "Sub": element_wise(lambda a, b: a - b),
    "Mul": element_wise(lambda a, b: a * b), "Div": element_wise(lambda a, b: a / b),
    "Max": element_wise(or_nan(max)), "Min": element_wise(or_nan(min)),
    "Less": element_wise(lambda a, b: a < b), "Greater": element_wise(lambda a, b: a > b),
    "GreaterOrEqual": element_wise(lambda a, b: a >= b), "Equal": element_wise(lambda a, b: a == b),
    "And": element_wise(lambda a, b: a and b), "Or": element_wise(lambda a, b: a or b), "Not": element_wise(lambda a: not a),
    "IsNaN": element_wise(math.isnan), "Where": element_wise(lambda c, a, b: a if c else b),
    "Sqrt": element_wise(or_nan(math.sqrt)), "Log": element_wise(or_nan(math.log)),
    "Sigmoid": element_wise(or_nan(lambda x: 1 / (1 + math.exp(-x)))),
    "Cast": lambda a, t: element_wise(float if a["to"] == 11 else lambda v: int(v))(a, t),
    "MatMul": matmul, "Gather": gather, "LabelEncoder": label_encoder, "Softmax": softmax,
    "Concat": lambda a, *t: [sum((x[r] for x in t), []) for r in range(len(t[0]))],
    "Squeeze": lambda a, t, axes: [row[0] for row in t],
    "ArgMax": lambda a, t: [[row.index(max(row))] for row in t],
    "Identity": lambda a, t: t,
}
