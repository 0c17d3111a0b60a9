"""What all estimators share: parameters, the fit itself, the coefficients, and how a fitted one shows itself."""
from __future__ import annotations

import contextlib
import html
import math
import os
import warnings
from typing import Any, Iterator, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _fit, _parley

PARAMETERS = """
    epsilon : float, default=1.0
        What the whole fit may tell about one row. ``math.inf`` fits without noise, and is stamped NOT PRIVATE.
    delta : float, optional
        Default: from the number of rows, at most 1e-5.
    bounds : (low, high) or one pair for each column, optional
        What is possible in each column, known without looking at the rows. Without it bounds are taken from the rows,
        with a warning, and the fit is stamped NOT PRIVATE.
    algorithm : str, default="auto"
        The planner chooses; or a name of ``parley options train``.
    parties : int, default=5
        How many simulated parties the rows are dealt to, where `fit` gets no `groups`.
    colluders : int, optional
        How many parties may pool what they know; default: all others.
    graph : str, optional
        Which parties talk to each other.
    intervals : bool, default=False
        Standard errors and 95 % intervals of the coefficients; see :meth:`summary`.
    ledger, dataset : Ledger or str, and str, optional
        The owner's ledger, and the name under which these rows' spend adds up.
    record : str, optional
        A folder that keeps the record of the run; default: kept as long as the estimator.
    random_state : int or RandomState, optional
        Noise that can be repeated: for experiments, stamped NOT PRIVATE.
    verbose : int, default=0
        Progress by round.
    options : dict, optional
        Any further option of ``parley train`` by its name.
"""


