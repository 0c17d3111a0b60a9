"""What every estimator does: rows and settings in, a trained model and its guarantee out."""
from __future__ import annotations

import math
import sys
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _parley

Array = npt.NDArray[Any]
Bounds = Union[Sequence[float], Sequence[Sequence[float]]]


class NotPrivateWarning(UserWarning):
    """What was fitted has no privacy guarantee, and why."""


class ClippedWarning(UserWarning):
    """Values beyond the declared bounds were clipped to them."""


class TuningWarning(UserWarning):
    """Several fits on the same private rows add up, and no budget covers a choice by scores on them."""


@dataclass(frozen=True)
class Privacy:
    """What a fit tells about one row, whoever it is of, to everybody who sees every message.

    A fit that is NOT PRIVATE claims nothing: its ε is infinite."""

    epsilon: float
    epsilon_all_others: float
    delta: float
    against: str
    theorem: str
    bound: str
    protects: str
    not_private: tuple[str, ...]
    per_party: tuple[Mapping[str, Any], ...]

    @property
    def stamp(self) -> str:
        return "NOT PRIVATE: " + "; ".join(self.not_private) if self.not_private else ""

    def __str__(self) -> str:
        if self.not_private:
            return self.stamp
        epsilon = _parley.printed_epsilon
        text = f"ε = {epsilon(self.epsilon)}, δ = {self.delta:g} per row, over the whole fit, against {self.against}"
        if self.epsilon_all_others > self.epsilon:
            text += f"; ε = {epsilon(self.epsilon_all_others)} against all other parties together"
        return text if self.bound == "proved" else f"{text} ({self.bound}, not proved)"


def bounds_of(bounds: Optional[Bounds], columns: int, what: str) -> Optional[list[tuple[float, float]]]:
    """One pair for all columns, or one for each."""
    if bounds is None:
        return None
    pairs = np.asarray(bounds, dtype=float)
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (columns, 1))
    if pairs.shape != (columns, 2) or not np.isfinite(pairs).all() or not (pairs[:, 0] < pairs[:, 1]).all():
        raise ValueError(
            f"{what}: one pair (low, high) with low < high for each of the {columns} columns, or one for all; "
            f"given: an array of shape {pairs.shape}"
        )
    return [(float(low), float(high)) for low, high in pairs]


def measured_bounds(values: Any) -> list[tuple[float, float]]:
    """Privacy: read off the rows; whoever calls this stamps the fit."""
    low, high = values.min(axis=0), values.max(axis=0)
    if hasattr(values, "tocsr"):
        low, high = np.minimum(low.toarray(), 0), np.maximum(high.toarray(), 0)  # what is not there is 0
    low, high = np.ravel(low), np.ravel(high)
    return [(float(a), float(b) if b > a else float(a) + 1) for a, b in zip(low, high)]


def rows_of(x: Any, labels: Array, schema: _parley.Schema, name: str) -> _parley.Rows:
    """Dense in either order and without a copy where it holds doubles, or sparse."""
    y = np.ascontiguousarray(labels, dtype=np.float64)
    if hasattr(x, "tocsr"):
        rows = x.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return _parley.rows_of_sparse(
            np.ascontiguousarray(rows.indptr, dtype=np.int64),
            np.ascontiguousarray(rows.indices, dtype=np.int32),
            np.ascontiguousarray(rows.data, dtype=np.float64),
            rows.shape[1],
            y,
            schema,
            name,
        )
    x = np.asarray(x, dtype=np.float64)
    if any(s % x.itemsize for s in x.strides):
        x = np.ascontiguousarray(x)
    return _parley.rows_of_dense(x, y, schema, name)


def warn_of_clipping(rows: _parley.Rows) -> None:
    for text in rows.warnings:
        warnings.warn(f"{text}. Declare what is possible: bounds=[(low, high), …]", ClippedWarning, stacklevel=4)


def settings_of(**given: Any) -> dict[str, str]:
    """Options as on the command line; what is None is left to parley."""
    text = {}
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, float):
            value = repr(value)
        elif isinstance(value, (list, tuple)):
            value = ",".join(str(v) for v in value)
        text[name.replace("_", "-")] = str(value)
    return text


def budget_settings(epsilon: float, delta: Optional[float]) -> dict[str, str]:
    if not (isinstance(epsilon, (int, float, np.floating, np.integer)) and epsilon > 0):
        raise ValueError(f"epsilon = {epsilon!r}: a number above 0, for example 1; math.inf fits without privacy")
    if math.isinf(epsilon):
        return {"noise": "none"}
    return settings_of(epsilon=float(epsilon), delta=delta)


def seed_of(random_state: Any) -> Optional[str]:
    """A seed makes noise that can be repeated, so the fit is stamped."""
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)):
        return str(int(random_state))
    return str(int(random_state.randint(2**31)))


def tuned_by_sklearn() -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "sklearn.model_selection._validation":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def warn_of_tuning(has_ledger: bool) -> None:
    if not tuned_by_sklearn():
        return
    warnings.warn(
        "several fits on the same private rows add up"
        + ("; the ledger charges every fit" if has_ledger else " (a ledger would add them up)")
        + ". A choice by scores that were measured on private rows is covered by no budget. Tune on public or "
        "synthetic rows instead",
        TuningWarning,
        stacklevel=4,
    )


def spent(p: Any) -> str:
    return "NOT PRIVATE" if math.isinf(p.epsilon) else f"ε {_parley.printed_epsilon(p.epsilon)}"


def progress_bar(verbose: Any) -> tuple[Optional[Callable[[Any], None]], Callable[[], None]]:
    """Called with each round; and what ends it."""
    if not verbose:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return (lambda p: print(f"round {p.round}/{p.rounds}  {spent(p)}", file=sys.stderr)), lambda: None
    bar: Any = None

    def show(p: Any) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=p.rounds, desc="parley", unit="round")
        bar.n = p.round
        bar.set_postfix_str(spent(p), refresh=True)

    def done() -> None:
        if bar is not None:
            bar.close()

    return show, done


class Record:
    """The folder of a run's record: the caller's, or one that goes with the estimator."""

    def __init__(self, given: Optional[str]):
        self._own = None if given else tempfile.TemporaryDirectory(prefix="parley-")
        self.path = str(given) if given else self._own.name + "/record"  # type: ignore[union-attr]


def privacy_of(guarantee: _parley.Guarantee, names: Sequence[str]) -> Privacy:
    """`names` of the parties; none: they are numbered."""
    g = guarantee
    return Privacy(
        epsilon=g.epsilon,
        epsilon_all_others=g.epsilon_all_others,
        delta=g.delta,
        against=g.against,
        theorem=g.theorem,
        bound=g.bound,
        protects=g.protects,
        not_private=tuple(g.not_private),
        per_party=tuple(
            {
                "party": names[i] if names else str(i),
                "records": p.records,
                "epsilon": p.epsilon,
                "epsilon_all_others": p.epsilon_all_others,
            }
            for i, p in enumerate(g.parties)
        ),
    )
