"""Commands, tasks, flags and help as a new user meets them, and the message for each mistake that one makes typing them; mistakes of
other kinds: mistakes_test.py. Run by ctest with $PARLEY = the program."""
import json
import os
import pathlib
import re
import shlex
import unittest

from cli_test import Case, parley
from docs_commands_test import SCHEMA, rows

SMALL = ("--rows", 1500, "--loss-weight", 200, "--rounds", 4, "--epsilon", 1, "--quiet")


class Help(Case):
    def test_parley_alone_shows_every_command_and_ends_well(self):
        said = self.ok()
        for command in [c["command"] for c in json.loads(self.ok("options", "--json"))["commands"]]:
            self.assertRegex(said, rf"(?m)^  {command} ", command)
        self.assertLess(len(said.splitlines()), 50)
        for same in (["help"], ["--help"], ["-h"]):
            self.assertEqual(self.ok(*same), said)

    def test_help_of_a_command_is_short_and_help_all_has_every_option(self):
        basic, full = self.ok("train", "--help"), self.ok("train", "--help-all")
        self.assertEqual(basic, self.ok("help", "train"))
        self.assertIn("--epsilon", basic)
        self.assertNotIn("--penalty-growth-rounds", basic)
        self.assertIn("more options: parley train --help-all", basic)
        (train,) = [c for c in json.loads(self.ok("options", "train", "--json"))["commands"]]
        for option in train["options"] + train["flags"]:
            self.assertRegex(full, rf"--{option['name']}\b")

    def test_a_task_has_its_own_page(self):
        page = self.ok("help", "ledger", "cap")
        self.assertEqual(page, self.ok("ledger", "cap", "--help"))
        self.assertIn("--dataset", page)
        self.assertNotIn("--reason", page)
        for task in ("show FILE", "cap FILE", "verify FILE", "accept FILE"):
            self.assertIn(f"parley ledger {task}", self.ok("help", "ledger"))

    def test_options_covers_every_command(self):
        said = self.ok("options", "--markdown")
        for command in ("train", "compare", "predict", "data", "ledger", "study", "join", "doctor", "report", "options"):
            self.assertIn(f"\n## parley {command}", said)
        self.assertNotIn("## parley train", self.ok("options", "plan", "--markdown"))

    def test_the_version(self):
        for word in ("--version", "-V", "version"):
            self.assertRegex(self.ok(word), r"^parley \d")


class Flags(Case):
    def test_a_yes_no_option_needs_no_value_and_takes_one(self):
        self.ok("train", *SMALL, "--out", "run")
        for given in (["--resume"], ["--resume", "true"], ["--resume=yes"]):
            self.fails("train", *SMALL, "--out", "run", *given, says=["this run is complete: there is nothing to resume"])
        for given in ([], ["--resume=false"], ["--resume", "no"]):
            self.fails("train", *SMALL, "--out", "run", *given, says=["the output folder is not empty"])
        self.fails("train", "--resume=perhaps", says=["--resume takes no value, or yes or no", "'perhaps'", "--resume=no"])

    def test_a_flag_can_be_denied(self):
        self.assertIn("{", self.ok("graph", "--json=true"))
        self.assertNotIn("{", self.ok("graph", "--json=false"))


class Latest(Case):
    def test_the_link_leads_to_the_newest_run(self):
        for name in ("first", "second"):
            self.ok("train", *SMALL, "--out", f"runs/{name}")
            self.assertEqual(os.readlink(self.dir / "runs/latest"), name)
        self.ok("compare", *SMALL[:-3], "--epsilon", 1, "--algorithms", "auto", "--repeat", 1, "--quiet")
        self.assertRegex(os.readlink(self.dir / "runs/latest"), r"^\d+-\d+-compare$")
        self.ok("train", *SMALL, "--out", "elsewhere/third")
        self.assertFalse((self.dir / "elsewhere/latest").exists())
        self.assertIn("(3 runs", self.ok("report", "runs"), "the link is not a run of its own")

    def test_a_folder_of_that_name_stays(self):
        (self.dir / "runs/latest").mkdir(parents=True)
        self.ok("train", *SMALL, "--out", "runs/a")
        self.assertFalse((self.dir / "runs/latest").is_symlink())

    def test_a_run_that_is_refused_moves_no_link(self):
        self.ok("train", *SMALL, "--out", "runs/a")
        self.fails("train", "--data", "no.csv", "--epsilon", 1, "--out", "runs/b", says=["no.csv"])
        self.assertEqual(os.readlink(self.dir / "runs/latest"), "a")


