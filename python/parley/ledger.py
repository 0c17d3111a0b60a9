"""A data owner's ledger: what may be spent on a dataset, over all runs, and what was."""
from __future__ import annotations

import os
from typing import Optional, Union

from . import _parley


class Ledger:
    """The file that ``parley ledger`` keeps. It is made by the first cap."""

    def __init__(self, path: Union[str, os.PathLike[str]]):
        self.path = os.fspath(path)
        self._ledger = _parley.Ledger(self.path)

    def cap(self, dataset: str, epsilon: float, delta: float = 0.0, colluders_epsilon: Optional[float] = None) -> None:
        """The most that may ever be spent on one row; ``math.inf``: public or synthetic rows."""
        self._ledger.cap(dataset, float(epsilon), float(delta), colluders_epsilon)

    def spent(self, dataset: str) -> float:
        """ε of all fits so far, against anybody, at the cap's δ."""
        return float(self._ledger.spent(dataset))

    def left(self, dataset: str) -> float:
        """ε that one more fit may cost."""
        return float(self._ledger.left(dataset))

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"

    def __reduce__(self) -> tuple[type[Ledger], tuple[str]]:  # clone and pickle: the file is the ledger
        return (Ledger, (self.path,))
