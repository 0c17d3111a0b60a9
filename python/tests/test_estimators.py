import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import parley
from parley import (
    BudgetExceeded,
    ClippedWarning,
    Ledger,
    NotPrivateWarning,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateSoftmaxRegression,
    TuningWarning,
)

PROGRAM = os.environ.get("PARLEY", "parley")
EVERY = [PrivateLogisticRegression, PrivateLinearSVC, PrivateSoftmaxRegression, PrivateLinearRegression]
CLASSIFIERS = EVERY[:3]


@parametrize_with_checks(
    [e(epsilon=math.inf) for e in EVERY] + [e(epsilon=1, random_state=0) for e in EVERY]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator, check):
    check(estimator)


def rows(n=3000, seed=1):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 3))
    y = (x @ [3.0, -2.0, 0.0] + 0.5 + random.logistic(size=n) > 0).astype(int)
    return x, y


DECLARED = {"bounds": (-1, 1), "classes": [0, 1]}


def test_what_is_declared_is_private_and_says_what_it_costs():
    x, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPrivateWarning)
        model = PrivateLogisticRegression(epsilon=1, delta=1e-5, **DECLARED).fit(x, y)
    assert model.privacy_.not_private == ()
    assert model.privacy_.epsilon <= 1 and model.privacy_.epsilon > 0.99
    assert model.privacy_.delta == 1e-5
    assert "ε = 1.0000" in str(model.privacy_)
    assert len(model.privacy_.per_party) == 5
    assert model.score(x, y) > 0.75
    assert model.history_.epsilon.iloc[-1] <= 1
    assert "ε = 1.0000" in model._repr_html_()


@pytest.mark.parametrize(
    "what, reason",
    [
        ({"bounds": None, "classes": [0, 1]}, "bounds were taken from the rows"),
        ({"bounds": (-1, 1)}, "classes were taken from the labels"),
        ({**DECLARED, "random_state": 3}, "seed 3"),
    ],
)
def test_what_is_not_private_is_stamped_wherever_it_shows(what, reason, tmp_path):
    x, y = rows(500)
    with pytest.warns(NotPrivateWarning, match=reason):
        model = PrivateLogisticRegression(epsilon=1, **what).fit(x, y)
    assert reason in model.privacy_.stamp
    again = pickle.loads(pickle.dumps(model))
    for said in (model.summary(), repr(model), model._repr_html_(), again.summary(), str(again.privacy_)):
        assert "NOT PRIVATE" in said and "ε = " not in said
    assert math.isinf(again.privacy_.epsilon) and math.isinf(again.privacy_.per_party[0]["epsilon"])
    assert np.isinf(np.asarray(again.history_.epsilon)).all()
    model.report(tmp_path / "page.html")
    assert "NOT PRIVATE" in (tmp_path / "page.html").read_text()
    assert any(reason in r for r in json.loads(model.model_.json())["not_private"])


def test_without_noise_it_is_the_optimum_without_privacy():
    x, y = rows()
    model = PrivateLogisticRegression(epsilon=math.inf, **DECLARED).fit(x, y)
    assert "no noise" in model.privacy_.stamp
    assert model.score(x, y) > 0.78


def test_a_coefficient_is_per_unit_of_the_column_and_says_the_same_class():
    x, y = rows()
    scaled = x * [1.0, 100.0, 0.01] + [0.0, 7.0, 0.0]
    bounds = [(-1, 1), (-93, 107), (-0.01, 0.01)]
    for intervals in (False, True):
        model = PrivateLogisticRegression(
            epsilon=50, delta=1e-5, bounds=bounds, classes=[0, 1], intervals=intervals, random_state=1
        ).fit(scaled, y)
        linear = scaled @ model.coef_.ravel() + model.intercept_[0]
        assert ((linear > 0) == (model.decision_function(scaled) > 0)).all()
        if intervals:
            assert np.allclose(linear, model.decision_function(scaled))
            table = {c["name"]: c for c in model._coefficients}
            assert np.allclose(model.coef_.ravel(), [table[f"x{i}"]["estimate"] for i in range(3)])
            assert "95 % interval" in model.summary()


def test_regression_predicts_in_its_own_unit():
    random = np.random.default_rng(2)
    x = random.uniform(0, 1, (5000, 2))
    y = 100 + 50 * x[:, 0] - 20 * x[:, 1] + random.normal(size=5000)
    model = PrivateLinearRegression(epsilon=5, bounds=(0, 1), target_bounds=(50, 180), random_state=1).fit(x, y)
    assert model.score(x, y) > 0.8
    inside = x @ model.coef_ + model.intercept_
    assert np.corrcoef(inside, model.predict(x))[0, 1] > 0.99


def test_matrices_of_all_kinds_give_the_same_bits():
    x, y = rows(600)
    x = np.abs(x)
    fit = lambda given: PrivateLogisticRegression(  # noqa: E731
        epsilon=1, bounds=(0, 1), classes=[0, 1], random_state=5
    ).fit(given, y)
    first = fit(x)
    wide = np.zeros((600, 9))
    wide[:, ::3] = x
    for other in (np.asfortranarray(x), wide[:, ::3], sparse.csr_matrix(x), sparse.csc_matrix(x)):
        assert (fit(other).model_.weights() == first.model_.weights()).all()
    single = fit(x.astype(np.float32))
    assert np.allclose(single.coef_, first.coef_, atol=1e-3)


