"""Quality that cannot mislead, and defaults that are safe. Run by ctest with $PARLEY = the program."""
import html
import json
import os
import pathlib
import pty
import random
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import hospitals
from cli_test import PARLEY, Case, parley

QUALITY = ("baseline_error", "auc", "balanced_error", "f1", "log_loss", "brier", "calibration", "roc", "confusion", "verdict", "verdict_tests")
NO_BETTER = "no better than always guessing the larger class"


class ThreeHospitals(Case):
    def train(self, *more, strength, offset, seed=15):
        self.files, self.positive = hospitals.write(self.dir, strength, offset, seed)
        return self.ok("train", "--data", self.files, "--schema", "schema.toml", "--epsilon", 1, "--seed", 3, "--out", "run", *more)

    def test_a_model_that_knows_nothing_is_said_to_be_no_better_than_guessing_although_its_error_looks_fine(self):
        said = self.train(strength=0, offset=-2.1)
        self.assertAlmostEqual(self.positive, 0.11, delta=0.01)
        self.assertIn(f"Verdict: {NO_BETTER}: the error is not clearly below it, the AUC not clearly above 0.5", said)
        found = json.loads((self.dir / "run/run.json").read_text())["private"]
        self.assertLess(found["test_error"], 0.14)
        self.assertGreaterEqual(found["test_error"], found["baseline_error"] - 1e-12)
        self.assertAlmostEqual(found["auc"], 0.5, delta=0.1)
        self.assertTrue(found["verdict_tests"]["no_better_than_guessing"])
        result = next(line for line in said.splitlines() if line.split()[:2] == ["test", "error"])
        self.assertIn(f"{100 * found['baseline_error']:.2f} %", result)  # beside the error
        self.assertIn("larger class", said)

    def test_an_order_that_says_something_is_not_yet_an_answer_that_does(self):
        said = self.train(strength=3, offset=-2.4)
        self.assertIn(f"Verdict: {NO_BETTER}: the error is not clearly below it. The order of the scores does say something", said)

    def test_class_weights_find_more_of_a_rare_class_at_a_price_in_errors(self):
        files, _ = hospitals.write(self.dir, 6, -3)
        def found(out, *more):
            return json.loads(self.ok("train", "--data", files, "--schema", "schema.toml", "--epsilon", 1, "--seed", 3, "--out", out, "--json", "--quiet", *more))
        def recall(figures):
            no, yes = figures["confusion"]["rows"][1]
            return yes / (no + yes)
        plain, weighted = found("plain"), found("weighted", "--class-weight", "1,4")
        balanced = found("balanced", "--class-weight", "balanced", "--class-share", 0.12)
        self.assertLess(recall(plain), 0.3)
        self.assertGreater(recall(weighted), recall(plain) + 0.25)
        self.assertGreater(recall(balanced), recall(weighted))
        for one in (weighted, balanced):
            self.assertLess(one["balanced_error"], plain["balanced_error"] - 0.1)
            self.assertGreater(one["test_error"], plain["test_error"])  # an error counts every record once
        self.assertEqual(json.loads((self.dir / "balanced/model.json").read_text())["class_weights"], [1 / (2 * (1 - 0.12)), 1 / (2 * 0.12)])

    def test_class_weights_are_in_the_record_the_report_the_ledger_and_what_predict_says(self):
        self.ok("ledger", "cap", "l", "--dataset", "patients", "--epsilon", 3, "--delta", 1e-5)
        files, _ = hospitals.write(self.dir, 6, -3)
        said = self.ok("train", "--data", files, "--schema", "schema.toml", "--epsilon", 1, "--delta", 1e-5, "--class-weight", "1,4", "--ledger", "l", "--dataset", "patients",
                       "--out", "run")
        self.assertIn("then times the weight of the class: at most 4", said)
        self.assertIn("chain intact", self.ok("ledger", "verify", "l", "run"))  # every charge computed again
        record = json.loads((self.dir / "run/run.json").read_text())
        self.assertEqual(record["options"]["class-weight"], "1,4")
        self.assertLessEqual(record["privacy"]["epsilon"], 1)
        self.ok("report", "run", "--out", "shared.html")
        page = html.unescape((self.dir / "shared.html").read_text())
        self.assertIn("class-weight", page)
        line = re.search(r"<pre>(parley account .*)\n", page).group(1)
        self.assertIn("--class-weight 1,4", line)
        again = json.loads(self.ok(*shlex.split(line)[1:], "--json"))
        self.assertAlmostEqual(again["epsilon"], record["privacy"]["epsilon"], places=6)
        lighter = json.loads(self.ok(*shlex.split(line.replace("--class-weight 1,4", ""))[1:], "--json"))
        self.assertLess(lighter["epsilon"], 0.6 * again["epsilon"])
        for command in ("predict", "evaluate"):
            said = parley(command, "--model", "run/model.json", "--data", "south.csv", cwd=self.dir)
            self.assertEqual(said.stderr.count("its probabilities are those of classes that weigh so"), 1)
        self.fails("train", "--data", files, "--schema", "schema.toml", "--epsilon", 1, "--class-weight", "balanced", "--out", "other",
                   says=["how many records a class has is private", "--class-share"])
        self.fails("check", "r-admm", "--target-excess", 0.1, "--class-weight", "1,4", says=["records that weigh the same"])
        planned = json.loads(self.ok("plan", "--epsilon", 1, "--records", "4000,1500,500", "--nodes", 3, "--features", 11, "--class-weight", "1,4", "--json"))
        self.assertNotIn("points", planned["forecast"])  # noise to signal alone

    def test_libsvm_labels_may_have_class_weights(self):
        rows = random.Random(4)
        lines = [f"{'+1' if (x := rows.random()) + 0.3 * rows.random() > 1 else '-1'} 1:{x:.3f} 2:{rows.random():.3f}" for _ in range(900)]
        self.write("rows.libsvm", "\n".join(lines) + "\n")
        def positive(out, *more):
            self.ok("train", "--data", "rows.libsvm", "--features", 2, "--nodes", 3, "--noise", "none", "--algorithm", "newton", "--out", out, *more)
            said = self.ok("predict", "--model", f"{out}/model.json", "--data", "rows.libsvm").splitlines()[1:]
            return sum(line.split(",")[2] in ("1", "+1") for line in said)
        self.assertGreater(positive("weighted", "--class-weight", "1,9"), positive("plain") + 20)

    def test_a_good_model_has_a_good_verdict(self):
        said = self.train("--json", "--quiet", strength=12, offset=0)
        found = json.loads(said)
        self.assertEqual(set(QUALITY) - set(found), set())
        self.assertTrue(found["verdict"].startswith("better than always guessing the larger class"), found["verdict"])
        self.assertGreater(found["auc"], 0.9)
        self.assertLess(found["test_error"], found["baseline_error"] / 2)
        self.assertEqual(sum(map(sum, found["confusion"]["rows"])), found["test_rows"])
        self.assertEqual(found["confusion"]["classes"], ["no", "yes"])
        self.assertEqual(sum(b["rows"] for b in found["calibration"]), found["test_rows"])

    def test_several_runs_say_in_how_many_the_model_is_no_better(self):
        said = self.train("--repeat", 2, strength=0, offset=-2.1)
        self.assertIn("Verdict: no better than always guessing in 2 of 2 runs", said)

    def test_nothing_of_it_is_in_a_report_to_share(self):
        said = self.train(strength=12, offset=0)
        found = json.loads((self.dir / "run/run.json").read_text())["private"]
        self.assertIn("Verdict: better", said)
        self.ok("report", "run", "--out", "shared.html")
        page = (self.dir / "shared.html").read_text()
        for figure in ("auc", "balanced_error", "log_loss", "brier"):
            self.assertNotIn(str(found[figure])[:7], page)
        for word in ("AUC", "Brier", "guessing the larger class (", "ROC", 'id="roc"', "Calibration"):
            self.assertNotIn(word, page)

    def test_roc_and_calibration_stand_in_the_private_report_and_in_nothing_that_is_shared(self):
        self.train(strength=12, offset=0)
        run = json.loads((self.dir / "run/run.json").read_text())
        points = run["private"]["roc"]
        self.assertGreater(len(points), 10)
        del run["private"]
        self.ok("report", "run", "--private", "--out", "private.html", "--figures", "private")
        page = (self.dir / "private.html").read_text()
        for part in ('id="roc"', 'id="calibration"', "ROC: rows found against false alarms", "Private report."):
            self.assertIn(part, page)
        drawn = [line.split(",") for line in (self.dir / "private/roc.csv").read_text().splitlines() if line.startswith("this model,")]
        self.assertEqual([[float(cell) for cell in line[1:3]] for line in drawn], points)
        self.ok("report", "run", "--out", "shared.html", "--figures", "shared")
        self.assertEqual([f.name for f in (self.dir / "shared").iterdir() if f.name.startswith(("roc", "calibration"))], [])
        shared = [json.dumps(run), *(f.read_text() for f in (self.dir / "shared").iterdir()),
                  *((self.dir / name).read_text() for name in ("shared.html", "run/model.json", "run/rounds.jsonl"))]
        for text in shared:
            self.assertNotIn("roc", text.lower().replace("process", "").replace("procedure", ""))


