"""Mistakes that were silent, or whose message was unclear, when parley was tried as new users would (issue 15, step 10), and more of
their kind: what is typed, the exit code, and the words that say what is wrong, where, and what to do. A row is (what was done, the
words typed, texts of the message); a warning ends with 0. Slips of the keyboard in names of commands and options:
commands_test.py. Run by ctest with $PARLEY = the program."""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from data_test import SCHEMA, rows
from local_study import LocalStudy

PARLEY = os.environ["PARLEY"]
FAST = "--rounds 4 --nodes 3 --quiet --epsilon 1"
OWN = f"train {FAST} --schema s.toml"
JOIN = "join study.toml --data mine.csv --dataset patients --as hospital_b"

# Silent: nothing was said, and the run went on.
SILENT = [
    ("999 for unknown, clipped at a bound", f"{OWN} --data codes.csv", 0, ["warning: codes.csv, column 'age': 25 % of the cells lie beyond its bounds", "such as 999", "the schema's missing marks"]),
    ("a file named twice", "train --epsilon 1 --schema s.toml --data a.csv,a.csv", 1, ["option --data", "nodes 0 and 1 have the same file", "give every node its own file"]),
    ("a copy of a file", "train --epsilon 1 --schema s.toml --data a.csv,copy.csv", 1, ["nodes 0 and 1 hold the same rows", "'a.csv' and 'copy.csv'", "give every node its own file"]),
    ("a draft as the schema", f"train {FAST} --schema draft.toml --data a.csv", 1, ["draft.toml: this schema is a draft", "the comment line that begins with DRAFT", "replace what was measured by what is publicly known, then delete"]),
    ("a delta that lets a record out", "train --epsilon 1 --delta 0.05 --rows 1500 --quiet", 0, ["warning: delta = 0.05 is not below 1/records of node 0", "publishing a record outright would be allowed", "lower --delta"]),
    ("a budget that protects little", "train --epsilon 20 --rows 1500 --quiet", 0, ["NO MEANINGFUL PROTECTION", "above 10", "An epsilon of 1 or less is usual"]),
    ("tested on the rows of the training", f"{OWN} --data a.csv --test-data a.csv", 1, ["option --test-data", "tested on the rows that it was trained on", "name a file of other rows"]),
    ("the number of synthetic rows, with a file", f"{OWN} --data a.csv --rows 100", 1, ["option --rows", "--rows would not be used", "shorten the file"]),
]

# Unclear: of the budget and the run.
BUDGET = [
    ("no budget", "train", 1, ["option --epsilon", "There is no budget", "give --epsilon (for example 1), or --noise none"]),
    ("epsilon = 1e9", "train --epsilon 1e9", 1, ["option --epsilon", "this budget protects nobody", "epsilon = 1 is usual"]),
    ("epsilon below 0", "train --epsilon -1", 1, ["option --epsilon: epsilon = -1 but must be > 0", "give --epsilon a value"]),
    ("epsilon 0", "plan --epsilon 0", 1, ["option --epsilon: epsilon = 0 but must be > 0", "give --epsilon a value"]),
    ("delta 0 with Gaussian noise", "train --epsilon 1 --delta 0 --algorithm newton", 1, ["option --delta: newton has Gaussian noise", "leave it out, or use another --algorithm"]),
    ("a budget and no noise", "train --epsilon 1 --noise none", 1, ["option --epsilon: a budget and the noise itself are both given", "give --epsilon, and the noise follows"]),
    ("one node", "train --epsilon 1 --nodes 1", 1, ["option --nodes: one node has nobody to talk to", "at least two nodes"]),
    ("all rows held out", "train --epsilon 1 --test-share 1", 1, ["option --test-share: test-share = 1 but must be from 0 to 0.99", "give --test-share a value"]),
    ("a graph in two parts", "train --epsilon 1 --nodes 4 --graph 0-1,2-3", 1, ["option --graph: the graph is not connected", "{0, 1}, {2, 3}", "add an edge"]),
    ("a loss for another label", f"{OWN} --data a.csv --loss softmax", 1, ["option --loss: the label has two classes", "allowed: logistic", "choose a loss that fits the label"]),
    ("the output folder exists", f"{OWN} --data a.csv --out run", 1, ["run: the output folder is not empty", "choose another --out, or remove it"]),
    ("resume, and no folder", "train --epsilon 1 --resume", 1, ["option --resume", "give the --out of the run"]),
    ("resume, and nothing there", "train --epsilon 1 --resume --out nothing", 1, ["nothing: there is no run to resume", "start it anew, without --resume"]),
    ("the column to predict, as an option", f"{OWN} --data a.csv --target y", 1, ["unknown option 'target'", "the schema names the column to predict, under [label]"]),
    ("an option with a name that is nearly right", "train --epsilon 1 --round 4", 1, ["unknown option 'round'", "did you mean 'rounds'?"]),
    ("words without quotes in TOML", "train --epsilon 1 --schema unquoted.toml --data a.csv", 1, ["unquoted.toml:8: not valid TOML", 'words need quotes: kind = "numeric"']),
]

