"""The program as a user meets it: every command, every kind of bad input, Ctrl-C. Run by ctest with $PARLEY = the program."""
import fcntl
import json
import math
import os
import pathlib
import pty
import re
import shlex
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

PARLEY = os.environ["PARLEY"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def parley(*arguments, cwd=None, env=None):
    return subprocess.run([PARLEY, *map(str, arguments)], cwd=cwd, env=env, capture_output=True, text=True, timeout=600)


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def ok(self, *arguments, **kw):
        result = parley(*arguments, cwd=self.dir, **kw)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def train(self, *arguments):
        says_how_private = {"--epsilon", "--noise", "--noise-rate", "--noise-scale", "--iteration-epsilon"} & {str(a) for a in arguments}
        noise = () if says_how_private else ("--noise-rate", 0.5)
        return json.loads(self.ok("train", *noise, "--rows", 1500, "--loss-weight", 200, "--rounds", 6, "--quiet", "--json", *arguments))

    def fails(self, *arguments, says, code=1):
        """Exit code ≠ 0, every text in `says` on stderr, nothing left behind."""
        before = sorted(self.dir.rglob("*"))
        result = parley(*arguments, cwd=self.dir)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
        self.assertEqual(sorted(self.dir.rglob("*")), before, "something was written")
        return result.stderr


SCHEMA = """
intercept = true
[label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
[[columns]]
name = "ward"
kind = "categorical"
categories = ["north", "south"]
other = "error"
"""


def rows(count, shift=0):
    return "age,ward,ill\n" + "".join(
        f"{(i * 37 + shift) % 100},{'north' if i % 3 else 'south'},{'yes' if (i * 37 + shift) % 100 > 50 else 'no'}\n" for i in range(count))


class Train(Case):
    def test_json_has_the_promised_keys(self):
        j = self.train("--out", "run")
        for key in ("algorithm nodes rounds private_rounds epsilon epsilon_paper delta test_error test_error_nonprivate train_loss "
                    "disagreement seeded seconds record").split():
            self.assertIn(key, j)
        self.assertEqual((j["algorithm"], j["nodes"], j["rounds"], j["private_rounds"], j["delta"], j["seeded"]), ("mr-admm", 5, 6, 3, 0, False))
        self.assertTrue(j["private"])
        self.assertEqual({p.name for p in (self.dir / "run").iterdir()}, {"run.json", "rounds.jsonl", "released.f64", "model.json"})
        self.assertEqual((self.dir / "run/released.f64").stat().st_size, 7 * 5 * j["features"] * 8)
        run = json.loads((self.dir / "run/run.json").read_text())
        self.assertTrue(run["record_is_private"])
        for line in (self.dir / "run/rounds.jsonl").read_text().splitlines():
            line = json.loads(line)
            self.assertNotIn("train_loss", line)  # measured on rows: only under "private"
            self.assertIn("train_loss", line["private"])

    def test_repeat_gives_mean_and_range(self):
        j = self.train("--repeat", 3, "--out", "run")
        for key in ("test_error", "train_loss", "disagreement"):
            self.assertEqual(set(j[key]), {"mean", "min", "max"})
        self.assertAlmostEqual(j["epsilon_all_runs"], 3 * j["epsilon"])

    def test_a_seed_repeats_the_run_and_stamps_it_everywhere(self):
        a, b = (self.train("--seed", 5, "--threads", t, "--out", f"run{t}") for t in (1, 2))
        self.assertEqual((self.dir / "run1/released.f64").read_bytes(), (self.dir / "run2/released.f64").read_bytes())
        self.assertEqual(a["test_error"], b["test_error"])
        self.assertIn("NOT PRIVATE", a["stamp"])
        for name in ("run.json", "model.json"):
            self.assertIn("NOT PRIVATE", (self.dir / "run1" / name).read_text())
        text = self.ok("train", "--noise-rate", 0.5, "--rows", 1500, "--rounds", 4, "--seed", 5, "--out", "shown")
        self.assertIn("NOT PRIVATE: noise from seed 5", text)

    def test_the_table_shows_what_people_ask_for(self):
        text = self.ok("train", "--noise-rate", 0.5, "--rows", 1500, "--loss-weight", 200, "--rounds", 4, "--out", "run")
        for word in ("test error", "training loss", "disagreement", "ε proved", "ε as printed", "total", "Record: run", "replace-one"):
            self.assertIn(word, text)

    def test_progress_goes_to_stderr(self):
        result = parley("train", "--noise-rate", 0.5, "--rows", 1500, "--rounds", 4, "--json", "--out", "run", cwd=self.dir)
        json.loads(result.stdout)
        self.assertIn("round 4/4", result.stderr)

    def test_progress_counts_what_will_happen(self):
        """Sums have one more round, which is the model; around a trainer two rounds of messages are one of the options."""
        for algorithm, rounds, last in (("newton", 1, 2), ("newton", 4, 5), ("dp-admm", 4, 4), ("linear-admm", 4, 4), ("mr-admm", 4, 4)):
            said = parley("train", "--algorithm", algorithm, "--epsilon", 1, "--rows", 1500, "--rounds", rounds, "--json", "--out", f"{algorithm}-{rounds}", cwd=self.dir).stderr
            shown = [(int(a), int(b)) for a, b in re.findall(r"round +(\d+)/(\d+)", said)]
            self.assertEqual(shown[-1], (last, last), algorithm)
            self.assertLessEqual(max(a for a, _ in shown), last, algorithm)

    def test_a_config_file_and_the_command_line_agree_on_names_and_the_command_line_wins(self):
        self.write("run.toml", "rows = 1500\nrounds = 8\nnoise-rate = [0.5, 1, 1, 1, 1]\nloss-weight = 200\n[engine]\nseed = 3\n")
        j = json.loads(self.ok("train", "--config", "run.toml", "--rounds", 4, "--quiet", "--json", "--out", "run"))
        self.assertEqual(j["rounds"], 4)
        self.assertTrue(j["seeded"])
        self.assertLess(j["node_results"][0]["epsilon"], j["node_results"][1]["epsilon"])

    def test_one_file_per_node(self):
        self.write("schema.toml", SCHEMA)
        for i, name in enumerate("abc"):
            self.write(f"{name}.csv", rows(60 + 10 * i, i))
        j = json.loads(self.ok("train", "--noise-rate", 0.5, "--data", "a.csv,b.csv,c.csv", "--schema", "schema.toml", "--loss-weight", 10, "--rounds", 4,
                               "--json", "--quiet", "--out", "run"))
        self.assertEqual([n["records"] for n in j["node_results"]], [54, 63, 72])

    def test_predict_writes_probabilities_that_follow_the_model(self):
        self.write("schema.toml", SCHEMA)
        self.write("all.csv", rows(300))
        self.ok("train", "--data", "all.csv", "--schema", "schema.toml", "--loss-weight", 30, "--noise", "none", "--algorithm", "admm",
                "--rounds", 60, "--quiet", "--out", "run")
        self.write("new.csv", "age,ward\n95,north\n5,south\n")
        lines = self.ok("predict", "--model", "run/model.json", "--data", "new.csv").splitlines()
        self.assertEqual(lines[0], "row,probability,prediction,not_private")
        old, young = (line.split(",") for line in lines[1:])
        self.assertEqual([old[3], young[3]], ["no noise"] * 2)
        self.assertGreater(float(old[1]), 0.5)
        self.assertEqual(old[2], "yes")
        self.assertLess(float(young[1]), 0.5)
        self.assertEqual(young[2], "no")
        self.fails("predict", "--model", "run/model.json", "--data", "new.csv", "--out", "./new.csv", says=["would overwrite a file that this command reads"])
        self.ok("predict", "--model", "run/model.json", "--data", "new.csv", "--out", "p.csv")
        self.assertEqual((self.dir / "p.csv").read_text().splitlines(), lines)

    def test_regression_and_hinge_and_libsvm(self):
        j = self.train("--loss", "huber-hinge", "--out", "hinge")
        self.assertIsNone(j["epsilon_paper"])
        self.assertIn("Assumption 4", j["epsilon_paper_absent"])
        self.write("r.toml", SCHEMA.split("[label]")[0] + '[label]\ncolumn = "y"\nbounds = [0, 200]\n' + "[[columns]]\nname = \"x\"\nkind = \"numeric\"\nbounds = [0, 1]\n")
        self.write("r.csv", "x,y\n" + "".join(f"{i / 200},{i * 0.9}\n" for i in range(200)))
        j = json.loads(self.ok("train", "--data", "r.csv", "--schema", "r.toml", "--loss", "huber", "--loss-weight", 20, "--noise", "none",
                               "--rounds", 200, "--regularization", 0.001, "--json", "--quiet", "--out", "regression"))
        self.assertLess(j["test_error"], j["baseline_error"] / 5)  # both in the unit of y
        self.write("s.libsvm", "".join(f"{1 if i % 2 else -1} 1:{0.4 if i % 2 else -0.4} 3:0.1\n" for i in range(200)))
        j = json.loads(self.ok("train", "--data", "s.libsvm", "--features", 3, "--loss-weight", 20, "--noise", "none", "--rounds", 20, "--json", "--quiet", "--out", "svm"))
        self.assertEqual(j["test_error"], 0)

    def test_the_star_family_and_linearised_updates(self):
        for algorithm in ("star-pvp", "dp-admm", "linear-admm"):
            j = self.train("--algorithm", algorithm, "--epsilon", 2, "--out", algorithm)
            self.assertTrue(1.99 < j["epsilon"] <= 2, j["epsilon"])
            self.assertEqual((j["rounds"], j["private_rounds"], j["nodes"], len(j["node_results"])), (6, 6, 5, 5))
            run = json.loads((self.dir / algorithm / "run.json").read_text())
            star = algorithm != "linear-admm"  # then two turns a round, and a trainer
            self.assertEqual(run["released"], {"nodes": 6 if star else 5, "size": j["features"]})
            self.assertEqual(len((self.dir / algorithm / "rounds.jsonl").read_text().splitlines()), 13 if star else 7)
        self.train("--algorithm", "dp-admm", "--loss", "hinge", "--regularizer", "l1", "--epsilon", 2, "--out", "hinge")
        j = self.train("--algorithm", "dp-admm", "--iteration-epsilon", 0.1, "--public-rows", 100, "--out", "public")
        self.assertLess(j["epsilon"], j["epsilon_paper"])
        self.assertGreater(json.loads((self.dir / "public/run.json").read_text())["options"]["solution-bound"], 0)
        start = ["train", "--out", "no", "--algorithm"]
        self.train("--algorithm", "star-admm", "--public-rows", 100, "--out", "same_rows")  # the rows dp-admm was trained on
        rows = self.write("rows.svm", "+1 1:0.5\n-1 1:-0.5\n" * 4)
        self.fails(*start, "star-admm", "--noise", "none", "--data", rows, "--features", 1, "--public-data", self.write("public.svm", "+1 1:0.5\n"), says=["nothing would use them", "--public-data"])
        self.fails(*start, "dp-admm", "--noise", "gaussian", says=["Gaussian noise needs its size", "--epsilon"])
        self.fails(*start, "dp-admm", "--epsilon", 1, "--graph", "ring", says=["around a trainer", "linear-admm"])
        self.fails(*start, "mr-admm", "--epsilon", 1, "--loss", "hinge", says=["kink", "dp-admm"])
        self.fails(*start, "dvp", "--epsilon", 1, "--regularizer", "l1", "--noise-on", "objective", says=["without kinks", "--noise-on output"])

    def test_more_than_two_classes(self):
        self.write("t.toml", SCHEMA.split("[label]")[0] + '[label]\ncolumn = "kind"\nclasses = ["oak", "ash", "elm"]\n'
                   + "".join(f'[[columns]]\nname = "{x}"\nkind = "numeric"\nbounds = [0, 10]\n' for x in ("height", "width")))
        self.write("t.csv", "height,width,kind\n" + "".join(f"{1 + 4 * (i % 3) + (i % 7) / 10},{9 - 4 * (i % 3) + (i % 5) / 10},{('oak', 'ash', 'elm')[i % 3]}\n" for i in range(1500)))
        for algorithm in ("mr-admm", "pvp", "dp-admm", "linear-admm"):
            j = json.loads(self.ok("train", "--data", "t.csv", "--schema", "t.toml", "--loss", "softmax", "--nodes", 3, "--algorithm", algorithm, "--epsilon", 4,
                                   "--json", "--quiet", "--out", algorithm))
            self.assertLess(j["test_error"], 0.1, algorithm)
        lines = self.ok("predict", "--model", "mr-admm/model.json", "--data", "t.csv").splitlines()
        self.assertEqual(lines[0], "row,probability[oak],probability[ash],probability[elm],prediction")
        for line in lines[1:20]:
            cells = line.split(",")
            self.assertAlmostEqual(sum(map(float, cells[1:4])), 1)
            self.assertEqual(cells[4], ("oak", "ash", "elm")[max(range(3), key=lambda c: float(cells[1 + c]))])
        self.fails("train", "--noise-rate", 0.5, "--data", "t.csv", "--schema", "t.toml", "--nodes", 3, "--out", "no", says=["3 classes", "softmax"])
        self.fails("train", "--epsilon", 1, "--data", "t.csv", "--schema", "t.toml", "--nodes", 3, "--out", "no", "--loss", "softmax", "--noise-on", "objective", says=["losses of one score"])

    def test_splits(self):
        for split in (["--split", "power"], ["--split", "shares", "--split-shares", "1,2,3,4,5"], ["--split", "label-skewed"],
                      ["--split", "column", "--split-column", "sex"]):
            j = self.train(*split, "--out", split[1] + split[-1])
            self.assertEqual(sum(n["records"] for n in j["node_results"]), 1350)
            self.assertEqual(j["adjacency"], "as dealt" if split[1] in ("column", "label-skewed") else "replace-one")

    def test_epsilon_for_rows_as_dealt_is_marked_wherever_it_is_shown(self):
        small = ("--rows", 1500, "--loss-weight", 200, "--rounds", 4)
        for name, split, word in (("even", ["--split", "even"], "replace-one"), ("label", ["--split", "label-skewed"], "as dealt"),
                                  ("column", ["--split", "column", "--split-column", "sex"], "as dealt")):
            text = self.ok("train", *small, *split, "--epsilon", 1, "--out", name)
            self.assertRegex(text, r"learns at most ε = 1\.0000, δ = 1e-05 about any one record \(" + word + r"\)")
            self.assertEqual("may move other rows" in text, word == "as dealt")
            for file in ("run.json", "model.json"):
                privacy = json.loads((self.dir / name / file).read_text())["privacy"]
                self.assertEqual(privacy["adjacency"], word)
                self.assertEqual("may move other rows" in privacy["adjacency_means"], word == "as dealt")
            for private in ([], ["--private"]):
                page = f"{name}{len(private)}.html"
                if word == "as dealt" and not private:
                    self.fails("report", name, "--out", page, says=["no shareable page", "--private", "--split even, shares or power"])
                    self.assertFalse((self.dir / page).exists())
                    continue
                self.ok("report", name, "--out", page, *private)
                shown = (self.dir / page).read_text()
                self.assertEqual("record (as dealt)" in shown, word == "as dealt")
                self.assertEqual("may move other rows" in shown, word == "as dealt")
        text = self.ok("train", "--noise-rate", 0.5, *small, "--split", "label-skewed", "--seed", 1, "--out", "seeded")  # ε is shown, and no sentence
        self.assertIn("as dealt: one record of one node is replaced after the rows were dealt", text)
        text = self.ok("compare", *small, "--algorithms", "mr-admm", "--epsilon", 1, "--repeat", 1, "--split", "label-skewed", "--out", "c", "--quiet")
        self.assertIn("ε as dealt: one record of one node", text)
        self.assertIn(",as dealt,", (self.dir / "c/compare.csv").read_text())
        self.assertIn("record (as dealt)", (self.dir / "c/report.html").read_text())

    def test_the_line_that_a_plan_prints_is_the_run_of_that_plan(self):
        for given in (("--epsilon", "0.5,1,2", "--algorithm", "mr-admm", "--nodes", 3, "--graph", "complete", "--loss-weight", 100, "--weighting", "rows", "--regularization", 0.3),
                      ("--epsilon", 1, "--delta", 0, "--noise", "gamma", "--penalty-growth", 1.02, "--graph", "0-1,1-2,2-3,3-4,4-0"),
                      ("--epsilon", 2, "--algorithm", "dp-admm", "--loss", "hinge", "--rounds", 5)):
            nodes = given[given.index("--nodes") + 1] if "--nodes" in given else 5
            records = 1350 // nodes
            text = self.ok("plan", *given, "--records", records, "--features", 62)
            self.assertRegex(text, r"noise (scale|rate) +[0-9.]")
            plan = json.loads(self.ok("plan", *given, "--records", records, "--features", 62, "--json"))
            words = shlex.split(text.splitlines()[-1])[1:]
            out = f"planned-{len(given)}-{nodes}"
            self.ok(*words, "--rows", 1500, "--out", out, "--quiet")
            run = json.loads((self.dir / out / "run.json").read_text())
            self.assertEqual([n["epsilon_planned"] for n in run["node_facts"]], [n["epsilon"] for n in plan["node_results"]])
            penalty = run["options"]["penalty"]
            self.assertEqual(penalty if isinstance(penalty, list) else [penalty], plan["penalty"])
            if "," in str(given[1]):
                self.assertIn("by node: 0.5000, 1.0000, 2.0000", text)

    def test_the_planner_chooses_and_says_what_to_expect(self):
        plan = json.loads(self.ok("plan", "--epsilon", 1, "--records", 9000, "--features", 62, "--json"))
        self.assertEqual((plan["algorithm"], plan["selection"]["by"]), ("newton", "planner"))
        self.assertAlmostEqual(plan["forecast"]["noise_to_signal"], 5**0.5 * 62 / (45000 * 0.26805), places=5)
        text = self.ok("plan", "--epsilon", 1, "--records", 9000, "--features", 62)
        for part in ("newton, chosen by the planner", "about 0.4 points of test error more than without privacy", "not a promise",
                     "no better than guessing below about 1,700 records in all", "half the features: 0.18 points; twice the records: 0.18 points; twice the epsilon: 0.2 points"):
            self.assertIn(part, text)
        self.assertIn("still guessing", self.ok("plan", "--epsilon", 0.1, "--records", 100, "--features", 62))
        # The same in the run of that plan: before it, in its record, in its model and on its page.
        words = shlex.split(text.splitlines()[-1])[1:]
        self.assertIn("newton", words)
        self.ok(*words, "--rows", 1500, "--out", "named", "--quiet")
        said = self.ok("train", "--epsilon", 1, "--rows", 1500, "--out", "auto")
        for part in ("chosen by the planner: it loses least at a given budget", "expect ", "would help ", "larger class"):
            self.assertIn(part, said)
        for name, by in (("named", "given"), ("auto", "planner")):
            run, model = (json.loads((self.dir / name / file).read_text()) for file in ("run.json", "model.json"))
            self.assertEqual((run["options"]["algorithm"], run["selection"]["by"]), ("newton", by))
            self.assertEqual(model["selection"], run["selection"])
            self.assertIn("lever", run["forecast"]["levers"][0])
        self.ok("report", "auto", "--out", "auto.html")
        page = (self.dir / "auto.html").read_text()
        for part in ("What to expect", "chosen by the planner", "half the features"):
            self.assertIn(part, page)

    def test_auto_takes_the_papers_algorithm_whose_options_are_given(self):
        for given, algorithm in (((), "mr-admm"), (("--noise", "none"), "mr-admm"), (("--epsilon", 1, "--delta", 0), "mr-admm"),
                                 (("--epsilon", 1, "--penalty", 9), "mr-admm"), (("--epsilon", 1, "--loss", "hinge"), "linear-admm"),
                                 (("--epsilon", 1, "--graph", "star"), "newton"), (("--epsilon", 1, "--repeat", 2), "newton")):
            j = self.train(*given, "--out", "-".join(map(str, ["auto", *given])))
            self.assertEqual((j["algorithm"], j["selection"]["by"]), (algorithm, "planner"), given)

    def test_a_cap_says_what_it_changes(self):
        cap = lambda name, epsilon: self.ok("ledger", "cap", "l.db", "--dataset", name, "--epsilon", epsilon)
        self.assertIn("(a new dataset)", cap("ward-2", 2))
        self.assertIn("(raised from ε = 2)", cap("ward-2", 3))
        self.assertIn("(lowered from ε = 3)", cap("ward-2", 1))
        self.assertIn("(a new dataset beside ward-2, with a budget of its own)", cap("Ward 2", 1))
        self.fails("ledger", "cap", "l.db", "--dataset", "ward-2", "--epsilon", -1, says=["this is no cap", "what to do"])

    def test_a_second_name_for_the_same_rows_is_not_the_first_remedy(self):
        self.ok("ledger", "cap", "l.db", "--dataset", "patients", "--epsilon", 9, "--delta", "1e-5")
        said = self.fails("train", "--rows", 1500, "--epsilon", 1, "--ledger", "l.db", "--dataset", "hospital_a", "--out", "no",
                          says=["allowed: patients", "under another name, give that one with --dataset", "two names for the same rows are two budgets"])
        self.assertLess(said.index("under another name"), said.index("parley ledger cap"))

    def test_a_split_that_reads_rows_is_not_charged_to_a_ledger(self):
        self.ok("ledger", "cap", "l.db", "--dataset", "d", "--epsilon", 9, "--delta", "1e-5")
        ledger = ("--rows", 1500, "--epsilon", 1, "--rounds", 4, "--ledger", "l.db", "--dataset", "d")
        for split in (["--split", "label-skewed"], ["--split", "column", "--split-column", "sex"]):
            self.fails("train", *ledger, *split, "--out", "no",
                       says=["this split reads rows", "--split " + split[1], "even, shares, power, or one file per node", "option --split", "as dealt"])
        self.ok("train", *ledger, "--split", "power", "--out", "yes", "--quiet")
        shown = json.loads(self.ok("ledger", "show", "l.db", "--json"))
        self.assertLessEqual(shown["datasets"][0]["epsilon"], 1)

    def test_the_same_rows_at_two_nodes_are_refused(self):
        self.write("schema.toml", SCHEMA)
        self.write("a.csv", rows(60)), self.write("b.csv", rows(60, 1)), self.write("copy.csv", rows(60))
        (self.dir / "link.csv").symlink_to("a.csv")
        (self.dir / "hard.csv").hardlink_to(self.dir / "a.csv")
        for again, what in (("a.csv", "have the same file"), ("./a.csv", "have the same file"), (self.dir / "a.csv", "have the same file"),
                            ("link.csv", "have the same file"), ("hard.csv", "have the same file"), ("copy.csv", "hold the same rows")):
            self.fails("train", "--noise-rate", 0.5, "--data", f"a.csv,b.csv,{again}", "--schema", "schema.toml", "--out", "no",
                       says=["nodes 0 and 2 " + what, f"'a.csv' and '{again}'", "option --data", "name it once"])
        self.fails("train", "--noise-rate", 0.5, "--data", "census,census", "--out", "no", says=["nodes 0 and 1 have the same file"])
        self.fails("compare", "--data", "a.csv,a.csv", "--schema", "schema.toml", "--out", "no", says=["nodes 0 and 1 have the same file"])
        self.fails("train", "--data", "a.csv,b.csv", "--public-data", "link.csv", "--algorithm", "dp-admm", "--epsilon", 1, "--schema", "schema.toml", "--out", "no",
                   says=["rows to train on", "option --public-data"])

    def test_a_budget_is_kept_and_plans_the_rest(self):
        for more in ([], ["--delta", "1e-6"], ["--delta", "0"], ["--noise", "gamma", "--delta", "1e-6"], ["--noise-on", "output"], ["--algorithm", "dvp"],
                     ["--algorithm", "pp"], ["--algorithm", "pvp"], ["--loss", "huber-hinge"], ["--epsilon", "0.5,1,1,2,1"]):
            epsilon = [] if "--epsilon" in more else ["--epsilon", 1]
            j = self.train(*epsilon, *more, "--out", "-".join(["b", *more]).replace("/", "_"))
            target = 2 if "--epsilon" in more else 1
            self.assertLessEqual(j["epsilon"], target, more)
            self.assertGreater(j["epsilon"], 0.999 * target, more)
            self.assertEqual(j["bound"], "proved")
        self.assertEqual(j["delta"], 1e-5)
        self.assertLessEqual(j["node_results"][0]["epsilon"], 0.5)
        self.assertIsNone(j["epsilon_paper"])

    def test_budgets_that_cannot_be_kept_say_what_to_raise(self):
        self.fails("train", "--epsilon", "0.01", "--penalty", "0.1", says=["infeasible", "because", "raise the penalty until kappa >="])
        self.fails("train", "--epsilon", "1", "--noise-rate", "1", says=["a budget and the noise itself"])
        self.fails("train", "--epsilon", "1", "--noise", "none", says=["a budget and the noise itself"])
        self.fails("train", "--noise", "gaussian", "--noise-scale", "9", "--noise-on", "objective", "--loss", "huber-hinge", says=["logistic loss only", "huber-hinge"])
        self.fails("train", "--noise", "gaussian", "--noise-scale", "9", "--delta", "0", says=["delta = 0"])
        for algorithm in ("linear-admm", "dvp"):  # refused before anything is spent, not in the middle of a run
            self.fails("train", "--rows", 4000, "--algorithm", algorithm, "--epsilon", 4, "--tolerance", "1e-13", says=["could not be certified", "raise --tolerance"])

    def test_a_diverged_run_has_no_model(self):
        result = parley("train", "--rows", 1500, "--rounds", 4, "--noise-rate", "1e-3", "--release-bound", 5, "--out", "run", cwd=self.dir)
        self.assertEqual(result.returncode, 3)
        self.assertFalse((self.dir / "run/model.json").exists())
        self.assertEqual(json.loads((self.dir / "run/run.json").read_text())["outcome"], "diverged")

    def test_the_worst_of_many_nodes_is_shown(self):
        text = self.ok("train", "--noise-rate", 0.5, "--rows", 3000, "--nodes", 20, "--split", "power", "--rounds", 2, "--quiet", "--out", "run")
        total = [line.split() for line in text.splitlines() if line.strip().startswith("total")][0][2]
        self.assertGreaterEqual(text.count(total), 3)  # its node, the total and the sentence
        self.assertIn("no meaningful protection", text)

    def test_ctrl_c_keeps_the_record_up_to_that_round(self):
        process = subprocess.Popen([PARLEY, "train", "--noise-rate", "0.5", "--rows", "20000", "--rounds", "100000", "--out", "run"], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        rounds = self.dir / "run/rounds.jsonl"
        for _ in range(9000):
            if process.poll() is not None or rounds.exists() and rounds.read_text().count("\n") > 3:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=900)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(out, r"interrupted after round \d+: the same command with --resume --out run goes on")
        run = json.loads((self.dir / "run/run.json").read_text())
        self.assertEqual(run["outcome"], "interrupted")
        lines = [json.loads(line) for line in rounds.read_text().splitlines()]
        self.assertEqual(lines[-1]["round"], run["rounds_done"])
        self.assertEqual((self.dir / "run/released.f64").stat().st_size, len(lines) * 5 * run["features"] * 8)
        self.assertAlmostEqual(run["privacy"]["epsilon"], lines[-1]["epsilon"])
        self.assertTrue((self.dir / "run/model.json").exists())

    def test_sigkill_leaves_a_readable_record(self):
        process = subprocess.Popen([PARLEY, "train", "--noise-rate", "0.5", "--rows", "20000", "--rounds", "100000", "--out", "run", "--quiet"], cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rounds = self.dir / "run/rounds.jsonl"
        for _ in range(9000):
            if process.poll() is not None or rounds.exists() and rounds.read_text().count("\n") > 3:
                break
            time.sleep(0.1)
        process.kill()
        process.wait()
        run = json.loads((self.dir / "run/run.json").read_text())
        self.assertEqual(run["outcome"], "running")
        self.assertEqual(run["privacy"]["epsilon"], run["privacy"]["epsilon_planned"])  # never less than was spent
        self.assertGreater(run["privacy"]["epsilon"], 1)
        self.assertGreater(len(rounds.read_text().splitlines()), 3)


class Account(Case):
    def test_the_golden_numbers(self):
        j = json.loads(self.ok("account", "mr-admm", "--records", 8000, "--nodes", 5, "--degree", 2, "--loss-weight", 1750, "--regularization", 0.22,
                               "--penalty", 1, "--noise-rate", 1, "--rounds", 50, "--json"))
        self.assertTrue(math.isclose(j["epsilon_paper"], 11.88411844708, rel_tol=1e-12))
        self.assertTrue(math.isclose(j["epsilon"], 10.9375, rel_tol=1e-12))
        self.assertGreaterEqual(j["epsilon"], 10.9375)
        self.assertIn("exact minimum", j["assumes"])

    def test_dp_admm_as_in_the_paper(self):
        for epsilon, moments, exact in ((0.05, 0.5008810771, 0.2771640467), (0.1, 1.019291501, 0.6339064723)):
            j = json.loads(self.ok("account", "dp-admm", "--records", 210, "--iteration-epsilon", epsilon, "--iteration-delta", "1e-3", "--rounds", 100, "--delta", "1e-3", "--json"))
            self.assertTrue(math.isclose(j["epsilon_moments"], moments, rel_tol=1e-9))
            self.assertTrue(math.isclose(j["epsilon"], exact, rel_tol=1e-9))
            self.assertTrue(math.isclose(j["epsilon_paper"], j["epsilon_moments"], rel_tol=1e-12))
            self.assertGreater(j["mu"], 0)

    def test_tolerance_adds_the_cost_of_an_approximate_minimum(self):
        exact, real = (json.loads(self.ok("account", "mr-admm", "--json", *more))["epsilon"] for more in ([], ["--tolerance", "1e-6"]))
        self.assertTrue(1.0000999 < real / exact < 1.0001001, real / exact)

    def test_account_says_what_train_spends(self):
        spent = self.train("--out", "run", "--algorithm", "pp", "--penalty", "0.5", "--noise-rate", 3)["epsilon"]
        said = json.loads(self.ok("account", "pp", "--records", 270, "--loss-weight", 200, "--rounds", 6, "--penalty", 0.5, "--noise-rate", 3,
                                  "--tolerance", "1e-6", "--json"))["epsilon"]
        self.assertEqual(spent, said)

    def test_no_noise_has_no_epsilon(self):
        self.assertIsNone(json.loads(self.ok("account", "admm", "--json"))["epsilon"])


class OwnersLedger(Case):
    def test_runs_are_charged_up_to_the_cap_and_no_further(self):
        self.ok("ledger", "cap", "own.ledger", "--dataset", "patients", "--epsilon", "2.5", "--delta", "1e-5")
        run = ["--epsilon", 1, "--ledger", "own.ledger", "--dataset", "patients"]
        for i in (1, 2):
            j = self.train(*run, "--out", f"run{i}")
            self.assertTrue(j["private"])
        text = self.fails("train", "--rows", 1500, "--loss-weight", 200, "--rounds", 6, *run, "--repeat", 9, "--out", "run3", says=["own.ledger", "patients"])
        self.assertNotIn("bug", text)
        self.ok("ledger", "verify", "own.ledger", "run1", "run2")
        file = self.dir / "run1/run.json"
        honest = file.read_text()
        for key, value, says in (("epsilon", 0.1, "run.json claims epsilon = 0.1 at delta = 1e-05"), ("epsilon_all_others", 0.1, "run.json claims epsilon = 0.1 at"), ("delta", 1e-9, "claims epsilon = "),
                                 ("unit", "person", "and the ledger's charges are for one row")):
            edited = json.loads(honest)
            edited["privacy"][key] = value
            file.write_text(json.dumps(edited))
            self.fails("ledger", "verify", "own.ledger", "run1", "run2", says=[says])
        file.write_text(honest)
        shown = json.loads(self.ok("ledger", "show", "own.ledger", "--json"))
        self.assertIn("patients", json.dumps(shown))
        again = parley("ledger", "verify", "own.ledger", "run1", cwd=self.dir)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_unknown_datasets_seeded_runs_and_missing_ledgers_are_refused(self):
        self.ok("ledger", "cap", "own.ledger", "--dataset", "patients", "--epsilon", "2", "--delta", "1e-5")
        run = ["train", "--rows", 1500, "--loss-weight", 200, "--rounds", 6, "--epsilon", 1]
        self.fails(*run, "--ledger", "own.ledger", "--dataset", "patient", says=["patient"])
        self.fails(*run, "--ledger", "own.ledger", "--dataset", "patients", "--seed", 1, says=["seed"])
        self.fails(*run, "--ledger", "none.ledger", "--dataset", "patients", says=["none.ledger"])
        self.fails(*run, "--ledger", "own.ledger", says=["go together"])


class BadInput(Case):
    def test_missing_files(self):
        self.fails("train", "--noise-rate", 0.5, "--data", "no.csv", "--schema", "no.toml", says=["no.csv", "does not exist"])
        self.write("schema.toml", SCHEMA)
        self.write("a.csv", rows(50))
        self.fails("train", "--noise-rate", 0.5, "--data", "a.csv", "--schema", "no.toml", says=["no.toml", "the schema cannot be read"])
        self.fails("train", "--noise-rate", 0.5, "--data", "a.csv", says=["CSV data needs a schema", "parley data describe"])
        self.fails("train", "--config", "no.toml", says=["no.toml"])
        self.fails("train", "--noise-rate", 0.5, "--data", "adult", "--data-dir", self.dir, says=["adult.data", "parley data fetch adult"])
        self.fails("predict", "--model", "no.json", "--data", "a.csv", says=["no.json", "the model cannot be read"])

    def test_bad_rows_name_their_line(self):
        self.write("schema.toml", SCHEMA)
        for name, bad, says in (("ragged", "50,north\n", ["2", "3"]), ("category", "50,east,yes\n", ["east", "ward", "'north', 'south'"]),
                                ("nan", "nan,north,yes\n", ["age", "nan"]), ("label", "50,north,maybe\n", ["maybe", "not binary"]),
                                ("text", "old,north,yes\n", ["age", "old"])):
            text = rows(30).splitlines(keepends=True)
            text.insert(7, bad)
            self.write(f"{name}.csv", "".join(text))
            self.fails("train", "--noise-rate", 0.5, "--data", f"{name}.csv", "--schema", "schema.toml", says=[f"{name}.csv:8", *says])

    def test_an_empty_node(self):
        self.write("schema.toml", SCHEMA)
        self.write("a.csv", rows(3))
        self.fails("train", "--noise-rate", 0.5, "--data", "a.csv", "--schema", "schema.toml", "--nodes", 5, says=["node", "what to do"])

    def test_options(self):
        self.fails("train", "--penalty", "-2", says=["penalty = -2 but must be > 0"])
        self.fails("train", "--penalty", "0", says=["penalty = 0 but must be > 0"])
        self.fails("train", "--pnalty", "2", says=["unknown option 'pnalty'", "did you mean 'penalty'?"])
        self.fails("train", "--penalty", says=["--penalty"])
        self.fails("train", "--rounds", "ten", says=["rounds is not a whole number", "'ten'"])
        self.fails("train", "--penalty", "nan", says=["penalty is not a number"])
        self.fails("train", "--algorithm", "mr-amdm", says=["did you mean 'mr-admm'?"])
        self.fails("train", "--noise", "gaussian", says=["--epsilon", "--noise-scale"])
        self.fails("train", "surplus", says=["surplus"])
        self.fails("trian", says=["did you mean 'parley train'?"])
        self.fails("data", "descibe", says=["describe FILE"])
        self.fails("account", "mr-adm", says=["did you mean 'mr-admm'?"])
        self.write("run.toml", "rows = 1000\npenalti = 3\n")
        self.fails("train", "--config", "run.toml", says=["run.toml:2", "did you mean 'penalty'?"])

    def test_options_that_nothing_would_read_are_refused(self):
        self.write("schema.toml", SCHEMA)
        self.fails("train", "--noise-rate", 0.5, "--schema", "schema.toml", says=["--schema would not be used", "give your file with --data"])
        self.fails("train", "--noise-rate", 0.5, "--split-column", "age", says=["--split column"])
        self.fails("train", "--noise-rate", 0.5, "--features", 5, says=["LIBSVM"])
        self.fails("train", "--epsilon", 1, "--algorithm", "pvp", "--noise-on", "objective", says=["on the output by definition"])
        self.fails("account", "dvp", "--nodes", 5, "--degree", 10, says=["at most 4"])
        self.write("run.toml", "[foo]\nnodes = 4\n")
        self.fails("train", "--config", "run.toml", says=["run.toml:1", "unknown table [foo]"])

    def test_every_option_error_says_what_to_do(self):
        for bad in (["--penalty", "-2"], ["--penalty", "x"], ["--rounds", "ten"], ["--seed", "-1"], ["--nodes", "1"], ["--loss", "huber"], ["--penalty", "1,2"],
                    ["--rounds"], ["--graph", "0-0"], ["--noise", "loud"], ["--rewiring", "2"]):
            self.fails("train", "--noise-rate", 0.5, *bad, says=["what to do"])

    def test_all_violations_are_told_at_once(self):
        text = self.fails("train", "--penalty", "-1", "--noise-rate", "0", "--test-share", "2", says=[])
        for name in ("penalty", "noise-rate", "test-share"):
            self.assertIn(f"option --{name}", text)

    def test_graphs(self):
        self.fails("train", "--noise-rate", 0.5, "--graph", "0-1,2-3", says=["not connected", "{0, 1}, {2, 3}, {4}"])
        self.fails("graph", "--graph", "rign", says=["did you mean 'ring'?"])

    def test_output_folder(self):
        self.fails("train", "--noise-rate", 0.5, "--rows", 1000, "--rounds", 2, "--out", "/proc/parley", says=["/proc/parley", "writable --out"])
        self.write("occupied", "a file")
        self.fails("train", "--noise-rate", 0.5, "--rows", 1000, "--rounds", 2, "--out", "occupied", says=["occupied", "is a file"])

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PARLEY, "account", "dvp", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.write("target.csv", "old")
        os.symlink("target.csv", self.dir / "link.csv")
        self.ok("data", "generate", "census", "--rows", 3, "--out", "link.csv")
        self.assertTrue((self.dir / "link.csv").is_symlink())
        self.assertIn("age", (self.dir / "target.csv").read_text())


class Others(Case):
    def test_help_has_examples_for_every_command(self):
        text = self.ok("--help")
        for command in ("train", "predict", "data", "graph", "account", "options"):
            self.assertIn(command, text)
            page = self.ok(command, "--help")
            self.assertIn("Examples:", page)
            self.assertIn(f"parley {command}", page)

    def test_the_option_page_is_not_stale(self):
        self.assertEqual(self.ok("options", "--markdown"), (ROOT / "docs/use/options.md").read_text(), "run 'make docs'")

    def test_describe_drafts_a_schema_that_works_and_warns(self):
        self.ok("data", "generate", "census", "--rows", 500, "--out", "sample.csv")
        result = parley("data", "describe", "sample.csv", "--out", "draft.toml", cwd=self.dir)
        self.assertIn("WARNING", result.stderr)
        self.assertIn("leak", (self.dir / "draft.toml").read_text())
        for command in ("train", "compare"):
            self.fails(command, "--epsilon", 1, "--data", "sample.csv", "--schema", "draft.toml", "--out", "no",
                       says=["draft.toml", "this schema is a draft", "begins with DRAFT", "publicly known", "then delete"])
        decided = "".join(line for line in (self.dir / "draft.toml").read_text().splitlines(keepends=True) if "DRAFT" not in line)
        self.write("draft.toml", decided)
        self.ok("train", "--noise-rate", 0.5, "--data", "sample.csv", "--schema", "draft.toml", "--loss-weight", 50, "--rounds", 2, "--quiet", "--out", "run")

    def test_graph_shows_the_papers_graph(self):
        j = json.loads(self.ok("graph", "--graph", "0-2,0-3,2-3,1-4,3-4", "--json"))
        self.assertEqual(j["degrees"], [2, 1, 2, 3, 2])
        self.assertFalse(j["bipartite"])


class Compare(Case):
    def test_algorithms_stand_side_by_side_at_the_same_budgets(self):
        text = self.ok("compare", "--algorithms", "mr-admm,dp-admm", "--epsilon", "0.5,2", "--rows", 1500, "--loss-weight", 200, "--rounds", 4, "--repeat", 2, "--seed", 1, "--out", "c", "--quiet")
        for part in ("ε = 0.5", "ε = 2", "mr-admm", "dp-admm", "not private", "NOT PRIVATE: noise from seed 1", "those of one run", "c/compare.csv"):
            self.assertIn(part, text)
        rows = (self.dir / "c/compare.csv").read_text().splitlines()
        self.assertEqual(len(rows), 5)
        names = rows[0].split(",")
        for row in rows[1:]:
            cell = dict(zip(names, row.split(",")))
            self.assertLessEqual(float(cell["epsilon"]), float(cell["budget"]))
            self.assertEqual((cell["runs"], cell["nodes"], cell["delta"]), ("2", "5", "1e-05"))
        self.assertTrue((self.dir / "c/dp-admm/epsilon-0.5/run-2/model.json").exists())

    def test_what_the_planner_chooses_stands_beside_the_papers(self):
        text = self.ok("compare", "--algorithms", "mr-admm,auto", "--epsilon", 1, "--rows", 1500, "--rounds", 4, "--repeat", 1, "--out", "c", "--quiet")
        for part in ("mr-admm  ", "newton, chosen", "not private", "larger class"):
            self.assertIn(part, text)
        cells = json.loads((self.dir / "c/compare.json").read_text())["cells"]
        self.assertEqual([(c["algorithm"], c["selection"]["algorithm"]) for c in cells], [("mr-admm", "mr-admm"), ("auto", "newton")])

    def test_what_is_wrong_is_said_before_anything_runs(self):
        self.fails("compare", "--algorithms", "mr-adm", says=["unknown algorithm", "'mr-adm'", "did you mean 'mr-admm'?"])
        self.fails("compare", "--algorithms", "dvp,dvp", says=["given twice"])
        self.fails("compare", "--epsilon", "1,2,1", says=["given twice"])
        self.fails("compare", "--epsilon", "1,-2", says=["epsilon", "> 0"])
        self.fails("compare", "--ledger", "x", says=["ledger"])


class Live(Case):
    def on_terminal(self, *arguments, columns=100):
        """What a terminal of that width is sent."""
        pid, master = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm")
            os.chdir(self.dir)
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.execv(PARLEY, [PARLEY, *map(str, arguments)])
        shown = b""
        try:
            while chunk := os.read(master, 65536):
                shown += chunk
        except OSError:  # the other end is closed
            pass
        self.assertEqual(os.waitpid(pid, 0)[1], 0, shown)
        return shown.decode()

    def test_a_run_on_a_terminal_rewrites_three_lines(self):
        shown = self.on_terminal("train", "--algorithm", "mr-admm", "--rows", 1500, "--loss-weight", 200, "--rounds", 6, "--epsilon", 1, "--out", "r")
        last = shown[:shown.index("Result")].split("\x1b[2A")[-1]
        self.assertIn("round 6/6", last)
        self.assertRegex(last, "█[▁▂▃▄▅▆▇█]+ *loss 0")
        self.assertIn("ε 1.0000 of 1.0000 spent", last)
        self.assertEqual(shown.count("\x1b[2A"), 6)

    def test_no_line_is_wider_than_the_terminal(self):
        shown = self.on_terminal("train", "--algorithm", "mr-admm", "--rows", 1500, "--loss-weight", 200, "--rounds", 6, "--epsilon", 1, "--out", "r", columns=30)
        live = shown[shown.index("█"):shown.index("Result")]
        for line in re.split("[\r\n]+", re.sub("\x1b\\[[0-9]*[A-Z]", "\n", live)):
            self.assertLess(len(line), 30, line)

    def test_elsewhere_it_is_plain_lines(self):
        result = parley("train", "--noise-rate", 0.5, "--rows", 1500, "--loss-weight", 200, "--rounds", 6, "--out", "r", cwd=self.dir)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertIn("round 6/6", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
