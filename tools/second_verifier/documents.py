"""The study file and the files of a record, from docs/operate/study.md, docs/operate/keys.md, docs/check/record.md, docs/check/wire.md."""
import hashlib
import json
import pathlib
import re
import struct
import tomllib

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

STAR, SUMS, RECYCLED = ("star-admm", "star-pvp", "dp-admm"), ("newton", "dp-gd"), ("r-admm", "mr-admm")
FILES = {"run.json", "rounds.jsonl", "released.f64", "transcript", "statement.json", "statement.txt", "model.json", "own_model.json", "coefficients.csv"}
NOT_OPTIONS = {"title", "nonce", "schema", "features", "graph", "party", "seed", "deadline-seconds", "wait-seconds", "on-loss", "edge-probability", "graph-seed"}


class Mistake(Exception):
    """What is given is no study or no record: nothing can be said of it."""


def no_twice(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def read_json(text, **how):
    return json.loads(text, object_pairs_hook=no_twice, **how)


def written(text, indent):
    """The same document as the program writes it: keys in order, numbers as they stand. indent None: one line."""
    document = read_json(text, parse_float=lambda t: f"\0{t}\0")
    out = json.dumps(document, indent=indent, sort_keys=True, ensure_ascii=False, separators=(",", ":" if indent is None else ": "))
    return re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", out)


def canonical(document_text, *path):
    """One line, keys sorted, no blanks, what is not ASCII as \\uXXXX: of which a configuration is the hash."""
    document = read_json(document_text, parse_float=lambda t: f"\0{t}\0")
    for name in path:
        document = document[name]
    return re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", json.dumps(document, sort_keys=True, separators=(",", ":")))


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Study:
    """What the file says, and of the rest (defaults, the plan) what the records say alike."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        try:
            self.toml = tomllib.loads(self.file.read_text())
        except (OSError, ValueError) as e:
            raise Mistake(f"{file}: {e}") from None
        for name in [k for k, v in self.toml.items() if isinstance(v, dict)]:  # a table groups, and means nothing
            self.toml.update(self.toml.pop(name))
        roster = self.toml.get("party", [])
        self.roster = [p for p in roster if not p.get("trainer")] + [p for p in roster if p.get("trainer")]
        self.names = [p["name"] for p in self.roster]
        self.certificates = {p["name"]: self.certificate(p) for p in self.roster}
        self.keys = {n: c.public_key() for n, c in self.certificates.items()}
        self.trainer = len(self.names) - 1 if self.roster and self.roster[-1].get("trainer") else None

    def certificate(self, party):
        text = party.get("certificate")
        if not text:
            raise Mistake(f"{self.file}: {party['name']} has no certificate in the study")
        if "BEGIN" not in text:
            text = (self.file.parent / text).read_text()
        certificate = x509.load_pem_x509_certificate(text.encode())
        if hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest() != party["fingerprint"].replace(":", "").lower():
            raise Mistake(f"{self.file}: the certificate of {party['name']} has another fingerprint than stands beside it")
        return certificate

    def differs(self, told):
        """What a record's study says otherwise than the file: names of fields."""
        found = [k for k in ("title", "nonce", "seed", "deadline-seconds", "wait-seconds", "on-loss") if k in self.toml and told.get(k) != self.toml[k]]
        listed = [{"fingerprint": p["fingerprint"].replace(":", "").lower(), "name": p["name"], "records": p.get("records", 0), "trainer": bool(p.get("trainer"))} for p in self.roster]
        if [{**p, "records": p.get("records") or 0} for p in told.get("parties", [])] != listed:
            found.append("parties")
        for key, value in self.toml.items():
            if key not in NOT_OPTIONS:
                said = told.get("options", {}).get(key)
                if said != value and said != [value] and not (isinstance(said, (int, float)) and said == value):
                    found.append(key)
        if "schema" in self.toml and not holds_all(tomllib.loads(told.get("schema") or ""), tomllib.loads((self.file.parent / self.toml["schema"]).read_text())):
            found.append("schema")
        edges = edges_of(self.toml.get("graph", "auto"), told.get("options", {}).get("algorithm"), len(self.names))
        if edges is not None and {frozenset(e) for e in told.get("edges", [])} != {frozenset(self.names[i] for i in e) for e in edges}:
            found.append("edges")
        return found

    def take(self, told, hash_):
        """From the first record whose study is this one."""
        self.hash, self.run, self.told = hash_, hash_[:32], told
        self.options, self.planned = told["options"], told["planned"]
        self.edges = [tuple(self.names.index(n) for n in e) for e in told["edges"]]
        self.algorithm = self.planned.get("algorithm") or self.options["algorithm"]
        self.star, self.sums = self.algorithm in STAR, self.algorithm in SUMS
        self.records = [p.get("records") or 0 for p in told["parties"]]
        self.classes = len(told.get("classes", [])) or 1
        self.size, self.rounds = told["features"], self.option("rounds")
        self.last_round = 2 * self.rounds if self.star else self.rounds + 1 + bool(self.options.get("intervals")) if self.sums else self.rounds
        self.not_private = ["no noise"] if self.option("noise") == "none" else [f"noise from seed {told['seed']}"] if told.get("seed") is not None else []

    def option(self, name):
        return self.planned[name] if name in self.planned else self.options.get(name)

    def of_node(self, name, node):
        value = self.option(name)
        if isinstance(value, list):
            return None if not value else float(value[0] if len(value) == 1 else value[node])
        return None if value is None else float(value)


def holds_all(said, wanted):
    """Every key of wanted stands in said with the same value."""
    if isinstance(wanted, dict):
        return isinstance(said, dict) and all(k in said and holds_all(said[k], v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return isinstance(said, list) and len(said) == len(wanted) and all(map(holds_all, said, wanted))
    return said == wanted


def edges_of(graph, algorithm, count):
    """None: a graph that this program does not make."""
    pairs = [(i, j) for j in range(count) for i in range(j)]
    if algorithm in STAR:
        return [(i, count - 1) for i in range(count - 1)]
    if graph in ("complete", "full mesh") or (graph == "auto" and algorithm in SUMS):
        return pairs
    if graph in ("ring", "auto"):
        return [e for e in pairs if e[1] - e[0] in (1, count - 1)]
    if graph == "path":
        return [e for e in pairs if e[1] - e[0] == 1]
    if re.fullmatch(r"\d+-\d+(,\d+-\d+)*", graph.replace(" ", "")):
        return [tuple(map(int, e.split("-"))) for e in graph.replace(" ", "").split(",")]
    return None


class Record:
    """A folder with run.json. Values of silent rounds are None."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        try:
            self.run_text = (self.folder / "run.json").read_text()
            self.run = read_json(self.run_text)
        except (OSError, ValueError) as e:
            raise Mistake(f"{folder}: run.json: {e}") from None
        if self.run.get("format") != "parley-party-1":
            raise Mistake(f"{folder}: this is not the record of a party")
        self.party, self.outcome = self.run["party"], self.run["outcome"]
        self.parts = []  # numbers of later parts, each of which follows the one before
        while (self.folder / f"part-{len(self.parts) + 2}" / "run.json").is_file():
            self.parts.append(len(self.parts) + 2)
        self.strange = [p.name for p in sorted(self.folder.iterdir()) if p.name not in FILES | {f"part-{n}" for n in self.parts} and (p.is_file() or any(p.iterdir()))]

    def bytes(self, name):
        file = self.folder / name
        return file.read_bytes() if file.exists() else None

    def values(self):
        """(bytes of each round, bytes behind the last whole one)."""
        shape, data, found, at = self.run["released"], self.bytes("released.f64") or b"", [], 0
        while True:
            size = 8 * self.size_of(len(found), shape)
            if at + size > len(data):
                return found, len(data) - at
            value = data[at:at + size]
            found.append(b"" if all(x != x for x in struct.unpack(f"<{size // 8}d", value)) else value)
            at += size

    @staticmethod
    def size_of(round, shape):
        if round and round == shape.get("final_round"):
            return shape["size_of_final_round"]
        return shape.get("size_of_round_1", shape["size"]) if round == 1 else shape["size"]
