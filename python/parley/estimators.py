"""Estimators after scikit-learn's rules. Each fit plays all parties in this process; between organisations every party
runs its own `parley join` (docs/operate/study.md)."""
from __future__ import annotations

import html
import math
import warnings
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _fit, _parley

_PARAMETERS = """
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
    ledger, dataset : str, optional
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


class _PrivateLinear(BaseEstimator):
    _loss = "logistic"

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
        ledger: Optional[str] = None,
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
                ledger=self.ledger,
                dataset=self.dataset,
                seed=_fit.seed_of(self.random_state),
            )
        )
        settings.update(_fit.settings_of(**(self.options or {})))
        return settings

    def _schema(self, x: Any, target: tuple[float, float], classes: list[str], measured: list[str]) -> _parley.Schema:
        names = getattr(self, "feature_names_in_", None)
        bounds = _fit.bounds_of(self.bounds, self.n_features_in_, "bounds")
        if bounds is None:
            measured.insert(0, "bounds were taken from the rows")
            bounds = _fit.measured_bounds(x)
            if hasattr(x, "tocsr"):  # what is not there is 0
                bounds = [(min(low, 0.0), max(high, 1e-300)) for low, high in bounds]
        return _parley.schema_of(
            names=[str(n) for n in names] if names is not None else [f"x{i}" for i in range(self.n_features_in_)],
            bounds=bounds,
            label="label",
            classes=classes,
            target=target,
            intercept=bool(self.fit_intercept),
            linear=bool(self.intervals),
            softmax=self._loss == "softmax",
            not_public="; ".join(measured),
        )

    def _train(self, x: Any, labels: np.ndarray, groups: Any, schema: _parley.Schema) -> None:
        deal = groups is None
        if deal:
            parties = [_fit.rows_of(x, labels, schema, "X")]
        else:
            groups = np.asarray(groups)
            if groups.shape != (x.shape[0],):
                raise ValueError(f"groups: one party for each of the {x.shape[0]} rows; given: shape {groups.shape}")
            parties = [_fit.rows_of(x[groups == g], labels[groups == g], schema, str(g)) for g in np.unique(groups)]
        for rows in parties:
            _fit.warn_of_clipping(rows)
        _fit.warn_of_tuning(self.ledger is not None)
        settings = self._settings()
        if deal:
            settings["nodes"] = str(min(self.parties, x.shape[0]) if x.shape[0] > 1 else self.parties)
        self._record = _fit.Record(self.record)
        settings["out"] = self._record.path
        show, done = _fit.progress_bar(self.verbose)
        try:
            self._trained = _parley.train(settings=settings, parties=parties, deal=deal, test=[], on_round=show)
        finally:
            done()
        self._adopt(schema)

    def _adopt(self, schema: _parley.Schema) -> None:
        trained = self._trained
        if trained.model is None:
            raise ValueError(f"the run {trained.outcome}: there is no model")
        for text in trained.warnings:
            warnings.warn(text, UserWarning, stacklevel=4)
        self.model_ = trained.model
        self.outcome_ = trained.outcome
        self.privacy_ = _fit.privacy_of(trained)
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
        del self._trained

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

    def _publish(self, coef: np.ndarray, intercept: np.ndarray) -> None:
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

    def _repr_html_(self) -> str:
        text = self.summary() if hasattr(self, "model_") else repr(self)
        return "<pre>" + html.escape(text) + "</pre>"

    def _more_tags(self) -> dict[str, Any]:
        private = not math.isinf(self.epsilon)
        return {"poor_score": private, "non_deterministic": private and self.random_state is None}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later: not tested here
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None and not math.isinf(self.epsilon)
        return tags


class _PrivateClassifier(ClassifierMixin, _PrivateLinear):
    def __init__(
        self,
        epsilon: float = 1.0,
        delta: Optional[float] = None,
        *,
        bounds: Optional[_fit.Bounds] = None,
        classes: Optional[list[Any]] = None,
        algorithm: str = "auto",
        parties: int = 5,
        colluders: Optional[int] = None,
        graph: Optional[str] = None,
        fit_intercept: bool = True,
        intervals: bool = False,
        ledger: Optional[str] = None,
        dataset: Optional[str] = None,
        record: Optional[str] = None,
        random_state: Any = None,
        verbose: int = 0,
        options: Optional[dict[str, Any]] = None,
    ):
        super().__init__(
            epsilon,
            delta,
            bounds=bounds,
            algorithm=algorithm,
            parties=parties,
            colluders=colluders,
            graph=graph,
            fit_intercept=fit_intercept,
            intervals=intervals,
            ledger=ledger,
            dataset=dataset,
            record=record,
            random_state=random_state,
            verbose=verbose,
            options=options,
        )
        self.classes = classes

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        """`groups`: which party owns each row; without it the rows are dealt to `parties` simulated ones."""
        X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        measured: list[str] = []
        if self.classes is None:
            self.classes_ = np.unique(y)
            measured.append("classes were taken from the labels: give classes=[…]")
        else:
            self.classes_ = np.asarray(self.classes)
        if len(self.classes_) < 2:
            raise ValueError("a classifier needs two classes; the labels have one class alone")
        if len(self.classes_) > 2 and self._loss != "softmax":
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}; given: {len(self.classes_)} classes. "
                "PrivateSoftmaxRegression takes more"
            )
        number = {c: i for i, c in enumerate(self.classes_.tolist())}
        unknown = [c for c in np.unique(y).tolist() if c not in number]
        if unknown:
            raise ValueError(f"labels that are none of the classes {self.classes_.tolist()}: {unknown[:8]}")
        codes = np.array([number[c] for c in y.tolist()], dtype=np.float64)
        if self._loss != "softmax":
            codes = 2 * codes - 1
        names = [str(c) for c in self.classes_.tolist()]
        if len(set(names)) != len(names):
            raise ValueError(f"classes whose names are alike: {names}")
        self._train(X, codes, groups, self._schema(X, (0.0, 1.0), names, measured))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the second class; of several classes one a class."""
        scores = self.model_scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def model_scores(self, X: Any) -> np.ndarray:
        rows = self._encoded(X)
        scores: np.ndarray = self.model_.scores(rows)
        return scores.reshape(len(rows), -1)

    def predict(self, X: Any) -> np.ndarray:
        rows = self._encoded(X)
        said: np.ndarray = self.classes_[self.model_.predicted(rows).astype(int)]
        return said

    def _publish(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        self.coef_, self.intercept_ = coef, intercept


class PrivateLogisticRegression(_PrivateClassifier):
    __doc__ = f"""Logistic regression for two classes, with a privacy guarantee for every row.

    Parameters
    ----------{_PARAMETERS}    classes : list, optional
        The two classes, the second the positive one; without it they are taken from the labels, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from parley import PrivateLogisticRegression
    >>> rows = np.random.default_rng(1).uniform(-1, 1, (4000, 3))
    >>> labels = (rows @ [2, -1, 0] + 0.1 > 0).astype(int)
    >>> model = PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(rows, labels)
    >>> model.privacy_.not_private
    ()
    >>> model.score(rows, labels) > 0.8
    True
    """
    _loss = "logistic"

    def predict_proba(self, X: Any) -> np.ndarray:
        """One column a class, in the order of ``classes_``."""
        rows = self._encoded(X)
        p: np.ndarray = self.model_.probabilities(rows)
        return p.reshape(len(rows), -1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        logarithm: np.ndarray = np.log(self.predict_proba(X))
        return logarithm

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}


class PrivateSoftmaxRegression(PrivateLogisticRegression):
    __doc__ = f"""Softmax regression for two classes or more, with a privacy guarantee for every row.

    Parameters
    ----------{_PARAMETERS}    classes : list, optional
        All classes; without it they are taken from the labels, with a warning.
    """
    _loss = "softmax"

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": False}


class PrivateLinearSVC(_PrivateClassifier):
    __doc__ = f"""Linear classifier with the smoothed hinge loss, with a privacy guarantee for every row.

    Parameters
    ----------{_PARAMETERS}    classes : list, optional
        The two classes, the second the positive one; without it they are taken from the labels, with a warning.
    """
    _loss = "huber-hinge"

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}


