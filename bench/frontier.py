#!/usr/bin/env python3
"""Points of test error above the optimum without privacy, at equal total (epsilon, delta): the tables of docs/check/frontier-tables.md.
    bench/frontier.py build/parley bench/results [TASK ...]
Each cell: 10 public splits, 3 runs each, planner defaults; mean over splits and range of the splits' means. Writes frontier.json.
Tasks on Adult are skipped where its files are not found."""
import json, os, pathlib, random, subprocess, sys, tempfile

EPSILON = [0.1, 0.25, 0.5, 1, 2]
SPLITS, RUNS, DELTA = 10, 3, 1e-5
PARTIES = {"5": ["--nodes", "5"], "100": ["--nodes", "100"], "5, 1 colluder": ["--nodes", "5", "--colluders", "1"],
           "100, 25 colluders": ["--nodes", "100", "--colluders", "25"]}
UNEQUAL = {"20, sizes as 1/i": ["--nodes", "20", "--split", "power"],
           "20, sizes as 1/i, 5 colluders": ["--nodes", "20", "--split", "power", "--colluders", "5"]}
ADULT = ["--data", "adult", "--preprocessing"]
TASKS = {"adult compact": (ADULT + ["compact"], PARTIES), "adult public": (ADULT + ["public"], PARTIES),
         "census": (["--data", "census"], PARTIES), "8,000 rows of census": (["--data", "census", "--rows", "8889"], PARTIES),
         "adult compact, label-skewed": (ADULT + ["compact", "--split", "label-skewed"], PARTIES),
         "adult compact, 20 unequal parties": (ADULT + ["compact"], UNEQUAL), "1,000 sparse features": (None, PARTIES)}


def sparse_rows(path, rows=44444, features=1000, seed=1):
    """About 12 of 1,000 features in a row, some far more often than others; labels by a logistic model."""
    draw = random.Random(seed)
    weights = [draw.gauss(0, 3) for _ in range(features)]
    often = [1 / (1 + j) ** 0.5 for j in range(features)]
    with open(path, "w") as out:
        for _ in range(rows):
            held = sorted(set(draw.choices(range(1, features), often[1:], k=12)) | {0})
            score = sum(weights[j] for j in held[1:]) / len(held) ** 0.5 - 1.2
            label = 1 if draw.random() < 1 / (1 + 2.718281828 ** -score) else -1
            out.write(f"{label} " + " ".join(f"{j + 1}:1" for j in held) + "\n")
    return ["--data", str(path), "--features", str(features)]


def cell(parley, options, epsilon, folder):
    above, guessing, optimum, others = [], [], [], 0
    for split in range(1, SPLITS + 1):
        r = subprocess.run([parley, "train", *options, "--epsilon", str(epsilon), "--delta", str(DELTA), "--repeat", str(RUNS), "--metrics", "last",
                            "--split-seed", str(split), "--json", "--out", f"{folder}/{random.random()}"], capture_output=True, text=True)
        if r.returncode != 0:
            return {"failed": r.stderr.strip().splitlines()[-1] if r.stderr else str(r.returncode)}
        out = json.loads(r.stdout)
        above.append(100 * (out["test_error"]["mean"] - out["test_error_nonprivate"]))
        optimum.append(100 * out["test_error_nonprivate"])
        guessing.append(100 * out["test_error_guessing"])
        others = max(others, out.get("epsilon_all_others") or 0)
    mean = lambda v: sum(v) / len(v)
    return {"points": mean(above), "low": min(above), "high": max(above), "optimum": mean(optimum), "guessing": mean(guessing), "epsilon_all_others": others}


def main(parley, results, *wanted):
    table = {"delta": DELTA, "splits": SPLITS, "runs": RUNS, "load": os.getloadavg()[0], "tasks": {}}
    for task, (data, settings) in TASKS.items():
        if wanted and task not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            data = data or sparse_rows(pathlib.Path(folder) / "sparse.libsvm")
            print(f"\n{task}\n| parties | " + " | ".join(f"ε {e:g}" for e in EPSILON) + " |\n|" + "---|" * (len(EPSILON) + 1), flush=True)
            for parties, options in settings.items():
                cells = [cell(parley, data + options, e, folder) for e in EPSILON]
                table["tasks"].setdefault(task, {})[parties] = dict(zip(map(str, EPSILON), cells))
                print(f"| {parties} | " + " | ".join(f"{c['points']:.2f} ({c['low']:.2f} to {c['high']:.2f})" if "points" in c else c["failed"] for c in cells) + " |", flush=True)
            print("optimum without privacy: " + ", ".join(sorted({f"{c['optimum']:.1f} %, guessing {c['guessing']:.1f} %" for c in cells if "points" in c})), flush=True)
    pathlib.Path(results).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(results) / "frontier.json").write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