class Compare(Case):
    def test_alone_it_compares_three_algorithms_at_three_budgets_and_says_how_long_it_takes(self):
        said = self.ok("compare", "--rows", 1500, "--rounds", 4, "--repeat", 1, "--out", "c")
        first = said.splitlines()[0]
        self.assertRegex(first, r"^9 settings \(mr-admm, dp-gd, auto at ε = 0.25, 1, 4\), 1 runs each: about \d")
        for part in ("mr-admm", "dp-gd", "newton, chosen", "ε = 0.25", "ε = 1", "ε = 4"):
            self.assertIn(part, said)


class Printed(Case):
    """What an output tells the reader to type can be typed."""

    def typed(self, text, pattern):
        return shlex.split(re.search(pattern, text)[1], comments=True)

    def test_of_a_plan(self):
        said = self.ok("plan", "--epsilon", 1, "--records", 270, "--features", 62)
        self.ok(*self.typed(said, r"(?m)^  parley (train .*)$"), "--rows", 1500, "--out", "planned", "--quiet")

    def test_of_a_study_and_its_keys(self):
        for i, name in enumerate(("a", "b", "c")):
            self.ok("keys", "new", name)
            if i == 0:
                self.ok(*self.typed(self.ok("study", "new", "study.toml"), r"'parley (study invite study.toml)"), "--address", "a.example.org:7400", "--certificate", "a.pem", "--records", 400)
            else:
                self.ok("study", "invite", "study.toml", "--address", f"{name}.example.org:7400", "--certificate", f"{name}.pem", "--records", 400)
        self.ok("study", "roster", "study.toml")

    def test_of_a_missing_ledger_and_a_missing_schema(self):
        said = self.fails("ledger", "show", "my.ledger", says=["there is no ledger"])
        words = self.typed(said, r"'parley (ledger cap my.ledger --dataset NAME --epsilon) E'")
        self.ok(*[w.replace("NAME", "ward") for w in words], 2)
        self.write("a.csv", rows(300, 0))
        said = self.fails("train", "--data", "a.csv", "--epsilon", 1, says=["CSV data needs a schema"])
        self.assertIn("parley data describe", said)
        drafted = parley("data", "describe", "a.csv", "--out", "s.toml", cwd=self.dir)
        self.assertEqual(drafted.returncode, 0, drafted.stderr)
        self.ok(*[w.replace("ROWS", "a") for w in self.typed(drafted.stderr, r"'parley (data check ROWS.csv --schema s.toml)'")])


