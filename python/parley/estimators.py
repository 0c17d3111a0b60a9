"""Estimators after scikit-learn's rules. Each fit plays all parties in this process; between organisations every party
runs its own `parley join` (docs/operate/study.md)."""
from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from . import _fit
from ._linear import PARAMETERS, PrivateLinearModel


class _PrivateClassifier(ClassifierMixin, PrivateLinearModel):
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
        ledger: Any = None,
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
        with self._anew():
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

    def decision_function(self, X: Any) -> _fit.Array:
        """Of two classes above 0 where the second is said; of several classes one score a class."""
        rows = self._encoded(X)
        scores: _fit.Array = self.model_.scores(rows).reshape(len(rows), -1)
        if scores.shape[1] == 1:
            scores = scores[:, 0]
        elif scores.shape[1] == 2:
            scores = scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> _fit.Array:
        rows = self._encoded(X)
        said: _fit.Array = self.classes_[self.model_.predicted(rows).astype(int)]
        return said


class PrivateLogisticRegression(_PrivateClassifier):
    __doc__ = f"""Logistic regression for two classes, with a privacy guarantee for every row.

    Parameters
    ----------{PARAMETERS}    classes : list, optional
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

    def predict_proba(self, X: Any) -> _fit.Array:
        """One column a class, in the order of ``classes_``."""
        rows = self._encoded(X)
        p: _fit.Array = self.model_.probabilities(rows)
        return p.reshape(len(rows), -1)

    def predict_log_proba(self, X: Any) -> _fit.Array:
        logarithm: _fit.Array = np.log(self.predict_proba(X))
        return logarithm

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}


class PrivateSoftmaxRegression(PrivateLogisticRegression):
    __doc__ = f"""Softmax regression for two classes or more, with a privacy guarantee for every row.

    Parameters
    ----------{PARAMETERS}    classes : list, optional
        All classes; without it they are taken from the labels, with a warning.
    """
    _loss = "softmax"

    def _more_tags(self) -> dict[str, Any]:
        few = {"check_classifiers_classes": "its few rows at this budget: one class may never be said"}
        return {**super()._more_tags(), "binary_only": False, "_xfail_checks": {} if math.isinf(self.epsilon) else few}


class PrivateLinearSVC(_PrivateClassifier):
    __doc__ = f"""Linear classifier with the smoothed hinge loss, with a privacy guarantee for every row.

    Parameters
    ----------{PARAMETERS}    classes : list, optional
        The two classes, the second the positive one; without it they are taken from the labels, with a warning.
    """
    _loss = "huber-hinge"

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "binary_only": True}


class PrivateLinearRegression(RegressorMixin, PrivateLinearModel):
    __doc__ = f"""Linear regression, with a privacy guarantee for every row.

    Parameters
    ----------{PARAMETERS}    target_bounds : (low, high), optional
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
        ledger: Any = None,
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
        with self._anew():
            X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
            measured: list[str] = []
            given = _fit.bounds_of(self.target_bounds, 1, "target_bounds")
            if given is None:
                measured.append("the bounds of y were taken from it: give target_bounds=(low, high)")
                given = _fit.measured_bounds(np.asarray(y, dtype=float).reshape(-1, 1))
            self._target = given[0]
            self._train(X, np.asarray(y, dtype=np.float64), groups, self._schema(X, given[0], [], measured))
        return self

    def predict(self, X: Any) -> _fit.Array:
        rows = self._encoded(X)
        said: _fit.Array = self.model_.predicted(rows)
        return said

    def _publish(self, coef: _fit.Array, intercept: _fit.Array) -> None:
        low, high = self._target
        half = (high - low) / 2  # a target is low + (score + 1)/2 (high − low)
        self.coef_ = coef.ravel() * half
        self.intercept_ = float(low + half + intercept[0] * half)
