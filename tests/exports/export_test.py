"""Models that leave parley score rows as `parley predict` does, to 1e-6: SQL in SQLite and PostgreSQL, ONNX by an interpreter of
our own and, where npm has it, by onnxruntime. Run by ctest with $PARLEY = the program."""
import csv
import io
import json
import math
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))
from onnx_by_hand import Model  # noqa: E402

PARLEY = os.environ["PARLEY"]
HERE = pathlib.Path(__file__).parent

# Every rule that a schema has for a cell. {top} is scale and fold, {label} one of LABELS.
COLUMNS = """
[[columns]]
name = "id"
kind = "drop"
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 110]
out_of_range = "error"
[[columns]]
name = 'bill "one"'
kind = "numeric"
bounds = [0, 100000]
transform = "log1p"
missing = "middle"
[[columns]]
name = "dose"
kind = "numeric"
bounds = [1, 9]
transform = "sqrt"
missing = "high"
[[columns]]
name = "stays"
kind = "numeric"
transform = "bins"
edges = [1, 3, 10]
missing = "zero"
[[columns]]
name = "visits"
kind = "numeric"
transform = "bins"
bounds = [0, 99]
edges = [2, 5.5]
missing = "middle"
out_of_range = "error"
[[columns]]
name = "ward"
kind = "categorical"
categories = ["surgery", "it's", "maternity"]
aliases = { "chirurgie" = "surgery" }
other = "bucket"
missing = "other"
[[columns]]
name = "smoker"
kind = "categorical"
categories = ["yes", "no", "?"]
missing = "category"
[[columns]]
name = "blood"
kind = "categorical"
categories = ["a", "b", "0"]
other = "zero"
missing = "zero"
[[columns]]
name = "code"
kind = "categorical"
categories = [1, 2, 9]
missing = "other"
other = "zero"
[[columns]]
name = "strict"
kind = "categorical"
categories = [10, 20]
other = "error"
"""
DATES = """
[[columns]]
name = "admitted"
kind = "numeric"
date = "days"
since = "1999-03-01"
bounds = [-40000, 40000]
missing = "low"
[[columns]]
name = "year"
kind = "numeric"
date = "year"
bounds = [1900, 2100]
missing = "low"
[[columns]]
name = "day"
kind = "categorical"
date = "weekday"
categories = [1, 2, 3, 4, 5, 6, 7]
missing = "zero"
[[columns]]
name = "month"
kind = "categorical"
date = "month"
categories = [1, 2, 12]
other = "bucket"
missing = "other"
"""
BILL = 'bill "one"'
LABELS = {"two": 'positive = ["ja\'s"]\nnegative = ["nein"]', "three": 'classes = ["u", "v w", "x\'"]', "number": "bounds = [-5, 20]"}
LOSSES = {"logistic": "two", "huber-hinge": "two", "huber": "number", "softmax": "three"}
TOPS = {"clip": 'missing = ["", "NA", "?", "999"]', "bound": 'missing = ["", "NA", "?", "999"]\nscale = "bound"'}


def schema(loss, top, dates=False):
    return f'{top}\n[label]\ncolumn = "y"\n{LABELS[LOSSES[loss]]}\n{COLUMNS}{DATES if dates else ""}'


def rows(count, rng, odd, dates):
    """odd: spellings that only a text can have."""
    pick = rng.choice

    def number(low, high):
        x = rng.uniform(low, high)
        return pick([f"{x:.3f}", str(round(x)), f"{x:.2e}"] + ([f" {x:.1f} ", f"+{x:.2f}", f"{abs(x):.0f}.", "0" + str(round(abs(x)))] if odd else []))

    def date():
        y, m = rng.randint(1890, 2110), rng.randint(1, 12)
        d = rng.randint(1, 31 if m in (1, 3, 5, 7, 8, 10, 12) else 30 if m != 2 else 29 if y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) else 28)
        return pick([f"{y:04}-{m:02}-{d:02}", f"{y:04}-{m:02}-{d:02}T10:00", "NA", "2000-02-29", "1900-02-28", "1970-01-01"])

    for n in range(count):
        row = {"id": str(n), "age": f"{rng.uniform(0, 110):.1f}", BILL: pick([number(-50, 200000), "NA", "999"]), "dose": pick([number(0, 12), ""]),
               "stays": pick([number(-3, 15), "1", "3", "10", "?"]), "visits": pick([number(0, 99), "2", "5.5", "NA"]),
               "ward": pick(["surgery", "it's", "maternity", "chirurgie", "elsewhere", "NA", ""]), "smoker": pick(["yes", "no", "?", "NA", ""]),
               "blood": pick(["a", "b", "0", "ab", "999"]), "code": pick(["1", "2", "9", "7", "", "999"] + (["01", "2.0", " 9", "x", "1e0"] if odd else [])),
               "strict": pick(["10", "20"] + (["1e1", "+20"] if odd else []))}
        if dates:
            row |= {name: date() for name in ("admitted", "year", "day", "month")}
        yield row


