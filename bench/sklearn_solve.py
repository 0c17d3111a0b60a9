"""scikit-learn's LogisticRegression on rows that a benchmark wrote to a folder; prints JSON. One thread.

  min_w  1/2 |w|^2 + C sum_n ln(1 + exp(-y_n w.x_n))      no intercept

Each solver runs with the loosest tolerance (powers of 0.7, by bisection: a tighter one only goes further along the same
path) that reaches the wanted relative gap to `best`; or, where a `tol` is given, lbfgs with that. Times are those of
fit(): smallest of the repetitions.
"""
import json
import pathlib
import sys
import time

import numpy
import scipy.sparse
import sklearn
from sklearn.linear_model import LogisticRegression


def read(folder):
    given = json.loads((folder / "problem.json").read_text())
    value, label = (numpy.fromfile(folder / name) for name in ("value", "label"))
    shape = (len(label), given["features"])
    if given["full"]:
        return given, value.reshape(shape), label
    column = numpy.fromfile(folder / "column", dtype=numpy.int32)
    start = numpy.fromfile(folder / "start", dtype=numpy.int64).astype(numpy.int32)
    return given, scipy.sparse.csr_matrix((value, column, start), shape=shape), label


def measure(solver, given, x, y):
    def fit(tol):
        model = LogisticRegression(C=given["c"], solver=solver, tol=tol, fit_intercept=False, max_iter=20000)
        cpu, wall = time.thread_time(), time.perf_counter()
        model.fit(x, y)
        seconds = (time.thread_time() - cpu, time.perf_counter() - wall)
        return model.coef_[0], seconds

    def gap(w):
        value = 0.5 * w @ w + given["c"] * numpy.logaddexp(0, -y * (x @ w)).sum()
        return (value - given["best"]) / given["best"]

    loose, tight = 0, 90  # tolerance 1e4 * 0.7^k: 1e4 ... 1e-10
    tol = lambda k: 1e4 * 0.7**k
    least = gap(fit(tol(tight))[0])
    if least > given["wanted_gap"]:
        return {"skipped": f"stops by itself at a gap of {least:.1e}"}
    while loose < tight:
        middle = (loose + tight) // 2
        if gap(fit(tol(middle))[0]) <= given["wanted_gap"]:
            tight = middle
        else:
            loose = middle + 1
    runs = [fit(tol(tight)) for _ in range(given["repetitions"])]
    return {
        "seconds": min(s[0] for _, s in runs),
        "seconds_wall": min(s[1] for _, s in runs),
        "tol": tol(tight),
        "gap": gap(runs[0][0]),
    }


def as_called(given, x, y):
    seconds = []
    for _ in range(given["repetitions"]):
        model = LogisticRegression(C=given["c"], solver="lbfgs", tol=given["tol"], fit_intercept=False, max_iter=given["max_iter"])
        cpu, wall = time.thread_time(), time.perf_counter()
        model.fit(x, y)
        seconds.append((time.thread_time() - cpu, time.perf_counter() - wall))
    return {"seconds": min(s[0] for s in seconds), "seconds_wall": min(s[1] for s in seconds), "iterations": int(model.n_iter_[0])}


def main():
    given, x, y = read(pathlib.Path(sys.argv[1]))
    out = {"version": sklearn.__version__}
    if "tol" in given:
        print(json.dumps(out | as_called(given, x, y)))
        return
    for solver in ("newton-cholesky", "lbfgs"):
        try:
            out[solver] = measure(solver, given, x, y)
        except ValueError as e:  # before 1.2 there is no newton-cholesky
            out[solver] = {"skipped": str(e).splitlines()[0][:120]}
    print(json.dumps(out))


main()