class OtherLabels(Case):
    def test_a_number_is_measured_in_the_column_s_own_unit(self):
        rows = [(i % 50, 100 + 4 * (i % 50) + (i * 7) % 11) for i in range(900)]
        self.write("r.csv", "x,cost\n" + "".join(f"{x},{y}\n" for x, y in rows))
        self.write("r.toml", '[label]\ncolumn = "cost"\nbounds = [0, 400]\n[[columns]]\nname = "x"\nkind = "numeric"\nbounds = [0, 50]\n')
        said = self.ok("train", "--data", "r.csv", "--schema", "r.toml", "--loss", "huber", "--noise", "none", "--algorithm", "admm", "--nodes", 3, "--rounds", 400,
                       "--regularization", "1e-3", "--out", "run")
        for part in ("root mean square error", "always the mean", "R²", "Verdict: better than always guessing the mean"):
            self.assertIn(part, said)
        found = json.loads(self.ok("evaluate", "--model", "run/model.json", "--data", "r.csv", "--json"))
        predicted = [float(line.split(",")[1]) for line in self.ok("predict", "--model", "run/model.json", "--data", "r.csv").splitlines()[1:]]
        mean = sum(y for _, y in rows) / len(rows)
        squares = sum((p - y) ** 2 for p, (_, y) in zip(predicted, rows))
        self.assertAlmostEqual(found["rmse"], (squares / len(rows)) ** 0.5, places=9)
        self.assertAlmostEqual(found["mae"], sum(abs(p - y) for p, (_, y) in zip(predicted, rows)) / len(rows), places=9)
        self.assertAlmostEqual(found["baseline_rmse"], (sum((y - mean) ** 2 for _, y in rows) / len(rows)) ** 0.5, places=9)
        self.assertAlmostEqual(found["r_squared"], 1 - squares / sum((y - mean) ** 2 for _, y in rows), places=9)

    def test_a_number_has_its_own_unit_and_the_mean_beside_it_in_train_compare_and_the_report(self):
        rows = [(i % 50, 100 + 4 * (i % 50) + (i * 7) % 11) for i in range(900)]
        self.write("r.csv", "x,cost\n" + "".join(f"{x},{y}\n" for x, y in rows))
        self.write("r.toml", '[label]\ncolumn = "cost"\nbounds = [0, 400]\n[[columns]]\nname = "x"\nkind = "numeric"\nbounds = [0, 50]\n')
        given = ("--data", "r.csv", "--schema", "r.toml", "--loss", "huber", "--nodes", 3)
        found = json.loads(self.ok("train", *given, "--noise", "none", "--algorithm", "admm", "--rounds", 400, "--regularization", "1e-3", "--out", "run", "--json", "--quiet"))
        self.assertAlmostEqual(found["test_error"], found["rmse"], places=9)
        self.assertAlmostEqual(found["test_error_guessing"], found["baseline_error"], delta=0.05 * found["baseline_error"])
        self.assertGreater(found["baseline_error"], 20)  # of costs between 100 and 310
        self.assertLess(found["test_error"], found["baseline_error"] / 4)
        self.assertLess(found["test_error_nonprivate"], found["test_error"] * 1.5)
        run = json.loads((self.dir / "run/run.json").read_text())["private"]
        self.assertEqual((run["test_error"], run["test_error_guessing"]), (found["test_error"], found["test_error_guessing"]))
        last = json.loads((self.dir / "run/rounds.jsonl").read_text().splitlines()[-1])
        self.assertAlmostEqual(last["private"]["test_error"], found["test_error"], places=9)
        self.ok("report", "run", "--private", "--out", "page.html")
        page = (self.dir / "page.html").read_text()
        for part in ("model against guessing", "card green", "always guessing the mean: ", "R² 0.9"):
            self.assertIn(part, page)
        said = self.ok("compare", *given, "--algorithms", "mr-admm,newton", "--epsilon", 1, "--repeat", 1, "--out", "c", "--quiet")
        self.assertRegex(said, r"Root mean square error at equal privacy loss, in the column's own unit")
        row = next(line.split() for line in said.splitlines() if "always the mean" in line)
        self.assertAlmostEqual(float(row[-1]), found["test_error_guessing"], delta=0.05 * found["baseline_error"])
        self.assertAlmostEqual(json.loads((self.dir / "c/compare.json").read_text())["test_error_guessing"], float(row[-1]), delta=0.01)

    def test_rows_of_one_class_have_no_auc_and_guessing_is_never_wrong(self):
        files, _ = hospitals.write(self.dir, 12, 0)
        self.ok("train", "--data", files, "--schema", "schema.toml", "--epsilon", 1, "--out", "run", "--quiet")
        head, *rows = (self.dir / "south.csv").read_text().splitlines()
        self.write("one.csv", "\n".join([head, *(r for r in rows if r.endswith("no"))]) + "\n")
        said = self.ok("evaluate", "--model", "run/model.json", "--data", "one.csv")
        self.assertRegex(said, r"balanced error +[\d.]+ % +0\.00 %")
        self.assertIn("Verdict: no better than always guessing the larger class: all rows are of one class", said)
        self.assertNotIn("AUC", said)

    def test_several_classes_have_macro_figures(self):
        self.write("t.toml", '[label]\ncolumn = "kind"\nclasses = ["oak", "ash", "elm"]\n'
                   + "".join(f'[[columns]]\nname = "{x}"\nkind = "numeric"\nbounds = [0, 10]\n' for x in ("height", "width")))
        self.write("t.csv", "height,width,kind\n" + "".join(f"{1 + 4 * (i % 3) + (i % 7) / 10},{9 - 4 * (i % 3) + (i % 5) / 10},{('oak', 'ash', 'elm')[i % 3]}\n" for i in range(1500)))
        said = self.ok("train", "--data", "t.csv", "--schema", "t.toml", "--loss", "softmax", "--nodes", 3, "--epsilon", 4, "--out", "run")
        for part in ("AUC, mean over classes", "F1, mean over classes", "class elm:", "Verdict: better than"):
            self.assertIn(part, said)
        found = json.loads(self.ok("evaluate", "--model", "run/model.json", "--data", "t.csv", "--json"))
        self.assertEqual(found["confusion"]["classes"], ["oak", "ash", "elm"])
        self.assertAlmostEqual(found["baseline_error"], 2 / 3)
        self.fails("predict", "--model", "run/model.json", "--data", "t.csv", "--threshold", 0.5, says=["--class NAME"])
        lines = self.ok("predict", "--model", "run/model.json", "--data", "t.csv", "--class", "ash").splitlines()
        self.assertEqual({line.split(",")[2] for line in lines[1:]}, {"ash", "other"})


