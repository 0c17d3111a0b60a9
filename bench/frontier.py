#!/usr/bin/env python3
"""Points of test error above the optimum without privacy, at equal total (epsilon, delta): the tables of docs/check/frontier-tables.md.
    bench/frontier.py build/parley bench/results [TASK ...]
Each cell: 10 public splits, 3 runs each (FEWER says where not), planner defaults; mean over splits and range of the splits' means.
Writes frontier.json, with the processor time of a run (the optimum without privacy included) and the load."""
import json, os, pathlib, random, resource, subprocess, sys, tempfile

EPSILON = [0.1, 0.25, 0.5, 1, 2]
SPLITS, RUNS, DELTA = 10, 3, 1e-5


def sparse_rows(_, folder, rows=44444, features=1000, seed=1):
    """About 12 of 1,000 features in a row, some far more often than others; labels by a logistic model."""
    path, draw = folder / "sparse.libsvm", random.Random(seed)
    weights = [draw.gauss(0, 3) for _ in range(features)]
    often = [1 / (1 + j) ** 0.5 for j in range(features)]
    with open(path, "w") as out:
        for _ in range(rows):
            held = sorted(set(draw.choices(range(1, features), often[1:], k=12)) | {0})
            score = sum(weights[j] for j in held[1:]) / len(held) ** 0.5 - 1.2
            label = 1 if draw.random() < 1 / (1 + 2.718281828 ** -score) else -1
            out.write(f"{label} " + " ".join(f"{j + 1}:1" for j in held) + "\n")
    return ["--data", str(path), "--features", str(features)]


def ages(parley, folder):
    """A regression: the age from the other columns and the income, in hundredths of half its range (root mean square)."""
    said = lambda *command: subprocess.run([parley, "data", *command], capture_output=True, text=True, check=True).stdout
    (folder / "census.csv").write_text(said("generate", "census", "--rows", "44444"))
    schema = said("schema", "census")
    income, age = 'column = "income"\npositive = [">50K"]\nnegative = ["<=50K"]\n', 'name = "age"\nkind = "numeric"\nbounds = [16, 100]\n'
    assert income in schema and age in schema
    schema = schema.replace(age, 'name = "income"\nkind = "categorical"\ncategories = ["<=50K", ">50K"]\n').replace(income, 'column = "age"\nbounds = [16, 100]\n')
    (folder / "schema.toml").write_text(schema)
    return ["--data", str(folder / "census.csv"), "--schema", str(folder / "schema.toml")]


PARTIES = {"5": ["--nodes", "5"], "100": ["--nodes", "100"], "5, 1 colluder": ["--nodes", "5", "--colluders", "1"],
           "100, 25 colluders": ["--nodes", "100", "--colluders", "25"]}
UNEQUAL = {"20, sizes as 1/i": ["--nodes", "20", "--split", "power"],
           "20, sizes as 1/i, 5 colluders": ["--nodes", "20", "--split", "power", "--colluders", "5"]}
MANY = {"200": ["--nodes", "200"], "200, 50 colluders": ["--nodes", "200", "--colluders", "50"]}
REGRESSION = {f"{n}, {loss}": ["--nodes", n, "--loss", loss] for n in ("5", "30") for loss in ("squared", "huber")}
ADULT = ["--data", "adult", "--preprocessing"]
TASKS = {"adult compact": (ADULT + ["compact"], PARTIES), "adult public": (ADULT + ["public"], PARTIES),
         "census": (["--data", "census"], PARTIES), "8,000 rows of census": (["--data", "census", "--rows", "8889"], PARTIES),
         "adult compact, label-skewed": (ADULT + ["compact", "--split", "label-skewed"], PARTIES),
         "adult compact, 20 unequal parties": (ADULT + ["compact"], UNEQUAL), "adult compact, 200 parties": (ADULT + ["compact"], MANY),
         "1,000 sparse features": (sparse_rows, PARTIES), "age of census": (ages, REGRESSION)}
# Rows that take long: their epsilons, splits, and runs of each.
FEWER = {"adult compact, 200 parties": {"200": ([1], 3, 1), "200, 50 colluders": ([1], 3, 1)},
         "age of census": {parties: ([0.25, 1], 3, 2) for parties in REGRESSION},
         "1,000 sparse features": {"5": (EPSILON, 3, 1), "5, 1 colluder": (EPSILON, 3, 1), "100": ([1], 1, 1), "100, 25 colluders": ([1], 1, 1)}}


def cell(parley, options, epsilon, folder, splits, runs):
    above, guessing, optimum, others = [], [], [], 0
    before = processor_seconds()
    for split in range(1, splits + 1):
        r = subprocess.run([parley, "train", *options, "--epsilon", str(epsilon), "--delta", str(DELTA), "--repeat", str(runs), "--metrics", "last",
                            "--split-seed", str(split), "--json", "--out", f"{folder}/{random.random()}"], capture_output=True, text=True)
        if r.returncode != 0:
            return {"failed": r.stderr.strip().splitlines()[-1] if r.stderr else str(r.returncode)}
        out = json.loads(r.stdout)
        error = out["test_error"]["mean"] if runs > 1 else out["test_error"]
        above.append(100 * (error - out["test_error_nonprivate"]))
        optimum.append(100 * out["test_error_nonprivate"])
        guessing.append(100 * (out.get("test_error_guessing") or 0))
        others = max(others, out.get("epsilon_all_others") or 0)
    mean = lambda v: sum(v) / len(v)
    return {"points": mean(above), "low": min(above), "high": max(above), "optimum": mean(optimum), "guessing": mean(guessing), "epsilon_all_others": others,
            "splits": splits, "runs": runs, "processor_seconds": (processor_seconds() - before) / (splits * runs), "load": os.getloadavg()[0]}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(task, parties, parley, options, folder):
    epsilons, splits, runs = FEWER.get(task, {}).get(parties, (EPSILON, SPLITS, RUNS))
    cells = {str(e): cell(parley, options, e, folder, splits, runs) for e in epsilons}
    print(f"| {parties} | {splits} × {runs} | " + " | ".join(words(cells.get(str(e))) for e in EPSILON) + " | " +
          " ".join(f"{c['processor_seconds']:.1f}" for c in cells.values() if "points" in c) + " |", flush=True)
    return cells


def words(c):
    return "" if c is None else c["failed"] if "failed" in c else f"{c['points']:.2f} ({c['low']:.2f} to {c['high']:.2f})"


def main(parley, results, *wanted):
    table = {"delta": DELTA, "tasks": {}}
    for task, (data, settings) in TASKS.items():
        if wanted and task not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            data = data(parley, pathlib.Path(folder)) if callable(data) else data
            print(f"\n{task}\n| parties | splits × runs | " + " | ".join(f"ε {e:g}" for e in EPSILON) + " | processor s a run |\n|" + "---|" * (len(EPSILON) + 3), flush=True)
            rows = table["tasks"][task] = {parties: row(task, parties, parley, data + options, folder) for parties, options in settings.items()}
            print("optimum without privacy: " + ", ".join(sorted({f"{c['optimum']:.1f}, guessing {c['guessing']:.1f}" for cells in rows.values() for c in cells.values() if "points" in c})), flush=True)
    pathlib.Path(results).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(results) / "frontier.json").write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
