"""Rows as people have them: other separators, compressed, from a pipe, with mistakes. Run by ctest with $PARLEY = the program."""
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PARLEY = os.environ["PARLEY"]

SCHEMA = """
[label]
column = "y"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
[[columns]]
name = "job"
kind = "categorical"
categories = ["cook", "nurse"]
"""


def rows(count, separator=",", ends="\n"):
    lines = [["age", "job", "y"]]
    lines += [[str(i * 37 % 90), "cook" if i % 3 else "nurse", "yes" if i * 37 % 90 > 40 else "no"] for i in range(count)]
    return "".join(separator.join(line) + ends for line in lines)


class Data(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)
        (self.dir / "s.toml").write_text(SCHEMA)

    def tearDown(self):
        self.temporary.cleanup()

    def parley(self, *arguments, stdin=None):
        return subprocess.run([PARLEY, *map(str, arguments)], cwd=self.dir, capture_output=True, input=stdin, timeout=600)

    def train(self, *arguments, stdin=None):
        result = self.parley("train", "--schema", "s.toml", "--noise", "none", "--seed", 1, "--rounds", 4, "--nodes", 3, "--json", *arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        out = json.loads(result.stdout)
        return [out["test_error"], out["train_loss"]], result.stderr.decode()

    def says(self, *arguments, texts, code=1, stdin=None):
        result = self.parley(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        for text in texts:
            self.assertIn(text, (result.stderr + result.stdout).decode())

    def test_every_form_of_the_same_rows_gives_the_same_run(self):
        plain = rows(600).encode()
        (self.dir / "a.csv").write_bytes(plain)
        (self.dir / "b.csv").write_bytes(b"\xef\xbb\xbf" + rows(600, ";", "\r\n").encode())
        (self.dir / "c.csv.gz").write_bytes(gzip.compress(plain))
        (self.dir / "d.tsv").write_text(rows(600, "\t"))
        expected, quiet = self.train("--data", "a.csv")
        self.assertNotIn("note", quiet)
        got, note = self.train("--data", "b.csv")
        self.assertEqual(got, expected)
        self.assertIn("note: the fields of b.csv are taken to be separated by semicolon", note)
        self.assertEqual(self.train("--data", "c.csv.gz")[0], expected)
        self.assertEqual(self.train("--data", "d.tsv", "--delimiter", "tab")[0], expected)
        self.assertEqual(self.train("--data", "-", stdin=plain)[0], expected)
        self.assertEqual(self.train("--data", "-", stdin=gzip.compress(plain))[0], expected)

    def test_predict_reads_a_pipe(self):
        (self.dir / "a.csv").write_text(rows(600))
        self.train("--data", "a.csv", "--out", "r")
        piped = self.parley("predict", "--model", "r/model.json", "--data", "-", stdin=rows(20, ";").encode())
        (self.dir / "new.csv").write_text(rows(20))
        self.assertEqual(piped.stdout, self.parley("predict", "--model", "r/model.json", "--data", "new.csv").stdout)
        self.assertEqual(piped.stdout.count(b"\n"), 21)

    def test_check_tells_all_problems_at_once_and_ends_with_1(self):
        (self.dir / "a.csv").write_text(rows(5))
        (self.dir / "b.csv").write_text("age,job,y\nold,cook,yes\n3,Nurse,no\n4,cook,perhaps\n")
        self.says("data", "check", "a.csv", "--schema", "s.toml", texts=["a.csv: 5 rows, no problem"], code=0)
        self.says("data", "check", "a.csv", "b.csv", "--schema", "s.toml",
                  texts=["b.csv: 3 rows, 3 problems", "b.csv:2: column 'age' is not a number; got 'old'", "did you mean 'nurse'?",
                         "b.csv:4: label is not binary", "out of bounds", "for the owner of the rows alone"])
        self.says("data", "check", "a.csv", texts=["nothing to check the files against"])

    def test_first_mistakes_say_what_to_do(self):
        for name in ("a.csv", "b.csv"):
            (self.dir / name).write_text(rows(600 if name == "a.csv" else 300))
        commas = "separate several files by commas"
        self.says("train", "--epsilon", 1, "--schema", "s.toml", "--data", "a.csv", "b.csv", texts=["with commas and without blanks: --data a.csv,b.csv"])
        self.says("train", "--epsilon", 1, "--schema", "s.toml", "--data", "a.csv", "--data", "b.csv", texts=["with commas: --data a.csv,b.csv"])
        self.says("train", "--epsilon", 1, "--schema", "s.toml", "--data", "a.csv b.csv", "--format", "csv", texts=[commas + ", without blanks: a.csv,b.csv"])
        self.says("predict", "--model", "a.csv", "--data", "b.csv", texts=["not a model: this is a table of rows", "give the model.json of a run"])
        self.says("predict", "--model", "s.toml", "--data", "b.csv", texts=["not a model: this is a schema, a study or a file of options (TOML)"])
        (self.dir / "x.json").write_text('{"a": 1}')
        self.says("predict", "--model", "x.json", "--data", "b.csv", texts=["this JSON file is not a model"])
        (self.dir / "t.toml").write_text(SCHEMA.replace('"numeric"', "numeric"))
        self.says("train", "--epsilon", 1, "--schema", "t.toml", "--data", "a.csv", texts=["t.toml:8: not valid TOML", 'words need quotes: kind = "numeric"'])
        (self.dir / "t.toml").write_text(SCHEMA.replace('["cook", "nurse"]', "[cook, nurse]"))
        self.says("train", "--epsilon", 1, "--schema", "t.toml", "--data", "a.csv", texts=['words need quotes: categories = ["cook", ...]'])
        self.says("train", "--epsilon", 1, "--data", "a.csv", "--schema", "s.toml", "--delimiter", "semicolon", texts=["give --delimiter comma"])
        self.says("train", "--epsilon", 1, "--data", "a.csv", "--schema", "s.toml", "--query", "SELECT 1", texts=["--query would not be used"])
        self.says("train", "--epsilon", 1, "--data", "-", "--schema", "s.toml", texts=["standard input: the file is empty"], stdin=b"")


if __name__ == "__main__":
    unittest.main()