# Unclear: of files of rows.
FILES = [
    ("a file that is not there", f"{OWN} --data gone.csv", 1, ["option --data: the data file does not exist; got 'gone.csv'", "check the path"]),
    ("two files with a blank", f"{OWN} --data a.csv b.csv", 1, ["unexpected argument; got 'b.csv'", "with commas and without blanks: --data a.csv,b.csv"]),
    ("two files in quotes", [*OWN.split(), "--data", "a.csv b.csv"], 1, ["option --data", "got 'a.csv b.csv'", "separate several files by commas, without blanks: a.csv,b.csv"]),
    ("two files with a semicolon", f"{OWN} --data a.csv;b.csv", 1, ["option --data", "got 'a.csv;b.csv'", "separate several files by commas, without blanks: a.csv,b.csv"]),
    ("--data twice", f"{OWN} --data a.csv --data b.csv", 1, ["--data is given more than once", "with commas: --data a.csv,b.csv"]),
    ("several files where one is read", "evaluate --model run/model.json --data a.csv,b.csv", 1, ["'a.csv,b.csv'", "these are several files: give one"]),
    ("no schema", "train --epsilon 1 --data a.csv", 1, ["option --schema: CSV data needs a schema", "parley data describe SAMPLE.csv"]),
    ("a schema that is not there", "train --epsilon 1 --data a.csv --schema gone.toml", 1, ["gone.toml: the schema cannot be read", "check the path"]),
    ("rows in place of the schema", "train --epsilon 1 --data a.csv --schema a.csv", 1, ["a.csv:1: not valid TOML", "this is a table of rows (CSV); give a TOML file"]),
    ("the schema in place of the rows", f"{OWN} --data s.toml", 1, ["option --data", "this is no file of rows; got 's.toml'", "give the file that holds the rows"]),
    ("a spreadsheet", f"{OWN} --data a.xlsx", 1, ["option --data: parley does not read this kind of table; got 'a.xlsx'", "save it as CSV (UTF-8)"]),
    ("a spreadsheet that is called CSV", f"{OWN} --data zip.csv", 1, ["zip.csv: this is a ZIP archive", "save the table as CSV (UTF-8)"]),
    ("an unknown ending", f"{OWN} --data a.txt", 1, ["cannot tell the format of the data from its name; got 'a.txt'", "set --format csv"]),
    ("UTF-16", f"{OWN} --data utf16.csv", 1, ["utf16.csv:1: the file is not UTF-8 text", "save it as UTF-8"]),
    ("an empty file", f"{OWN} --data empty.csv", 1, ["empty.csv: the file is empty", "a header line and at least one row are needed"]),
    ("a header alone", f"{OWN} --data header.csv", 1, ["header.csv: the file has no rows", "at least one row"]),
    ("no header", f"{OWN} --data bare.csv", 1, ["bare.csv: no column of this file is in the schema", "'age', 'job', 'y'", "say --header no"]),
    ("the schema of another table", f"{OWN} --data other.csv", 1, ["other.csv: no column of this file is in the schema; got 'month', 'amount'", "give the file of rows that this schema describes"]),
    ("another delimiter", f"{OWN} --data semicolons.csv --delimiter comma", 1, ["semicolons.csv: column 'age;job;y' is not in the schema", "give --delimiter semicolon"]),
    ("capital letters in a column name", f"{OWN} --data capitals.csv", 1, ["capitals.csv: column 'Age' is not in the schema", "did you mean 'age'?"]),
    ("a column too many", f"{OWN} --data wide.csv", 1, ["wide.csv: column 'zip' is not in the schema", 'kind = "drop" to ignore it']),
    ("the label column misspelt", f"train {FAST} --schema misspelt.toml --data a.csv", 1, ["a.csv: label column 'yy' is not in the table", "did you mean 'y'?"]),
    ("a label in capital letters", f"{OWN} --data Yes.csv", 1, ["Yes.csv:5: label is not binary", "got 'Yes'", "did you mean 'yes'?"]),
    ("a label with a third value", f"{OWN} --data maybe.csv", 1, ["maybe.csv:5: label is not binary", "got 'maybe'; allowed: +1: 'yes'; -1: 'no'", "list the value under [label]"]),
    ("a decimal comma", f"{OWN} --data comma.csv", 1, ["comma.csv:5: column 'age' is not a number; got '3,5'", "a decimal number has a point: write 3.5"]),
    ("an empty cell", f"{OWN} --data gap.csv", 1, ["gap.csv:5: column 'age' is missing", "'missing' policy in the schema"]),
    ("a category that is not listed", f"{OWN} --data porter.csv", 1, ["porter.csv:5: column 'job' has a value that is not among its categories; got 'porter'; allowed: 'cook', 'nurse'", "add the category or set other"]),
    ("a row that is too short", f"{OWN} --data short.csv", 1, ["short.csv:5: the row has a wrong number of fields; got 2; allowed: 3", "complete the row"]),
    ("LIBSVM without its features", "train --epsilon 1 --data x.libsvm", 1, ["option --features: LIBSVM data needs the number of features", "give --features D"]),
    ("LIBSVM with a schema", "train --epsilon 1 --data x.libsvm --schema s.toml", 1, ["option --schema: --schema would not be used: LIBSVM data has none", "leave it out"]),
    ("a query without a database", f"{OWN} --data a.csv --query SELECT", 1, ["--query would not be used", "give the address of a database"]),
    ("an empty pipe", f"{OWN} --data -", 1, ["standard input: the file is empty", "a header line and at least one row are needed"]),
]