def test_values_beyond_the_bounds_are_clipped_with_a_warning_that_says_what_to_do():
    x, y = rows(500)
    with pytest.warns(ClippedWarning, match=r"column 'x0'.*bounds=\[\(low, high\)"):
        PrivateLogisticRegression(epsilon=1, bounds=(-0.5, 0.5), classes=[0, 1], random_state=1).fit(x, y)


def test_groups_say_which_party_owns_a_row():
    x, y = rows(900)
    bank = np.repeat(["a", "c", "b"], [500, 300, 100])
    model = PrivateLogisticRegression(epsilon=1, **DECLARED).fit(x, y, groups=bank)
    assert [(p["party"], p["records"]) for p in model.privacy_.per_party] == [("a", 500), ("b", 100), ("c", 300)]
    assert all(0.99 < p["epsilon"] <= 1 for p in model.privacy_.per_party)
    with pytest.raises(ValueError, match="groups"):
        PrivateLogisticRegression(epsilon=1, **DECLARED).fit(x, y, groups=bank[:5])


def test_colluders_give_both_epsilons():
    x, y = rows(900)
    model = PrivateLogisticRegression(epsilon=1, delta=1e-5, colluders=1, **DECLARED).fit(x, y)
    assert model.privacy_.epsilon <= 1 < model.privacy_.epsilon_all_others
    assert str(model.privacy_).count("ε = ") == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", EVERY)
def test_pickle_clone_and_pipeline(kind):
    x, y = rows(300)
    model = kind(epsilon=1, random_state=1)
    again = pickle.loads(pickle.dumps(clone(model).fit(x, y)))
    assert (again.predict(x) == clone(model).fit(x, y).predict(x)).all()
    with pytest.raises(ValueError, match="record"):
        again.report("page.html")
    make_pipeline(FunctionTransformer(), model).fit(x, y).predict(x)
    assert len(cross_val_score(model, x, y, cv=3)) == 3


@pytest.mark.filterwarnings("ignore::parley.NotPrivateWarning")
def test_the_ledger_charges_every_fit_of_a_search_and_stops_it(tmp_path):
    ledger = Ledger(tmp_path / "my.ledger")
    ledger.cap("payments", epsilon=10, delta=1e-5)
    x, y = rows(300)
    model = PrivateLogisticRegression(
        epsilon=0.5, delta=1e-6, ledger=ledger, dataset="payments", **DECLARED
    )
    with pytest.warns(TuningWarning, match="ledger charges every fit"):
        GridSearchCV(model, {"fit_intercept": [True, False]}, cv=2, error_score="raise").fit(x, y)
    shown = json.loads(subprocess.run([PROGRAM, "ledger", "show", str(ledger), "--json"], capture_output=True, check=True).stdout)
    assert shown["datasets"][0]["runs"] == 5
    assert ledger.spent("payments") == shown["datasets"][0]["epsilon"] > 0.5
    ledger.cap("payments", epsilon=ledger.spent("payments") + 0.01, delta=1e-5)
    with pytest.raises(BudgetExceeded, match="payments"):
        model.fit(x, y)


def test_a_page_of_a_fit(tmp_path):
    x, y = rows(400)
    model = PrivateLogisticRegression(epsilon=1, **DECLARED).fit(x, y)
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "learns at most" in page and "train_loss" not in page


def test_errors_are_the_librarys_words():
    x, y = rows(100)
    with pytest.raises(ValueError, match="did you mean 'penalty'"):
        PrivateLogisticRegression(epsilon=1, options={"penalti": 3}, **DECLARED).fit(x, y)
    with pytest.raises(ValueError, match="epsilon"):
        PrivateLogisticRegression(epsilon=-1, **DECLARED).fit(x, y)
    with pytest.raises(ValueError, match="seed is a parameter"):
        PrivateLogisticRegression(epsilon=1, options={"seed": 3}, **DECLARED).fit(x, y)


def test_two_fits_run_at_the_same_time(monkeypatch):
    x, y = rows(500)
    both = threading.Barrier(2, timeout=120)
    met = []

    def show(progress):
        if progress.round == 1:
            met.append(both.wait())

    from parley import _fit

    monkeypatch.setattr(_fit, "progress_bar", lambda verbose: (show, lambda: None))
    threads = [
        threading.Thread(target=PrivateLogisticRegression(epsilon=1, **DECLARED).fit, args=(x, y)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(met) == [0, 1]


def test_control_c_ends_within_a_round_and_leaves_a_usable_object():
    x, y = rows(2000)
    seen = []

    def interrupt(progress):
        seen.append(progress.round)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    model = PrivateLogisticRegression(
        epsilon=1, delta=1e-5, random_state=1, algorithm="dp-gd", options={"rounds": 100000}, **DECLARED
    )
    from parley import _fit

    before, _fit.progress_bar = _fit.progress_bar, lambda verbose: (interrupt, lambda: None)
    try:
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(x, y)
    finally:
        _fit.progress_bar = before
    assert model.outcome_ == "interrupted"
    assert 3 <= model.n_iter_ < 100000
    assert model.predict(x[:3]).shape == (3,)
