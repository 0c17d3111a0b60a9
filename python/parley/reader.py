"""Applies a model.json and reads records, with Python 3.11 alone: no compiled part, no numpy.

    from parley.reader import Model, read_record
    model = Model.read("model.json")
    model.predict({"age": "39", "workclass": "Private", ...})     # a class, or a number in the label's own unit
    model.probabilities({...})                                    # {class: probability}

Results agree with `parley predict` to about 1e-12 (it rounds some sums in longer numbers).
"""
from __future__ import annotations

import datetime
import json
import math
import pathlib
import tomllib
from typing import Any, Mapping, Optional, Union

Cell = Union[str, float, int, None]


def _day(text: str) -> Optional[datetime.date]:
    try:
        return datetime.date.fromisoformat(text[:10]) if len(text) == 10 or text[10:11] in ("T", "t", " ") else None
    except ValueError:
        return None


class _Schema:
    def __init__(self, toml: str):
        self.toml = tomllib.loads(toml)
        self.fold = self.toml.get("fold", "none")
        self.bound = self.toml.get("scale", "clip") == "bound"
        self.marks = {self.folded(m) for m in self.toml.get("missing", ["", "NA", "?"])}
        self.columns = [c for c in self.toml["columns"] if c["kind"] != "drop"]
        self.label = self.toml["label"]
        constant = self.intercept = self.toml.get("intercept", True)
        self.reference = []
        for c in self.columns:  # scale = "bound": the first category is what others are compared with
            covers = self.bound and self._covers_all(c)
            self.reference.append(constant and covers)
            constant = constant or covers

    @staticmethod
    def _covers_all(c: Mapping[str, Any]) -> bool:
        bins = c["kind"] == "numeric" and c.get("transform") == "bins"
        return (bins or c["kind"] == "categorical") and "zero" not in (c.get("missing"), c.get("other"))

    def folded(self, text: str) -> str:
        if self.fold in ("blanks", "both"):
            text = " ".join(text.split())
        return text.lower() if self.fold in ("letters", "both") and text.isascii() else text

    def features(self, row: Mapping[str, Cell]) -> list[float]:
        values: list[float] = []
        used = 0
        for c, reference in zip(self.columns, self.reference):
            if c["name"] not in row:
                raise ValueError(f"column '{c['name']}' is missing; the model needs {[x['name'] for x in self.columns]}")
            given = row[c["name"]]
            cell = self.folded("" if given is None else given if isinstance(given, str) else repr(given))
            one_of = c["kind"] == "categorical" or c.get("transform") == "bins"
            block = self._one_of(c, cell) if one_of else [self._number(c, cell)]
            used += bool(block)
            values += block[1:] if reference else block
        if self.intercept:
            values.append(1.0)
        if self.bound:
            r = math.nextafter(math.sqrt(used + bool(self.intercept)), math.inf)
            values = [v / r for v in values]
        norm = math.sqrt(math.fsum(v * v for v in values))
        return [v / norm for v in values] if norm > 1 else values

    def _missing(self, c: Mapping[str, Any], cell: str) -> Optional[str]:
        """Its policy, where the cell means "missing"."""
        if cell not in self.marks:
            return None
        policy: str = c.get("missing", "error")
        if policy == "error":
            raise ValueError(f"column '{c['name']}' is missing")
        return policy

    def _measure(self, c: Mapping[str, Any], cell: str) -> float:
        part = c.get("date")
        if not part or part == "none":
            return float(cell)
        day = _day(cell)
        if day is None:
            raise ValueError(f"column '{c['name']}': '{cell}' is no date, YYYY-MM-DD")
        if part == "days":
            return float((day - datetime.date.fromisoformat(c["since"])).days)
        return float({"year": day.year, "month": day.month, "weekday": day.isoweekday()}[part])

    @staticmethod
    def _within(c: Mapping[str, Any], x: float) -> float:
        low, high = c["bounds"]
        if c.get("out_of_range", "clip") == "error" and not low <= x <= high:
            raise ValueError(f"column '{c['name']}': {x} is not in {low} to {high}")
        return float(min(max(x, low), high))

    def _number(self, c: Mapping[str, Any], cell: str) -> float:
        low, high = c["bounds"]
        policy = self._missing(c, cell)
        x = {None: None, "low": low, "high": high}.get(policy, low / 2 + high / 2)
        x = self._within(c, self._measure(c, cell)) if x is None else x
        t = {"log1p": math.log1p, "sqrt": math.sqrt}.get(c.get("transform", "none"), float)
        scaled = min(max((t(x) - t(low)) / (t(high) - t(low)), 0.0), 1.0)
        return 2 * scaled - 1 if self.bound else scaled

    def _one_of(self, c: Mapping[str, Any], cell: str) -> list[float]:
        policy = self._missing(c, cell)
        if c["kind"] == "numeric":  # bin k holds e_k <= x < e_{k+1}
            edges = c["edges"]
            size = len(edges) + 1
            places = {"low": 0, "high": size - 1, "middle": len(edges) // 2, "zero": -1}
            at = places[policy] if policy else None
            if at is None:
                x = self._measure(c, cell)
                x = self._within(c, x) if "bounds" in c else x
                at = sum(e <= x for e in edges)
        else:
            names = [str(k) if isinstance(k, int) else self.folded(k) for k in c["categories"]]
            size = len(names) + (c.get("other") == "bucket")
            aliases = {self.folded(a): self.folded(to) for a, to in c.get("aliases", {}).items()}
            text = aliases.get(cell, cell)
            if text not in names and isinstance(c["categories"][0], int):
                number = self._code(c, cell)
                text = str(int(number)) if number is not None and number == int(number) else text
            if policy == "zero":
                at = -1
            elif text in names:
                at = names.index(text)
            elif policy == "category":
                at = next(names.index(m) for m in map(self.folded, self.toml.get("missing", ["", "NA", "?"])) if m in names)
            elif c.get("other", "error") == "error":
                raise ValueError(f"column '{c['name']}': '{cell}' is none of its categories")
            else:
                at = len(names) if c["other"] == "bucket" else -1
        return [1.0 if k == at else 0.0 for k in range(size)]

    def _code(self, c: Mapping[str, Any], cell: str) -> Optional[float]:
        try:
            return self._measure(c, cell)
        except ValueError:
            return None


class Model:
    """A model.json with a schema (a model of LIBSVM rows takes lists of numbers in `scores`)."""

    def __init__(self, model: Mapping[str, Any]):
        if model.get("format") != "parley-model-1":
            raise ValueError(f"not a model of this version: format {model.get('format')!r}")
        self.json = model
        self.loss: str = model["loss"]
        self.not_private: list[str] = model["not_private"]
        self.privacy: Mapping[str, Any] = model["privacy"]
        self._weights = model["weights"] if self.loss == "softmax" else [model["weights"]]
        self._schema = _Schema(model["schema"]) if model["schema"] else None
        label = self._schema.label if self._schema else {"negative": ["-1"], "positive": ["1"]}
        self._bounds = label.get("bounds")
        self.classes: list[str] = (
            model.get("classes") or ([] if self._bounds else [label["negative"][0], label["positive"][0]]))

    @classmethod
    def read(cls, path: Union[str, pathlib.Path]) -> Model:
        return cls(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))

    def scores(self, row: Union[Mapping[str, Cell], list[float]]) -> list[float]:
        x = self._schema.features(row) if self._schema and isinstance(row, Mapping) else list(row)  # type: ignore
        return [math.fsum(a * b for a, b in zip(w, x, strict=True)) for w in self._weights]

    def probabilities(self, row: Union[Mapping[str, Cell], list[float]]) -> dict[str, float]:
        if self.loss not in ("logistic", "softmax"):
            raise ValueError(f"a model with the loss {self.loss} has no probabilities")
        s = self.scores(row)
        s = s if self.loss == "softmax" else [0.0, s[0]]
        e = [math.exp(v - max(s)) for v in s]
        return {c: v / math.fsum(e) for c, v in zip(self.classes, e, strict=True)}

    def predict(self, row: Union[Mapping[str, Cell], list[float]]) -> Union[str, float]:
        s = self.scores(row)
        if self._bounds:
            low, high = self._bounds
            return float(low + (s[0] + 1) / 2 * (high - low))
        return self.classes[s.index(max(s))] if self.loss == "softmax" else self.classes[int(s[0] > 0)]


def read_record(folder: Union[str, pathlib.Path]) -> dict[str, Any]:
    """run.json of a record, with its rounds under "rounds". Privacy: a simulation's record is private as a whole."""
    folder = pathlib.Path(folder)
    run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["rounds"] = [json.loads(line) for line in (folder / "rounds.jsonl").read_text(encoding="utf-8").splitlines()]
    return run