# One cell each that makes `predict` stop.
REFUSED = [{"age": "111"}, {"age": "NA"}, {"age": "abc"}, {"age": "1e"}, {"age": "1.2.3"}, {"age": "-"}, {"age": "."}, {"age": "nan"}, {"age": "1e400"}, {"age": ""}, {"age": "1 2"},
           {BILL: "--5"}, {BILL: "inf"}, {"dose": "1e+"}, {"stays": "x"}, {"visits": "-1"}, {"visits": "99.5"}, {"smoker": "maybe"}, {"strict": "30"}, {"strict": "999"}]
REFUSED_DATES = [{"admitted": "2001-02-29"}, {"year": "1900-02-29"}, {"day": "2000-13-01"}, {"year": "2000-1-01"}, {"admitted": "2000-01-01x"}, {"day": "0000-01-01"}, {"year": "2000-04-31"}, {"admitted": "2000-0a-01"}]


def to_csv(table):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n", quoting=csv.QUOTE_ALL)  # blanks around a cell without quotes are not read
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


class Exports(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.dir = pathlib.Path(self.temporary.name)
        self.rng = random.Random(11)

    def parley(self, *arguments, good=True):
        result = subprocess.run([PARLEY, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode == 0, good, result.stderr + result.stdout)
        return result

    def model(self, loss, text):
        """Of a run on a few rows, with weights large enough to see every mistake."""
        (self.dir / "s.toml").write_text(text)
        dates = "admitted" in text
        train = list(rows(60, self.rng, False, dates))
        for n, row in enumerate(train):
            row["y"] = {"two": ["ja's", "nein"][n % 2], "three": ["u", "v w", "x'"][n % 3], "number": str(n % 20)}[LOSSES[loss]]
        (self.dir / "t.csv").write_text(to_csv(train))
        shutil.rmtree(self.dir / "run", ignore_errors=True)
        self.parley("train", "--data", "t.csv", "--schema", "s.toml", "--nodes", 2, "--loss", loss, "--algorithm", "dp-gd", "--noise", "none", "--rounds", 2, "--quiet", "--out", "run")
        model = json.loads((self.dir / "run/model.json").read_text())
        weights = model["weights"]
        sample = list(rows(50, self.rng, False, dates))
        for _ in range(50):
            model["weights"] = [[self.rng.gauss(0, 6) for _ in w] for w in weights] if loss == "softmax" else [self.rng.gauss(0, 6) for _ in weights]
            (self.dir / "model.json").write_text(json.dumps(model))
            if len({line["prediction"] for line in self.predicted(sample)}) > 1:
                return model  # rows of one class alone would show little
        self.fail("every model says one class")

    def predicted(self, table):
        (self.dir / "rows.csv").write_text(to_csv(table))
        return list(csv.DictReader(io.StringIO(self.parley("predict", "--model", "model.json", "--data", "rows.csv").stdout)))

    def refused(self, row):
        (self.dir / "one.csv").write_text(to_csv([row]))
        self.parley("predict", "--model", "model.json", "--data", "one.csv", good=False)

    def compare(self, loss, expected, got):
        """expected: lines of predict. got: score, probabilities, what is said, of each row."""
        self.assertEqual(len(expected), len(got))
        for line, (score, probabilities, said) in zip(expected, got):
            values = list(line.values())[1:-1]  # row; …; not_private
            if loss == "logistic":
                self.assertAlmostEqual(float(values[0]), probabilities[0], delta=1e-9)
                self.assertAlmostEqual(float(values[0]), 1 / (1 + math.exp(-score[0])), delta=1e-9)
            elif loss == "huber-hinge":
                self.assertAlmostEqual(float(values[0]), score[0], delta=1e-9)
            elif loss == "softmax":
                for a, b in zip(values, probabilities):
                    self.assertAlmostEqual(float(a), b, delta=1e-9)
            if loss == "huber":
                self.assertAlmostEqual(float(line["prediction"]), said, delta=1e-7)
            else:
                self.assertEqual(line["prediction"], said)

    def of_sql(self, loss, result):
        """(score, probabilities, said) of one line of the result: id, …, not_private."""
        values = result[1:-1]
        if loss == "softmax":
            return values[:3], values[3:6], values[6]
        return (values[:1], values[1:2], values[2]) if loss == "logistic" else (values[:1], None, values[1])

    def query(self, loss, run):
        """Good rows score as predict says, and refused ones have NULL; run: names of columns, rows, query → lines."""
        good = list(rows(400, self.rng, True, True))
        bad = [{**good[0], "id": str(1000 + i), **cells} for i, cells in enumerate(REFUSED + REFUSED_DATES)]
        self.parley("export", "--model", "model.json", "--sql", "q.sql", "--table", "main.people" if run == self.sqlite else "people", "--keep", "id")
        lines = sorted(run(list(good[0]), good + bad, (self.dir / "q.sql").read_text()), key=lambda line: int(line[0]))
        self.compare(loss, self.predicted(good), [self.of_sql(loss, line) for line in lines[:len(good)]])
        for row, line in zip(bad, lines[len(good):]):
            self.assertEqual(set(line[1:-1]), {None}, row)
        self.assertIn("noise", lines[0][-1], "each line says that the model is not private")
        for row in self.rng.sample(bad, 5):
            self.refused(row)

    def sqlite(self, names, table, query):
        base = sqlite3.connect(":memory:")
        quoted = ['"' + n.replace('"', '""') + '"' for n in names]
        base.execute(f"CREATE TABLE people ({', '.join(q + ' TEXT' for q in quoted)})")
        # NULL is an empty cell
        base.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(names))})", [[row[n] or None for n in names] for row in table])
        try:
            return base.execute(query).fetchall()
        finally:
            base.close()

    def test_sqlite_scores_rows_as_predict_does(self):
        for loss in LOSSES:
            for top in TOPS.values():
                with self.subTest(loss=loss, top=top):
                    self.model(loss, schema(loss, top, dates=True))
                    self.query(loss, self.sqlite)

    def test_sqlite_folds_texts_as_the_schema_does(self):
        spell = {"surgery": ["SURGERY", " surgery", "Surgery\t"], "it's": ["IT'S", "it's \n"], "NA": ["na", " nA"], "yes": ["YES "], "no": ["No"], "a": ["A", "Ä"], "2000-02-29": ["2000-02-29  "]}
        for fold in ("letters", "blanks", "both"):
            self.model("logistic", schema("logistic", f'fold = "{fold}"\n' + TOPS["clip"], dates=True).replace('"it\'s"', '"it\'s  all"'))
            good = []
            for row in rows(400, self.rng, True, True):
                row = {n: self.rng.choice([v, *(spell.get(v, [v]))]) if n in ("ward", "blood") else v for n, v in row.items()}
                row["ward"] = self.rng.choice([row["ward"], "it's all", "It's     all", " it's\t all", "É", "é"])
                good.append(row)
            self.parley("export", "--model", "model.json", "--sql", "q.sql", "--table", "people", "--keep", "id")
            lines = self.sqlite(list(good[0]), good, (self.dir / "q.sql").read_text())
            self.compare("logistic", self.predicted(good), [self.of_sql("logistic", line) for line in lines])

    def test_sqlite_reads_typed_columns_as_text(self):
        model = self.model("logistic", schema("logistic", TOPS["clip"]))
        table = list(rows(50, self.rng, False, False))
        names = list(table[0])
        base = sqlite3.connect(":memory:")
        base.execute("CREATE TABLE people (" + ", ".join('"' + n.replace('"', '""') + '"' for n in names) + ")")
        typed = [[float(v) if n in ("age", "dose") and v else int(v) if n == "code" and v else v for n, v in row.items()] for row in table]
        base.executemany("INSERT INTO people VALUES (" + ", ".join("?" * len(names)) + ")", typed)
        self.parley("export", "--model", "model.json", "--sql", "q.sql", "--table", "people", "--keep", "id")
        lines = base.execute((self.dir / "q.sql").read_text()).fetchall()
        self.compare("logistic", self.predicted(table), [self.of_sql("logistic", line) for line in lines])
        base.close()
        self.assertTrue(model["not_private"])

    def inputs(self, model, table):
        """As ONNX takes them: numbers and codes as doubles, NaN for an empty cell, anything else as text."""
        def number(text):
            return math.nan if text in ("", "NA", "?") else float(text)
        return {name: [[number(row[name]) if kind == 11 else row[name]] for row in table] for name, kind in model.inputs.items()}

    def results(self, loss, outputs):
        count = len(outputs["score"])
        said = outputs["prediction"] if loss == "huber" else outputs["class"]
        return [(outputs["score"][n], outputs["probability"][n] if "probability" in outputs else None, said[n][0]) for n in range(count)]

    def test_onnx_scores_rows_as_predict_does(self):
        for loss in LOSSES:
            for top in TOPS.values():
                with self.subTest(loss=loss, top=top):
                    self.model(loss, schema(loss, top))
                    self.parley("export", "--model", "model.json", "--onnx", "m.onnx")
                    data = (self.dir / "m.onnx").read_bytes()
                    model = Model(data)
                    self.assertEqual(model.opsets, {"": 13, "ai.onnx.ml": 2})
                    self.assertIn("NOT PRIVATE", model.doc)
                    self.assertIn("not_private", model.notes)
                    good = list(rows(200, self.rng, False, False))
                    expected, outputs = self.predicted(good), model.run(self.inputs(model, good))
                    self.compare(loss, expected, self.results(loss, outputs))
                    bad = [{**good[0], "age": "111"}, {**good[0], "age": ""}, {**good[0], BILL: "inf"}, {**good[0], "visits": "-1"}, {**good[0], "smoker": "maybe"},
                           {**good[0], "strict": "30"}, {**good[0], "strict": "999"}, {**good[0], "strict": ""}]
                    outputs = {name: model.run(self.inputs(model, bad))[name] for name in model.outputs}
                    self.assertTrue(all(math.isnan(v) for row in outputs["score"] for v in row), outputs["score"])
                    if loss != "huber":
                        self.assertEqual({row[0] for row in outputs["class"]}, {""})
                    for row in bad:
                        self.refused(row)
                    self.by_onnxruntime(loss, data, self.inputs(model, good + bad), expected)

    def by_onnxruntime(self, loss, data, inputs, expected):
        outputs = onnxruntime(data, inputs)
        if outputs is not None:
            got = self.results(loss, outputs)
            self.compare(loss, expected, got[:len(expected)])
            self.assertTrue(all(s is None for score, _, _ in got[len(expected):] for s in score), "JSON writes NaN as null")

    def test_libsvm_rows_have_onnx_and_no_sql(self):
        (self.dir / "t.libsvm").write_text("".join(f"{'+1' if n % 2 else '-1'} 1:{n % 5} 3:{n % 7 / 10}\n" for n in range(40)))
        self.parley("train", "--data", "t.libsvm", "--features", 3, "--nodes", 2, "--noise", "none", "--algorithm", "dp-gd", "--rounds", 20, "--quiet", "--out", "run")
        self.parley("export", "--model", "run/model.json", "--onnx", "m.onnx")
        outputs = Model((self.dir / "m.onnx").read_bytes()).run({"features": [[float(n % 5), 0.0, n % 7 / 10] for n in range(40)]})
        lines = list(csv.DictReader(io.StringIO(self.parley("predict", "--model", "run/model.json", "--data", "t.libsvm").stdout)))
        for line, p in zip(lines, outputs["probability"]):
            self.assertAlmostEqual(float(line["probability"]), p[0], delta=1e-9)
        self.assertIn("LIBSVM rows: their features have no columns", self.parley("export", "--model", "run/model.json", "--sql", "q.sql", good=False).stderr)

    def test_what_cannot_be_exported_is_refused_in_words(self):
        def says(words, *arguments):
            result = self.parley("export", *arguments, good=False)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.returncode, 1)
            self.assertFalse((self.dir / "out").exists())
        self.model("logistic", schema("logistic", TOPS["clip"], dates=True))
        says("holds dates, which ONNX does not know", "--model", "model.json", "--onnx", "out")
        says("--model is missing", "--onnx", "out")
        says("it is not said into which format", "--model", "model.json")
        says("no name of a table", "--model", "model.json", "--sql", "out", "--table", "a..b")
        says("none is written", "--model", "model.json", "--onnx", "out", "--keep", "id")
        says("overwrite the model", "--model", "model.json", "--sql", "model.json")
        says("both formats would go to one file", "--model", "model.json", "--sql", "out", "--onnx", "out")
        self.model("logistic", schema("logistic", 'fold = "letters"'))
        says("folds texts", "--model", "model.json", "--onnx", "out")
        self.model("logistic", schema("logistic", TOPS["clip"]).replace("categories = [1, 2, 9]", 'categories = [1, 2, 9]\naliases = { "one" = "1" }'))
        says("a text for one", "--model", "model.json", "--onnx", "out")


