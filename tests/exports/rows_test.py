"""A researcher's way round: the rows of a run leave, another algorithm's results come back; and the model card of real runs. Run by
ctest with $PARLEY = the program."""
import csv
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]
FEW = ("--rows", "600", "--nodes", "3", "--loss-weight", "100", "--rounds", "4", "--split-seed", "5")


class InAFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name)

    def run_parley(self, *words, code=0):
        result = subprocess.run([PARLEY, *map(str, words)], cwd=self.dir, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}{result.stderr}")
        return result.stderr if code else result.stdout


class Rows(InAFolder):
    def train(self, *more):
        self.run_parley("train", *FEW, "--epsilon", "1", "--quiet", "--out", "run", *more)

    def test_the_rows_of_a_run_are_those_it_learned_from(self):
        self.train("--algorithm", "dp-gd")
        self.run_parley("data", "export", "run", "--out", "rows")
        about = json.loads((self.dir / "rows/about.json").read_text())
        train, test = (list(csv.DictReader((self.dir / f"rows/{name}.csv").read_text().splitlines())) for name in ("train", "test"))
        model = json.loads((self.dir / "run/model.json").read_text())
        record = json.loads((self.dir / "run/run.json").read_text())
        features = model["features"]
        self.assertEqual(list(train[0]), ["party", "label", *features])
        self.assertEqual(about["records"], [fact["records"] for fact in record["node_facts"]])
        self.assertEqual([sum(row["party"] == str(i) for row in train) for i in range(3)], about["records"])
        self.assertEqual({row["party"] for row in test}, {"test"})
        # The model on these test rows is wrong as often as the record says.
        wrong = sum((sum(w * float(row[f]) for w, f in zip(model["weights"], features)) > 0) != (float(row["label"]) > 0) for row in test)
        self.assertAlmostEqual(wrong / len(test), record["private"]["test_error"], places=12)
        for row in train[:50]:
            self.assertLessEqual(sum(float(row[f]) ** 2 for f in features), 1 + 1e-12)

    def test_libsvm_has_the_same_rows_and_parley_reads_it(self):
        self.train()
        self.run_parley("data", "export", "run", "--out", "rows")
        self.run_parley("data", "export", "run", "--out", "sparse", "--format", "libsvm")
        lines = (self.dir / "sparse/train.libsvm").read_text().splitlines()
        rows = list(csv.reader((self.dir / "rows/train.csv").read_text().splitlines()))[1:]
        self.assertEqual(len(lines), len(rows))
        for line, row in zip(lines, rows):
            label, *entries = line.split(" # ")[0].split()
            values = ["0"] * (len(row) - 2)
            for entry in entries:
                at, value = entry.split(":")
                values[int(at) - 1] = value
            self.assertEqual([line.split("# party ")[1], label, *values], row)
        features = len(rows[0]) - 2
        self.run_parley("train", "--data", "sparse/train.libsvm", "--features", features, "--nodes", "3", "--loss-weight", "100", "--rounds", "3", "--epsilon", "1", "--quiet", "--out", "again")

    def test_the_files_are_their_owners_and_say_so(self):
        self.train()
        said = subprocess.run([PARLEY, "data", "export", "run", "--out", "rows"], cwd=self.dir, capture_output=True, text=True)
        self.assertIn("WARNING: these files hold private rows", said.stderr)
        for name in ("train.csv", "test.csv", "about.json"):
            self.assertEqual(stat.S_IMODE((self.dir / "rows" / name).stat().st_mode), 0o600, name)
        self.assertEqual(stat.S_IMODE((self.dir / "rows").stat().st_mode), 0o700)

    def test_rows_that_are_not_those_of_the_run_are_refused(self):
        table = "x,y\n" + "".join(f"{n % 10},{'a' if n % 3 else 'b'}\n" for n in range(200))
        (self.dir / "t.csv").write_text(table)
        (self.dir / "s.toml").write_text('[label]\ncolumn = "y"\npositive = ["a"]\nnegative = ["b"]\n[[columns]]\nname = "x"\nkind = "numeric"\nbounds = [0, 10]\n')
        self.run_parley("train", "--data", "t.csv", "--schema", "s.toml", "--nodes", "2", "--epsilon", "1", "--loss-weight", "20", "--rounds", "3", "--quiet", "--out", "run")
        for change, says in (((self.dir / "t.csv").write_text, "has more or fewer"), ((self.dir / "s.toml").write_text, "the schema differs")):
            before = {name: (self.dir / name).read_text() for name in ("t.csv", "s.toml")}
            change(table + "1,a\n" * 20 if "more" in says else before["s.toml"].replace("10]", "11]"))
            self.assertIn(says, self.run_parley("data", "export", "run", "--out", "rows", code=1))
            self.assertFalse((self.dir / "rows").exists())
            for name, text in before.items():
                (self.dir / name).write_text(text)
        self.run_parley("data", "export", "run", "--out", "rows")
        self.assertIn("not empty", self.run_parley("data", "export", "run", "--out", "rows", code=1))
        self.assertIn("where the rows go", self.run_parley("data", "export", "run", code=1))
        self.assertIn("run.json", self.run_parley("data", "export", "rows", "--out", "more", code=1))


