"""parley: learning between parties that never pool their data, with a privacy guarantee for every record.

The estimators follow scikit-learn's rules."""
from __future__ import annotations

from . import _parley
from ._fit import ClippedWarning, NotPrivateWarning, Privacy, TuningWarning
from ._parley import BudgetExceeded, Error
from .estimators import (
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateSoftmaxRegression,
)
from .ledger import Ledger
from .model import Model
from .study import Study

__version__: str = _parley.version


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
]
