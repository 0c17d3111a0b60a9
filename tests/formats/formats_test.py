"""What an older version wrote, this program reads: the samples of every format that are kept in tests/formats/VERSION, from 0.2 on (make.sh
wrote them, and is not run here). Run by ctest with $PARLEY = the program."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]
HERE = pathlib.Path(__file__).parent
VERSIONS = sorted(f for f in HERE.iterdir() if f.is_dir() and f.name[0].isdigit())


class Formats(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name)

    def parley(self, *words):
        result = subprocess.run([PARLEY, *map(str, words)], cwd=self.dir, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}{result.stderr}")
        return result.stdout

    def says(self, page, *texts):  # without the page in the message
        self.assertEqual([t for t in texts if t not in page], [])

    def each(self):
        self.assertEqual(VERSIONS[0].name, "0.2", "samples of an older version are never removed")
        for version in VERSIONS:
            with self.subTest(version=version.name):
                here = self.dir / version.name
                shutil.copytree(version, here)  # a ledger is opened for writing too
                yield here

    def test_a_schema_checks_rows(self):
        for here in self.each():
            self.assertIn("12 rows, no problem", self.parley("data", "check", here / "models/rows.csv", "--schema", here / "schema.toml"))

    def test_models_predict_what_they_predicted(self):
        for here in self.each():
            models = sorted((here / "models").glob("*.json"))
            self.assertGreaterEqual(len(models), 5)
            for model in models:
                said = list(csv.reader(self.parley("predict", "--model", model, "--data", here / "models/rows.csv").splitlines()))
                kept = list(csv.reader(model.with_suffix(".csv").read_text().splitlines()))
                self.assertEqual((len(said), said[0]), (len(kept), kept[0]), model.name)
                for now, then in zip(said[1:], kept[1:]):
                    for a, b in zip(now, then):
                        try:
                            self.assertAlmostEqual(float(a), float(b), delta=1e-12 * max(1, abs(float(b))))
                        except ValueError:  # a class
                            self.assertEqual(a, b)
                self.parley("export", "--model", model, "--sql", self.dir / "q.sql")

    def test_a_record_is_reported_and_its_ledger_shown(self):
        for here in self.each():
            self.parley("report", here / "run", "--private", "--out", self.dir / "r.html", "--card", self.dir / "c.md")
            page, card = (self.dir / "r.html").read_text(), (self.dir / "c.md").read_text()
            self.says(page, "learns at most", "ε = 1.0000", "Private report")
            self.assertNotIn("NOT PRIVATE", card)
            self.assertIn("| ε of the whole run | 1.0000 |", card)
            self.assertRegex(self.parley("ledger", "show", here / "ledger/my.ledger"), r"people +1\.0000")
            self.parley("ledger", "verify", here / "ledger/my.ledger", here / "run")
            self.assertIn("estimate", (here / "run/coefficients.csv").read_text().splitlines()[0])

    def test_a_study_is_checked_and_its_parties_records_verified(self):
        for here in self.each():
            study = here / "study"
            said = self.parley("study", "check", study / "study.toml")
            self.assertIn("Approved for north", said)
            self.assertIn("north", self.parley("keys", "show", study / "north.pem"))
            said = self.parley("verify", "--study", study / "study.toml", study / "out-north", study / "out-south")
            self.assertIn("Everything that was checked holds.", said)
            self.assertRegex(self.parley("ledger", "show", study / "north.ledger"), r"north +1\.0000")
            self.parley("report", study / "out-north", study / "out-south", "--out", self.dir / "s.html")
            self.says((self.dir / "s.html").read_text(), "Statements of the parties")
            self.parley("report", study / "study.toml", "--out", self.dir / "p.html")

    def test_a_plan_is_reported(self):
        for here in self.each():
            self.parley("report", here / "plan.json", "--out", self.dir / "plan.html")
            self.says((self.dir / "plan.html").read_text(), "will learn at most", "ε = 1.0000")

    def test_exported_rows_are_read(self):
        for here in self.each():
            about = json.loads((here / "rows/about.json").read_text())
            self.assertEqual(about["format"], "parley-rows-1")
            lines = (here / "rows/train.libsvm").read_text().splitlines()
            (self.dir / "two.libsvm").write_text("\n".join(f"{'-1' if n % 2 else '1'} {line.split(' ', 1)[1]}" for n, line in enumerate(lines)) + "\n")
            model = {"format": "parley-model-1", "loss": "logistic", "loss_width": 0.5, "features": about["features"], "weights": [0.5] * len(about["features"]),
                     "schema": "", "not_private": [], "privacy": None}
            (self.dir / "m.json").write_text(json.dumps(model))
            self.assertEqual(len(self.parley("predict", "--model", self.dir / "m.json", "--data", self.dir / "two.libsvm").splitlines()), 1 + len(lines))

    def test_a_comparison_has_the_columns_that_are_promised(self):
        """Other programs read it; what is there stays, and more may come."""
        (self.dir / "new").mkdir()
        self.parley("compare", "--rows", "300", "--nodes", "2", "--loss-weight", "50", "--rounds", "3", "--algorithms", "dp-gd,newton", "--epsilon", "1", "--repeat", "1", "--quiet", "--out", "new/c")
        for here in self.each():
            now, then = (next(csv.reader(f.read_text().splitlines())) for f in (self.dir / "new/c/compare.csv", here / "compare.csv"))
            self.assertEqual(now[:len(then)], then)
            self.assertFalse(missing(json.loads((here / "compare.json").read_text()), json.loads((self.dir / "new/c/compare.json").read_text())))

    def test_the_samples_are_small(self):
        self.assertLess(sum(f.stat().st_size for f in HERE.rglob("*") if f.is_file() and "__pycache__" not in f.parts), 300_000)


def missing(then, now, place=""):
    """Keys that were there and are not any more."""
    if isinstance(then, dict) and isinstance(now, dict):
        return [found for key in then for found in ([f"{place}/{key}"] if key not in now else missing(then[key], now[key], f"{place}/{key}"))]
    if isinstance(then, list) and isinstance(now, list) and then and now:
        return missing(then[0], now[0], place + "[]")
    return []


if __name__ == "__main__":
    unittest.main()
