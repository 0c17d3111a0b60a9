"""A model.json, of a fit or of ``parley train``, and what it says of rows of numbers."""
from __future__ import annotations

import json
import os
from typing import Any, Union

import numpy as np

from . import _parley
from ._fit import Array, rows_of

Path = Union[str, os.PathLike[str]]


def _against(privacy: dict[str, Any]) -> str:
    """Where noise is shared: the first figure is against few, and the second against all others together."""
    if not privacy.get("against") or privacy.get("epsilon_all_others") in (None, privacy["epsilon"]):
        return ""
    return f" against {privacy['against']}; ε = {_parley.printed_epsilon(privacy['epsilon_all_others'])} against all others together"


class Model:
    """The columns of `X` are those of the model's schema, in its order. Rows with texts: ``parley.reader``."""

    def __init__(self, compiled: _parley.Model):
        self._model = compiled

    @classmethod
    def read(cls, path: Path) -> Model:
        return cls(_parley.Model.read(os.fspath(path)))

    def save(self, path: Path) -> None:
        self._model.save(os.fspath(path))

    @property
    def loss(self) -> str:
        return self._model.loss()

    @property
    def classes(self) -> list[str]:
        """Of two, the second is the positive one; none: the model predicts a number."""
        return self._model.classes()

    @property
    def not_private(self) -> list[str]:
        """Why its guarantee is none; empty: it stands."""
        return self._model.not_private()

    @property
    def weights(self) -> Array:
        """Of the encoded features, class after class."""
        return self._model.weights()

    def _rows(self, X: Any) -> _parley.Rows:
        return rows_of(X, np.empty(0), self._model.schema(), "X")

    def predict(self, X: Any) -> Array:
        """Classes by their names, or numbers in the label's own unit."""
        said: Array = self._model.predicted(self._rows(X))
        if self.classes:
            said = np.array(self.classes)[said.astype(int)]
        return said

    def predict_proba(self, X: Any) -> Array:
        rows = self._rows(X)
        return self._model.probabilities(rows).reshape(len(rows), -1)

    def __reduce__(self) -> tuple[Any, tuple[_parley.Model]]:
        return (Model, (self._model,))

    def __repr__(self) -> str:
        stamp = "  # NOT PRIVATE: " + "; ".join(self.not_private) if self.not_private else ""
        privacy = json.loads(self._model.json())["privacy"]
        said = "" if stamp else f"  # ε = {_parley.printed_epsilon(privacy['epsilon'])}, δ = {privacy['delta']:g}{_against(privacy)}"
        return f"Model(loss={self.loss!r}, classes={self.classes!r}){stamp}{said}"
