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

    def test_evaluate_check_and_describe_read_what_train_reads(self):
        plain, semicolons = rows(600).encode(), rows(600, ";", "\r\n").encode()
        (self.dir / "a.csv").write_bytes(plain)
        (self.dir / "b.csv").write_bytes(b"\xef\xbb\xbf" + semicolons)
        (self.dir / "c.csv.gz").write_bytes(gzip.compress(plain))
        self.train("--data", "a.csv", "--out", "r")
        commands = (["evaluate", "--model", "r/model.json", "--json", "--data"], ["data", "check", "--schema", "s.toml"], ["data", "describe"])
        for command in commands:
            expected = self.parley(*command, "a.csv").stdout
            self.assertTrue(expected, command)
            for name, given, more in (("b.csv", None, []), ("c.csv.gz", None, []), ("-", plain, []), ("-", gzip.compress(plain), []),
                                      ("b.csv", None, ["--delimiter", "semicolon"]), ("-", semicolons, ["--delimiter", ";"])):
                got = self.parley(*command, name, *more, stdin=given)
                self.assertEqual(got.returncode, 0, got.stderr.decode())
                shown = "standard input" if name == "-" else name
                self.assertEqual(got.stdout.replace(shown.encode(), b"a.csv"), expected, (command, name, more))
                if given is None and not more and name == "b.csv":
                    self.assertIn("note: the fields of b.csv are taken to be separated by semicolon", got.stderr.decode())
            bare = self.parley(*command, "-", "--header", "no", stdin=plain.split(b"\n", 1)[1])
            self.assertIn(b"c1", bare.stderr + bare.stdout, "without a header the columns are called c1, c2, ...")

    def test_check_takes_several_files_with_commas_as_train_does_and_describe_one(self):
        for name in ("a.csv", "b.csv", "a,b.csv"):
            (self.dir / name).write_text(rows(6 if name == "b.csv" else 5))
        check = ("data", "check", "--schema", "s.toml")
        self.says(*check, "a.csv,b.csv", texts=["a.csv: 5 rows, no problem", "b.csv: 6 rows, no problem"], code=0)
        self.says(*check, "a,b.csv", texts=["a,b.csv: 5 rows, no problem"], code=0)
        self.says(*check, "a.csv,gone.csv", texts=["the data file does not exist", "'gone.csv'"])
        self.says(*check, "a.libsvm", texts=["parley data check: the data file does not exist"])
        (self.dir / "a.libsvm").write_text("1 1:1\n")
        self.says(*check, "a.libsvm", texts=["LIBSVM rows have no columns that a schema could speak of"])
        self.says(*check, "a.csv", "--query", "SELECT age FROM t", texts=["--query would not be used"])
        self.says("data", "describe", "a.csv,b.csv", texts=["these are several files: give one"])

    def test_the_owner_is_told_of_clipped_cells_by_train_evaluate_and_predict(self):
        (self.dir / "a.csv").write_text(rows(600))
        lines = rows(600).splitlines()
        (self.dir / "s.csv").write_text("\n".join([lines[0]] + [("999" if i % 4 == 0 else line.split(",", 1)[0]) + "," + line.split(",", 1)[1] for i, line in enumerate(lines[1:])]) + "\n")
        self.train("--data", "a.csv", "--out", "r")
        for command in (["train", "--schema", "s.toml", "--noise", "none", "--seed", 1, "--rounds", 4, "--json"], ["evaluate", "--model", "r/model.json", "--json"],
                        ["predict", "--model", "r/model.json"]):
            got = self.parley(*command, "--data", "s.csv")
            self.assertEqual(got.returncode, 0, got.stderr.decode())
            self.assertIn("warning: s.csv, column 'age': 25 % of the cells lie beyond its bounds and are clipped to them", got.stderr.decode())
            self.assertNotIn("beyond its bounds", got.stdout.decode(), "the share is private: it is for the terminal of the owner")
            self.assertNotIn("warning", self.parley(*command, "--data", "a.csv").stderr.decode())

    def test_check_tells_all_problems_at_once_and_ends_with_1(self):
        (self.dir / "a.csv").write_text(rows(5))
        (self.dir / "b.csv").write_text("age,job,y\nold,cook,yes\n3,Nurse,no\n4,cook,perhaps\n")
        self.says("data", "check", "a.csv", "--schema", "s.toml", texts=["a.csv: 5 rows, no problem"], code=0)
        self.says("data", "check", "a.csv", "b.csv", "--schema", "s.toml",
                  texts=["b.csv: 3 rows, 3 problems", "b.csv:2: column 'age' is not a number; got 'old'", "did you mean 'nurse'?",
                         "b.csv:4: label is not binary", "out of bounds", "for the owner of the rows alone"])
        self.says("data", "check", "a.csv", texts=["nothing to check the files against"])

    def test_words_without_quotes_in_a_list_of_the_schema(self):
        (self.dir / "a.csv").write_text(rows(600))
        (self.dir / "t.toml").write_text(SCHEMA.replace('["cook", "nurse"]', "[cook, nurse]"))
        self.says("train", "--epsilon", 1, "--schema", "t.toml", "--data", "a.csv", texts=['words need quotes: categories = ["cook", ...]'])


if __name__ == "__main__":
    unittest.main()