# Unclear: of models, reports and ledgers.
OTHERS = [
    ("rows in place of the model", "predict --model a.csv --data a.csv", 1, ["a.csv: not a model: this is a table of rows", "give the model.json of a run"]),
    ("the schema in place of the model", "predict --model s.toml --data a.csv", 1, ["s.toml: not a model: this is a schema", "give the model.json of a run"]),
    ("the run in place of the model", "evaluate --model run --data a.csv", 1, ["run: the model is a directory", "did you mean 'run/model.json'?"]),
    ("some JSON in place of the model", "predict --model x.json --data a.csv", 1, ["x.json", "this JSON file is not a model"]),
    ("evaluate without labels", "evaluate --model run/model.json --data unlabelled.csv", 1, ["unlabelled.csv: label column 'y' is not in the table", "check the header line"]),
    ("a class that the model has not", "predict --model run/model.json --data a.csv --class perhaps", 1, ["option --class: the model has no such class", "allowed: no, yes"]),
    ("a report of a file", "report a.csv", 1, ["a.csv: not a folder", "give the folder of a run"]),
    ("a report over a file of rows", "report run --out a.csv", 1, ["a.csv: the file exists and is not part of a report", "choose another --out"]),
    ("parley ledger alone", "ledger", 1, ["parley ledger needs a task", "show FILE, cap FILE", "'parley help ledger' explains each"]),
    ("no ledger there", "ledger show gone.ledger", 1, ["gone.ledger: there is no ledger", "'parley ledger cap gone.ledger --dataset NAME --epsilon E' makes one"]),
    ("something else in place of the ledger", "ledger show a.csv", 1, ["a.csv: cannot read the ledger", "is this a parley ledger?"]),
    ("a ledger, and no dataset", f"{OWN} --data a.csv --ledger l.ledger", 1, ["--ledger and --dataset go together", "give both, or neither"]),
    ("a dataset without a cap", f"{OWN} --data a.csv --ledger l.ledger --dataset wards", 1, ["l.ledger: the ledger knows no dataset 'wards'; allowed: ward", "did you mean 'ward'?", "parley ledger cap"]),
    ("over the cap", "train --epsilon 5 --data a.csv --schema s.toml --ledger l.ledger --dataset ward", 1, ["l.ledger: the planned run would exceed the cap of dataset 'ward'", "is left for a run", "plan a smaller run"]),
    ("a ledger that is in use", f"{OWN} --data a.csv --ledger busy.ledger --dataset ward", 1, ["busy.ledger: the ledger is in use", "wait until it ends"]),
]