def onnxruntime(data, inputs):
    """The outputs, by onnxruntime; None, and it says why, where npm does not have it."""
    if RUNTIME is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "m.onnx").write_bytes(data)
        pathlib.Path(folder, "in.json").write_text(json.dumps({n: [None if isinstance(r[0], float) and math.isnan(r[0]) else "inf" if r[0] == math.inf else r[0] for r in rows_] for n, rows_ in inputs.items()}))
        result = subprocess.run(["node", HERE / "onnxruntime.cjs", RUNTIME, folder], capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


def installed_runtime():
    """Under build/, once; without the packages' own scripts, which fetch what a processor does not need."""
    folder = pathlib.Path(PARLEY).parent / "onnxruntime"
    if os.environ.get("PARLEY_NO_NPM"):
        return print("skipped in part: onnxruntime is not wanted (PARLEY_NO_NPM)")
    if not (folder / "node_modules/onnxruntime-node").exists():
        folder.mkdir(exist_ok=True)
        try:
            result = subprocess.run(["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "onnxruntime-node@1.20.1"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as e:
            return print(f"skipped in part: npm does not run here ({e})")
        if result.returncode != 0:
            return print("skipped in part: npm does not reach onnxruntime-node: " + result.stderr.strip()[-200:])
    loads = subprocess.run(["node", "-e", f"require({json.dumps(str(folder / 'node_modules/onnxruntime-node'))})"], capture_output=True, text=True)
    if loads.returncode != 0:
        return print("skipped in part: onnxruntime does not load here: " + loads.stderr.strip()[-200:])
    return str(folder / "node_modules/onnxruntime-node")


RUNTIME = installed_runtime()


class InPostgres(Exports):
    """The same query in a real server."""
    for name in [n for n in dir(Exports) if n.startswith("test_")]:
        vars()[name] = None
    del name

    def test_postgresql_scores_rows_as_predict_does(self):
        import postgres_test
        try:
            server = postgres_test.Server()
        except SystemExit:
            self.skipTest("PostgreSQL is not there")
        self.addCleanup(server.stop)

        def postgres(names, table, query):
            quoted = ['"' + n.replace('"', '""') + '"' for n in names]
            cells = ",".join("(" + ",".join("NULL" if row[n] == "" else "'" + row[n].replace("'", "''") + "'" for n in names) + ")" for row in table)
            server.sql(f"DROP TABLE IF EXISTS people; CREATE TABLE people ({', '.join(q + ' text' for q in quoted)}); INSERT INTO people VALUES {cells}")
            lines = json.loads(server.sql("SELECT json_agg(row_to_json(r)) FROM (" + query + ") r"))
            return [list(line.values()) for line in lines]
        for loss, top, fold in (("logistic", "clip", ""), ("huber-hinge", "bound", ""), ("huber", "clip", ""), ("softmax", "bound", 'fold = "both"\n')):
            with self.subTest(loss=loss):
                self.model(loss, schema(loss, fold + TOPS[top], dates=True))
                self.query(loss, postgres)


if __name__ == "__main__":
    unittest.main()