class PrivateLinearRegression(RegressorMixin, _PrivateLinear):
    __doc__ = f"""Linear regression, with a privacy guarantee for every row.

    Parameters
    ----------{_PARAMETERS}    target_bounds : (low, high), optional
        What is possible of y, known without looking at it; without it bounds are taken from y, with a warning.
    """
    _loss = "squared"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: Optional[float] = None,
        *,
        bounds: Optional[_fit.Bounds] = None,
        target_bounds: Optional[tuple[float, float]] = None,
        algorithm: str = "auto",
        parties: int = 5,
        colluders: Optional[int] = None,
        graph: Optional[str] = None,
        fit_intercept: bool = True,
        intervals: bool = False,
        ledger: Optional[str] = None,
        dataset: Optional[str] = None,
        record: Optional[str] = None,
        random_state: Any = None,
        verbose: int = 0,
        options: Optional[dict[str, Any]] = None,
    ):
        super().__init__(
            epsilon,
            delta,
            bounds=bounds,
            algorithm=algorithm,
            parties=parties,
            colluders=colluders,
            graph=graph,
            fit_intercept=fit_intercept,
            intervals=intervals,
            ledger=ledger,
            dataset=dataset,
            record=record,
            random_state=random_state,
            verbose=verbose,
            options=options,
        )
        self.target_bounds = target_bounds

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateLinearRegression:
        """`groups`: which party owns each row; without it the rows are dealt to `parties` simulated ones."""
        X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        measured: list[str] = []
        given = _fit.bounds_of(self.target_bounds, 1, "target_bounds")
        if given is None:
            measured.append("the bounds of y were taken from it: give target_bounds=(low, high)")
            given = _fit.measured_bounds(np.asarray(y, dtype=float).reshape(-1, 1))
        self._target = given[0]
        self._train(X, np.asarray(y, dtype=np.float64), groups, self._schema(X, given[0], [], measured))
        return self

    def predict(self, X: Any) -> np.ndarray:
        said: np.ndarray = self.model_.predicted(self._encoded(X))
        return said

    def _publish(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        low, high = self._target
        half = (high - low) / 2  # a target is low + (score + 1)/2 (high − low)
        self.coef_ = coef.ravel() * half
        self.intercept_ = float(low + half + intercept[0] * half)