class Mistakes(Case):
    """One message each: what was meant, in words that can be typed."""

    def test_of_commands(self):
        for typed, meant in ((["trian"], "did you mean 'parley train'?"), (["describe", "a.csv"], "did you mean 'parley data describe'?"),
                             (["newton"], "did you mean 'parley train --algorithm newton'?"), (["--verbose"], "the command comes first"),
                             (["help", "comparr"], "did you mean 'parley compare'?")):
            self.fails(*typed, says=["unknown command", meant])

    def test_of_tasks(self):
        self.fails("study", "chek", "x", says=["does not know this task", "did you mean 'parley study check'?"])
        self.write("my.ledger", "")
        self.fails("ledger", "my.ledger", says=["say what to do with the file", "parley ledger show my.ledger"])
        self.fails("ledger", "show", says=["parley ledger show needs FILE", "got nothing"])
        self.fails("ledger", "show", "a", "--epsilon", 3, says=["'parley ledger show' does not take --epsilon", "it belongs to 'parley ledger cap'"])
        self.fails("data", "schema", "adult", says=["allowed: census, adult-public, adult-compact"])
        self.fails("data", "fetch", "mnist", says=["allowed: adult", "choose one of these"])

    def test_of_options(self):
        for typed, meant in ((["train", "--epsilom", 1], "did you mean 'epsilon'?"), (["train", "--eps", 1], "did you mean 'epsilon'?"),
                             (["train", "--noise_rate", 1], "did you mean 'noise-rate'?"), (["train", "--output", "x"], "did you mean 'out'?"),
                             (["graph", "--parties", 4], "did you mean 'nodes'?"), (["train", "-epsilon", 1], "did you mean '--epsilon'?"),
                             (["train", "—epsilon", 1], "two plain dashes"), (["train", "epsilon=1"], "did you mean '--epsilon=1'?"),
                             (["train", "newton"], "did you mean '--algorithm newton'?"), (["graph", "ring"], "did you mean '--graph ring'?"),
                             (["predict", "run/model.json"], "did you mean '--model run/model.json'?"),
                             (["plan", "--epsilon", 1, "--data", "a.csv"], "it belongs to parley train"),
                             (["train", "--epsilon"], "--epsilon needs a value"), (["train", "--epsilon", "--delta"], "--epsilon needs a value"),
                             (["train", "--seed", 1, "--seed", 2], "--seed is given more than once")):
            self.fails(*typed, says=[meant, "what to do"])

    def test_of_a_file_without_its_option(self):
        self.write("a.csv", rows(60, 0))
        self.fails("train", "a.csv", says=["did you mean '--data a.csv'?"])

    def test_of_words_and_numbers(self):
        for option, value, says in (("--algorithm", "MR_ADMM", "did you mean 'mr-admm'?"), ("--algorithm", "mradmm", "did you mean 'mr-admm'?"),
                                    ("--loss", "Logistic", "did you mean 'logistic'?"), ("--noise", "laplace", "auto, none, gamma, gaussian"),
                                    ("--rounds", "1e3", "write it in digits, such as 1000"),
                                    ("--epsilon", "0,5", "a decimal number has a point, such as 0.5")):
            self.fails("train", option, value, says=[says])
        self.fails("graph", "--graph", "Ring", says=["did you mean 'ring'?"])
        self.fails("account", "mr", says=["unknown algorithm", "choose one of these"])
        self.fails("plan", "--epsilon", "1e9", says=["this budget protects nobody", "e^1e+09", "--noise none"])

    def test_of_files(self):
        self.ok("train", *SMALL, "--out", "run")
        self.write("schema.toml", SCHEMA), self.write("a.csv", rows(60, 0))
        self.ok("study", "new", "study.toml")
        self.ok("keys", "new", "ward")
        predict = ("predict", "--data", "a.csv", "--model")
        self.fails(*predict, "run/modle.json", says=["did you mean 'run/model.json'?"])
        self.fails(*predict, "run/run.json", says=["this is a run record, not a model", "model.json"])
        self.fails("train", "--config", "study.toml", says=["this is a study file", "parley study check"])
        self.fails("train", "--config", "schema.toml", says=["this is a schema", "give it with --schema"])
        self.fails("study", "check", "ward.pem", says=["this is a key or a certificate"])
        self.fails("study", "check", "run/model.json", says=["this is a JSON file"])
        self.fails("join", says=["the study file is missing", "parley join study.toml"])

    def test_of_toml(self):
        for line, says in (("algorithm = mr-admm", 'words need quotes: algorithm = "mr-admm"'), ("data = a.csv, b.csv", 'words need quotes: data = "a.csv"'),
                           ("graph = [ring]", 'words need quotes: graph = ["ring", ...]'), ("epsilon = [1, a]", 'words need quotes: epsilon = ["a", ...]'),
                           ("loss: logistic", "TOML writes = between a name and its value: loss = …"), ("epsilon 1", "a line has the form name = value"),
                           ("resume = True", "write true or false, in small letters"), ("epsilon = 0,5", "a decimal number has a point (0.5)"),
                           ('data = "C:\\data\\a.csv"', "write data = 'C:\\data\\a.csv'"), ('algorithm = "mr-admm', 'close the quotes: algorithm = "mr-admm"'),
                           ("delta = .5", "digits before and after the point"), ("epsilon =", "write a value behind the ="),
                           ("epsilon = 1;", "no ; at its end")):
            self.write("c.toml", "# a comment\n" + line + "\n")
            self.fails("train", "--config", "c.toml", says=["c.toml:2", says])
        self.write("c.toml", '{"epsilon": 1}')
        self.fails("train", "--config", "c.toml", says=["c.toml:1", "this is a JSON file"])


if __name__ == "__main__":
    unittest.main()
