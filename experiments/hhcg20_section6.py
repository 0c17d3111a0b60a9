"""DP-ADMM as in HHCG20 section VI: 14 integer-coded columns of Adult scaled to [-1, 1] (not private: by the rows' own
extremes), rows clipped to norm 1, 162 rows declared public for D_w, 21,000 training rows on 100 providers, 9,000 test
rows, rho = 1, lambda = 0.17, 100 rounds. Prints a table and writes docs/images/hhcg20_section6.csv.

  experiments/hhcg20_section6.py [SPLITS] [RUNS]        default: 10 splits, 3 runs on each
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPLITS, RUNS = (int(a) for a in (sys.argv[1:] + ["10", "3"][len(sys.argv) - 1:]))
SETTING = "--data adult --preprocessing integer --test-share 0.3 --public-rows 162 --nodes 100 --loss-weight 1 --regularization 0.17 --penalty 1 --rounds 100".split()


def train(algorithm, split, *more):
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / "build/parley", "train", *SETTING, "--algorithm", algorithm, "--split-seed", str(split), "--repeat", str(RUNS), "--seed", "1",
                   "--metrics", "last", "--json", "--quiet", "--out", folder + "/run", *more]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def cells():
    for regularizer in ("l2", "l1"):
        yield "star-admm", regularizer, None, []
        for epsilon in (0.01, 0.02, 0.05, 0.07, 0.1, 0.2):
            yield "dp-admm", regularizer, epsilon, []
    for sensitivity in ("paper", "proved"):  # the paper's leaves iterates far beyond the usual bound of 1000
        for epsilon in (0.05, 0.1, 0.2):
            yield "star-pvp", "l2", epsilon, ["--sensitivity", sensitivity, "--release-bound", "1e6"]


def main():
    rows = []
    for algorithm, regularizer, epsilon, more in cells():
        if epsilon:
            more = [*more, "--iteration-epsilon", str(epsilon), "--iteration-delta", "1e-3"]
        found = [train(algorithm, split, "--regularizer", regularizer, *more) for split in range(1, SPLITS + 1)]
        value = lambda j, key: j["test_error"] if not isinstance(j["test_error"], dict) else j["test_error"][key]
        name = algorithm + (" (" + more[1] + " sensitivity)" if algorithm == "star-pvp" else "")
        rows.append({"algorithm": name, "regularizer": regularizer, "iteration_epsilon": epsilon or "", "delta": 1e-3 if epsilon else "",
                     "epsilon_proved": found[0]["epsilon"], "epsilon_moments": found[0]["epsilon_paper"],
                     "mean_error": sum(value(j, "mean") for j in found) / SPLITS, "min_error": min(value(j, "min") for j in found),
                     "max_error": max(value(j, "max") for j in found), "splits": SPLITS, "runs": RUNS, "nodes": 100})
        r = rows[-1]
        number = lambda x: "-" if x is None or x == "" else f"{x:.4g}"
        print(f"{name:32} {regularizer}  eps {number(epsilon):>5}  proved {number(r['epsilon_proved']):>8}  moments {number(r['epsilon_moments']):>9}  "
              f"error {100 * r['mean_error']:.2f} % ({100 * r['min_error']:.2f} to {100 * r['max_error']:.2f})", flush=True)
    with open(ROOT / "docs/images/hhcg20_section6.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


main()