class Outside(InAFolder):
    def compare(self, text, *more, code=0):
        (self.dir / "r.csv").write_text(text)
        return self.run_parley("compare", *FEW, "--algorithms", "dp-gd", "--epsilon", "0.5,1", "--delta", "1e-5", "--repeat", "1", "--with", "r.csv", "--out", "c", *more, code=code)

    def test_results_of_other_programs_stand_beside_ours_and_are_marked(self):
        said = self.compare("algorithm,epsilon,delta,split,run,test_error,note\nmine,1,1e-6,5,1,0.1,x\nmine,1,1e-6,5,2,0.3,\n=other,0.5,0,5,1,0.25,\n", "--quiet")
        self.assertRegex(said, r"mine, outside +- +20\.0 \(10\.0 to 30\.0\)")
        self.assertIn("mine, =other from r.csv: not checked by parley", said)
        self.assertNotIn("*20.0", said)
        table = list(csv.DictReader((self.dir / "c/compare.csv").read_text().splitlines()))
        self.assertEqual([row["source"].split(",")[0] for row in table], ["parley", "parley", "outside", "outside"])
        self.assertEqual(table[3]["algorithm"], "'=other", "no formula of a spreadsheet")
        self.assertEqual((table[2]["test_error"], table[2]["test_error_min"], table[2]["runs"], table[2]["delta"]), ("0.2", "0.1", "2", "1e-06"))
        outside = json.loads((self.dir / "c/compare.json").read_text())["outside"]
        self.assertEqual({one["checked_by_parley"] for one in outside}, {False})
        page = (self.dir / "c/report.html").read_text()
        self.assertIn("Results of other programs", page)
        self.assertIn("Not checked by parley", page)
        self.assertNotIn("mine", self.run_parley("report", "c", "--private", "--out", "p.html") + (self.dir / "p.html").read_text(), "no record has it")

    def test_a_bad_file_is_refused_in_words_before_any_run(self):
        good = "algorithm,epsilon,test_error\n"
        for text, says in ((good + "mine,2,0.1\n", "not among the budgets"), (good + "mine,1,15.4\n", "share of test rows"), (good + "mine,1,\n", "no test error"),
                           (good + ",1,0.1\n", "no name"), (good + "mine,one,0.1\n", "not a number"), ("algorithm,eps,test_error\nm,1,0.1\n", "did you mean 'epsilon'"),
                           ("algorithm,epsilon\nm,1\n", "need the column 'test_error'"), ("algorithm,epsilon,test_error,split\nm,1,0.1,6\n", "another split"),
                           ("algorithm,epsilon,test_error,delta\nm,1,0.1,1e-4\n", "delta of a result"), ("algorithm,epsilon,test_error,run\nm,1,0.1,1\nm,1,0.2,1\n", "stands there twice"),
                           (good + "m,1\n", "r.csv:2"), (good, "no rows")):
            self.assertIn(says, self.compare(text, code=1), text)
            self.assertFalse((self.dir / "c").exists(), "nothing ran")
        self.assertIn("no rows are held out", self.compare(good + "mine,1,0.1\n", "--test-share", "0", code=1))


class Card(InAFolder):
    def card(self, *more):
        self.run_parley("report", "run", "--card", "card.md", *more)
        text = (self.dir / "card.md").read_text()
        (self.dir / "card.md").unlink()
        return text

    def test_the_card_of_a_private_run(self):
        self.run_parley("train", *FEW, "--epsilon", "1", "--quiet", "--out", "run")
        shared, own = self.card(), self.card("--private")
        self.assertIn("learns at most ε = 1.0000", shared)
        self.assertNotIn("NOT PRIVATE", shared)
        record = json.loads((self.dir / "run/run.json").read_text())["private"]
        error = f"{100 * record['test_error']:.2f} %"
        self.assertIn(error, own)
        self.assertNotIn(error, shared)
        self.assertIn("Accuracy is left out", shared)
        for line in shared.splitlines():
            self.assertFalse(re.search(r"<(?!!-- parley model card -->)", line.replace("\\<", "")), line)

    def test_the_card_of_a_seeded_run_is_stamped_and_has_no_epsilon(self):
        self.run_parley("train", *FEW, "--epsilon", "1", "--seed", "3", "--quiet", "--out", "run")
        for text in (self.card(), self.card("--private")):
            self.assertIn("**NOT PRIVATE", text)
            self.assertNotIn("1.0000", text)

    def test_a_card_is_of_one_run_and_replaces_only_a_card(self):
        self.run_parley("train", *FEW, "--epsilon", "1", "--repeat", "2", "--quiet", "--out", "run")
        self.assertIn("of one run", self.run_parley("report", "run", "--card", "card.md", code=1))
        (self.dir / "notes.md").write_text("mine")
        self.assertIn("choose another --card", self.run_parley("report", "run", "--card", "notes.md", code=1))
        self.assertEqual((self.dir / "notes.md").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