# Unclear: of a study. JOIN is complete but for what the row leaves out or adds.
STUDY = [
    ("nobody's name", "join study.toml --data mine.csv --ledger my.ledger", 1, ["option --as: who is this?", "a name in the study's roster"]),
    ("a name that is not in the roster", JOIN.replace("hospital_b", "hospital_d") + " --ledger my.ledger", 1, ["study.toml: 'hospital_d' is not in the roster", "allowed: hospital_a, hospital_b, hospital_c"]),
    ("another number of records", JOIN.replace("mine", "fewer") + " --ledger my.ledger", 1, ["fewer.csv: the roster of the study has another number of records for hospital_b; got 399 rows; allowed: 400 rows", "give the file that was counted"]),
    ("no ledger", JOIN, 1, ["option --ledger: a party needs its ledger", "make one with 'parley ledger cap"]),
    ("the certificate is missing", JOIN + " --ledger my.ledger --certificate gone.pem", 1, ["gone.pem: the certificate cannot be read", "check the path"]),
    ("another party's certificate", JOIN + " --ledger my.ledger --certificate hospital_a.pem", 1, ["hospital_b.key: the key does not belong to the certificate", "one 'parley keys new' wrote together"]),
    ("a key that others may read", JOIN + " --ledger my.ledger --key open.key", 1, ["open.key: others on this machine may read or replace the key; got mode 0644", "chmod 600"]),
    ("nobody has approved", JOIN + " --ledger my.ledger --require-approvals", 1, ["this study is not approved by all parties", "each signs with 'parley study sign"]),
    ("a key in place of the certificate", "study invite study.toml --address d.org:1 --records 9 --certificate hospital_a.key", 1, ["hospital_a.key: this is no certificate", "NAME.pem"]),
    ("rows in place of the study", "study check mine.csv", 1, ["mine.csv", "this is a table of rows (CSV)"]),
    ("a dataset that the ledger does not know", JOIN.replace("patients", "patient") + " --ledger my.ledger", 1, ["my.ledger: the ledger knows no dataset 'patient'", "did you mean 'patients'?"]),
]