class OfAModel(Case):
    """evaluate and predict."""

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.kept.name)
        files, _ = hospitals.write(folder, 12, 0)
        said = subprocess.run([PARLEY, "train", "--data", files, "--schema", "schema.toml", "--epsilon", "1", "--out", "run", "--quiet"], cwd=folder,
                              capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        cls.model = folder / "run/model.json"
        hospitals.write(folder, 12, 0, seed=16)  # new patients
        cls.test = folder / "south.csv"

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_evaluate_says_what_a_model_is_worth_beside_guessing(self):
        found = json.loads(self.ok("evaluate", "--model", self.model, "--data", self.test, "--json"))
        self.assertEqual(set(QUALITY) - set(found), set())
        self.assertEqual(found["test_rows"], 500)
        truth = [line.split(",")[-1] for line in self.test.read_text().splitlines()[1:]]
        predicted = [line.split(",") for line in self.ok("predict", "--model", self.model, "--data", self.test).splitlines()[1:]]
        wrong = sum(p[2] != y for p, y in zip(predicted, truth))
        self.assertAlmostEqual(found["error"], wrong / 500, places=12)
        self.assertAlmostEqual(found["brier"], sum((float(p[1]) - (y == "yes")) ** 2 for p, y in zip(predicted, truth)) / 500, places=12)
        yes, no = ([float(p[1]) for p, y in zip(predicted, truth) if y == word] for word in ("yes", "no"))
        self.assertAlmostEqual(found["auc"], sum((a > b) + (a == b) / 2 for a in yes for b in no) / len(yes) / len(no), places=12)
        text = self.ok("evaluate", "--model", self.model, "--data", self.test)
        for part in ("always the larger class", "AUC", "Verdict: better than", "no budget paid for them", "Calibration", "predicted probability"):
            self.assertIn(part, text)
        for b in found["calibration"]:  # bins on the terminal too
            if b["rows"]:
                self.assertRegex(text, rf"{b['low']:.1f} to {b['high']:.1f} +{b['rows']} +{b['predicted']:.3f} +{b['observed']:.3f}")

    def test_its_page_has_roc_and_calibration_and_says_that_it_is_private(self):
        self.ok("evaluate", "--model", self.model, "--data", self.test, "--out", "quality.html")
        page = (self.dir / "quality.html").read_text()
        for part in ("ROC", "Calibration", "Private report.", "better than always guessing", 'class="light green"', "<strong>BETTER</strong>", 'class="chart narrow"'):
            self.assertIn(part, page)
        head, *rows = self.test.read_text().splitlines()
        swapped = [r[:-3] + "no" if r.endswith("yes") else r[:-2] + "yes" for r in rows]  # what it says is wrong
        self.write("bad.csv", "\n".join([head, *swapped]) + "\n")
        self.ok("evaluate", "--model", self.model, "--data", "bad.csv", "--out", "bad.html")
        page = (self.dir / "bad.html").read_text()
        for part in ('class="light red"', "<strong>NO BETTER</strong>", "no better than always guessing"):
            self.assertIn(part, page)
        self.assertEqual((self.dir / "quality.html").stat().st_mode & 0o777, 0o600)
        self.write("mine.html", "mine")
        self.fails("evaluate", "--model", self.model, "--data", self.test, "--out", "mine.html", says=["not a report of parley"])

    def test_a_threshold_and_a_class_decide_what_is_said(self):
        def said(*more):
            return [line.split(",") for line in self.ok("predict", "--model", self.model, "--data", self.test, *more).splitlines()]
        plain, strict, no = said(), said("--threshold", 0.8), said("--class", "no", "--threshold", 0.8)
        self.assertEqual(no[0], ["row", "probability", "prediction"])
        for p, s, n in zip(plain[1:], strict[1:], no[1:]):
            self.assertEqual((p[1], s[2] == "yes"), (s[1], float(p[1]) > 0.8))
            self.assertAlmostEqual(float(n[1]), 1 - float(p[1]), places=12)
            self.assertEqual(n[2] == "no", float(n[1]) > 0.8)
        found = json.loads(self.ok("evaluate", "--model", self.model, "--data", self.test, "--threshold", 0.8, "--json"))
        self.assertEqual(sum(row[1] for row in found["confusion"]["rows"]), sum(s[2] == "yes" for s in strict[1:]))
        for more, says in ((("--threshold", 1.5), ["> 0 and < 1"]), (("--class", "perhaps"), ["no such class", "no, yes"])):
            self.fails("predict", "--model", self.model, "--data", self.test, *more, says=says)


class SafeByDefault(Case):
    def test_train_without_a_budget_stops_and_says_what_to_give(self):
        for more in ((), ("--algorithm", "mr-admm"), ("--noise", "gamma"), ("--rounds", 4, "--quiet")):
            self.fails("train", *more, says=["give --epsilon (for example 1), or --noise none to run without privacy"])
        self.ok("train", "--noise", "none", "--rows", 1500, "--rounds", 4, "--out", "none", "--quiet")
        self.ok("train", "--noise-rate", 0.5, "--rows", 1500, "--rounds", 4, "--out", "rate", "--quiet")

    def test_delta_follows_from_the_records_of_the_largest_party(self):
        def delta(*more):
            return json.loads(self.ok("plan", "--epsilon", 1, "--features", 10, "--json", *more))["delta"]
        self.assertEqual(delta("--records", 8000), 1e-5)
        self.assertEqual(delta("--records", "1000,45000,1000", "--nodes", 3), 2e-6)
        self.assertEqual(delta("--records", 1000000), 1e-7)

    def test_a_budget_that_protects_nobody_is_said_first_whatever_quiet_says(self):
        said = parley("train", "--epsilon", 12, "--rows", 1500, "--rounds", 4, "--out", "run", "--quiet", cwd=self.dir)
        self.assertEqual(said.returncode, 0)
        self.assertTrue(said.stderr.startswith("NO MEANINGFUL PROTECTION: epsilon = 12.0000 is above 10"), said.stderr)
        said = parley("train", "--epsilon", 9, "--rows", 1500, "--rounds", 4, "--out", "less", "--quiet", cwd=self.dir)
        self.assertNotIn("PROTECTION", said.stderr)

    def test_a_delta_that_would_allow_publishing_a_record_is_said_whatever_quiet_says(self):
        said = parley("train", "--epsilon", 1, "--delta", 0.01, "--rows", 1500, "--rounds", 4, "--out", "run", "--quiet", cwd=self.dir)
        self.assertIn("publishing a record outright would be allowed", said.stderr)
        for private in ((), ("--private",)):
            self.ok("report", "run", "--out", "page.html", *private)
            self.assertIn("publishing a record outright would be allowed", (self.dir / "page.html").read_text())

    def test_cells_that_are_clipped_at_a_bound_are_told_to_the_owner_and_to_nobody_else(self):
        files, _ = hospitals.write(self.dir)
        path = self.dir / "south.csv"
        head, *rows = path.read_text().splitlines()
        rows = ["999" + r[r.index(","):] if i % 10 == 0 else r for i, r in enumerate(rows)]  # age 999: not known
        path.write_text("\n".join([head, *rows]) + "\n")
        said = parley("train", "--data", files, "--schema", "schema.toml", "--epsilon", 1, "--out", "run", "--quiet", cwd=self.dir)
        self.assertIn("warning: south.csv, column 'age': 10 % of the cells lie beyond its bounds and are clipped", said.stderr)
        self.assertEqual(said.stderr.count("lie beyond"), 1)
        for file in (self.dir / "run").rglob("*.json*"):
            self.assertNotIn("lie beyond", file.read_text())

    def test_the_forecast_and_the_noise_beside_the_signal_come_before_the_run(self):
        for said in (self.ok("train", "--epsilon", 1, "--rows", 1500, "--out", "run"),
                     self.ok("plan", "--epsilon", 1, "--records", 300, "--nodes", 5, "--features", 62)):
            self.assertIn("noise to signal", said)
            self.assertRegex(said, r"expect +(about [\d.]+ points of test error more than without privacy|no better than always guessing the larger class)")

    def test_every_algorithm_says_its_noise_beside_the_signal_in_plan_train_and_on_the_page(self):
        for algorithm in ("mr-admm", "dp-admm", "dp-gd", "newton"):
            given = ("--algorithm", algorithm, "--epsilon", 1, "--nodes", 3)
            plan = json.loads(self.ok("plan", *given, "--records", 4000, "--features", 62, "--json"))
            self.assertAlmostEqual(plan["noise_to_signal"], plan["forecast"]["noise_to_signal"])
            half = json.loads(self.ok("plan", *given, "--records", 2000, "--features", 62, "--json"))
            self.assertGreater(half["noise_to_signal"], 1.5 * plan["noise_to_signal"], algorithm)
            self.assertIn(plan["forecast"]["noise_in_words"], self.ok("plan", *given, "--records", 4000, "--features", 62))
            said = self.ok("train", *given, "--rows", 1500, "--rounds", 4, "--out", algorithm)
            run = json.loads((self.dir / algorithm / "run.json").read_text())
            self.assertRegex(said, r"noise +" + re.escape(run["forecast"]["noise_in_words"]))
            self.ok("report", algorithm, "--out", "page.html")
            self.assertIn(run["forecast"]["noise_in_words"], (self.dir / "page.html").read_text())
        self.assertNotIn("noise to signal", self.ok("train", "--noise", "none", "--rows", 1500, "--rounds", 4, "--out", "none"))

    def test_options_on_the_page_are_those_in_force(self):
        self.ok("train", "--algorithm", "mr-admm", "--epsilon", 1, "--rows", 1500, "--rounds", 4, "--out", "run", "--quiet")
        self.ok("report", "run", "--private", "--out", "page.html")
        page = (self.dir / "page.html").read_text()
        self.assertIn('<th scope="row">graph</th><td>ring</td>', page)
        self.assertRegex(page, r'<th scope="row">threads</th><td>[1-9]\d*</td>')
        self.assertIsNone(re.search(r'<td>(auto|.*\bauto\b.*)</td>', page))

    def test_a_plan_kept_as_json_is_a_page_before_the_run(self):
        (self.dir / "plan.json").write_text(self.ok("plan", "--epsilon", 1, "--nodes", 3, "--records", "4000,1500,500", "--features", 11, "--json"))
        self.assertIn("a plan: public parameters", self.ok("report", "plan.json", "--out", "plan.html"))
        page = (self.dir / "plan.html").read_text()
        for part in ("A plan, not yet a study", "will learn at most", "ε = 1.0000", "newton", "6,000", "noise to signal", "not begun"):
            self.assertIn(part, page)
        self.assertNotIn("Not complete", page)
        self.write("other.json", "{}")
        self.fails("report", "other.json", "--out", "no.html", says=["not a plan", "parley plan --json"])

    def test_the_alarm_is_red_on_the_terminal_it_is_written_to_and_nowhere_else(self):
        self.write("plan.toml", "")
        small = ("--rows", 1500, "--rounds", 4, "--quiet")
        for words in (("train", "--epsilon", 12, *small, "--out", "t"), ("train", "--epsilon", 12, *small, "--json", "--out", "j"),
                      ("plan", "--epsilon", 12, "--features", 5), ("plan", "--epsilon", 12, "--json"),
                      ("account", "gaussian", "--noise-multiplier", 0.3), ("account", "mr-admm", "--noise-rate", 40, "--json"),
                      ("compare", "--algorithms", "mr-admm", "--epsilon", "1,12", "--repeat", 1, *small, "--out", "c")):
            with self.subTest(words=words):
                out, error = self.on_a_terminal("stderr", *words)
                self.assertTrue(error.startswith("\x1b[1;31mNO MEANINGFUL PROTECTION: epsilon = "), error[:200])
                self.assertNotIn("\x1b", out)
                shutil.rmtree(self.dir / str(words[-1]), ignore_errors=True)
                out, error = self.on_a_terminal("stdout", *words)
                self.assertTrue(error.startswith("NO MEANINGFUL PROTECTION: epsilon = "), error[:200])
                self.assertNotIn("\x1b", error)
        self.assertNotIn("PROTECTION", parley("compare", "--algorithms", "mr-admm", "--epsilon", 1, "--repeat", 1, *small, cwd=self.dir).stderr)

    def on_a_terminal(self, which, *words):
        """stdout and stderr of a command of which one of them is a terminal."""
        master, terminal = pty.openpty()
        with open(self.dir / "other", "w+") as other:
            streams = {"stdout": other, "stderr": other, which: terminal}
            process = subprocess.Popen([PARLEY, *map(str, words)], cwd=self.dir, stdin=subprocess.DEVNULL, **streams)
            os.close(terminal)
            seen = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:  # its other end is closed
                    break
                if not part:
                    break
                seen += part
            os.close(master)
            self.assertEqual(process.wait(), 0)
            other.seek(0)
            found = {"stdout": other.read(), "stderr": other.read(), which: seen.decode()}
            if which == "stdout":
                other.seek(0)
                found["stderr"] = other.read()
        return found["stdout"], found["stderr"]

    def test_loading_many_rows_shows_how_far_it_is(self):
        line = "40,25.1,120,99,3,surgery,no\n"
        hospitals.write(self.dir)
        head = (self.dir / "south.csv").read_text().splitlines()[0] + "\n"
        for name in ("a.csv", "b.csv"):
            self.write(name, head + line * 210_000 + "41,25.1,120,99,3,surgery,yes\n")
        said = parley("train", "--data", "a.csv,b.csv", "--schema", "schema.toml", "--noise", "none", "--algorithm", "admm", "--rounds", 1, "--out", "run", cwd=self.dir)
        self.assertRegex(said.stderr, r"loading [ab]\.csv: [█░]+ +\d+ %, [\d,]+ rows")

    def test_compare_by_itself_has_three_algorithms_three_budgets_and_an_estimate(self):
        said = self.ok("compare", "--rows", 1500, "--repeat", 2, "--out", "c")
        self.assertRegex(said, r"9 settings \(mr-admm, dp-gd, auto at ε = 0\.25, 1, 4\), 2 runs each: about \d+ ")
        lines = [line.strip() for line in said.splitlines()]
        for epsilon in ("0.2500", "1.0000", "4.0000"):  # the same sentences as on the page
            choice = next(line for line in lines if line.startswith(f"At ε = {epsilon}: "))
            self.assertRegex(choice, "is best; next is|within run-to-run scatter")
            self.assertIn(choice, (self.dir / "c/report.html").read_text())


if __name__ == "__main__":
    unittest.main()