class PrivateLinearModel(BaseEstimator):
    _loss = "logistic"
    coef_: Any
    intercept_: Any

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: Optional[float] = None,
        *,
        bounds: Optional[_fit.Bounds] = None,
        algorithm: str = "auto",
        parties: int = 5,
        colluders: Optional[int] = None,
        graph: Optional[str] = None,
        fit_intercept: bool = True,
        intervals: bool = False,
        ledger: Any = None,
        dataset: Optional[str] = None,
        record: Optional[str] = None,
        random_state: Any = None,
        verbose: int = 0,
        options: Optional[dict[str, Any]] = None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.algorithm = algorithm
        self.parties = parties
        self.colluders = colluders
        self.graph = graph
        self.fit_intercept = fit_intercept
        self.intervals = intervals
        self.ledger = ledger
        self.dataset = dataset
        self.record = record
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    # ---- fit

    def _settings(self) -> dict[str, str]:
        settings = _fit.budget_settings(self.epsilon, self.delta)
        settings.update(
            _fit.settings_of(
                algorithm=self.algorithm,
                loss=self._loss,
                colluders=self.colluders,
                graph=self.graph,
                intervals=True if self.intervals else None,
                ledger=None if self.ledger is None else os.fspath(self.ledger),
                dataset=self.dataset,
                seed=_fit.seed_of(self.random_state),
            )
        )
        further = _fit.settings_of(**(self.options or {}))
        twice = sorted((set(settings) | {"seed", "out", "nodes"}) & set(further) - {"noise"})
        if twice:
            raise ValueError(f"options: {', '.join(twice)} is a parameter of the estimator; give it there")
        return {**settings, **further}

    def _schema(self, x: Any, target: tuple[float, float], classes: list[str], measured: list[str]) -> _parley.Schema:
        names = getattr(self, "feature_names_in_", None)
        bounds = _fit.bounds_of(self.bounds, self.n_features_in_, "bounds")
        if bounds is None:
            measured.insert(0, "bounds were taken from the rows")
            bounds = _fit.measured_bounds(x)
        columns = [str(n) for n in names] if names is not None else [f"x{i}" for i in range(self.n_features_in_)]
        label = "label"
        while label in columns:
            label += "_"
        return _parley.schema_of(
            names=columns,
            bounds=bounds,
            label=label,
            classes=classes,
            target=target,
            intercept=bool(self.fit_intercept),
            linear=bool(self.intervals),
            softmax=self._loss == "softmax",
            not_public="; ".join(measured),
        )

    def _forget(self) -> None:
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in (*fitted, "_record", "_history", "_coefficients", "_target"):
            if name in vars(self):
                delattr(self, name)

    @contextlib.contextmanager
    def _anew(self) -> Iterator[None]:
        """Nothing of an earlier fit stands beside this one, and nothing of this one if it fails: no claim about another model."""
        self._forget()
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _train(self, x: Any, labels: _fit.Array, groups: Any, schema: _parley.Schema) -> None:
        if x.shape[0] < 2:
            raise ValueError(f"n_samples = {x.shape[0]}: parties that learn together need a row each")
        settings = self._settings()
        deal, names = groups is None, []
        if deal:
            parties = [_fit.rows_of(x, labels, schema, "X")]
            settings["nodes"] = str(min(self.parties, x.shape[0]))
        else:
            groups = np.asarray(groups)
            if groups.shape != (x.shape[0],):
                raise ValueError(f"groups: one party for each of the {x.shape[0]} rows; given: shape {groups.shape}")
            names = [str(g) for g in np.unique(groups)]
            parties = [_fit.rows_of(x[groups == g], labels[groups == g], schema, str(g)) for g in np.unique(groups)]
        for rows in parties:
            _fit.warn_of_clipping(rows)
        _fit.warn_of_tuning(self.ledger is not None)
        self._record = _fit.Record(self.record)
        settings["out"] = self._record.path
        show, done = _fit.progress_bar(self.verbose)
        try:
            trained = _parley.train(settings=settings, parties=parties, deal=deal, test=[], on_round=show)
        finally:
            done()
        self._adopt(trained, schema, names)

    def _adopt(self, trained: _parley.Trained, schema: _parley.Schema, names: list[str]) -> None:
        if trained.outcome == "interrupted" and _fit.tuned_by_sklearn():
            raise KeyboardInterrupt  # or the search would go on with its next fit
        if trained.model is None:
            raise ValueError(f"the run ended as {trained.outcome}: there is no model")
        for text in trained.warnings:
            warnings.warn(text, UserWarning, stacklevel=5)
        if trained.outcome != "completed":
            warnings.warn(f"the run ended as {trained.outcome}: this is the model so far", UserWarning, stacklevel=5)
        self.model_ = trained.model
        self.outcome_ = trained.outcome
        self.privacy_ = _fit.privacy_of(trained.guarantee, names)
        self.n_iter_ = max(1, trained.history[-1].round) if trained.history else 1
        self._history = [
            {
                "round": p.round,
                "epsilon": p.epsilon,
                "epsilon_all_others": p.epsilon_all_others,
                "disagreement": p.disagreement,
            }
            for p in trained.history
        ]
        self._coefficients = [
            {k: getattr(c, k) for k in ("name", "estimate", "standard_error", "low", "high", "p_value", "identified")}
            for c in trained.coefficients
        ]
        if self.privacy_.not_private and math.isfinite(self.epsilon):
            warnings.warn(self.privacy_.stamp, _fit.NotPrivateWarning, stacklevel=5)
        self._set_coefficients(schema)

    def _set_coefficients(self, schema: _parley.Schema) -> None:
        """In units of the columns. Rows are scaled to norm 1 or less after that; which class is said does not change."""
        bounds = np.array([(low, high) for low, high in _parley.bounds_in(schema)])
        low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        weights = self.model_.weights().reshape(-1, len(low) + bool(self.fit_intercept))
        slopes = weights[:, : len(low)]
        constant = weights[:, -1] if self.fit_intercept else np.zeros(len(weights))
        if self.intervals:  # scale = "bound": (2 (x − low) / width − 1) / R
            divisor = math.sqrt(len(low) + bool(self.fit_intercept))
            coef, intercept = 2 * slopes / width, constant - slopes @ (2 * low / width + 1)
            coef, intercept = coef / divisor, intercept / divisor
        else:
            coef, intercept = slopes / width, constant - slopes @ (low / width)
        self._publish(coef, intercept)

    def _publish(self, coef: _fit.Array, intercept: _fit.Array) -> None:
        self.coef_, self.intercept_ = coef, intercept

    # ---- use

    def _encoded(self, x: Any) -> _parley.Rows:
        check_is_fitted(self, "model_")
        x = self._validate_data(x, accept_sparse="csr", dtype=np.float64, reset=False)
        rows = _fit.rows_of(x, np.empty(0), self.model_.schema(), "X")
        return rows

    @property
    def history_(self) -> Any:
        """What each round spent: a DataFrame where pandas is present, else a list of dicts."""
        check_is_fitted(self, "model_")
        try:
            import pandas
        except ImportError:
            return self._history
        return pandas.DataFrame(self._history)

    def summary(self) -> str:
        """The guarantee, and a table of coefficients; with ``intervals=True`` standard errors and intervals."""
        check_is_fitted(self, "model_")
        lines = [f"{type(self).__name__}: {self.privacy_}"]
        if self._coefficients:
            lines.append(f"{'':<24}{'estimate':>12}{'std error':>12}{'95 % interval':>28}{'p':>10}")
            for c in self._coefficients:
                if not c["identified"]:
                    lines.append(f"{c['name']:<24}  not identified at this budget")
                    continue
                interval = f"{c['low']:.4g} to {c['high']:.4g}"
                lines.append(
                    f"{c['name']:<24}{c['estimate']:>12.4g}{c['standard_error']:>12.3g}{interval:>28}{c['p_value']:>10.2g}"
                )
            return "\n".join(lines)
        names = [str(n) for n in getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])]
        for row, start in zip(np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)):
            lines += [f"{name:<24}{value:>12.4g}" for name, value in zip(names, row)]
            if self.fit_intercept:
                lines.append(f"{'(intercept)':<24}{start:>12.4g}")
        return "\n".join(lines)

    def report(self, path: str, private: bool = False) -> None:
        """One HTML page of the run; ``private``: with what was measured on the rows, for their owner."""
        check_is_fitted(self, "model_")
        if getattr(self, "_record", None) is None:
            raise ValueError("this estimator was loaded without the record of its run; fit with record='folder'")
        _parley.write_report([self._record.path], path, private, "")

    def save(self, path: str) -> None:
        """model.json, which ``parley predict`` and parley.reader take."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_record" in state and self.record is None:
            state["_record"] = None  # a folder of this process
        return state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX))
        return f"{text}  # {self.privacy_}" if hasattr(self, "privacy_") else text

    def _repr_html_(self) -> str:
        text = self.summary() if hasattr(self, "model_") else repr(self)
        return "<pre>" + html.escape(text) + "</pre>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:  # what a notebook asks first
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _more_tags(self) -> dict[str, Any]:
        private = not math.isinf(self.epsilon)
        return {"poor_score": private, "non_deterministic": private and self.random_state is None}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later: not tested here
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None and not math.isinf(self.epsilon)
        return tags
