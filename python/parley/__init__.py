"""parley: learning between parties that never pool their data, with a privacy guarantee for every record.

The estimators follow scikit-learn's rules. ``plan``, ``account`` and ``compare`` take the options of the commands of the
same name, ``epsilon=1`` for ``--epsilon 1``, and give what their ``--json`` prints."""
from __future__ import annotations

import json
from typing import Any

from . import _parley
from ._fit import ClippedWarning, NotPrivateWarning, Privacy, TuningWarning, settings_of
from ._parley import BudgetExceeded, Error, Model
from .estimators import (
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateSoftmaxRegression,
)
from .ledger import Ledger
from .study import Study

__version__: str = _parley.version


def plan(**options: Any) -> dict[str, Any]:
    """What a run will cost and what to expect, before any data.

    >>> planned = plan(epsilon=1, delta=1e-5, nodes=3, records=[4000, 1500, 500], features=11)
    >>> planned["algorithm"]
    'newton'
    """
    planned: dict[str, Any] = json.loads(_parley.plan(settings_of(**options)))
    return planned


def account(algorithm: str, **options: Any) -> dict[str, Any]:
    """The privacy loss of a run with this noise."""
    accounted: dict[str, Any] = json.loads(_parley.account(algorithm, settings_of(**options)))
    return accounted


def compare(**options: Any) -> dict[str, Any]:
    """Algorithms at equal total (ε, δ) on the rows that ``data`` names."""
    compared: dict[str, Any] = json.loads(_parley.compare(settings_of(**options)))
    return compared


__all__ = [
    "BudgetExceeded",
    "ClippedWarning",
    "Error",
    "Ledger",
    "Model",
    "NotPrivateWarning",
    "Privacy",
    "PrivateLinearRegression",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivateSoftmaxRegression",
    "Study",
    "TuningWarning",
    "account",
    "compare",
    "plan",
]
