"""Coefficients with intervals, as a user meets them. Run by ctest with $PARLEY = the program."""
import csv
import json
import math
import random
import re
import unittest

from cli_test import Case

COLUMNS = """
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
[[columns]]
name = "ward"
kind = "categorical"
categories = ["a", "b", "c"]
[[columns]]
name = "smoker"
kind = "categorical"
categories = ["no", "yes"]
"""
LOGISTIC = '[label]\ncolumn = "y"\npositive = ["1"]\nnegative = ["0"]\n' + COLUMNS
LINEAR = '[label]\ncolumn = "y"\nbounds = [0, 100]\n' + COLUMNS
TRUE = {"age": 0.04, "ward=b": 0.8, "ward=c": -0.5, "smoker=yes": 1.0, "(intercept)": -4.0}
BUDGET = ("--epsilon", 2, "--delta", "1e-6", "--colluders", 1, "--intervals", "--seed", 5)


class Intervals(Case):
    def tables(self, linear=False, rows=6000):
        draw = random.Random(4)
        for party in "123":
            lines = ["age,ward,smoker,y"]
            for _ in range(rows):
                age, ward, smoker = draw.uniform(20, 90), draw.choice("abc"), draw.random() < 0.3
                score = TRUE["(intercept)"] + TRUE["age"] * age + {"a": 0, "b": 0.8, "c": -0.5}[ward] + smoker
                y = min(100, max(0, 50 + 5 * score + draw.gauss(0, 4))) if linear else int(draw.random() < 1 / (1 + math.exp(-score)))
                lines.append(f"{age},{ward},{'yes' if smoker else 'no'},{y}")
            (self.dir / f"{party}.csv").write_text("\n".join(lines) + "\n")
        (self.dir / "s.toml").write_text('scale = "bound"\n' + (LINEAR if linear else LOGISTIC))
        return ("--data", "1.csv,2.csv,3.csv", "--schema", "s.toml", "--test-share", 0)

    def near(self, coefficients, truth):
        self.assertEqual([c["name"] for c in coefficients], list(TRUE))
        for c in coefficients:
            self.assertTrue(c["identified"])
            self.assertLess(abs(c["estimate"] - truth[c["name"]]), 4.5 * c["standard_error"], c)
            self.assertAlmostEqual(c["high"] - c["low"], 2 * 1.959963984540054 * c["standard_error"], 9)
            self.assertAlmostEqual(c["p_value"], math.erfc(abs(c["estimate"]) / c["standard_error"] / math.sqrt(2)), 9)
            self.assertLess(c["standard_error_sampling"], c["standard_error"])

    def test_logistic_regression_in_the_columns_own_units(self):
        run = json.loads(self.ok("train", *self.tables(), *BUDGET, "--out", "out", "--json", "--quiet"))
        self.assertEqual(run["algorithm"], "newton")
        self.assertIn("theorems N1 and N2", run["theorem"])
        self.near(run["coefficients"], TRUE)
        model = json.loads((self.dir / "out/model.json").read_text())
        self.assertEqual(model["coefficients"], run["coefficients"])
        self.assertIn("followed the protocol", model["coefficients_assume"])
        table = list(csv.DictReader((self.dir / "out/coefficients.csv").read_text().splitlines()))
        self.assertEqual([(r["name"], float(r["estimate"])) for r in table], [(c["name"], c["estimate"]) for c in run["coefficients"]])
        self.assertEqual({r["stamp"] for r in table}, {"NOT PRIVATE"})  # it has a seed
        self.ok("report", "out", "--out", "page.html", "--private")
        page = re.sub("<[^>]*>", " ", (self.dir / "page.html").read_text())
        self.assertIn("smoker=yes", page)
        self.assertIn("95 % interval", page)
        self.assertIn("probability", self.ok("predict", "--model", "out/model.json", "--data", "1.csv"))

    def test_linear_regression_in_the_labels_unit(self):
        run = json.loads(self.ok("train", *self.tables(linear=True, rows=15000), *BUDGET, "--loss", "squared", "--out", "out", "--json", "--quiet"))
        self.near(run["coefficients"], {name: 5 * t + (50 if name == "(intercept)" else 0) for name, t in TRUE.items()})

    def test_without_intervals_linear_regression_is_one_exchange_and_rows_may_be_clipped(self):
        data = self.tables(linear=True)
        (self.dir / "s.toml").write_text(LINEAR)  # scale = "clip"
        for regularizer in ("l2", "elastic-net"):
            out = "out-" + regularizer
            self.ok("ledger", "cap", out + ".ledger", "--dataset", "d", "--epsilon", 9, "--delta", "1e-6", "--colluders-epsilon", 2)
            run = json.loads(self.ok("train", *data[:-1], 0.2, *BUDGET[:-3], "--loss", "squared", "--regularizer", regularizer, "--ledger", out + ".ledger", "--dataset", "d",
                                     "--out", out, "--json", "--quiet"))
            self.assertEqual(run["algorithm"], "newton")
            self.assertNotIn("coefficients", run)
            self.assertLess(run["test_error"], 1.05 * run["test_error_nonprivate"])
            self.assertEqual((self.dir / out / "released.f64").stat().st_size, 8 * 3 * (7 + (28 + 7) + 7))  # start, one round, model
            self.assertIn("chain intact", self.ok("ledger", "verify", out + ".ledger", out))
        self.ok("predict", "--model", "out-l2/model.json", "--data", "1.csv")

    def test_too_small_a_budget_is_said_and_gives_no_numbers(self):
        data = self.tables(rows=200)
        text = self.ok("train", *data, *BUDGET, "--out", "out", "--quiet")
        self.assertIn("not identified at this budget", text)
        for c in json.loads((self.dir / "out/model.json").read_text())["coefficients"]:
            self.assertEqual((c["identified"], c["estimate"], c["p_value"]), (False, None, None))

    def test_the_ledger_prices_every_round_again_and_the_record_has_its_sizes(self):
        data = self.tables(rows=500)
        self.ok("ledger", "cap", "l", "--dataset", "d", "--epsilon", 9, "--delta", "1e-6", "--colluders-epsilon", 3)
        self.ok("train", *data, *BUDGET[:-2], "--ledger", "l", "--dataset", "d", "--quiet", "--out", "out")
        self.assertIn("chain intact", self.ok("ledger", "verify", "l", "out"))
        self.assertEqual((self.dir / "out/released.f64").stat().st_size, 8 * 3 * (5 + (15 + 5) + 31 * 5 + (15 + 15 + 5) + 5))

    def test_what_has_no_intervals_is_refused_in_words(self):
        data = self.tables(rows=50)
        (self.dir / "clip.toml").write_text(LOGISTIC)
        self.fails("train", "--data", "1.csv,2.csv", "--schema", "clip.toml", *BUDGET, says=['scale = "clip"', 'a schema with scale = "bound"'])
        self.fails("train", *BUDGET, says=['scale = "clip"'])
        self.fails("train", *data, *BUDGET, "--algorithm", "mr-admm", says=["need sums over rows"])
        self.fails("train", *data, *BUDGET, "--loss", "squared", says=["the label has two classes"])
        self.fails("train", *data, *BUDGET[:-3], "--loss", "squared", says=["the label has two classes"])


if __name__ == "__main__":
    unittest.main()
