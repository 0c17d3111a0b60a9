"""A data owner's ledger: what may be spent on a dataset, over all runs, and what was."""
from __future__ import annotations

import json
import math
import os
from typing import Any, Optional, Union

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
        return float(self._ledger.spent(dataset))

    def left(self, dataset: str) -> float:
        return float(self._ledger.left(dataset))

    def show(self) -> dict[str, Any]:
        """Everything in it: the keys of ``parley ledger show --json``."""
        shown: dict[str, Any] = json.loads(self._ledger.json())
        return shown

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        if not os.path.exists(self.path):
            return f"Ledger({self.path!r}): no such file yet; give a dataset a cap"
        lines = [f"Ledger({self.path!r})"]
        for d in self.show()["datasets"]:
            spent = math.inf if d["epsilon"] is None else d["epsilon"]
            cap = "unlimited" if d["cap"] is None else f"{d['cap']:g}"
            lines.append(f"  {d['dataset']}: ε spent {spent:.4f} of {cap} at δ = {d['delta']:g}, {d['runs']} runs")
        return "\n".join(lines)