def prepare(folder):
    """Every file that the rows name."""
    def put(name, text):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    lines = rows(600).splitlines()

    def changed(name, cells, line=5):
        put(name, "\n".join([*lines[:line - 1], cells, *lines[line:]]) + "\n")

    put("s.toml", SCHEMA)
    put("unquoted.toml", SCHEMA.replace('"numeric"', "numeric"))
    put("misspelt.toml", SCHEMA.replace('column = "y"', 'column = "yy"'))
    for name in ("a.csv", "copy.csv", "a.txt", "a.xlsx"):
        put(name, rows(600))
    put("b.csv", rows(300))
    put("codes.csv", "\n".join([lines[0], *("999" + line[line.index(","):] if i % 4 == 0 else line for i, line in enumerate(lines[1:]))]) + "\n")
    put("zip.csv", b"PK\x03\x04" + bytes(60))
    put("utf16.csv", rows(5).encode("utf-16"))
    put("empty.csv", "")
    put("header.csv", lines[0] + "\n")
    put("bare.csv", "\n".join(lines[1:]) + "\n")
    put("other.csv", "month,amount\n1,5\n")
    put("semicolons.csv", rows(600, ";"))
    put("capitals.csv", rows(600).replace("age", "Age", 1))
    put("wide.csv", "zip," + rows(600).replace("\n", "\n1,").removesuffix("1,"))
    put("unlabelled.csv", "\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    for name, cells in (("Yes", "5,cook,Yes"), ("maybe", "5,cook,maybe"), ("comma", '"3,5",cook,no'), ("gap", ",cook,no"), ("porter", "5,porter,no"), ("short", "5,cook")):
        changed(f"{name}.csv", cells)
    put("x.libsvm", "1 1:0.5\n-1 2:1\n")
    put("x.json", '{"a": 1}')


def parley(folder, *words, **kw):
    return subprocess.run([PARLEY, *words], cwd=folder, capture_output=True, text=True, timeout=300, **kw)


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.temporary.name)
        prepare(cls.dir)
        for words in (["data", "describe", "a.csv", "--out", "draft.toml"], [*OWN.split(), "--data", "a.csv", "--out", "run"],
                      *(["ledger", "cap", name, "--dataset", "ward", "--epsilon", "3", "--delta", "1e-5"] for name in ("l.ledger", "busy.ledger"))):
            result = parley(cls.dir, *words)
            assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, table, folder):
        messages = {}
        for what, typed, code, texts in table:
            with self.subTest(what):
                before = sorted(p for p in folder.rglob("*") if not p.name.endswith(".lock"))
                words = typed.split() if isinstance(typed, str) else typed
                result = parley(folder, *words, stdin=subprocess.DEVNULL)
                said = messages[what] = result.stderr
                self.assertEqual(result.returncode, code, said)
                for text in texts:
                    self.assertIn(text, said)
                if code == 0:
                    shutil.rmtree(folder / "runs", ignore_errors=True)
                    continue
                self.assertIn("what to do: ", said)
                self.assertLess(len(said), 700, "one message, not a page")
                self.assertEqual(sorted(p for p in folder.rglob("*") if not p.name.endswith(".lock")), before, "something was written")
        for what, _, _, texts in table:  # words that another mistake has too would not show that this one is told
            for other, said in messages.items():
                self.assertFalse(other != what and all(text in said for text in texts), f"{what}: the message of '{other}' would do")

    def test_what_was_silent(self):
        self.check(SILENT, self.dir)

    def test_of_the_budget_and_the_run(self):
        self.check(BUDGET, self.dir)

    def test_of_files_of_rows(self):
        self.check(FILES, self.dir)

    def test_of_models_reports_and_ledgers(self):
        other = sqlite3.connect(self.dir / "busy.ledger", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        self.check(OTHERS, self.dir)
        other.close()

    def test_of_a_study(self):
        study = LocalStudy(PARLEY, self.dir / "study", SCHEMA, rows_of_study)
        (study.folder / "fewer.csv").write_text("\n".join((study.folder / "mine.csv").read_text().splitlines()[:-1]) + "\n")
        shutil.copy(study.folder / "hospital_b.key", study.folder / "open.key")
        (study.folder / "open.key").chmod(0o644)
        self.check(STUDY, study.folder)

    def test_a_byte_order_mark_and_line_ends_of_windows_are_no_mistake(self):
        (self.dir / "bom.csv").write_bytes(b"\xef\xbb\xbf" + rows(600, ",", "\r\n").encode())
        result = parley(self.dir, *OWN.split(), "--data", "bom.csv")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        shutil.rmtree(self.dir / "runs")

    def test_as_many_as_were_found(self):
        self.assertGreaterEqual(len(SILENT), 6)
        self.assertGreaterEqual(len(BUDGET) + len(FILES) + len(OTHERS) + len(STUDY), 25)


def rows_of_study(count, shift):
    lines = rows(count + shift).splitlines()
    return "\n".join([lines[0], *lines[1 + shift:]]) + "\n"


if __name__ == "__main__":
    unittest.main()
